"""Whether texts are split into words or characters, on data as people have them."""

import pytest

from setlearn import SequenceSetGenerator
from setlearn.networks import Training
from setlearn.records import plan_records
from setlearn.token_guesses import guess_tokens
from tests.estimators.quick_networks import SMALL

INFLECTION = {
    "noun glimmer": {"glimmer", "glimmers"},
    "verb glimmer": {"glimmer", "glimmers", "glimmered", "glimmering"},
    "noun otter": {"otter", "otters"},
    "verb hum": {"hum", "hums", "hummed", "humming"},
    "noun hum": {"hum", "hums"},
    "adj calm": {"calm", "calmer", "calmest"},
}
PRONUNCIATION = {
    "router": {"R UW1 T ER0", "R AW1 T ER0"},
    "vase": {"V EY1 S", "V AA1 Z"},
    "bow": {"B OW1", "B AW1"},
}
SOUNDS = {"rue": {"ʁ y"}, "chat": {"ʃ a"}, "lune": {"l y n"}, "château": {"ʃ ɑ t o"}}
GRAPH = {
    "heart_muscle part_of": {"organ", "body_part"},
    "lens part_of": {"organ", "body_part"},
    "lens isa": {"body_part", "entity"},
    "organ isa": {"body_part", "entity"},
    "heart_muscle isa": {"organ", "entity"},
}
BINDINGS = {
    "( p + q ) = r @ ( a + b ) = ( c + c )": {"p := a", "q := b", "r := ( c + c )"},
    "p = q @ ( a + a ) = b": {"p := ( a + a )", "q := b"},
    "p > q @ b > a": {"p := b", "q := a"},
}
STORIES = {
    "Nora took the lamp. Nora went home. What has Nora?": {"lamp"},
    "Emil took the coin. Emil took the lamp. What has Emil?": {"lamp", "coin"},
    "Nora took the rope. Nora dropped the rope. What has Nora?": set(),
    "Emil went home. Nora took the coin. What has Nora?": {"coin"},
}
SPANS = {
    "the old man saw a small boat": {"old man", "small boat"},
    "a small bird saw the old boat": {"small bird", "old boat"},
    "the old bird saw the small man": {"old bird", "small man"},
    "a man saw a bird": {"man", "bird"},
}
CITIES = {
    "new york": {"new yorker", "new yorkers"},
    "los angeles": {"angeleno", "angelenos"},
    "salt lake city": {"salt laker"},
    "hong kong": {"hong konger", "hong kongers"},
}
TENSES = {
    stem: {f"has {stem}ed", f"had {stem}ed"}
    for stem in ["walk", "jump", "kick", "melt", "rain", "snow", "lick", "bark", "yell"]
}
NAMES = {
    "ruda named kolo bip": {"kolo"},
    "fema tuni named zark": {"zark"},
    "named woru dubi sen": {"woru"},
    "hila mopp named dref": {"dref"},
}
ADDRESSES = {
    "Ruda wrote to kim@ab.org on Friday.": {"kim@ab.org"},
    "For Bela, lu@cde.com is wrong!": {"lu@cde.com"},
    "The page of zoe@f.net moved.": {"zoe@f.net"},
}
PEOPLE = [
    f"{first} {last}"
    for first in ["Ivan", "Nora", "Emil"]
    for last in ["Pavzrb", "Okonde", "Lurit", "Semko"]
]
LAST_NAME_FIRST = {name: {", ".join(reversed(name.split()))} for name in PEOPLE}
MAIL = {name: {f"{name.lower().replace(' ', '.')}@x.org"} for name in PEOPLE}
HANDLES = {name: {f"user:{word}" for word in name.split()} for name in PEOPLE}
TITLES = {name: {f"Mr. {name.split()[1]}", f"Dear {name.split()[0]}"} for name in PEOPLE}
REPLIES = {f"who is {name}": {f"{name} is here", f"no {name}"} for name in ["ruda", "fema", "hila"]}
SHIRTS = {
    f"{brand} shirt {colour} size {size}": {f"color:{colour}", f"size:{size}"}
    for brand in ["Zarko", "Hilam", "Worub"]
    for colour in ["red", "blue"]
    for size in "SML"
}
LETTERS = {"p a q b": {"p q", "a b"}, "q c": {"q", "c"}}


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ({"wolf": {"wolf", "wolves"}, "ox": {"ox", "oxen"}}, ("char", "char")),
        (INFLECTION, ("char", "char")),
        (PRONUNCIATION, ("char", "word")),
        (SOUNDS, ("char", "word")),
        (GRAPH, ("word", "word")),
        (BINDINGS, ("word", "word")),
        (STORIES, ("text", "word")),
        (SPANS, ("word", "word")),
        (CITIES, ("char", "char")),
        (LETTERS, ("word", "word")),
        (TENSES, ("char", "char")),
        (NAMES, ("word", "word")),
        (ADDRESSES, ("word", "word")),
        (LAST_NAME_FIRST, ("char", "char")),
        (MAIL, ("char", "char")),
        (HANDLES, ("char", "char")),
        (TITLES, ("word", "word")),
        (REPLIES, ("word", "word")),
        (SHIRTS, ("word", "word")),
        ({"a b": set(), "b a": set()}, ("word", None)),
        ({(1, 2): {(3,)}}, (None, None)),
        ({("a", "b"): {"x y", "y x"}}, (None, "word")),
        ({}, (None, None)),
    ],
)
def test_guesses(samples, expected):
    assert guess_tokens(samples.keys(), samples.values()) == expected


@pytest.mark.parametrize("samples", [INFLECTION, PRONUNCIATION, GRAPH, STORIES, SPANS])
def test_python_and_records_guess_the_same(samples):
    X, y = [*samples], [*samples.values()]
    records = [{"x": x, "y": sorted(elements)} for x, elements in samples.items()]
    model = SequenceSetGenerator(**SMALL, training=Training(max_steps=1)).fit(X, y)
    assert model.tokens_ == plan_records(records, task="sequences").tokens


class TestModel:
    def fitted(self, X, y, **settings):
        return SequenceSetGenerator(**SMALL, training=Training(max_steps=1), **settings).fit(X, y)

    def test_says_how_texts_are_split(self):
        X, y = [*PRONUNCIATION], [*PRONUNCIATION.values()]
        model = self.fitted(X, y)
        assert model.tokens_ == ("char", "word")
        assert model.facts()["split"] == "inputs by characters, elements by words"
        assert "UW1" in model.vocabulary_.tokens

    def test_what_is_given_is_not_guessed(self):
        X, y = [*PRONUNCIATION], [*PRONUNCIATION.values()]
        assert self.fitted(X, y, tokens="char").tokens_ == ("char", "char")
        assert self.fitted(X, y, tokens=("word", None)).tokens_ == ("word", "word")

    def test_lists_are_taken_as_they_are(self):
        model = self.fitted([["a b", "c"], ["c"]], [{("x y", "z")}, {("z",)}])
        assert model.tokens_ == (None, None)
        assert "split" not in model.facts()
        assert model.vocabulary_.tokens == ("x y", "z")
