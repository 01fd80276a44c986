"""How the playground shows the prefix tree of sequences, in a real browser."""

import re

import pytest

from tests.server.page_parts import memory, sentence

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


def choose_words(page):
    page.get_by_label("Model", exact=True).select_option("words")
    expect(page.locator(".tree")).to_be_visible()


def test_tree_grows_level_by_level(page):
    choose_words(page)
    expect(memory(page)).to_have_text(["ab", "abs"])
    expect(page.locator(".kept > .row .node.end:visible")).to_have_count(2)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".node:visible")).to_have_count(1)
    expect(page.locator("#memory")).to_contain_text("∅")
    page.get_by_role("button", name="Step →").click()
    expect(sentence(page)).to_have_text("step 1: 1 branch grows")
    for _ in range(2):
        page.get_by_role("button", name="Step →").click()
    expect(sentence(page)).to_contain_text("ab ends here")
    expect(memory(page)).to_have_text(["ab"])


def test_node_shows_all_its_scores(page):
    choose_words(page)
    page.get_by_role("button", name=re.compile("^a, .* kept")).first.click()
    scores = page.locator(".node-scores")
    expect(scores.locator("h3")).to_have_text("What can follow a")
    expect(scores.locator("li")).to_have_count(4)  # a, b, s and the end
    expect(scores.locator("li.refused").first).to_contain_text("does not exceed the cut 0.5")


def test_rejected_choices_can_be_shown(page):
    choose_words(page)
    before = page.locator(".rejected .node").count()
    more = page.locator(".more").first
    more.click()
    expect(more).to_have_attribute("aria-expanded", "true")
    assert page.locator(".rejected .node").count() > before
    expect(page.locator(".rejected .why").first).to_contain_text("does not exceed")
    more.click()
    expect(page.locator(".rejected .node")).to_have_count(before)


def test_branches_that_were_only_followed(page):
    """As of a rule that chooses among finished sequences."""
    below = [
        {"choice": "a", "probability": 0.9, "status": "kept", "reason": "", "end": False},
        {"choice": "b", "probability": 0.4, "status": "followed", "reason": "", "end": False},
    ]
    for branch, status, reason in zip(
        below, ("kept", "rejected"), ("", "k = 1, and b ranks 2"), strict=True
    ):
        end = {"choice": "(end)", "probability": 0.8, "end": True, "below": [], "more": 0}
        branch |= {"below": [{**end, "status": status, "reason": reason}], "more": 0}
    answer = {"branches": below, "more": 0, "result": ["a"], "truncated": False}
    page.route(
        "**/v1/trace",
        lambda route: route.fulfill(json={"model": "words", "traces": [answer]}),
    )
    choose_words(page)
    expect(memory(page)).to_have_text(["a"])
    expect(page.locator(".followed > .row .why")).to_contain_text("nothing below is in the set")
    expect(page.locator("#reason")).to_contain_text("every branch has ended")
    page.get_by_role("button", name=re.compile("^b, .* followed")).click()
    expect(page.locator(".node-scores .refused")).to_contain_text("k = 1, and b ranks 2")


def test_rejected_choices_that_are_not_listed_are_counted(page):
    other = {"probability": 0.01, "status": "rejected", "reason": "too low", "end": False}
    branches = [{"choice": "a", "probability": 0.9, "status": "kept", "reason": "", "end": True}]
    branches += [{**other, "choice": letter} for letter in "bcdefghijk"]
    branches = [{**branch, "below": [], "more": 0} for branch in branches]
    answer = {"branches": branches, "more": 1490, "result": ["a"], "truncated": False}
    page.route(
        "**/v1/trace",
        lambda route: route.fulfill(json={"model": "words", "traces": [answer]}),
    )
    choose_words(page)
    expect(page.locator(".more")).to_have_text("+1500")
    expect(page.locator(".node-scores")).to_contain_text("and 1490 more with lower scores")


def test_set_that_was_cut_off(page):
    branch = {"choice": "a", "probability": 0.9, "status": "truncated", "end": False}
    branch |= {"reason": "cut off at a limit", "below": [], "more": 0}
    trace = {"branches": [branch], "more": 0, "result": [], "truncated": True}
    page.route(
        "**/v1/trace",
        lambda route: route.fulfill(json={"model": "words", "traces": [trace]}),
    )
    choose_words(page)
    expect(page.locator("#reason")).to_contain_text("sequences may be missing")
    expect(sentence(page)).to_contain_text("1 cut off")


def test_known_sequence(page):
    choose_words(page)
    page.locator("#memory").get_by_role("button", name="abs").click()
    expect(page.locator("#memory [aria-pressed=true]")).to_have_text("abs")
    expect(page.locator(".tree .known").first).to_be_visible()
