"""The ways to split texts into tokens, and guesses from the data which of them suits it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, TypeAlias

__all__ = [
    "NAMED_SPLITS",
    "TokenSplit",
    "are_spaced",
    "guess_tokens",
    "split_phrase",
    "split_remark",
]

TokenSplit: TypeAlias = Literal["char", "word", "text"]
"""How texts are split into tokens: by character, at white space, or into words and punctuation."""

NAMED_SPLITS: Mapping[Any, Callable[[str], list[str]]] = {
    "char": list,
    "word": str.split,
    "text": re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]").findall,
}

Pairs: TypeAlias = Sequence[tuple[Any, list[str]]]
"""Each input with the texts of its set."""

PARTS = re.compile(r"\w+")

PUNCTUATION = ".,;:!?"

SHARE_PUNCTUATED = 0.02
"""If at least this share of the words of inputs ends with punctuation, inputs are sentences, whose
words and punctuation are split apart."""

MOST_SAMPLED = 5000
"""The number of samples, spread over the data, that the guess is made from."""

SHARE_SPACED = 0.1
"""If a smaller share of the texts has spaces, texts are not read by words."""

SHARE_REPEATED = 0.75
"""If a smaller share of all words also occurs in another sample, words are not tokens."""

LONGEST_SYMBOLS = 2.5
"""Words that are shorter on average, such as phonemes, are symbols: words are tokens."""

SHARE_WHOLE = 0.75
"""At least this share of the elements are words of their inputs, or occur in several sets, if each
element without spaces is a token."""

SHARE_KNOWN = 0.9
"""At least this share of the words of elements are words of their inputs, or occur in other
samples too, if words can be copied."""

SHARE_COPIED = 0.2
"""At least this share of the words of elements are words of their inputs, if words are copied."""

SHARE_SPELLED = 0.25
"""If at least this share of the elements has a rare word that is made from the letters of a word of
the input, then elements are spelled by characters."""

RARE = 5
"""A word that fewer samples have is rare: what it has to do with its inputs is hard to learn."""


def guess_tokens(
    inputs: Iterable[Any], sets: Iterable[Any]
) -> tuple[TokenSplit | None, TokenSplit | None]:
    """Guess how inputs are split into tokens, and how elements are.

    Texts with spaces are split into words if their words recur in other samples: then new texts
    consist of known words. In sentences, punctuation is split off. Elements without spaces are
    spelled by characters, unless the inputs have spaces and the elements recur as a whole.
    Inputs and elements are split into words if the elements consist of words of their inputs,
    whether they recur or not, or of such words and known ones. Both are split into characters if
    rare words of elements are made from words of their inputs, as "Lee," and "lee@x.org" from
    "Lee": they are other words, and cannot be copied.

    Parameters
    ----------
    inputs : iterable of texts or other inputs
    sets : iterable of sets
        The set of each input. If elements are sequences of words, only inputs are split.

    Returns
    -------
    of_inputs : {"char", "word", "text"} or None
    of_elements : {"char", "word"} or None
        None if there are no texts.

    Examples
    --------
    >>> guess_tokens(["wolf", "fish", "ox"], [{"wolf", "wolves"}, {"fish"}, {"ox", "oxen"}])
    ('char', 'char')
    >>> guess_tokens(["record", "live"], [{"R EH K ER D", "R IH K AO R D"}, {"L IH V", "L AY V"}])
    ('char', 'word')
    >>> guess_tokens(["Ed has a cup", "Ed has a key", "Al has a cup"], [{"cup"}, {"key"}, {"cup"}])
    ('word', 'word')
    >>> guess_tokens(["Ed has a cup.", "Ed has a key."] * 2, [{"cup"}, {"key"}] * 2)
    ('text', 'word')
    >>> guess_tokens(["Ann Lee", "Bo Ray"], [{"Lee, Ann"}, {"Ray, Bo"}])
    ('char', 'char')
    >>> guess_tokens(["Ann sees Bo", "Cy sees Dee"], [{("Bo", "Ann")}, {("Dee", "Cy")}])
    ('word', None)
    """
    samples = list(zip(inputs, sets, strict=False))
    samples = samples[:: -(-len(samples) // MOST_SAMPLED) or 1]
    pairs = [(x, [e for e in _members(y) if isinstance(e, str)]) for x, y in samples]
    if any(elements for _, elements in pairs):
        return _guess(pairs, can_spell=True)
    # Sequences of words are texts that are split already.
    pairs = [(x, [" ".join(e) for e in _members(y) if _are_words(e)]) for x, y in samples]
    return _guess(pairs, can_spell=False)[0], None


def _guess(pairs: Pairs, *, can_spell: bool) -> tuple[TokenSplit | None, TokenSplit | None]:
    """Guess from inputs and elements; whether elements can be spelled by characters."""
    texts = [x for x, _ in pairs if isinstance(x, str)]
    elements = Counter(chain.from_iterable(of_sample for _, of_sample in pairs))
    of_inputs = _split_of([[text] for text in texts])
    of_elements = _split_of([of_sample for _, of_sample in pairs])
    words: TokenSplit = "text" if _are_sentences(texts) else "word"
    if texts and elements:
        known = Counter(chain.from_iterable(_words(of_sample) for _, of_sample in pairs))
        # However inputs are split: "lamp" is not made from "lamp.", nor "a@b.org" from "a".
        share_spelled = min(_share_spelled(pairs, split, known) for split in ("word", "text"))
        if can_spell and share_spelled >= SHARE_SPELLED:
            return "char", "char"
        if are_spaced(texts):
            recurring = sum(count for count in elements.values() if count > 1)
            if not are_spaced(list(elements)) and recurring >= SHARE_WHOLE * elements.total():
                return words, "word"
            split = max((words, "word", "text"), key=lambda s: _share_whole(pairs, s))  # the first
            if _share_whole(pairs, split) >= SHARE_WHOLE or _can_copy_words(pairs, split, known):
                return split, "word"
    return words if of_inputs == "word" else of_inputs, of_elements


def are_spaced(texts: Sequence[str]) -> bool:
    """Whether enough texts consist of several words."""
    spaced = sum(len(text.split()) > 1 for text in texts)
    return spaced > 0 and spaced >= SHARE_SPACED * len(texts)


def split_remark(split: object) -> str:
    """Say in words how texts are split.

    Examples
    --------
    >>> split_remark("char"), split_remark(str.split)
    ('by characters', 'by a function')
    """
    names = {"char": "by characters", "word": "by words", "text": "by words and punctuation"}
    return names.get(str(split), "by a function")


def split_phrase(of_inputs: object, of_elements: object) -> str:
    """Say in words how inputs and elements are split.

    Parameters
    ----------
    of_inputs, of_elements : "char", "word", "text", function or None
        None for what is not split.

    Returns
    -------
    str

    Examples
    --------
    >>> split_phrase("char", "word"), split_phrase(None, "char")
    ('inputs by characters, elements by words', 'elements by characters')
    """
    splits = {"inputs": of_inputs, "elements": of_elements}
    return ", ".join(f"{n} {split_remark(s)}" for n, s in splits.items() if s is not None)


def _split_of(samples: Sequence[Sequence[str]]) -> TokenSplit | None:
    """Words if the texts have spaces and their words recur, or are symbols; else characters.

    ``samples`` holds the texts of each sample. A word recurs if another sample has it too.
    """
    texts = sorted(set(chain.from_iterable(samples)))
    if not texts:
        return None
    if not are_spaced(texts):
        return "char"
    words = [word for text in texts for word in text.split()]
    counts = Counter(chain.from_iterable(map(_words, samples)))
    recurring = sum(count for count in counts.values() if count > 1)
    are_symbols = sum(map(len, words)) < LONGEST_SYMBOLS * len(words)
    return "word" if are_symbols or recurring >= SHARE_REPEATED * counts.total() else "char"


def _are_sentences(texts: Sequence[str]) -> bool:
    """Whether words, rather than symbols, often end with punctuation."""
    words = [word for text in texts for word in text.split()]
    ends = sum(word[-1] in PUNCTUATION and word[0].isalpha() for word in words)
    length = sum(map(len, words))
    return length >= LONGEST_SYMBOLS * len(words) and ends >= SHARE_PUNCTUATED * len(words)


def _share_whole(pairs: Pairs, split: TokenSplit) -> float:
    """The share of the elements all of whose words are tokens of the input."""
    whole = [_words([e]) <= tokens for tokens, elements in _split(pairs, split) for e in elements]
    return sum(whole) / max(len(whole), 1)


def _can_copy_words(pairs: Pairs, split: TokenSplit, known: Counter[str]) -> bool:
    """Whether nearly all words of elements are known or tokens of the input, and some are these."""
    n_words = n_copied = n_known = 0
    for tokens, elements in _split(pairs, split):
        words = _words(elements)
        n_words += len(words)
        n_copied += len(words & tokens)
        n_known += sum(known[word] > 1 for word in words - tokens)
    return n_copied >= SHARE_COPIED * n_words and n_copied + n_known >= SHARE_KNOWN * n_words


def _share_spelled(pairs: Pairs, split: TokenSplit, known: Counter[str]) -> float:
    """The share of the elements with a rare word that is made from a token of the input."""
    n_spelled = n_elements = 0
    for tokens, elements in _split(pairs, split):
        beginnings = {_beginning(token) for token in tokens if len(token) > 1}
        n_elements += len(elements)
        n_spelled += sum(
            any(
                known[word] < RARE and _has_beginning(word, beginnings)
                for word in _words([element]) - tokens
            )
            for element in elements
        )
    return n_spelled / max(n_elements, 1)


def _beginning(token: str) -> str:
    """More than half of a token, by which words that are made from it are recognised."""
    return token[: max(len(token) // 2 + 1, 3)].lower()


def _has_beginning(word: str, beginnings: set[str]) -> bool:
    """Whether the word, or a part of it after punctuation, has one of these beginnings."""
    parts = [word.lower(), *PARTS.findall(word.lower())]
    return any(part[:end] in beginnings for part in parts for end in range(2, len(part) + 1))


def _split(pairs: Pairs, split: TokenSplit) -> Iterator[tuple[set[str], list[str]]]:
    """The tokens of each input, and the elements of its set."""
    for x, elements in pairs:
        yield set(NAMED_SPLITS[split](x)) if isinstance(x, str) else set(), elements


def _words(elements: Iterable[str]) -> set[str]:
    return set(" ".join(elements).split())


def _members(elements: Any) -> Iterable[Any]:
    return elements if isinstance(elements, set | frozenset | list | tuple) else ()


def _are_words(element: Any) -> bool:
    """Whether an element is a sequence or set of texts, of which some have several characters."""
    return (
        isinstance(element, list | tuple | frozenset)
        and all(isinstance(token, str) for token in element)
        and any(len(token) > 1 for token in element)
    )
