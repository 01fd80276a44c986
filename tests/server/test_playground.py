"""The playground in a real browser, with a real server: labels, pictures, keys and export."""

import json
import os
import re
import shutil
import subprocess
import sys
from urllib.parse import quote

import pytest

from tests.server.page_parts import memory, sentence
from tests.server.playground_models import EVIL, N_POINTS, PLAIN_HOST, TOKEN

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
CLIPBOARD = ["clipboard-read", "clipboard-write"]
PHONE = {"width": 390, "height": 844}


def slide(page, name, value):
    page.locator(f"#{name}").fill(str(value))


def enter_token(page):
    page.get_by_label("Server token").fill(TOKEN)
    page.get_by_role("button", name="Use token").click()
    expect(sentence(page)).to_contain_text("stop")


def run_with_token(*command):
    environment = {**os.environ, "SETLEARN_TOKEN": TOKEN}
    return subprocess.run(command, capture_output=True, check=True, env=environment).stdout


class TestLabels:
    def test_steps_forward_and_back(self, page):
        expect(sentence(page)).to_contain_text("stop")
        page.get_by_role("button", name="Start", exact=True).click()
        expect(sentence(page)).to_have_text("start: Z is empty")
        expect(page.locator("#reason")).to_be_hidden()
        page.get_by_role("button", name="Step →").click()
        expect(sentence(page)).to_have_text(
            re.compile(r"step 1: (fish|grill) is kept; Z\s=\s\{\w+\}")
        )
        expect(memory(page)).to_have_count(1)
        page.get_by_role("button", name="Step →").click()
        expect(memory(page)).to_have_count(2)
        assert sorted(memory(page).all_inner_texts()) == ["fish", "grill"]
        page.get_by_role("button", name="End").click()
        expect(page.locator("#reason")).to_contain_text("repeats: even after its penalty")
        page.get_by_role("button", name="← Back").click()
        expect(page.locator("#where")).to_have_text("step 2 of 3")
        expect(page.locator("#reason")).to_be_hidden()

    def test_bar_has_score_and_penalty(self, page):
        row = page.locator(".bars li.winner")
        score = row.locator(".score").inner_text()
        raw, penalty = row.locator(".note").inner_text().split(" − ")
        assert float(score) == pytest.approx(float(raw) - float(penalty), abs=0.002)

    def test_slider_makes_another_set(self, page):
        assert memory(page).count() == 2
        slide(page, "lam", 0)
        expect(memory(page)).to_have_count(1)
        expect(page.get_by_label("a margin with λ and ρ")).to_be_checked()
        slide(page, "lam", 1)
        expect(memory(page)).to_have_count(4)
        page.get_by_label("the model’s own rule").check()
        expect(memory(page)).to_have_count(2)

    def test_robust_stop_is_explained(self, page):
        slide(page, "rho", 0.5)
        expect(page.locator("#reason")).to_contain_text("exceed ρ·|Z|")

    def test_known_label_is_there_from_the_start(self, page):
        page.locator(".bars").get_by_role("button", name="rice").click()
        pressed = page.locator(".bars [aria-pressed=true]")
        expect(pressed).to_have_text("rice")
        expect(pressed).to_be_focused()
        page.get_by_role("button", name="Start", exact=True).click()
        expect(sentence(page)).to_have_text("start: known: Z = {rice}")
        page.locator("#memory").get_by_role("button", name="rice").click()
        expect(pressed).to_have_count(0)

    def test_evil_label_is_text(self, page):
        page.get_by_role("button", name="Example 2").click()
        expect(page.locator("#memory")).to_contain_text(EVIL)
        page.locator(".bars").get_by_role("button", name=EVIL).click()
        expect(page.locator(".bars [aria-pressed=true]")).to_have_text(EVIL)
        assert page.locator("img").count() == 0

    def test_each_column_has_a_field(self, page):
        page.get_by_label("text", exact=False).first.fill("risotto with salt")
        page.get_by_label("price").fill("4.2")
        page.get_by_role("button", name="Predict the set").click()
        expect(memory(page)).to_have_text(["rice"])

    def test_bad_input_is_reported_beside_it(self, page):
        page.get_by_label("price").fill("cheap")
        page.get_by_role("button", name="Predict the set").click()
        expect(page.get_by_role("alert")).to_have_text("“cheap” is not a number")
        page.get_by_label("price").fill("4")
        page.get_by_role("button", name="Predict the set").click()
        expect(page.get_by_role("alert")).to_be_hidden()


