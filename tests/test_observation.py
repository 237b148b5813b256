"""What a seat is told: nothing it may not know, and each slice exactly what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import whole_deck

from uno_env import CARDS, GameBatch, Position, Rules
from uno_env.game.actions import ACTIONS, Action
from uno_env.game.observation import FULL_SIZE, HIGH, LAYOUT, OBSERVATION_SIZE
from uno_env.game.rules import HOUSE_RULES, PRESETS

ALL_PRESETS = list(PRESETS)

# --- Nothing it may not know ---------------------------------------------------------------------


def some_actions(batch: GameBatch, rng: np.random.Generator) -> NDArray[np.intp]:
    """A legal action of each game, a play more often than not; 0 where a round is over."""
    legal = batch.legal
    plays = legal[:, : Action.DRAW].any(axis=1) & (rng.random(batch.num_games) < 0.95)
    legal[plays, Action.DRAW :] = False
    return (rng.random(legal.shape) * legal).argmax(axis=1)


def one_of_each_phase(batch: GameBatch, rng: np.random.Generator) -> Iterable[int]:
    phases = batch.state.phase
    for phase in np.unique(phases):
        yield int(rng.choice(np.flatnonzero(phases == phase)))


def shown_by_being_asked(position: Position) -> tuple[str, ...]:
    """House rules ask only who holds such a card: one of them, unless it was known already."""
    if position.phase == "jump_in":
        answers = {position.top}
    elif position.phase == "stack":
        answers = {card for card in CARDS if card[-2:] == position.top[-2:]}
    else:
        return ()
    if answers & {*position.known[position.turn]}:
        return ()
    return next((card,) for card in position.hands[position.turn] if card in answers)


def other_worlds(
    position: Position, observer: int, rng: np.random.Generator
) -> Iterable[tuple[Position, GameBatch]]:
    """The position with all that the observer cannot know dealt anew, if it can be."""
    players = range(position.rules.num_players)
    hidden = list(position.draw)
    kept = list(position.hands)
    for seat in players:
        if seat != observer:
            kept[seat] = position.known[seat]
            if seat == position.turn:
                kept[seat] += shown_by_being_asked(position)
            hidden += (Counter(position.hands[seat]) - Counter(kept[seat])).elements()
    hidden = rng.permutation(hidden).tolist()
    hands = []
    for seat in players:
        missing = len(position.hands[seat]) - len(kept[seat])
        hands.append((*kept[seat], *hidden[:missing]))
        hidden = hidden[missing:]
    drawn: list[str | None] = [position.drawn]
    if position.drawn is not None and position.turn != observer:
        drawn = [*rng.permutation(sorted(set(hands[position.turn]))).tolist()]
    may_be_guilty = (
        position.rules.wild_draw_four == "bluff"
        and position.phase in ("catch", "challenge")
        and position.top == "W+4"
    )
    # The colour it is about is seen by all, but not whether it was held.
    held = [card[0] for card in hands[position.on_turn]]
    guilty = may_be_guilty and position.colour_before in held
    for card in drawn:
        fields = {
            **vars(position),
            "hands": tuple(hands),
            "draw": tuple(hidden),
            "drawn": card,
            "guilty": guilty,
        }
        batch = GameBatch(position.rules, 1)
        try:
            other = Position(**fields)
            batch.load(0, other)
        except ValueError as error:
            if f"drawn={card}" in str(error):  # it may not be played
                continue
            raise
        # A seat that could do nothing would have passed, and no card that cannot be played is kept.
        playable = card is None or batch.legal[0, : Action.DRAW].any()
        if playable and batch.position(0) == other:
            yield other, batch
            return


HOUSE = " ".join(f"{name}=True" for name in HOUSE_RULES if name != "partners")


@pytest.mark.parametrize("players", [2, 3, 5])
@pytest.mark.parametrize("text", [*ALL_PRESETS, f"official {HOUSE}", f"angry_birds {HOUSE}"])
def test_hidden_cards_change_neither_observation_nor_mask(text: str, players: int) -> None:
    rng = np.random.default_rng(players)
    rules = Rules.make(text, num_players=players)
    batch = GameBatch(rules, 60, seed=3)
    compared: Counter[str] = Counter()
    known = False
    for step in range(400):
        for game in one_of_each_phase(batch, rng) if step % 8 == 0 else ():
            position = batch.position(game)
            for observer in range(players):
                for other, world in other_worlds(position, observer, rng):
                    seen = batch.observe(observer, [game])[0]
                    both = f"{position}\nand\n{other}\nto seat {observer}"
                    assert (world.observe(observer)[0] == seen).all(), both
                    if observer == position.turn:
                        assert (world.legal[0] == batch.legal[game]).all(), both
                    role = "self" if observer == position.turn else "other"
                    changed = (other.hands, other.draw) != (position.hands, position.draw)
                    compared[f"{position.phase} {role}"] += changed
                    known |= any(position.known) and changed
                    compared["guilt"] += other.guilty != position.guilty
        if step % 8 == 0 and batch.done.any():
            batch.next_round(batch.done)
        if not batch.done.all():
            batch.step(some_actions(batch, rng))
    assert compared.total() > 150
    wanted = {"turn", "drawn", "colour", "over"}
    wanted |= {"catch"} if rules.uno_enforcement == "caught" else set()
    wanted |= {"challenge"} if rules.wild_draw_four == "bluff" else set()
    wanted |= {"swap", "jump_in", "stack"} if rules.stacking else set()
    for phase in wanted:
        assert compared[f"{phase} self"], compared
        assert compared[f"{phase} other"], compared
    assert (compared.pop("guilt") > 0) == (rules.wild_draw_four == "bluff")
    assert known == (rules.deck == "angry_birds")


def test_observation_stays_in_its_bounds() -> None:
    for players in (2, 10):
        batch = GameBatch(Rules.preset("angry_birds", num_players=players), 50, seed=2)
        rng = np.random.default_rng(players)
        for _ in range(200):
            assert (batch.observe() <= HIGH).all()
            batch.step(some_actions(batch, rng))
            if batch.done.any():
                batch.next_round(batch.done)


# --- Each slice ----------------------------------------------------------------------------------


def faces(cards: Iterable[str]) -> list[int]:
    """Cards by face, 16 numbers a colour; of a wild's places as many are 1 as there are copies."""
    counts = [0] * 64
    symbols = (*"0123456789", "S", "R", "+2", "W", "W+4", "KP")
    for card, number in Counter(cards).items():
        if card in symbols:
            for colour in range(number):
                counts[16 * colour + symbols.index(card)] = 1
        else:
            counts[16 * "RYGB".index(card[0]) + symbols.index(card[1:])] = number
    return counts


