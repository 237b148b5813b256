"""Few games: their common steps and observations one by one, in plain integers.

Numpy takes as long for one game as for a hundred. `GameBatch` therefore comes here with up to
`FEW_TO_STEP` games, for what happens at most steps: cards laid and drawn, UNO said, a drawn card
kept, King Pigs. `step` looks first and writes only when it knows that the step is one of these.
Otherwise nothing has changed and the game is left to `play`, which knows all the rules: a missing
UNO, catches, challenges, the opening colour, reshuffles, a last card, house rules. Each function
names the one it repeats. Tests hold the two to the same states and observations, bit for bit.

`array.item(i)` reads an element, by its place in the flattened array, as a Python number, two
or three times as fast as by its indices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uno_env.game import legality, observation
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import (
    ALL_WILDS,
    CARD_BITS,
    CARD_COLOUR,
    FACE_BITS,
    GATHER_WILDS,
    LOWEST_WILDS,
    NO_CARD,
    NUM_COLOURS,
    NUM_FACES,
    NUM_SYMBOLS,
    WILDS_GATHERED,
    Symbol,
    Words,
)
from uno_env.game.effects import DRAWN_FOR, HOP_AFTER
from uno_env.game.observation import LAYOUT, VIEW_SEATS
from uno_env.game.play import settle
from uno_env.game.rules import Rules, cached_by_rules
from uno_env.game.state import LACK_CAP, Hop, Phase, State, wheel

# Tables and numbers of the modules that step many games, for plain integers.
_TURN, _DRAWN, _OVER = int(Phase.TURN), int(Phase.DRAWN), int(Phase.OVER)
_NEXT = int(Hop.NEXT)
_DRAW, _KEEP, _UNO = int(Action.DRAW), int(Action.KEEP), int(Action.UNO)
_WILD_DRAW_FOUR, _KING_PIG = int(Symbol.WILD_DRAW_FOUR), int(Symbol.KING_PIG)
_CARD_COLOUR: list[int] = CARD_COLOUR.tolist()
_CARD_BITS: list[list[int]] = CARD_BITS.tolist()
_FACE_BITS: list[list[int]] = FACE_BITS.tolist()
_HOP_AFTER: list[int] = HOP_AFTER.tolist()
_DRAWN_FOR: list[int] = DRAWN_FOR.tolist()
_MATCHES: list[int] = legality.MATCHES.tolist()
_ACTIVE_COLOUR: list[int] = legality.ACTIVE_COLOUR.tolist()
_PLAYABLE_AFTER: list[int] = legality.PLAYABLE_AFTER.tolist()
_ALL_WILDS, _WILD_DRAW_FOURS = int(ALL_WILDS), int(legality.WILD_DRAW_FOURS)
_ONE_COLOUR, _TWO_COLOURS = NUM_SYMBOLS, 2 * NUM_SYMBOLS
_FIRST_COLOUR, _EACH_COLOUR = int(legality.FIRST_COLOUR), int(legality.EACH_COLOUR)
_DRAW_BIT, _UNO_BIT = int(legality.DRAW_BIT), int(legality.UNO_BIT)


@dataclass(frozen=True, slots=True)
class _Tables:
    """What depends on the rules."""

    after: list[int]
    """The turn after a hop: at ``2 P * hop + turn``."""
    seat: list[int]
    next_seat: list[int]
    offered: list[int]
    """Actions other than plays, as bits, by phase."""
    seats_by_place: list[list[int]]
    """By view, as `observation` numbers them."""
    view_rows: list[bytes]
    constant_part: bytes
    deck: list[int]

    @classmethod
    def of(cls, rules: Rules) -> _Tables:
        """The tables for some rules."""
        turns = wheel(rules.num_players)
        return cls(
            after=turns.after.tolist(),
            seat=turns.seat.tolist(),
            next_seat=turns.next_seat.tolist(),
            offered=legality.phase_actions(rules).tolist(),
            seats_by_place=observation.seats_by_place(rules.num_players).T.tolist(),
            view_rows=[row.tobytes() for row in observation.view_rows(rules.num_players)],
            constant_part=observation.constant_part(rules).tobytes(),
            deck=observation.deck_words(rules.deck_size).tolist(),
        )


_tables = cached_by_rules(_Tables.of)


# ---------------------------------------------------------------------- one step


def step(state: State, game: int, action: int) -> bool:
    """As `play.play`, for one game, if the action is one of the common steps.

    None of them wins the round, but it may be over afterwards, blocked.

    Returns:
        Whether it was. If not, nothing has changed.
    """
    rules = state.rules
    if state.phase.item(game) > _DRAWN or rules.house_rules:
        return False
    if action == _UNO:
        state.said[game] = True
        _refresh(state, game)
        return True

    tables, seat, turn = _tables(rules), state.acting.item(game), state.turn.item(game)
    hop, draws, drawer = _NEXT, 0, seat
    if action < NUM_FACES:
        symbol = action % NUM_SYMBOLS
        may_be_challenged = symbol == _WILD_DRAW_FOUR and rules.wild_draw_four == "bluff"
        at = _at(state, game, seat)
        left = state.hands.item(at).bit_count() + state.hands.item(at + 1).bit_count() - 1
        forgot = left == 1 and rules.uno_call == "explicit" and not state.said.item(game)
        if may_be_challenged or left == 0 or forgot:
            return False
        if symbol == _KING_PIG:
            return _king_pig(state, game, seat, action)
        hop, draws, drawer = _HOP_AFTER[symbol], _DRAWN_FOR[symbol], tables.next_seat[turn]
    elif action == _DRAW:
        draws = 1
    elif action != _KEEP:
        return False
    pile_at = state.pile_at.item(game)
    if pile_at + draws > rules.deck_size:
        return False

    if action < NUM_FACES:
        _lay(state, game, seat, action)
    if draws:
        cards: list[int] = state.pile[game, pile_at : pile_at + draws].tolist()
        state.pile_at[game] = pile_at + draws
        _hand_over(state, game, drawer, cards)
        if action == _DRAW and _stays_with(state, game, seat, cards[0]):
            _refresh(state, game)
            return True
    _move_on(state, game, hop)
    return True


def _at(state: State, game: int, seat: int) -> int:
    """Where the first of a hand's two words stands in `State.hands`, the second beside it."""
    return 2 * (state.rules.num_players * game + seat)


