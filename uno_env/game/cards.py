"""Cards: colours, symbols, the deck, sets of cards as bit words, and text forms.

Three numberings, each used where it is shortest:

``kind``  0-54   what a card is: 4 colours x 13 symbols, then Wild, Wild Draw 4, King Pig.
                 ``CARDS[kind]`` is its text.
``face``  0-63   what lies on the table: ``16 * colour + symbol``. A wild lying there carries the
                 colour that was named, so the 3 wilds have 4 faces each. A face is also the action
                 of playing it and a bit in a 64-bit word.
``card``  0-111  one physical card of the deck. Copies of a kind stand side by side and the King
                 Pigs come last, so the 108-card deck is the first 108.

A *set of cards* is two words: the first copies and the second copies. Every coloured face has its
bit in the first word and, unless it is a zero, in the second. The four copies of a wild take the
bits of its four faces in the first word. Sets join with ``|``; a size is a population count.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
"""Sets of cards: shape (..., 2), dtype uint64."""


class Colour(IntEnum):
    """The four colours, in the order used everywhere."""

    R = 0
    Y = 1
    G = 2
    B = 3


class Symbol(IntEnum):
    """What is printed on a card. The numbers 0-9 stand for themselves."""

    SKIP = 10
    REVERSE = 11
    DRAW_TWO = 12
    WILD = 13
    WILD_DRAW_FOUR = 14
    KING_PIG = 15


NUM_COLOURS = 4
NUM_SYMBOLS = 16
NUM_COLOURED_SYMBOLS = 13
NUM_FACES = NUM_COLOURS * NUM_SYMBOLS
NUM_CARDS = 112
NO_COLOUR = 4
"""Where a table of colours has to say that a card has none."""

_SYMBOL_TEXT = [*"0123456789", "S", "R", "+2", "W", "W+4", "KP"]

CARDS: tuple[str, ...] = (
    *(colour.name + text for colour in Colour for text in _SYMBOL_TEXT[:NUM_COLOURED_SYMBOLS]),
    *_SYMBOL_TEXT[NUM_COLOURED_SYMBOLS:],
)
"""The text of each kind of card, by kind."""

NUM_KINDS = len(CARDS)
WILD_KINDS = range(NUM_COLOURS * NUM_COLOURED_SYMBOLS, NUM_KINDS)
KIND_OF_TEXT = {text: kind for kind, text in enumerate(CARDS)}


def face_of(colour: int, symbol: int) -> int:
    """The face (0-63) of a symbol in a colour, or of a wild under a named colour."""
    return NUM_SYMBOLS * colour + symbol


def kind_of_face(face: int) -> int:
    """The kind (0-54) of the card that lies as `face`."""
    colour, symbol = divmod(face, NUM_SYMBOLS)
    if symbol < NUM_COLOURED_SYMBOLS:
        return NUM_COLOURED_SYMBOLS * colour + symbol
    return WILD_KINDS.start + symbol - NUM_COLOURED_SYMBOLS


def _copies_by_kind() -> list[int]:
    """How many of each kind the 112 cards hold (rulebook, "Presets and switches")."""
    coloured = [1 if symbol == 0 else 2 for symbol in range(NUM_COLOURED_SYMBOLS)]
    return coloured * NUM_COLOURS + [4] * len(WILD_KINDS)


COPIES = np.array(_copies_by_kind(), dtype=np.uint8)
"""Copies of each kind in the 112-card deck, by kind."""

DECK_SIZES = {"classic": 108, "angry_birds": 112}
"""Cards in each deck: the cards with numbers below the size."""

NO_CARD = NUM_CARDS
"""Stands for no card in tables indexed by card: the empty set."""

CARD_KIND: NDArray[np.uint8] = np.append(np.repeat(np.arange(NUM_KINDS), COPIES), NUM_KINDS).astype(
    np.uint8
)
"""Kind of each card, by card; `NUM_KINDS` for `NO_CARD`."""


def _card_bits() -> Words:
    bits = np.zeros((NUM_CARDS + 1, 2), dtype=np.uint64)
    card = 0
    for face in range(NUM_FACES):
        kind = kind_of_face(face)
        if kind in WILD_KINDS:
            continue
        for copy in range(COPIES[kind]):
            bits[card, copy] = 1 << face
            card += 1
    for symbol in range(NUM_COLOURED_SYMBOLS, NUM_SYMBOLS):
        for lane in range(NUM_COLOURS):
            bits[card, 0] = 1 << face_of(lane, symbol)
            card += 1
    return bits


CARD_BITS = _card_bits()
"""Each card as a set of one card, by card: (113, 2); nothing for `NO_CARD`."""

KIND_BITS: Words = np.stack(
    [np.bitwise_or.reduce(CARD_BITS[kind == CARD_KIND], axis=0) for kind in range(NUM_KINDS)]
)
"""All copies of each kind as a set, by kind: (55, 2)."""

FACE_KIND = np.array([kind_of_face(face) for face in range(NUM_FACES)], dtype=np.uint8)
"""Kind of each face, by face."""

FACE_BITS: Words = KIND_BITS[FACE_KIND]
"""All copies of the card that can lie as a face, by face: (64, 2)."""

CARD_COLOUR: NDArray[np.uint8] = np.where(
    WILD_KINDS.start > CARD_KIND, CARD_KIND // NUM_COLOURED_SYMBOLS, NO_COLOUR
).astype(np.uint8)
"""Colour of each card, by card; `NO_COLOUR` for wilds and `NO_CARD`."""


def word_of(faces: Iterable[int]) -> np.uint64:
    """The 64-bit word with the bits of these faces set."""
    word = 0
    for face in faces:
        word |= 1 << face
    return np.uint64(word)


def take_sets(sets: Words, at: NDArray[np.integer]) -> Words:
    """The sets at some places: (M, 2), (...) -> (..., 2), a copy."""
    return sets.take(at, axis=0)


def put_sets(sets: Words, at: NDArray[np.integer], values: Words) -> None:
    """Write sets (..., 2) to some places (...) of (M, 2); no place comes twice.

    Both are contiguous, as they are viewed as one number a set.
    """
    # Assigning rows costs numpy several times what assigning elements does; sixteen bytes are moved
    # fastest as one complex number, whose bits nobody looks at. `State.put` and
    # `observation._records` do it with records.
    sets.view(np.complex128)[:, 0][at] = values.view(np.complex128)[..., 0]


def set_sizes(sets: Words) -> NDArray[np.uint8]:
    """How many cards each set holds: (..., 2) uint64 -> (...) uint8."""
    counts = np.bitwise_count(sets)
    return counts[..., 0] + counts[..., 1]


def one_of(sets: Words) -> Words:
    """One card out of each set of copies, none out of an empty one: (n, 2) -> (n, 2).

    Each set holds copies of one kind, which are alike, so any will do: a second copy before a
    first, a wild from the lowest lane.
    """
    lowest = sets & -sets
    lowest[:, 0] &= ~lowest[:, 1]
    return lowest


ALL_WILDS = word_of(
    face_of(colour, symbol)
    for colour in Colour
    for symbol in range(NUM_COLOURED_SYMBOLS, NUM_SYMBOLS)
)
"""The faces of all wilds."""

_NUM_WILDS = len(WILD_KINDS)
_TO_NEIGHBOUR = NUM_SYMBOLS - _NUM_WILDS
"""How far the three wild bits of a colour are from where they stand next to the next colour's."""
GATHER_WILDS = np.uint64(sum(1 << _TO_NEIGHBOUR * lane for lane in range(NUM_COLOURS)))
"""To multiply with: the wilds of the four colours come to stand side by side in the top 12 bits.

A product is a sum of shifted copies. Each colour reaches the top in one of them alone, and no two
copies put a bit in the same place, so nothing is carried.
"""
WILDS_GATHERED = np.uint64(NUM_FACES - NUM_COLOURS * _NUM_WILDS)
"""To shift right by then."""