def rest_of_deck(rules: str, cards: str) -> list[str]:
    return list((Counter(whole_deck(Rules.preset(rules))) - Counter(cards.split())).elements())


def padded(numbers: Iterable[int], size: int) -> list[int]:
    start = list(numbers)
    return start + [0] * (size - len(start))


def one_hot(place: int, size: int) -> list[int]:
    return padded([0] * place + [1], size)


TABLE: dict[str, Any] = {
    "hands": ["R5 R5 W W", "G1", "Y1 Y2"],
    "discard": "B3 R9",
    "draw": "R1 R2 KP",
    "turn": 1,
    "direction": -1,
    "scores": [40, 0, 8200],
}
"""Against the clock: seat 0 has seat 2 at place 1 and seat 1 at place 2."""
DEALT: dict[str, Any] = {
    "hands": ["R5 R5", "G1 W Y3 Y3", "Y1 Y2 W B4"],
    "discard": "R9",
    "draw": "R1",
    "known": ["R5", "G1 W", "Y1 Y2 W"],
    "lack": [(15, 0, 0, 0), (0, 15, 3, 15), (15, 15, 15, 14)],
}
DRAWN = {"hands": ["W R5 G2", "G1 G3"], "discard": "G9", "phase": "drawn", "drawn": "W"}
CATCH = {
    "hands": ["R5", "G1 G2", "Y1 Y2"],
    "discard": "R9",
    "draw": "R1",
    "phase": "catch",
    "turn": 2,
    "on_turn": 0,
}
CHALLENGE = {
    "rules": "official",
    "hands": ["R5 R6", "G1 G2"],
    "discard": "W+4",
    "colour": "B",
    "draw": "R1 R2",
    "phase": "challenge",
    "turn": 1,
    "on_turn": 0,
}
LAID_ON_GREEN = CHALLENGE | {"colour_before": "G"}
OPENING = {"hands": ["R5 R6", "G1 G2"], "opening": "KP", "draw": "R1"}
OVER = {"hands": ["", "G1 G2"], "discard": "R9", "draw": "R1", "phase": "over", "winner": 0}
SAID = {"hands": ["R5 R6", "G1 G2"], "discard": "R9", "draw": "R1", "said": True}
TWO: dict[str, Any] = {"hands": ["R5 R6", "G1 G2"], "discard": "R9", "draw": "R1"}
TEN = {"hands": [f"R{n}" for n in range(10)], "discard": "YS", "draw": "G1", "turn": 3}
OTHER_RULES = {
    "uno_call": "automatic",
    "king_pig_recipients": "opponents",
    "last_card_draws": False,
    "scoring": "lowest",
    "action_points": 15,
    "wild_points": 500,
}