def at_once_trace(figures):
    """A trace in JSON of a rule that decides about all labels at once."""
    labels, scores = ["fish", "grill", "rice", EVIL], [0.9, 0.25, 0.6, 0.1]
    memory, steps = [], []
    for number, winner in enumerate(("fish", "rice", "grill"), 1):
        kept = winner != "grill"
        memory = [*memory, winner] if kept else memory
        steps.append(
            {
                "step": number,
                "winner": winner,
                "kept": kept,
                "memory": memory,
                "scores": scores,
                "penalties": None,
                "figures": figures(scores[labels.index(winner)], number),
            }
        )
    reason = "grill at 0.25 does not exceed the cut 0.5"
    result = ["fish", "rice"]
    return {
        "kind": "label",
        "labels": labels,
        "known": [],
        "steps": steps,
        "result": result,
        "reason": reason,
    }


class TestRulesThatDecideAtOnce:
    def open_trace(self, new_page, address, figures):
        """A page that gets this trace, whatever it asks for."""
        page = new_page()
        answer = {"model": "dishes", "traces": [at_once_trace(figures)]}
        page.route("**/v1/trace", lambda route: route.fulfill(json=answer))
        page.get_by_role("button", name="Example 1").click()
        expect(page.locator(".bars.with-figures")).to_be_visible()
        return page

    def test_cut_is_shown(self, new_page, playground_server):
        page = self.open_trace(
            new_page, playground_server, lambda score, _: {"probability": score, "cut": 0.5}
        )
        expect(sentence(page)).to_have_text("step 3: grill is not kept; stop; Z = {fish, rice}")
        expect(page.locator("#figures")).to_have_text(
            "What the rule looks at: probability 0.250, cut 0.500."
        )
        winner = page.locator(".bars li.winner")
        expect(winner).to_have_class("winner refused")
        expect(winner.locator(".score")).to_have_text("0.250")
        expect(winner.locator(".note")).to_have_text("")  # the dashed line shows the cut
        expect(page.locator(".to-exceed:visible").first).to_have_attribute(
            "style", re.compile("left: 55.5")
        )
        expect(page.locator(".legend")).to_contain_text("cut 0.500")
        expect(page.locator(".legend")).to_contain_text("decides about all labels at once")
        expect(page.locator(".legend")).not_to_contain_text("penalty")

    def test_cut_on_another_number_is_not_drawn_on_scores(self, new_page, playground_server):
        page = self.open_trace(
            new_page,
            playground_server,
            lambda score, _: {"probability": score, "network": 0.3, "cut": 0.5},
        )
        expect(page.locator(".to-exceed:visible")).to_have_count(0)
        expect(page.locator(".bars li.winner .note")).to_have_text("network 0.300, cut 0.500")

    def test_figures_appear_step_by_step(self, new_page, playground_server):
        page = self.open_trace(
            new_page,
            playground_server,
            lambda score, number: {"probability": score, "expected F1": 0.7 + number / 100},
        )
        notes = page.locator(".note")
        expect(notes).to_have_text(
            ["expected F1 0.710", "expected F1 0.720", "expected F1 0.730", ""]
        )
        expect(page.locator(".to-exceed:visible")).to_have_count(0)
        page.get_by_role("button", name="Start", exact=True).click()
        expect(notes).to_have_text(["", "", "", ""])
        expect(page.locator("#figures")).to_be_hidden()
        page.get_by_role("button", name="Step →").click()
        expect(notes).to_have_text(["expected F1 0.710", "", "", ""])
        expect(page.locator("#figures")).to_have_text(
            "What the rule looks at: probability 0.900, expected F1 0.710."
        )

    def test_whole_numbers_have_no_decimals(self, new_page, playground_server):
        page = self.open_trace(new_page, playground_server, lambda score, number: {"rank": number})
        expect(page.locator(".note").first).to_have_text("rank 1")

    def test_sliders_say_what_they_do(self, new_page, playground_server):
        page = new_page(f"{playground_server}#model=pictures")
        expect(page.locator("#rule-hint")).to_contain_text("has no λ")
        expect(page.locator("#rule-hint")).to_contain_text("under a margin instead")
        expect(page.locator(".legend")).to_contain_text("cut 0.500")
        expect(page.locator("#figures")).to_contain_text("probability 0.000, cut 0.500")
        slide(page, "lam", 0.5)
        expect(page.locator(".legend")).to_contain_text("penalty")
        expect(page.locator("#figures")).to_be_hidden()
        page.get_by_label("Model", exact=True).select_option("dishes")
        expect(page.locator("#rule-hint")).to_contain_text("change its λ and ρ")


