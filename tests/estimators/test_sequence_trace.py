"""The tree of one set of sequences: small enough to read, and its reasons are the real ones."""

import json
import re

import numpy as np
import pytest

from setlearn import SequenceSetGenerator
from setlearn.nodes import Nodes, Step
from setlearn.rules import ExpectedF, Margin, Threshold, TopK

LETTERS = [chr(ord("a") + k) for k in range(26)]
MANY = [chr(0x4E00 + k) for k in range(300)]


class Written:
    """Scores as written down: by prefix, the probabilities of some letters and of the end "."."""

    gives_marginals = True

    def __init__(self, rows, letters=LETTERS):
        self.rows = rows
        self.letters = letters

    def start(self, X):
        return self._step(np.arange(len(X)), np.zeros(len(X), int), [""] * len(X), None)

    def advance(self, step, parent, token):
        nodes = step.nodes
        prefixes = [
            step.state[row] + self.letters[choice - 1]
            for row, choice in zip(parent, token, strict=True)
        ]
        way = nodes.membership[parent, token]
        return self._step(nodes.sample[parent], nodes.depth[parent] + 1, prefixes, way)

    def _step(self, sample, depth, prefixes, way):
        scores = np.zeros((len(prefixes), len(self.letters) + 1))
        for row, prefix in enumerate(prefixes):
            for letter, score in self.rows.get(prefix, {".": 1.0}).items():
                scores[row, 0 if letter == "." else self.letters.index(letter) + 1] = score
        return Step(Nodes(sample, depth, scores, prefix_probability=way), prefixes)


def model(rows, rule, letters=LETTERS, **settings):
    """A model with these scores, whose vocabulary is these letters."""
    generator = SequenceSetGenerator(Written(rows, letters), rule, max_length=3, **settings)
    return generator.fit(["x"] * 2, [set(letters), {letters[0] * 3}])


def walk(document, prefix=""):
    """All branches of a trace with the prefix that they continue."""
    for branch in document["branches"] if "branches" in document else document["below"]:
        yield prefix, branch
        yield from walk(branch, prefix + branch["choice"])


def reasons(trace):
    return {
        prefix + branch["choice"]: branch["reason"]
        for prefix, branch in walk(trace.to_dict())
        if branch["status"] == "rejected"
    }


@pytest.mark.parametrize("rule", [ExpectedF(), TopK(2), Threshold(0.5), Margin(0.1)], ids=str)
def test_a_large_vocabulary_gives_a_small_trace(rule):
    """All choices that go on are there, the nearest of the others, and a count of the rest."""
    rng = np.random.default_rng(0)
    root = dict(zip(MANY, rng.uniform(0, 0.015, len(MANY)), strict=True))
    root |= {MANY[7]: 0.9, MANY[200]: 0.85}
    trace = model({"": root}, rule, MANY).trace("x")
    assert trace.result == {MANY[7], MANY[200]}
    document = trace.to_dict()
    assert json.loads(json.dumps(document)) == document
    points = [(document["branches"], document["more"])]
    points += [(branch["below"], branch["more"]) for _, branch in walk(document)]
    for branches, n_more in points:
        rejected = [branch for branch in branches if branch["status"] == "rejected"]
        assert len(rejected) <= 11  # ten, and an end that was followed but not chosen
        assert all(branch["reason"] for branch in rejected)
        assert n_more == 0 or len(rejected) >= 10
        assert len(branches) + n_more in (0, 301)
    nearest = sorted(root, key=root.get, reverse=True)[:6]
    assert [branch["choice"] for branch in document["branches"][:6]] == nearest
    # Of the 301 choices at the root, two are kept and one is shown beside them. The end symbol,
    # which is impossible, is not counted where its probability is known.
    assert re.search(r"\(29[78] more not kept\)", str(trace))


PRINTED = """\
2 sequences
  a   0.8910
  bc  0.4500

prefix  choice  score   path
(root)  a       0.9000  0.9000  kept
        b       0.5000  0.5000  kept
        d       0.2000  0.2000  rejected: {d}
a       (end)   0.9900  0.8910  kept
b       c       0.9000  0.4500  kept
        (end)   0.0500  0.0250  rejected: {b}
bc      (end)   1.0000  0.4500  kept"""


def test_the_text_has_the_answer_first_and_then_a_table():
    rows = {"": {"a": 0.9, "b": 0.5, "d": 0.2}, "a": {".": 0.99}, "b": {"c": 0.9, ".": 0.05}}
    trace = model(rows, Threshold(0.4)).trace("x")
    assert str(trace) == PRINTED.format(
        d="d at 0.2 does not exceed the cut 0.4", b="(end) at 0.05 does not exceed the cut 0.4"
    )


def test_the_text_of_an_empty_set():
    text = str(model({"": {".": 0.9, "a": 0.2}}, Threshold(0.4)).trace("x"))
    answer, _, title, end, other = text.splitlines()
    assert answer == "the set is empty"
    assert title == "prefix  choice  score"
    assert end == "(root)  (end)   0.9000  kept"
    assert other.startswith("        a       0.2000  rejected: a at 0.2 does not exceed")


def test_a_branch_that_leads_to_nothing_says_why():
    rows = {"": {"a": 0.9, "d": 0.5}, "d": {"e": 0.45}, "de": {".": 0.1, "f": 0.2}}
    text = str(model(rows, Threshold(0.4)).trace("x"))
    assert "d       0.5000  0.5000  followed: after de, f at 0.2 does not exceed" in text


