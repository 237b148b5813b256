"""What users of `GameBatch` rely on beside the rules: seeds, copies, positions, checks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from uno_env import ACTIONS, CARDS, GameBatch, Position, Rules
from uno_env.game.actions import NUM_ACTIONS, parse_action
from uno_env.game.engine import FEW_TO_STEP, MOST_IDLE
from uno_env.game.rules import PRESETS

ALL_PRESETS = list(PRESETS)
UNO = parse_action("uno")


def some_legal(batch: GameBatch, number: int) -> NDArray[np.intp]:
    """A legal action of each game, a different one for each `number`; 0 where a round is over.

    Depends on each game's own mask alone, so that games can be compared across batches. It plays
    a card if one can be played and mostly says UNO, so that rounds come to an end.
    """
    legal = batch.legal
    can_play = legal[:, :64].any(axis=1)
    says_uno = legal[:, UNO] & (number % 3 != 0)
    legal[can_play, 64:] = False
    legal[says_uno] = False
    legal[says_uno, UNO] = True
    counts = np.maximum(legal.sum(axis=1), 1)
    wanted = (number * 7 + 3) % counts
    ranks = legal.cumsum(axis=1) - 1
    return (legal & (ranks == wanted[:, None])).argmax(axis=1)


def play(batch: GameBatch, steps: int, start: int = 0) -> list[str]:
    """Play and deal on; every position on the way, as text, of game 0."""
    seen = []
    for number in range(start, start + steps):
        batch.step(some_legal(batch, number))
        if (over := batch.done & ~batch.game_over).any():
            batch.next_round(over)
        if batch.game_over.any():
            batch.reset(batch.game_over)
        seen.append(str(batch.position(0)))
    return seen


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_a_game_depends_on_its_seed_alone(preset: str) -> None:
    rules = Rules.preset(preset, num_players=3)
    alone = GameBatch(rules, 1, seed=123)
    small = GameBatch(rules, 5, seed=120)
    large = GameBatch(rules, 10_000, seed=0)
    for number in range(80):
        positions = {
            str(alone.position(0)),
            str(small.position(3)),
            str(large.position(123)),
        }
        assert len(positions) == 1, f"after {number} steps"
        for batch in (alone, small, large):
            batch.step(some_legal(batch, number))
            over = batch.done
            if over.any():
                batch.next_round(over)


def test_seeds_given_at_reset() -> None:
    batch = GameBatch("classic", 4, seed=0)
    batch.reset([1, 3], seeds=[77, 78])
    assert batch.position(1) == GameBatch("classic", 1, seed=77).position(0)
    assert batch.position(3) == GameBatch("classic", 1, seed=78).position(0)
    assert batch.position(0) == GameBatch("classic", 1, seed=0).position(0)
    with pytest.raises(ValueError, match=r"seeds have the shape \(3,\): allowed is \(2,\)"):
        batch.reset([1, 3], seeds=[1, 2, 3])


@pytest.mark.parametrize("rules", [
    Rules.preset("angry_birds"),
    Rules.preset("official", num_players=3, stacking=True, jump_in=True),
], ids=str)  # fmt: skip
def test_a_round_given_up_leaves_nothing_behind(rules: Rules) -> None:
    games = 20
    batch, fresh = GameBatch(rules, games, seed=1), GameBatch(rules, games, seed=50)
    met = set()
    for number in range(60):
        batch.step(some_legal(batch, number))
        positions = [batch.position(game) for game in range(games)]
        met |= {position.phase for position in positions}
        met |= {"said" for position in positions if position.said}
        met |= {"guilty" for position in positions if position.guilty}
        met |= {"stacked" for position in positions if position.stack}
        again = batch.copy()
        again.reset(seeds=range(50, 50 + games))
        for name, array in again.state.arrays().items():
            assert np.array_equal(array, getattr(fresh.state, name)), name
    assert met >= {"drawn", "said", "catch", "over"}
    assert met >= {"challenge", "guilty", "stack", "stacked", "jump_in"} or not rules.house_rules


def test_reset_without_seeds_deals_other_games() -> None:
    batch = GameBatch("angry_birds", 50)
    before = [batch.position(i) for i in range(50)]
    mask = np.arange(50) % 2 == 0
    batch.reset(mask)
    changed = [batch.position(i) != before[i] for i in range(50)]
    assert changed == mask.tolist()


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_copies_are_independent(preset: str) -> None:
    rules = Rules.preset(preset, num_players=4)
    batch = GameBatch(rules, 6, seed=5)
    play(batch, 20)
    copy = batch.copy()
    frozen = [str(batch.position(i)) for i in range(6)]
    course = play(batch, 60, start=20)
    assert [str(copy.position(i)) for i in range(6)] == frozen
    assert play(copy, 60, start=20) == course
    taken = copy.take([4, 4, 0])
    assert taken.num_games == 3
    assert taken.position(0) == taken.position(1) == copy.position(4)
    taken.step(some_legal(taken, 0))
    assert taken.position(2) != copy.position(0) or taken.position(0) != copy.position(4)


@pytest.mark.parametrize("players", [2, 3, 10])
@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_positions_round_trip(preset: str, players: int) -> None:
    batch = GameBatch(Rules.preset(preset, num_players=players), 20, seed=1)
    phases = set()
    for number in range(400):
        batch.step(some_legal(batch, number))
        if number % 4 and not batch.done.any():
            continue
        game = int(batch.done.argmax()) if batch.done.any() else number % 20
        position = batch.position(game)
        phases.add(position.phase)
        assert Position.parse(str(position)) == position
        again = GameBatch(batch.rules, 1)
        again.load(0, position)
        assert again.position(0) == position
        assert (again.legal[0] == batch.legal[game]).all()
        for seat in range(players):
            assert (again.observe(seat)[0] == batch.observe(seat)[game]).all()
        if batch.done.any():
            batch.next_round(batch.done)
    assert phases >= {"turn", "drawn", "over"}


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_why_illegal_agrees_with_the_mask(preset: str) -> None:
    batch = GameBatch(Rules.preset(preset, num_players=3), 30, seed=9)
    for number in range(100):
        game = number % 30
        legal = batch.legal[game]
        for action in range(NUM_ACTIONS):
            why = batch.why_illegal(game, action)
            assert (why is None) == legal[action], f"{ACTIONS[action]}: {why}"
        batch.step(some_legal(batch, number))


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ([0, 0], ValueError, r"shape \(2,\): allowed is \(1,\)"),
        ([84], ValueError, "action 84 of game 0: allowed is a whole number from 0 to 83"),
        ([-1], ValueError, "action -1 of game 0"),
        ([1.0], TypeError, "must be integers, not float64"),
        ([parse_action("G1")], ValueError, "illegal action G1 .* of game 0: G1 is not in the hand"),
    ],
)
def test_check_names_what_is_wrong(actions: list[int], error: type, message: str) -> None:
    position = Position.from_case({"hands": ["R5 B3", "G1 G2"], "discard": "R9", "draw": "R1"})
    batch = GameBatch(position.rules, 1)
    batch.load(0, position)
    with pytest.raises(error, match=message):
        batch.check(actions)
    assert batch.position(0) == position


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Rules.preset("uno"), "unknown preset 'uno': known are angry_birds, classic"),
        (lambda: Rules.preset("classic", colours=5), "unknown switch 'colours' of Rules"),
        (lambda: Rules(num_players=1), "num_players=1: allowed is a whole number from 2 to 10"),
        (lambda: Rules(num_players=11), "num_players=11"),
        (lambda: Rules(num_players=True), "num_players=True"),
        (lambda: Rules(wild_draw_four="never"), "wild_draw_four='never': allowed is"),
        (lambda: Rules(uno_penalty=0), "uno_penalty=0: allowed is a whole number from 1 to 10"),
        (lambda: Rules(partners=True), "partners=True with num_players=2: allowed are 4"),
        (lambda: Rules(stacking=1), "stacking=1: allowed is True or False"),
        (lambda: Rules.parse("classic target"), "'target' in rules"),
        (lambda: GameBatch("classic", 0), "num_games=0"),
    ],
)
def test_wrong_arguments_are_named(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_rules_round_trip_through_text() -> None:
    rng = np.random.default_rng(4)
    for preset in PRESETS:
        rules = Rules.preset(preset, num_players=int(rng.integers(2, 11)), target=200)
        assert Rules.parse(str(rules)) == rules
    assert str(Rules.preset("official", num_players=4)) == "official num_players=4"


def test_texts_round_trip() -> None:
    assert len(set(ACTIONS)) == len(ACTIONS) == 84
    assert len(set(CARDS)) == len(CARDS) == 55
    assert [parse_action(text) for text in ACTIONS] == list(range(84))
    with pytest.raises(ValueError, match="unknown action 'R10'"):
        parse_action("R10")


@pytest.mark.parametrize("num_games", [30, 60, MOST_IDLE + 60])
def test_games_that_are_not_stepped_stay_as_they_are(num_games: int) -> None:
    batch = GameBatch(Rules.preset("official", num_players=3), num_games, seed=6)
    rng = np.random.default_rng(0)
    for number in range(120):
        rows = rng.permutation(num_games)[: FEW_TO_STEP + 1 + number % 10]
        others = np.setdiff1d(np.arange(num_games), rows)
        alone, before = batch.take(rows), batch.copy()
        actions = some_legal(alone, number)
        rewards, done = alone.step(actions)
        own_rewards, own_done = batch.step(actions, rows)
        assert np.array_equal(own_rewards, rewards)
        assert np.array_equal(own_done, done)
        for name, array in batch.state.arrays().items():
            assert np.array_equal(array[rows], getattr(alone.state, name)), name
            assert np.array_equal(array[others], getattr(before.state, name)[others]), name
        if batch.done.any():
            batch.next_round(batch.done)


@pytest.mark.parametrize("num_games", [2, FEW_TO_STEP + 4])
@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, 200, 2**40])
def test_a_number_that_is_no_action_changes_nothing(num_games: int, action: int) -> None:
    batch = GameBatch("angry_birds", num_games, seed=2)
    before = [batch.position(game) for game in range(num_games)]
    actions = some_legal(batch, 0)
    actions[-1] = action
    for call in (batch.step, batch.check):
        with pytest.raises(ValueError, match=rf"action {action} of game {num_games - 1}: allowed"):
            call(actions)
    assert [batch.position(game) for game in range(num_games)] == before


def test_actions_of_rounds_that_are_over_are_not_looked_at() -> None:
    batch = GameBatch("angry_birds", 2, seed=2)
    while not batch.done.any():
        batch.step(some_legal(batch, 1))
    actions = np.where(batch.done, 999, some_legal(batch, 1))
    batch.step(batch.check(actions))
    batch.step(np.where(batch.done, -5, some_legal(batch, 1)))


def test_no_games_take_no_actions() -> None:
    batch = GameBatch("angry_birds", 3)
    assert batch.check([], []).shape == (0,)
    rewards, done = batch.step([], [])
    assert rewards.shape == (0, 2)
    assert done.shape == (0,)