class TestPictures:
    def test_drawing_is_the_input(self, new_page, playground_server):
        page = new_page(f"{playground_server}#model=pictures")
        page.get_by_role("img").click(position={"x": 2, "y": 2})
        expect(page.get_by_label("Input numbers")).to_have_value("1" + " 0" * (N_POINTS - 1))
        page.wait_for_url(re.compile(r"input=%5B1%2C0"))
        page.get_by_role("button", name="Clear").click()
        page.wait_for_url(re.compile(r"input=%5B0%2C0"))

    def test_of_many_labels_the_best_are_shown(self, new_page, playground_server):
        page = new_page(f"{playground_server}#model=pictures")
        n_shown = page.locator(".bars li").count()
        assert 20 <= n_shown < N_POINTS
        expect(page.locator("#drawing")).to_contain_text(f"and {N_POINTS - n_shown} more labels")


class TestCandidates:
    @pytest.fixture
    def page(self, new_page, playground_server):
        return new_page(f"{playground_server}#model=claims")

    def test_a_line_is_a_candidate(self, page):
        field = page.get_by_label("candidates")
        assert field.input_value().splitlines()[::2] == ["a claim about the sea", "no"]
        field.fill("a note on the wood\n\n  and on the sky  ")
        page.get_by_label("query").fill("wood")
        page.get_by_role("button", name="Predict the set").click()
        expect(page.locator(".bars .label")).to_have_count(2)
        expect(memory(page)).to_have_text(["a note on the wood"])
        expect(page.locator(".legend")).to_contain_text("penalty, for candidates in Z")
        field.fill('["a note\\non the wood", "two"]')
        page.get_by_role("button", name="Predict the set").click()
        expect(page.locator(".bars")).to_contain_text("two")
        expect(page.locator(".bars .label")).to_have_count(2)
        field.fill('["one')
        page.get_by_role("button", name="Predict the set").click()
        expect(page.get_by_role("alert")).to_contain_text("a list must be written as")

    def test_long_candidates_are_cut_off(self, page):
        long = page.locator(".bars").get_by_role("button", name="about the sky")
        expect(long).to_contain_text("…")
        assert len(long.inner_text()) <= 80
        assert "and so on and on\n(click" in long.get_attribute("title")
        long.click()
        expect(page.locator(".bars [aria-pressed=true]")).to_contain_text("about the sky")

    def test_no_candidates_no_elements(self, page):
        page.get_by_label("candidates").fill("")
        page.get_by_role("button", name="Predict the set").click()
        expect(page.locator("#memory")).to_contain_text("∅")


class TestKeys:
    def test_arrows_step_and_space_plays(self, page):
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#where")).to_have_text("step 2 of 3")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#where")).to_have_text("step 3 of 3")
        page.keyboard.press(" ")
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        expect(page.locator("#where")).to_have_text("step 1 of 3")
        page.keyboard.press(" ")
        expect(page.get_by_role("button", name="Play")).to_be_visible()

    def test_everything_is_in_reach(self, page):
        for _ in range(60):
            page.keyboard.press("Tab")
            focused = page.evaluate("document.activeElement.textContent")
            if focused == "rice":
                break
        page.keyboard.press("Enter")
        expect(page.locator(".bars [aria-pressed=true]")).to_have_text("rice")

    def test_fields_keep_their_keys(self, page):
        field = page.get_by_label("price")
        field.fill("12")
        field.press("ArrowLeft")
        field.press(" ")
        expect(field).to_have_value("1 2")
        expect(page.locator("#where")).to_have_text("step 3 of 3")