Table = Mapping[str, Any]
SLICES: list[tuple[str, Table, int, list[int]]] = [
    ("hand", TABLE, 0, faces(["R5", "R5", "W", "W"])),
    ("hand", TABLE, 1, faces(["G1"])),
    ("unseen", TABLE, 0, faces(rest_of_deck("angry_birds", "R5 R5 W W B3 R9"))),
    ("unseen", TABLE, 2, faces(rest_of_deck("angry_birds", "Y1 Y2 B3 R9"))),
    ("unseen", CHALLENGE, 0, faces(rest_of_deck("official", "R5 R6 W+4"))),
    ("known", TABLE, 0, [0] * 64),
    ("known", DEALT, 0, faces(["G1", "W", "Y1", "Y2", "W"])),
    ("known", DEALT, 1, faces(["R5", "Y1", "Y2", "W"])),
    ("drawn", DRAWN, 0, faces(["W"])),
    ("drawn", DRAWN, 1, [0] * 64),
    ("drawn", TWO, 0, [0] * 64),
    ("known_colours", DEALT, 0, padded([0, 0, 1, 0, 1, 0, 2, 0, 0, 1], 45)),
    ("known_colours", DEALT | {"direction": -1}, 2, padded([0, 0, 1, 0, 1, 1, 0, 0, 0, 0], 45)),
    ("lack", DEALT, 0, padded([15, 0, 12, 0, 0, 0, 0, 1], 36)),
    ("lack", DEALT, 2, padded([0, 15, 15, 15, 15, 0, 12, 0], 36)),
    ("top", TABLE, 0, one_hot(9, 16)),
    ("top", TEN, 0, one_hot(10, 16)),
    ("top", TWO | {"discard": "RR"}, 0, one_hot(11, 16)),
    ("top", TWO | {"discard": "R+2"}, 0, one_hot(12, 16)),
    ("top", TWO | {"discard": "W", "colour": "G"}, 0, one_hot(13, 16)),
    ("top", CHALLENGE, 0, one_hot(14, 16)),
    ("top", OPENING, 0, one_hot(15, 16)),
    ("colour", TABLE, 0, [1, 0, 0, 0]),
    ("colour", TEN, 0, [0, 1, 0, 0]),
    ("colour", DRAWN, 0, [0, 0, 1, 0]),
    ("colour", CHALLENGE, 0, [0, 0, 0, 1]),
    ("colour", OPENING, 0, [0, 0, 0, 0]),
    ("phase", TABLE, 0, one_hot(0, 9)),
    ("phase", DRAWN, 1, one_hot(1, 9)),
    ("phase", CATCH, 0, one_hot(2, 9)),
    ("phase", CHALLENGE, 0, one_hot(3, 9)),
    ("phase", OPENING, 0, one_hot(4, 9)),
    ("phase", OVER, 0, one_hot(8, 9)),
    ("to_act", TABLE, 1, [1]),
    ("to_act", TABLE, 0, [0]),
    ("to_act", CATCH, 2, [1]),
    ("to_act", CATCH, 0, [0]),
    ("to_act", OVER, 0, [0]),
    ("said", TABLE, 1, [0]),
    ("said", SAID, 0, [1]),
    ("said", SAID, 1, [1]),
    ("clockwise", TABLE, 0, [0]),
    ("clockwise", DEALT, 0, [1]),
    ("stack", TABLE, 0, [0]),
    ("on_turn", TABLE, 0, one_hot(2, 10)),
    ("on_turn", TABLE, 1, one_hot(0, 10)),
    ("on_turn", CATCH, 2, one_hot(1, 10)),
    ("on_turn", TEN, 4, one_hot(9, 10)),
    ("hand_sizes", TABLE, 0, padded([4, 2, 1], 10)),
    ("hand_sizes", DEALT, 1, padded([4, 4, 2], 10)),
    ("hand_sizes", OVER, 0, padded([0, 2], 10)),
    ("one_card", TABLE, 0, padded([0, 0, 1], 10)),
    ("one_card", TABLE, 2, padded([0, 1], 10)),
    ("one_card", TEN, 5, [1] * 10),
    ("two_cards", TABLE, 0, padded([0, 1], 10)),
    ("two_cards", TWO, 0, padded([1, 1], 10)),
    ("pile", TABLE, 0, [3]),
    ("pile", DRAWN, 0, [0]),
    ("discards", TABLE, 0, [2]),
    ("scores_high", TABLE, 0, padded([1, 255, 0], 10)),  # 8200 is 256 times 32 and 8
    ("scores_high", TABLE, 1, padded([0, 1, 255], 10)),
    ("scores_low", TABLE, 0, padded([8, 8, 0], 10)),
    ("scores_low", TABLE | {"scores": [31, 64, 95]}, 1, padded([0, 31, 31], 10)),
    ("num_players", TWO, 0, one_hot(0, 9)),
    ("num_players", TABLE, 0, one_hot(1, 9)),
    ("num_players", TEN, 0, one_hot(8, 9)),
    ("target", TWO, 0, [15, 20]),
    ("target", TWO | {"rules": {"target": 100_000}}, 0, [255, 0]),
    ("rules", TWO, 0, [1, 1, 0, 1, 0, 0, 1, 0, 2, 1, 1, 0, 10, 10, 0, 0, 0, 0]),
    (
        "rules",
        TWO | {"rules": "classic"},
        0,
        [0, 0, 1, 0, 1, 0, 1, 1, 4, 1, 1, 0, 4, 10, 0, 0, 0, 0],
    ),
    ("rules", CHALLENGE, 1, [0, 1, 0, 0, 0, 1, 1, 0, 2, 0, 1, 0, 4, 10, 0, 0, 0, 0]),
    (
        "rules",
        TWO | {"rules": OTHER_RULES},
        0,
        [1, 1, 0, 1, 0, 0, 0, 0, 2, 0, 0, 1, 3, 100, 0, 0, 0, 0],
    ),
    ("partners", TWO, 0, [0]),
    ("colour_before", LAID_ON_GREEN, 0, [0, 0, 1, 0]),
    ("colour_before", LAID_ON_GREEN, 1, [0, 0, 1, 0]),
    ("colour_before", CHALLENGE, 1, [0, 0, 0, 0]),
    ("colour_before", TWO, 0, [0, 0, 0, 0]),
]
"""A slice, a table, who looks at it, and all that the slice says."""