def _move_on(state: State, game: int, hop: int) -> None:
    """As `effects.begin_turn`.

    `guilty` and `colour_before` are clear already: they belong to phases that are left to `play`.
    """
    tables = _tables(state.rules)
    turn = tables.after[len(tables.seat) * hop + state.turn.item(game)]
    state.turn[game] = turn
    state.acting[game] = tables.seat[turn]
    state.phase[game] = _TURN
    state.drawn[game] = NO_CARD
    state.said[game] = False
    _refresh(state, game)


def _king_pig(state: State, game: int, seat: int, face: int) -> bool:
    """As `play._lay_cards` and `effects.king_pig`, unless it takes more cards than the pile has.

    Returns:
        Whether it was done. If not, nothing has changed.
    """
    colour, pile_at = face // NUM_SYMBOLS, state.pile_at.item(game)
    pile: list[int] = state.pile[game, pile_at:].tolist()
    count = next((i for i, card in enumerate(pile, 1) if _CARD_COLOUR[card] == colour), 0)
    if not count:
        return False
    _lay(state, game, seat, face)
    state.pile_at[game] = pile_at + count
    players = state.rules.num_players
    receivers = players if state.rules.king_pig_recipients == "all" else players - 1
    for place in range(min(receivers, count)):
        receiver = (seat + 1 + place) % players
        first, second = _hand_over(state, game, receiver, pile[place:count:receivers])
        at = _at(state, game, receiver)
        state.known[game, receiver, 0] = state.known.item(at) | first
        state.known[game, receiver, 1] = state.known.item(at + 1) | second
    _move_on(state, game, _HOP_AFTER[_KING_PIG])
    return True


def _lay(state: State, game: int, seat: int, face: int) -> None:
    """As `play._lay_cards`: a card leaves the hand and lies on top."""
    bits, at = _FACE_BITS[face], _at(state, game, seat)
    copy, card = _one_of(state.hands, at, bits)
    state.hands[game, seat, copy] = state.hands.item(at + copy) ^ card
    state.discard[game, copy] = state.discard.item(2 * game + copy) | card
    state.top[game] = face
    if state.rules.deck == "angry_birds":
        copy, card = _one_of(state.known, at, bits)
        if card:
            state.known[game, seat, copy] = state.known.item(at + copy) ^ card


def _one_of(sets: Words, at: int, bits: list[int]) -> tuple[int, int]:
    """As `cards.one_of`: one of these copies in a set, its word and its bit."""
    second = sets.item(at + 1) & bits[1]
    if second:
        return 1, second & -second
    first = sets.item(at) & bits[0]
    return 0, first & -first


def _hand_over(state: State, game: int, seat: int, cards: list[int]) -> tuple[int, int]:
    """As `dealing._hand_over`: cards come into a hand; returns them as a set."""
    first = second = 0
    for card in cards:
        first |= _CARD_BITS[card][0]
        second |= _CARD_BITS[card][1]
    at = _at(state, game, seat)
    state.hands[game, seat, 0] = state.hands.item(at) | first
    state.hands[game, seat, 1] = state.hands.item(at + 1) | second
    for colour in range(NUM_COLOURS):
        lack = state.lack.item(2 * at + colour)
        if lack < LACK_CAP:
            state.lack[game, seat, colour] = min(lack + len(cards), LACK_CAP)
    return first, second


