"""The ways to split texts into tokens, and guesses from the data which of them suits it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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

SHARE_INFLECTED = 0.25
"""If at least this share of the elements begins like a word of the input, without being one, then
elements are spelled anew from the letters of the input."""


def guess_tokens(
    inputs: Iterable[Any], sets: Iterable[Any]
) -> tuple[TokenSplit | None, TokenSplit | None]:
    """Guess how inputs are split into tokens, and how elements are.

    Texts with spaces are split into words if their words recur in other samples: then new texts
    consist of known words. In sentences, punctuation is split off. Elements without spaces are
    spelled by characters, unless the inputs have spaces and the elements recur as a whole.
    Inputs and elements are split into words if the elements consist of words of their inputs,
    whether they recur or not.

    Parameters
    ----------
    inputs : iterable of texts or other inputs
    sets : iterable of sets
        The set of each input. Elements that are not texts are ignored.

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
    """
    samples = list(zip(inputs, sets, strict=False))
    samples = samples[:: -(-len(samples) // MOST_SAMPLED) or 1]
    pairs = [(x, [e for e in _members(y) if isinstance(e, str)]) for x, y in samples]
    texts = [x for x, _ in samples if isinstance(x, str)]
    elements = Counter(chain.from_iterable(of_sample for _, of_sample in pairs))
    of_inputs = _split_of([[text] for text in texts])
    of_elements = _split_of([of_sample for _, of_sample in pairs])
    words: TokenSplit = "text" if _are_sentences(texts) else "word"
    if texts and elements and are_spaced(texts):
        if not are_spaced(list(elements)):
            # However inputs are split: "lamp" is no form of "lamp.", nor "a@b.org" one of "a".
            if min(_share(pairs, s, _is_inflected) for s in (words, "word")) >= SHARE_INFLECTED:
                return "char", "char"
            recurring = sum(count for count in elements.values() if count > 1)
            if recurring >= SHARE_WHOLE * elements.total():
                return words, "word"
        shares = {split: _share(pairs, split, _is_in_input) for split in (words, "word", "text")}
        best = max(shares, key=lambda split: shares[split])  # the first, if several are
        if shares[best] >= SHARE_WHOLE:
            return best, "word"
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
    counts = Counter(chain.from_iterable(set(" ".join(sample).split()) for sample in samples))
    recurring = sum(count for count in counts.values() if count > 1)
    are_symbols = sum(map(len, words)) < LONGEST_SYMBOLS * len(words)
    return "word" if are_symbols or recurring >= SHARE_REPEATED * counts.total() else "char"


def _are_sentences(texts: Sequence[str]) -> bool:
    """Whether words, rather than symbols, often end with punctuation."""
    words = [word for text in texts for word in text.split()]
    ends = sum(word[-1] in PUNCTUATION and word[0].isalpha() for word in words)
    length = sum(map(len, words))
    return length >= LONGEST_SYMBOLS * len(words) and ends >= SHARE_PUNCTUATED * len(words)


def _share(
    pairs: Sequence[tuple[Any, list[str]]],
    split: TokenSplit,
    holds: Callable[[str, set[str]], bool],
) -> float:
    """The share of elements for which something holds, given the tokens of their input."""
    n_holding = n_elements = 0
    for x, elements in pairs:
        tokens = set(NAMED_SPLITS[split](x)) if isinstance(x, str) else set()
        n_holding += sum(holds(element, tokens) for element in elements)
        n_elements += len(elements)
    return n_holding / max(n_elements, 1)


def _is_in_input(element: str, tokens: set[str]) -> bool:
    """Whether all words of an element are tokens of the input."""
    return all(word in tokens for word in element.split())


def _is_inflected(element: str, words: set[str]) -> bool:
    """Whether an element begins with more than half of a word of the input, but is not one."""
    return element not in words and any(
        len(word) > 1 and element.startswith(word[: len(word) // 2 + 1]) for word in words
    )


def _members(elements: Any) -> Iterable[Any]:
    return elements if isinstance(elements, set | frozenset | list | tuple) else ()