def _lowest_wilds() -> NDArray[np.uint64]:
    """See `LOWEST_WILDS`."""
    gathered = np.arange(2 ** (NUM_COLOURS * _NUM_WILDS))
    table = np.zeros(len(gathered), np.uint64)
    for wild in range(_NUM_WILDS):
        copies = sum(gathered >> (_NUM_WILDS * lane + wild) & 1 for lane in Colour)
        for lane in Colour:
            face = face_of(lane, NUM_COLOURED_SYMBOLS + wild)
            table |= np.where(copies > lane, word_of([face]), np.uint64(0))
    return table


LOWEST_WILDS = _lowest_wilds()
"""Each set of wilds, by its 12 bits gathered, with its copies in the lowest lanes: (4096,)."""


def count_faces(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """How many cards of each face every set holds, so that copies of a kind look alike.

    A wild has four places, of which as many are 1 as there are copies of it in the set.

    Args:
        first: (...) uint64, the first words of the sets; contiguous.
        second: (...) uint64, the second words; contiguous.

    Returns:
        (..., 64) uint8.
    """
    held = first & ALL_WILDS
    gathered = (held * GATHER_WILDS) >> WILDS_GATHERED
    words = first ^ held
    words |= LOWEST_WILDS.take(gathered.view(np.int64))
    counts = _bits(words)
    # Eight counts, a byte each, are added as one number; none is above 2.
    counts.view(np.uint64)[:] += _bits(second).view(np.uint64)
    return counts.reshape(*first.shape, NUM_FACES)


def _bits(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    octets = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets.ravel(), bitorder="little")


def count_kinds(sets: Words) -> NDArray[np.uint8]:
    """How many of each kind each set holds: (..., 2) uint64 -> (..., 55) uint8."""
    return set_sizes(sets[..., None, :] & KIND_BITS)


def parse_card(text: str) -> int:
    """The kind of a card written in the rulebook's notation, such as ``R5``, ``B+2`` or ``KP``.

    Raises:
        ValueError: `text` is not a card; the message shows the notation.
    """
    kind = KIND_OF_TEXT.get(text)
    if kind is None:
        raise ValueError(
            f"unknown card {text!r}: a card is a colour R, Y, G or B followed by 0-9, S, R or +2, "
            "or one of W, W+4, KP"
        )
    return kind


def parse_cards(text: str) -> tuple[int, ...]:
    """The kinds of cards written one after the other with spaces between, in that order.

    Raises:
        ValueError: a word is not a card.
    """
    return tuple(parse_card(word) for word in text.split())


def format_cards(kinds: Iterable[int]) -> str:
    """Cards as text, in the order given, with spaces between."""
    return " ".join(CARDS[kind] for kind in kinds)