def _stays_with(state: State, game: int, seat: int, drawn: int) -> bool:
    """As `play._go_on_after_draw`; returns whether the turn stays, as the card may be played."""
    top, at = state.top.item(game), _at(state, game, seat)
    state.lack[game, seat, top // NUM_SYMBOLS] = 0
    faces = state.hands.item(at) | state.hands.item(at + 1)
    if not _plays(state.rules, faces, top) & _PLAYABLE_AFTER[drawn]:
        return False
    state.phase[game] = _DRAWN
    state.drawn[game] = drawn
    return True


def _plays(rules: Rules, faces: int, top: int) -> int:
    """As `legality.playable`, for the faces of one hand."""
    matching = faces & _MATCHES[top]
    free = faces & _ALL_WILDS
    if free:
        free |= free >> _TWO_COLOURS
        free = ((free | free >> _ONE_COLOUR) & _FIRST_COLOUR) * _EACH_COLOUR
        if rules.wild_draw_four == "no_matching_colour":
            barred = faces & _ACTIVE_COLOUR[top]
        else:
            barred = matching if rules.wild_draw_four == "no_matching_card" else 0
        if barred:
            free &= ~_WILD_DRAW_FOURS
    return matching | free


def _refresh(state: State, game: int) -> None:
    """As `play.settle` and `legality.refresh`; the former is asked only where nothing is legal."""
    rules, phase, top = state.rules, state.phase.item(game), state.top.item(game)
    at = _at(state, game, state.acting.item(game))
    first, second = state.hands.item(at), state.hands.item(at + 1)
    plays = _plays(rules, first | second, top) & _PLAYABLE_AFTER[state.drawn.item(game)]
    others = _tables(rules).offered[phase]
    if phase == _TURN:
        has_match = (first | second) & _MATCHES[top]
        if (has_match and rules.voluntary_draw == "without_match") or (
            state.pile_at.item(game) == rules.deck_size and sum(_discarded(state, game)) <= 1
        ):
            others &= ~_DRAW_BIT
    if (
        plays
        and first.bit_count() + second.bit_count() == 2
        and rules.uno_call == "explicit"
        and not state.said.item(game)
    ):
        others |= _UNO_BIT
    if not plays | others:
        settle(state, np.array([game]))
        return
    state.legal[game, 0] = plays
    state.legal[game, 1] = others


def _discarded(state: State, game: int) -> tuple[int, int]:
    """How many cards of the discard pile are first copies, and how many second ones."""
    first, second = state.discard.item(2 * game), state.discard.item(2 * game + 1)
    return first.bit_count(), second.bit_count()


# ---------------------------------------------------------------------- what is to be seen

_OCTETS = [bytes(octet >> bit & 1 for bit in range(8)) for octet in range(256)]
_SPREAD = [low + high for high in _OCTETS for low in _OCTETS]
"""The bits of two bytes as a byte each."""
_BITS_AT_ONCE, _TWO_BYTES = 16, 2**16 - 1
_GATHER_WILDS, _WILDS_GATHERED = int(GATHER_WILDS), int(WILDS_GATHERED)
_WORD = 2**64 - 1
_LOWEST_WILDS: list[int] = LOWEST_WILDS.tolist()
_DRAWN_ROWS = [row.tobytes() for row in observation.DRAWN_ROWS]
_TABLE_ROWS = [row.tobytes() for row in observation.TABLE_ROWS]
_COLOUR_ROWS = [row.tobytes() for row in observation.COLOUR_ROWS]
_COLOUR_WORDS: list[int] = observation.COLOUR_WORDS.ravel().tolist()
_LACKS = bytes(max(LACK_CAP - count, 0) for count in range(256))
"""To translate `State.lack` with."""

_HAND, _UNSEEN, _KNOWN, _DRAWN_CARD = (
    LAYOUT[name] for name in ("hand", "unseen", "known", "drawn")
)
_KNOWN_COLOURS, _LACK, _HAND_SIZES, _ONE_CARD, _TWO_CARDS, _SCORES_HIGH, _SCORES_LOW = (
    LAYOUT[name].start
    for name in (
        *("known_colours", "lack", "hand_sizes", "one_card", "two_cards"),
        *("scores_high", "scores_low"),
    )
)
_PILE, _DISCARDS, _STACK = (LAYOUT[name].start for name in ("pile", "discards", "stack"))
_COLOUR_BEFORE = LAYOUT["colour_before"]


def legal(state: State, game: int) -> NDArray[np.bool_]:
    """As `legality.unpack`: the actions that may be taken in one game, (A,) bool."""
    bits = _spread(state.legal.item(2 * game)) + _spread(state.legal.item(2 * game + 1))
    return np.frombuffer(bytearray(bits), np.bool_, NUM_ACTIONS)


def observe(state: State, game: int, seat: int) -> NDArray[np.uint8]:
    """As `observation.observe`, for a seat of one game: (F,) uint8."""
    rules, tables = state.rules, _tables(state.rules)
    out = bytearray(tables.constant_part)
    view = VIEW_SEATS * state.turn.item(game) + seat
    seats = tables.seats_by_place[view]
    hands: list[int] = state.hands[game].ravel().tolist()
    first, second = hands[2 * seat], hands[2 * seat + 1]
    discard = state.discard.item(2 * game), state.discard.item(2 * game + 1)

    out[_HAND] = _count_faces(first, second)
    out[_UNSEEN] = _count_faces(
        tables.deck[0] ^ (first | discard[0]), tables.deck[1] ^ (second | discard[1])
    )
    out[_PILE] = rules.deck_size - state.pile_at.item(game)
    out[_DISCARDS] = sum(_discarded(state, game))
    known: list[int] = state.known[game].ravel().tolist()
    if any(known):
        _observe_known(out, known, seats[1:])

    phase, to_act = state.phase.item(game), state.acting.item(game) == seat
    flags = 2 * (to_act and phase != _OVER) + state.said.item(game)
    out[observation.TABLE_COLUMNS] = _TABLE_ROWS[
        4 * (NUM_FACES * phase + state.top.item(game)) + flags
    ]
    if phase == _DRAWN and to_act:
        out[_DRAWN_CARD] = _DRAWN_ROWS[state.drawn.item(game)]
    if rules.wild_draw_four == "bluff":
        out[_COLOUR_BEFORE] = _COLOUR_ROWS[state.colour_before.item(game)]
    out[observation.VIEW_COLUMNS] = tables.view_rows[view]
    if rules.stacking:
        out[_STACK] = state.stack.item(game)

    lack = state.lack[game].tobytes().translate(_LACKS)
    scores = state.scores[game].tolist()
    for place, other in enumerate(seats):
        size = hands[2 * other].bit_count() + hands[2 * other + 1].bit_count()
        out[_HAND_SIZES + place] = size
        if size == 1:
            out[_ONE_CARD + place] = 1
        elif size == 2:
            out[_TWO_CARDS + place] = 1
        if place:
            at = _LACK + NUM_COLOURS * (place - 1)
            out[at : at + NUM_COLOURS] = lack[NUM_COLOURS * other : NUM_COLOURS * (other + 1)]
        if scores[other]:
            high, low = divmod(scores[other], observation.DIGIT)
            out[_SCORES_HIGH + place] = min(high, 255)
            out[_SCORES_LOW + place] = low
    return np.frombuffer(out, np.uint8)


def _count_faces(first: int, second: int) -> bytes:
    """As `cards.count_faces`, for one set: 64 bytes."""
    wilds = first & _ALL_WILDS
    if wilds:
        first ^= wilds
        first |= _LOWEST_WILDS[(wilds * _GATHER_WILDS & _WORD) >> _WILDS_GATHERED]
    counts = _spread(first)
    if not second:
        return counts
    # All counts are added as one number: none carries into the next.
    total = int.from_bytes(counts, "little") + int.from_bytes(_spread(second), "little")
    return total.to_bytes(NUM_FACES, "little")


def _spread(word: int) -> bytes:
    """The 64 bits of a word as a byte each."""
    return b"".join(
        (
            _SPREAD[word & _TWO_BYTES],
            _SPREAD[word >> _BITS_AT_ONCE & _TWO_BYTES],
            _SPREAD[word >> 2 * _BITS_AT_ONCE & _TWO_BYTES],
            _SPREAD[word >> 3 * _BITS_AT_ONCE],
        )
    )


def _observe_known(out: bytearray, known: list[int], opponents: list[int]) -> None:
    """As `observation._observe_known`: what opponents were seen to be dealt."""
    first = second = 0
    for place, seat in enumerate(opponents):
        words = known[2 * seat], known[2 * seat + 1]
        if any(words):
            first, second = first | words[0], second | words[1]
            at = _KNOWN_COLOURS + len(_COLOUR_WORDS) * place
            for colour in _COLOUR_WORDS:
                out[at] = (words[0] & colour).bit_count() + (words[1] & colour).bit_count()
                at += 1
    out[_KNOWN] = _count_faces(first, second)