class TestExport:
    def test_link_shows_the_same(self, page, new_page):
        page.get_by_role("button", name="Example 2").click()
        page.locator(".bars").get_by_role("button", name="fish").click()
        slide(page, "lam", 0.7)
        slide(page, "rho", 0.25)
        page.wait_for_url(re.compile(r"rho=0\.25&step=\d"))
        page.get_by_role("button", name="← Back").click()
        other = new_page(page.url)
        expect(sentence(other)).to_have_text(sentence(page).inner_text())
        assert memory(other).all_inner_texts() == memory(page).all_inner_texts()
        expect(other.locator("#lam-value")).to_have_text("0.70")
        expect(other.locator("#rho-value")).to_have_text("0.25")

    def test_strange_link_does_no_harm(self, new_page, playground_server):
        page = new_page(f"{playground_server}#model={quote(EVIL)}&input=[&known=7&step=x")
        expect(page.get_by_role("alert")).to_contain_text(EVIL)
        expect(sentence(page)).to_contain_text("stop")

    @pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
    def test_curl_command_runs(self, new_page):
        page = new_page(knows_token=False, permissions=CLIPBOARD)
        enter_token(page)
        page.get_by_label("text", exact=False).first.fill("it's a trout")
        page.get_by_role("button", name="Predict the set").click()
        expect(sentence(page)).to_contain_text("fish")
        page.get_by_role("button", name="Copy as curl").click()
        expect(page.locator("#exported")).to_have_text("curl command copied")
        command = page.evaluate("navigator.clipboard.readText()")
        assert TOKEN not in command
        assert json.loads(run_with_token("sh", "-c", command))["model"] == "dishes"

    def test_python_runs(self, new_page):
        page = new_page(knows_token=False, permissions=CLIPBOARD)
        enter_token(page)
        page.locator(".bars").get_by_role("button", name="rice").click()
        expect(page.locator(".bars [aria-pressed=true]")).to_have_text("rice")
        page.get_by_role("button", name="Copy as Python").click()
        program = page.evaluate("navigator.clipboard.readText()")
        answer = json.loads(run_with_token(sys.executable, "-c", program))
        assert answer["traces"][0]["known"] == ["rice"]

    def test_copy_by_hand_where_the_browser_forbids_it(self, new_page, playground_server):
        page = new_page(playground_server.replace("127.0.0.1", PLAIN_HOST))
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator("#by-hand-text")).to_have_value(page.url)
        page.get_by_role("button", name="Close").click()
        expect(page.locator("#by-hand")).to_be_hidden()

    def test_download(self, page, tmp_path):
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download JSON").click()
        waiting.value.save_as(tmp_path / "trace.json")
        document = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
        assert sorted(document["trace"]["result"]) == ["fish", "grill"]
        assert document["request"]["model"] == "dishes"


class TestToken:
    def test_token_is_asked_for_when_needed(self, new_page):
        page = new_page(knows_token=False)
        page.get_by_label("Server token").fill("wrong")
        page.get_by_role("button", name="Use token").click()
        expect(page.get_by_role("alert")).to_contain_text("send the server's token")
        enter_token(page)
        expect(page.locator("#token-form")).to_be_hidden()
        assert TOKEN not in page.url

    def test_token_is_not_asked_for_without_need(self, page):
        expect(page.locator("#token-form")).to_be_hidden()


class TestPhone:
    @pytest.mark.parametrize("model", ["dishes", "words", "pictures", "claims"])
    def test_nothing_sticks_out(self, new_page, playground_server, model):
        page = new_page(f"{playground_server}#model={model}", viewport=PHONE)
        expect(sentence(page)).to_contain_text("stop")
        page.get_by_text("About this model").click()
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"]