def load(table: Table) -> GameBatch:
    position = Position.from_case(table)
    batch = GameBatch(position.rules, 1)
    batch.load(0, position)
    return batch


def test_every_slice_is_asserted() -> None:
    assert {name for name, *_ in SLICES} == set(LAYOUT)
    stops = [part.stop for part in LAYOUT.values()]
    assert [part.start for part in LAYOUT.values()] == [0, *stops[:-1]]
    assert stops[-1] == OBSERVATION_SIZE


@pytest.mark.parametrize(
    ("name", "table", "seat", "content"),
    SLICES,
    ids=[f"{name}-{number}" for number, (name, *_) in enumerate(SLICES)],
)
def test_slice_says_what_the_table_shows(
    name: str, table: Table, seat: int, content: list[int]
) -> None:
    (seen,) = load(table).observe(seat)
    assert seen[LAYOUT[name]].tolist() == content


BLUFFED: dict[str, Any] = {
    "rules": "official",
    "hands": ["W+4 Y1", "G1 G2", "B1 B2"],
    "discard": "W",
    "colour": "Y",
    "draw": "R1 R2 R3 R4 R5 R6 R7 R8 R9",
}


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ({}, ["W+4:B", "let-go", "let-go"], ["challenge"]),
        ({}, ["W+4:B", "catch"], ["challenge"]),
        ({"hands": ["W+4 R1", "G1 G2", "B1 B2"]}, ["W+4:Y", "let-go", "let-go"], ["challenge"]),
        ({"hands": ["W+4 Y1 Y2", "G1 G2", "B1 B2"]}, ["W+4:B"], ["accept", "draw"]),
        ({"rules": {"preset": "official", "uno_call": "automatic"}}, ["W+4:B"], ["accept"]),
        ({"rules": {"preset": "official", "uno_enforcement": "automatic"}}, ["W+4:B"], ["accept"]),
        ({"hands": ["W+4 Y1", "G1 W+4", "B1 B2"], "turn": 1}, ["uno", "W+4:R"], ["challenge"]),
        ({"hands": ["W+4", "G1 G2", "B1 B2"]}, [], ["W+4:B"]),
        ({"rules": "angry_birds", "hands": ["W+4 G1", "G1 G2", "B1 B2"]}, [], ["W+4:B"]),
    ],
)
def test_colour_before_is_seen_by_all_until_the_challenge_is_decided(
    change: Table, before: list[str], after: list[str]
) -> None:
    batch = load(BLUFFED | change)
    for number, action in enumerate(before + after):
        batch.step(np.array([ACTIONS.index(action)]))
        shown = action != "uno" and number < len(before)
        for seat in range(3):
            (seen,) = batch.observe(seat)
            assert seen[LAYOUT["colour_before"]].tolist() == [0, int(shown), 0, 0]
        assert batch.position(0).colour_before == ("Y" if shown else None)


