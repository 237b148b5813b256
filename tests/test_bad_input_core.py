"""Wrong input to the core and the environment: the error says what is allowed, nothing changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest

import uno_env
from uno_env import GameBatch, Position, Rules
from uno_env.game import setup
from uno_env.game.rules import PRESETS
from uno_env.game.state import State

GAMES = 3


def everything(batch: GameBatch) -> list[bytes]:
    return [array.tobytes() for array in batch.state.arrays().values()]


CASE = {"hands": ["R5 G1", "B2 B3"], "discard": "R9", "draw": "Y1"}


def position(**fields: Any) -> Position:
    """A position of two seats, with some fields as given."""
    return Position.from_case({**CASE, **fields})


def bare_position(**fields: Any) -> Position:
    """The same, past the reading of text."""
    hands = (("R5", "G1"), ("B2", "B3"))
    return Position(
        **{"rules": Rules(), "hands": hands, "discard": ("R9",), "draw": ("Y1",), **fields}
    )


# ---------------------------------------------------------------------- the batch


@pytest.mark.parametrize(
    ("misuse", "error", "message"),
    [
        # Which games.
        (lambda b: b.reset(np.uint8([0, 1, 1])), ValueError, "game 1 is given 2 times: allowed is"),
        (lambda b: b.next_round([2, 2]), ValueError, "game 2 is given 2 times: allowed is once"),
        (lambda b: b.step([64, 64], [0, 0]), ValueError, "game 0 is given 2 times"),
        (lambda b: b.reset([-1]), IndexError, "game=-1: allowed is a whole number from 0 to 2"),
        (lambda b: b.next_round(3), IndexError, "game=3: allowed is a whole number from 0 to 2"),
        (lambda b: b.legal_of([5]), IndexError, "game=5: allowed is a whole number from 0 to 2"),
        (lambda b: b.observe(where=[1.5]), TypeError, "game=1.5: allowed is a whole number"),
        (lambda b: b.count_legal(["0"]), TypeError, "game='0': allowed is a whole number"),
        (lambda b: b.reset([[0, 1]]), ValueError, "the shape (1, 2): allowed is (n,)"),
        (lambda b: b.reset([True, False]), ValueError, "a mask of games has the shape (2,)"),
        (lambda b: b.take([0, 3]), IndexError, "game=3: allowed is a whole number from 0 to 2"),
        (lambda b: b.take([]), ValueError, "no game to take: allowed is a batch of at least 1"),
        (lambda b: b.take(np.zeros(GAMES, bool)), ValueError, "no game to take"),
        (lambda b: b.position(5), IndexError, "game=5: allowed is a whole number from 0 to 2"),
        (lambda b: b.position(-1), IndexError, "game=-1"),
        (lambda b: b.position(1.0), TypeError, "game=1.0"),
        (lambda b: b.why_illegal(5, 0), IndexError, "game=5"),
        (lambda b: b.why_illegal(0, "draw"), TypeError, "action='draw': allowed is a whole number"),
        (lambda b: b.why_illegal(0, 64.7), TypeError, "action=64.7: allowed is a whole number"),
        (lambda b: b.why_illegal(0, 84), ValueError, "action=84: allowed is a whole number from 0"),
        (lambda b: b.load(3, position()), IndexError, "game=3"),
        (lambda b: b.load(0, "hands: R1 | R2"), TypeError, "allowed is a Position"),
        (lambda b: b.load(0, None), TypeError, "position None: allowed is a Position"),
        # Which seat.
        (lambda b: b.observe(2), ValueError, "seat=2: allowed is a whole number from 0 to 1"),
        (lambda b: b.observe(-1), ValueError, "seat=-1: allowed is a whole number from 0 to 1"),
        (lambda b: b.observe_all([0, 1, 2]), ValueError, "seat=2"),
        (lambda b: b.observe(0.0), TypeError, "seat=0.0"),
        (lambda b: b.observe([0, 1]), ValueError, "seats have the shape (2,): allowed is (3,)"),
        # Which actions.
        (lambda b: b.step(64), ValueError, "actions have the shape (): allowed is (3,)"),
        (lambda b: b.step([64]), ValueError, "actions have the shape (1,): allowed is (3,)"),
        (lambda b: b.step([[64]] * 3), ValueError, "actions have the shape (3, 1)"),
        (lambda b: b.step([64.0] * 3), TypeError, "actions must be integers, not float64"),
        (lambda b: b.step([True] * 3), TypeError, "actions must be integers, not bool"),
        (
            lambda b: b.step([64], [0, 2]),
            ValueError,
            "actions have the shape (1,): allowed is (2,)",
        ),
        (lambda b: b.check([0, 84], [0, 2]), ValueError, "action 84 of game 2: allowed is"),
        # Which seeds.
        (lambda b: b.reset(seeds=[0, 1, 2.0]), TypeError, "seed=2.0: allowed is a whole number"),
        (lambda b: b.reset(seeds=[0, 1, -1]), ValueError, "seed=-1"),
        (lambda b: b.reset(seeds=[0, 1, 2**64]), ValueError, f"from 0 to {2**64 - 1}"),
        (lambda b: b.reset(seeds=np.arange(3.0)), TypeError, "seed=0.0"),
        (lambda b: b.reset(seeds=np.array([0, -2, 1])), ValueError, "seed=-2"),
        (lambda b: b.reset(seeds=["0", "1", "2"]), TypeError, "seed='0'"),
        (lambda b: b.reset(seeds=5), ValueError, "seeds have the shape (): allowed is (3,)"),
    ],
)
def test_a_batch_refuses(misuse: Callable[[GameBatch], Any], error: type, message: str) -> None:
    batch = GameBatch("angry_birds", GAMES, seed=4)
    before = everything(batch)
    with pytest.raises(error, match=re.escape(message)):
        misuse(batch)
    assert everything(batch) == before


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_games": "2"}, TypeError, "num_games='2': allowed is a whole number from 1"),
        ({"num_games": None}, TypeError, "num_games=None"),
        ({"num_games": 2.0}, TypeError, "num_games=2.0"),
        ({"num_games": True}, TypeError, "num_games=True"),
        ({"num_games": -1}, ValueError, "num_games=-1: allowed is a whole number from 1"),
        ({"seed": "5"}, TypeError, "seed='5': allowed is a whole number from 0 to"),
        ({"seed": 1.7}, TypeError, "seed=1.7"),
        ({"seed": True}, TypeError, "seed=True"),
        ({"seed": float("nan")}, TypeError, "seed=nan"),
        ({"seed": -1}, ValueError, "seed=-1"),
        ({"seed": 2**64}, ValueError, f"seed={2**64}: allowed is a whole number from 0 to"),
    ],
)
def test_a_batch_is_not_made(arguments: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        GameBatch("classic", **arguments)


def test_the_largest_seeds_are_seeds() -> None:
    batch = GameBatch("classic", GAMES)
    batch.reset(seeds=[2**64 - 1, 1, 2])
    assert batch.position(0) == GameBatch("classic", 1, seed=2**64 - 1).position(0)
    assert batch.position(1) == GameBatch("classic", 1, seed=1).position(0)


def test_games_may_be_named_in_any_way_that_is_clear() -> None:
    batch = GameBatch("classic", GAMES)
    for where in ([2, 0], np.uint8([2, 0]), (2, 0)):
        assert (batch.legal_of(where) == batch.legal[[2, 0]]).all()
    assert batch.observe(where=[1, 1]).shape[0] == 2
    assert batch.count_legal(1).shape == (1,)
    assert batch.observe(where=[]).shape[0] == 0
    batch.reset([])
    actions = batch.legal.argmax(axis=1)
    assert batch.check(actions[[2, 0]], [2, 0]).tolist() == actions[[2, 0]].tolist()


def test_what_a_batch_shows_is_not_what_it_plays_with() -> None:
    batch = GameBatch("classic", GAMES)
    before = everything(batch)
    for shown in (batch.player, batch.winner, batch.points, batch.scores, batch.legal, batch.done):
        shown[...] = 1
    assert everything(batch) == before


def test_a_load_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(state: State, game: int, loaded: Position) -> None:
        state.hands[game] = 0
        raise RuntimeError

    batch = GameBatch("angry_birds", GAMES)
    before = everything(batch)
    monkeypatch.setattr(setup, "write", fail)
    with pytest.raises(RuntimeError):
        batch.load(0, position())
    assert everything(batch) == before


# ---------------------------------------------------------------------- positions

OVER = {"phase": "over", "hands": ["", "B2"], "winner": 0}
CATCH = {"phase": "catch", "hands": ["R5", "B2 B3"], "turn": 1, "on_turn": 0}
BLUFF = {"rules": "official", "discard": "W+4", "colour": "R"}
CHALLENGE = {**BLUFF, "phase": "challenge", "turn": 1, "on_turn": 0}
BLUFFED_CATCH = {**BLUFF, **CATCH}


@pytest.mark.parametrize(
    "fields",
    [
        OVER,
        {**OVER, "points": [30, 0], "scores": [40, 0]},
        {"phase": "over"},
        CATCH,
        CHALLENGE,
        {**CHALLENGE, "guilty": True},
        {**CHALLENGE, "said": True, "hands": ["R5", "B2 B3"]},
        {**CHALLENGE, "colour_before": "Y"},
        {**CHALLENGE, "colour_before": "R", "guilty": True},
        {**CHALLENGE, "colour_before": "R"},  # R5 G1: one of them may be a penalty
        {**BLUFFED_CATCH, "colour_before": "R", "guilty": True},
        {**BLUFFED_CATCH, "colour_before": "G"},
        {**BLUFFED_CATCH, "guilty": True},
        {"phase": "drawn", "drawn": "R5"},
        {"phase": "drawn", "drawn": "W+4", "hands": ["W+4 G1", "B2"]},
        {"phase": "colour", "discard": "KP"},
        {"discard": "", "opening": "R+2"},
    ],
)
def test_positions_of_every_kind(fields: dict[str, Any]) -> None:
    table = position(**fields)
    assert Position.parse(str(table)) == table
    batch = GameBatch(table.rules, 1)
    batch.load(0, table)
    assert batch.done[0] or batch.legal.any()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"winner": 0}, "winner=0 in phase turn: it belongs to phase over"),
        ({"points": [5, 0]}, "points=(5, 0): without a winner there are none"),
        ({"phase": "over", "points": [5, 0]}, "points=(5, 0): without a winner there are none"),
        ({"hands": ["", "B2"]}, "the hand of seat 0 is empty: then the round is over"),
        ({**OVER, "hands": ["", ""]}, "the hand of seat 1 is empty"),
        ({**OVER, "winner": None}, "the hand of seat 0 is empty"),
        ({**OVER, "hands": ["R1", "B2"]}, "winner=0: that seat still holds cards"),
        ({**CHALLENGE, "discard": "R9"}, "phase=challenge: a W+4 is on top and"),
        ({**CHALLENGE, "rules": "classic"}, "phase=challenge: a W+4 is on top and"),
        (
            {**CHALLENGE, "hands": ["R5", "B2", "B3"], "turn": 2},
            "turn=2 in phase challenge: seat 1, next to on_turn=0, is asked",
        ),
        ({**CATCH, "hands": ["R5 G1", "B2"]}, "phase=catch: seat 0 holds 2 cards and said=False"),
        ({**CATCH, "said": True}, "phase=catch: seat 0 holds 1 cards and said=True"),
        ({**CATCH, "rules": "classic"}, "phase=catch: under uno_call explicit and uno_enforcement"),
        ({**CATCH, "rules": {"uno_call": "automatic"}}, "phase=catch: under uno_call automatic"),
        ({"guilty": True}, "guilty=True: it belongs to phases catch and challenge, with a W+4"),
        ({**CATCH, "guilty": True}, "guilty=True"),
        (
            {"colour_before": "R"},
            "colour_before=R: it belongs to phases catch and challenge, with a W+4 on top and",
        ),
        ({**CATCH, "colour_before": "R"}, "colour_before=R: it belongs to phases catch and"),
        ({**BLUFF, "colour_before": "R"}, "colour_before=R: it belongs to phases catch and"),
        ({**CHALLENGE, "colour_before": "W"}, "colour_before='W': allowed is None or 'R' or 'Y'"),
        (
            {**CHALLENGE, "colour_before": "Y", "guilty": True},
            "guilty=True, colour_before=Y: seat 0 holds no card of that colour",
        ),
        (
            {**BLUFFED_CATCH, "colour_before": "R"},
            "guilty=False, colour_before=R: seat 0 held a card of that colour before the W+4",
        ),
        ({**CHALLENGE, "colour_before": "R", "hands": ["R5 R1", "B2"]}, "guilty=False"),
        ({**CHALLENGE, "colour_before": "R", "hands": ["R5 G1 G2 G3", "B2"]}, "guilty=False"),
        ({**CHALLENGE, "colour_before": "R", "hands": ["R5", "B2"], "said": True}, "guilty=False"),
        ({"said": True, "rules": {"uno_call": "automatic"}}, "said=True in phase turn, uno_call"),
        ({"phase": "colour", "discard": "W", "said": True}, "said=True in phase colour"),
        (
            {"rules": "classic", "phase": "drawn", "drawn": "G1"},
            "drawn=G1: it may not be played on R9 in colour R, so the turn has passed",
        ),
        (
            {"rules": "classic", "phase": "drawn", "drawn": "W+4", "hands": ["R5 W+4", "B2"]},
            "with R5 W+4 in hand and wild_draw_four no_matching_card, so the turn has passed",
        ),
        ({"scores": [2**30 + 1, 0]}, f"allowed is a whole number from 0 to {2**30}"),
        ({"direction": 1.0}, "direction=1.0: allowed is 1 or -1"),
        ({"direction": True}, "direction=True: allowed is 1 or -1"),
        ({"phase": ["turn"]}, "phase=['turn']: allowed is 'turn' or 'drawn' or"),
        ({"discard": "R10"}, "discard: unknown card 'R10'"),
        ({"draw": 5}, "draw: 5 is not cards written as text"),
        ({"known": 5}, "known=5: allowed is a tuple"),
    ],
)
def test_a_case_is_no_position(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        position(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rules": "classic"}, "rules='classic': allowed is a Rules"),
        ({"hands": (("R5 G1",), ("B2",))}, "hands: unknown card 'R5 G1'"),
        ({"hands": ("R5", "B2")}, "hands='R5': allowed is a tuple"),
        ({"hands": (("R5",),)}, "hands has 1 entries: allowed is one for each of the 2 players"),
        ({"hands": ((5,), ("B2",))}, "hands: 5 is not a card written as text"),
        ({"discard": "R9"}, "discard='R9': allowed is a tuple"),
        ({"draw": None}, "draw=None: allowed is a tuple"),
        ({"scores": 5}, "scores=5: allowed is a tuple"),
        ({"scores": (1.5, 0)}, "scores=1.5: allowed is a whole number from 0 to"),
        ({"known": 5}, "known=5: allowed is a tuple"),
        ({"known": (5, 6)}, "known=5: allowed is a tuple"),
        ({"lack": 5}, "lack=5: allowed is a tuple"),
        ({"lack": ((1, 2, 3), (1, 2, 3))}, "lack=(1, 2, 3): allowed are four whole numbers"),
        ({"lack": ((16, 0, 0, 0),) * 2}, "lack=16: allowed is a whole number from 0 to 15"),
        ({"turn": 2}, "turn=2: allowed is a whole number from 0 to 1"),
        ({"turn": "0"}, "turn='0': allowed is a whole number from 0 to 1"),
        ({"dealer": 2}, "dealer=2"),
        ({"winner": 1.0}, "winner=1.0"),
        ({"said": 1}, "said=1: allowed is True or False"),
        ({"phase": "tea"}, "phase='tea': allowed is"),
        ({"phase": "swap"}, "phase=swap: it belongs to the house rule seven_zero, which is off"),
        ({"stack": 18}, "stack=18: allowed is a whole number from 0 to 16"),
        ({"stack": 2}, "stack=2 in phase turn: it belongs to the house rule stacking"),
        ({"colour": ["R"]}, "colour=['R'] with R9 on top: allowed is one of R, Y, G, B"),
        ({"opening": "R5"}, "either a discard pile or an opening card"),
        ({"discard": ()}, "either a discard pile or an opening card"),
        ({"drawn": 5}, "drawn: 5 is not a card written as text"),
    ],
)
def test_fields_are_no_position(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        bare_position(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"opening": 5}, "opening: 5 is not a card written as text"),
        ({"opening": "R1 R2"}, "opening: unknown card 'R1 R2'"),
        ({"winner": 0}, "winner=0 in phase turn"),
        ({"points": (5, 0)}, "points=(5, 0)"),
        ({"drawn": "R5"}, "drawn='R5' in phase turn"),
        ({"said": True}, "said=True: before the opening card"),
        ({"guilty": True}, "guilty=True"),
        ({"colour_before": "R"}, "colour_before=R"),
        ({"on_turn": 1}, "turn=0, on_turn=1 in phase turn"),
        ({"hands": ((), ("B2",))}, "the hand of seat 0 is empty"),
        ({"phase": "over"}, "with an opening card the colour and the phase are still to come"),
    ],
)
def test_fields_do_not_go_with_an_opening_card(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        bare_position(**{"discard": (), "opening": "R+2", **fields})


@pytest.mark.parametrize("build", [Position.from_case, Position.parse, Rules.parse, Rules.make])
def test_none_is_nothing_to_read(build: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"allowed is|reads|must be"):
        build(None)


# ---------------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Rules.preset("classic", cls=1), "unknown switch 'cls' of Rules: known are"),
        (lambda: Rules.preset("classic", name=1), "unknown switch 'name' of Rules: known are"),
        (lambda: Rules.make("classic", rules=1), "unknown switch 'rules' of Rules"),
        (lambda: Rules.make({1: 2}), "unknown switch 1 of Rules: known are"),
        (lambda: Rules.parse("classic target=5 target=6"), "'target=6' in rules"),
        (lambda: Rules(target=np.bool_(True)), "allowed is a whole number from 1 to 100000"),
        (lambda: Rules(target=5.0), "target=5.0"),
        (lambda: Rules(deck=["classic"]), "deck=['classic']: allowed is"),
        (lambda: Rules(last_card_draws=1), "last_card_draws=1: allowed is True or False"),
        (lambda: Rules(uno_call=np.array(["explicit"])), "uno_call="),
    ],
)
def test_no_rules(build: Callable[[], Rules], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        build()


def test_numbers_and_texts_of_numpy_make_the_same_rules() -> None:
    plain = Rules(num_players=4, deck="classic", last_card_draws=False)
    made = Rules(num_players=np.int64(4), deck=np.str_("classic"), last_card_draws=np.bool_(False))
    assert made == plain
    assert hash(made) == hash(plain)
    assert [type(made.num_players), type(made.deck), type(made.last_card_draws)] == [int, str, bool]


# ---------------------------------------------------------------------- the environment


@pytest.mark.parametrize(
    ("misuse", "error", "message"),
    [
        (lambda e: e.reset(options=5), TypeError, "options=5: allowed is a mapping such as"),
        (lambda e: e.reset(options=position()), TypeError, "allowed is a mapping such as"),
        (lambda e: e.reset(options={"position": 5}), TypeError, "allowed is a Position"),
        (lambda e: e.observe(["player_0"]), ValueError, "unknown agent ['player_0']: known are"),
        (lambda e: e.step(np.array([64])), TypeError, "action=array([64]) of player_"),
    ],
)
def test_an_environment_refuses(
    misuse: Callable[[uno_env.raw_env], Any], error: type, message: str
) -> None:
    env = uno_env.env()
    env.reset(seed=1)
    before = env.position
    with pytest.raises(error, match=re.escape(message)):
        misuse(env)
    assert env.position == before


@pytest.mark.parametrize("name", ["episode", "reward", "render_mode"])
def test_an_array_is_no_setting(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}=array.*: allowed is "):
        uno_env.env(**{name: np.array(["round", "win"])})


@pytest.mark.parametrize("preset", PRESETS)
def test_a_registered_name_keeps_its_preset(preset: str) -> None:
    made = pettingzoo.make("aec", f"uno/{preset}-v0", rules={"uno_penalty": 3}, num_players=3)
    assert made.rules == Rules.preset(preset, uno_penalty=3, num_players=3)
    same = pettingzoo.make("aec", f"uno/{preset}-v0", rules={"preset": preset})
    assert same.rules == Rules.preset(preset)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"rules": "official"}, TypeError),
        ({"rules": Rules()}, TypeError),
        ({"rules": {"preset": "official"}}, ValueError),
    ],
)
def test_a_registered_name_takes_no_other_preset(arguments: dict[str, Any], error: type) -> None:
    with pytest.raises(error, match=r"uno/classic-v0 allowed is a mapping of switches"):
        pettingzoo.make("aec", "uno/classic-v0", **arguments)
    with pytest.raises(TypeError, match="unknown argument 'preset'"):
        pettingzoo.make("aec", "uno/classic-v0", preset="official")
