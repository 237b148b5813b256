"""The reference engine: its random words, what is always true, and rules the cases leave open.

The conformance cases are run on it in ``test_conformance.py``, beside the core.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from reference import RandomWords, ReferenceGame, points_of, whole_deck

from uno_env.game.actions import ACTIONS
from uno_env.game.rules import PRESETS, Rules

# --- Tables that cannot be ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dealr": 1}, "unknown key 'dealr'"),
        ({"hands": ["R10", "G1"]}, "unknown card 'R10'"),
        ({"hands": ["R0 R0", "G1"]}, "more than the deck has of R0"),
        ({"rules": "classic", "draw": "KP"}, "more than the deck has of KP"),
        ({"hands": ["", "G1"]}, "a hand is empty"),
        ({"hands": ["R1"]}, "num_players=1"),
        ({"discard": "R1 W"}, "colour None"),
        ({"colour": "B"}, "colour B is not that of R7"),
        ({"turn": 2}, "turn 2"),
        ({"dealer": -1}, "dealer -1"),
        ({"direction": 0}, "direction 0"),
        ({"scores": [1]}, "scores"),
        ({"opening": "R1"}, "either discard or opening"),
        ({"rules": "clasic"}, "unknown preset"),
    ],
)
def test_impossible_case_is_refused(changes: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReferenceGame.from_case({"hands": ["R1 R2", "G1"], "discard": "R7", **changes})


# --- Cards and random words ----------------------------------------------------------------------


def test_points_of_a_whole_deck() -> None:
    """Rule "Presets and switches": 2160 with the Angry Birds values, 1240 with the classic."""
    angry_birds, classic = Rules.preset("angry_birds"), Rules.preset("classic")
    assert sum(points_of(card, angry_birds) for card in whole_deck(angry_birds)) == 2160
    assert sum(points_of(card, classic) for card in whole_deck(classic)) == 1240
    assert Counter(whole_deck(angry_birds)) - Counter(whole_deck(classic)) == Counter({"KP": 4})
    assert (len(whole_deck(angry_birds)), len(whole_deck(classic))) == (112, 108)


def test_random_words_are_splitmix64() -> None:
    """Seed 0 gives the published first outputs of SplitMix64 begun at 0."""
    words = RandomWords(0)
    assert [words.take() for _ in range(3)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
    ]


def test_shuffle_takes_a_word_for_two_cards() -> None:
    words = RandomWords(0)
    assert words.shuffle(["B1", "R1", "W"]) == ["R1", "W", "B1"]  # halves 7b1d, e220, a1b9
    assert words.taken == 2
    assert words.shuffle(["B1"]) == ["B1"]
    assert words.taken == 3


def test_seed_decides_everything() -> None:
    """Seeds count modulo 2**64."""
    first = ReferenceGame(Rules(num_players=3), 5).snapshot()
    assert ReferenceGame(Rules(num_players=3), 5).snapshot() == first
    assert ReferenceGame(Rules(num_players=3), 5 - 2**64).snapshot() == first
    assert ReferenceGame(Rules(num_players=3), 6).snapshot() != first


# --- What is always true -------------------------------------------------------------------------


def self_play(
    rules: Rules, seed: int, actions: int
) -> Iterator[tuple[dict[str, Any], ReferenceGame]]:
    """Every position of a game played at random."""
    chooser = random.Random(seed)
    game = ReferenceGame(rules, seed)
    for _ in range(actions):
        yield game.snapshot(), game
        if game.legal:
            game.step(chooser.choice(game.legal))
        elif game.game_over:
            game.new_game()
        else:
            game.next_round()


@pytest.mark.parametrize("num_players", [2, 3, 10])
@pytest.mark.parametrize("preset", PRESETS)
def test_always_true(preset: str, num_players: int) -> None:
    """Rulebook, "Always true"."""
    rules = Rules.preset(preset, num_players=num_players)
    deck = Counter(whole_deck(rules))
    for table, game in self_play(rules, seed=num_players, actions=1500):
        cards = Counter([*table["draw"], *table["discard"]])
        for hand, known in zip(table["hands"], table["known"], strict=True):
            cards.update(hand)
            assert Counter(known) <= Counter(hand)
        assert cards == deck
        assert table["direction"] in (1, -1)
        assert (table["colour"] is None) == (table["phase"] == "colour")
        assert (game.legal == []) == table["over"]
        assert set(game.legal) <= set(ACTIONS)
        waiting = table["phase"] in ("catch", "challenge")
        assert table["over"] or waiting == (table["turn"] != table["on_turn"])
        assert not any(table["points"]) or table["over"]


def test_illegal_actions_leave_the_table() -> None:
    for table, game in self_play(Rules.preset("official", num_players=3), seed=1, actions=300):
        for action in {*ACTIONS, "R10", ""} - set(game.legal):
            with pytest.raises(ValueError, match="not legal"):
                game.step(action)
        assert game.snapshot() == table


# --- Rules that the cases leave open -------------------------------------------------------------


def played(case: Mapping[str, Any], *actions: str) -> ReferenceGame:
    game = ReferenceGame.from_case(case)
    for action in actions:
        game.step(action)
    return game


def test_next_dealer_sits_clockwise() -> None:
    """Rule "Dealer"; the totals of the game stay."""
    game = played({"hands": ["R5", "R7", "R3"], "discard": "R1", "dealer": 2}, "R5")
    game.next_round()
    assert (game.dealer, game.scores) == (0, [10, 0, 0])
    assert [len(hand) for hand in game.hands] == [7, 7, 7]
    game.new_game()
    assert game.scores == [0, 0, 0]


def test_blocked_round_is_void() -> None:
    """Rule "A turn": once every player in a row has passed, there are no points."""
    game = played({"hands": ["G1 G2", "G3 G4"], "discard": "R7", "scores": [30, 40]})
    assert (game.phase, game.winner, game.points, game.scores) == ("over", None, [0, 0], [30, 40])
    assert not game.game_over


def test_opening_wild_draw_four_goes_back() -> None:
    """Rule "Opening card"."""
    game = ReferenceGame.from_case(
        {"hands": ["G1 G2", "G3 G4"], "opening": "W+4", "draw": "R1 W+4", "dealer": 1}
    )
    assert (game.discard, game.draw, game.player) == (["R1"], ["W+4", "W+4"], 0)


def test_guilt_is_judged_before_a_penalty() -> None:
    """Rules "UNO" and "Bluffing": catch, then challenge; the hand at the time of play counts."""
    case = {
        "rules": "official",
        "hands": ["W+4 G1", "G3 G4", "Y1 Y2"],
        "discard": "R7",
        "draw": "R1 R2 R3 R4 R5 R6 R8 R9",
    }
    game = played(case, "W+4:B", "let-go", "catch", "challenge")
    assert game.snapshot()["hands"][:2] == (
        ("R1", "R2", "G1"),
        ("R3", "R4", "R5", "R6", "R8", "R9", "G3", "G4"),
    )
    assert game.player == 2


def test_king_pig_cards_are_known_until_played() -> None:
    case = {"hands": ["KP G1 G2", "B1 G4"], "discard": "R7", "draw": "B1 G2 R3 R4"}
    game = played(case, "KP:R")
    assert game.snapshot()["known"] == (("G2",), ("R3", "B1"))
    game.step("R3")
    assert game.snapshot()["known"] == (("G2",), ("B1",))


def test_lack_counts_cards_since_the_last_draw_action() -> None:
    case = {"hands": ["B1 B2 B3", "R+2 G4 G5"], "discard": "R7", "draw": "B1 Y2 Y3 G4"}
    game = played(case, "draw")
    assert game.snapshot()["lack"] == ((0, 15, 15, 15), (15, 15, 15, 15))
    game.step("R+2")
    assert game.snapshot()["lack"] == ((2, 15, 15, 15), (15, 15, 15, 15))