def test_known_sequences_are_called_so_in_the_text():
    rows = {"": {"a": 0.9, "b": 0.8}}
    text = str(model(rows, Threshold(0.5)).trace("x", known={"b", "aaa"}))
    assert text.startswith(
        "3 sequences\n  a    0.9000\n  b    0.8000  known\n  aaa          known\n"
    )


def test_reasons_are_asked_for_what_is_shown():
    class Asked(Threshold):
        n_asked = 0

        def reason_against(self, node, choice, name):
            Asked.n_asked += 1
            return super().reason_against(node, choice, name)

    model({"": dict.fromkeys(MANY, 0.2) | {MANY[0]: 0.9}}, Asked(0.5), MANY).trace("x")
    assert 0 < Asked.n_asked <= 20


IMPROBABLE = {"": {"a": 0.9, "b": 0.3, "c": 0.0008, ".": 0.01}, "a": {"d": 0.0005, ".": 0.99}}


class TestExpectedF:
    def test_what_is_not_followed_is_too_improbable(self):
        said = reasons(model(IMPROBABLE, ExpectedF()).trace("x"))
        c = "with its prefix c has probability 0.0008"
        assert said["c"] == f"{c}, and the tree follows 0.001 or more"
        # "a" is finished by then, and so much better that nothing far below it is of use.
        d = "with its prefix d has probability 0.00045"
        assert said["ad"] == f"{d}, and below 0.01782 nothing can enter the set any more"

    def test_finished_sequences_that_were_not_chosen_have_both_figures(self):
        trace = model(IMPROBABLE, ExpectedF()).trace("x")
        assert trace.result == {"a"}
        # Labels with the same probabilities are decided on in the same way.
        labels = Nodes.roots(np.array([[0.9 * 0.99, 0.3]]))
        assert reasons(trace)["b(end)"] == ExpectedF().reason_against(labels, 1, "b")
        assert re.fullmatch(r"with b the expected F1 is 0\.\d+, .*", reasons(trace)["b(end)"])

    def test_known_sequences_count_as_certain(self):
        rows = {"": {"a": 0.9, "b": 0.25, "c": 0.8}}
        trace = model(rows, ExpectedF()).trace("x", known={"c"})
        assert trace.result == {"a", "c"}
        labels = Nodes.roots(np.array([[0.9, 0.25, 1.0]]), np.array([[False, False, True]]))
        assert reasons(trace)["b(end)"] == ExpectedF().reason_against(labels, 1, "b")


class TestTopK:
    def test_what_is_not_followed_is_outside_the_beam(self):
        rows = {"": {letter: 0.9 - 0.02 * k for k, letter in enumerate(LETTERS)}}
        rows |= {letter: {".": 0.01} for letter in LETTERS}
        said = reasons(model(rows, TopK(2)).trace("x"))
        for letter, rank in (("q", 17), ("t", 20), ("z", 26)):
            assert said[letter] == (
                f"{letter} ranks {rank} among all prefixes of this length, and the best 16 are "
                "followed"
            )
        assert "p" not in said

    def test_ranks_go_over_all_prefixes_of_a_length(self):
        rows = {"": {"a": 0.9, "b": 0.1}}
        rows |= {"a": dict.fromkeys(LETTERS[:16], 0.5), "b": {"c": 0.99, "d": 0.0}}
        said = reasons(model(rows, TopK(2)).trace("x"))
        assert said["bc"].startswith("c ranks 17 among all prefixes of this length")
        assert said["bd"] == "d has probability 0"

    def test_the_beam_is_wider_where_sequences_are_known(self):
        rows = {"": {letter: 0.9 - 0.02 * k for k, letter in enumerate(LETTERS)}}
        rows |= {letter: {".": 0.01} for letter in LETTERS}
        said = reasons(model(rows, TopK(2)).trace("x", known={"a", "b"}))
        assert "the best 18 are followed" in said["s"]

    def test_finished_sequences_that_were_not_chosen_have_their_rank(self):
        rows = {"": {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, ".": 0.1}}
        trace = model(rows, TopK(2)).trace("x")
        assert trace.result == {"a", "b"}
        assert reasons(trace)["c(end)"] == "k = 2, and c at 0.7 ranks 3"
        assert reasons(trace)["d(end)"] == "k = 2, and d at 0.6 ranks 4"
        assert "means an empty set" in reasons(trace)["(end)"]

    def test_prefixes_that_cannot_beat_finished_sequences(self):
        rows = {"": {"a": 0.9, "b": 0.8, "c": 0.7}, "c": {"d": 0.5, ".": 0.1}}
        said = reasons(model(rows, TopK(2)).trace("x"))
        assert said["cd"] == (
            "with its prefix d has probability 0.35, and below 0.8 nothing can enter the set any "
            "more"
        )


def test_a_full_set_has_no_room_for_more():
    rows = {"": {"a": 0.9, "b": 0.8, "c": 0.7}}
    trace = model(rows, Threshold(0.5), max_size=2).trace("x")
    assert trace.result == {"a", "b"}
    assert trace.truncated
    assert "the set is full" in reasons(trace)["c(end)"]


def test_a_rule_that_only_chooses_is_named():
    class NotTheFirst(Threshold):
        def choose(self, nodes):
            return np.arange(nodes.n_choices)[None] > 0

        def __repr__(self):
            return "NotTheFirst()"

    trace = model({"": {"a": 0.9, "b": 0.8}}, NotTheFirst(0.5)).trace("x")
    assert trace.result == {"b"}
    assert reasons(trace)["a(end)"] == "a at 0.9 is not chosen by NotTheFirst()"