# --- Everything there is -------------------------------------------------------------------------


def split_full(seen: NDArray[np.uint8]) -> tuple[list[int], list[int], list[int], list[int], int]:
    """The observation, the hands, the pile, the drawn card and the guilt."""
    assert seen.shape == (FULL_SIZE,)
    stops = np.cumsum([OBSERVATION_SIZE, 10 * len(CARDS), 112, 1, 1])
    assert stops[-1] == FULL_SIZE
    observation, hands, pile, drawn, guilty, _ = np.split(seen, stops)
    return observation.tolist(), hands.tolist(), pile.tolist(), drawn.tolist(), int(guilty[0])


def kinds(*cards: str) -> list[int]:
    return [CARDS.index(card) + 1 for card in cards]


@pytest.mark.parametrize(("seat", "by_place"), [(0, (0, 2, 1)), (1, (1, 0, 2)), (2, (2, 1, 0))])
def test_observe_all_adds_hands_by_place_and_the_pile_in_order(
    seat: int, by_place: tuple[int, ...]
) -> None:
    batch = load(TABLE)
    observation, hands, pile, drawn, guilty = split_full(batch.observe_all(seat)[0])
    assert observation == batch.observe(seat)[0].tolist()
    held = [Counter(TABLE["hands"][other].split()) for other in by_place]
    counts = (cards[card] for cards in held for card in CARDS)
    assert hands == padded(counts, 10 * len(CARDS))
    assert pile == padded(kinds("R1", "R2", "KP"), 112)
    assert (drawn, guilty) == ([0], 0)


def test_observe_all_sees_a_whole_classic_pile() -> None:
    batch = GameBatch("classic", 1, seed=4)
    cards = batch.position(0).draw
    assert len(cards) > 108 - 14 - 5
    assert split_full(batch.observe_all(1)[0])[2] == padded(kinds(*cards), 112)


def test_observe_all_sees_the_drawn_card_and_the_bluff() -> None:
    for seat in (0, 1):
        assert split_full(load(DRAWN).observe_all(seat)[0])[3] == kinds("W")
        for guilty in (False, True):
            batch = load({**CHALLENGE, "hands": ["B5 R6", "G1 G2"], "guilty": guilty})
            assert split_full(batch.observe_all(seat)[0])[4] == guilty


def test_observe_all_of_no_game_is_no_row() -> None:
    assert GameBatch("angry_birds", 2).observe_all(where=[]).shape == (0, FULL_SIZE)
