"""The PettingZoo environment: PettingZoo's own suites, rewards, ends, and misuse."""

import copy
import pickle
import random
import re
import warnings

import numpy as np
import pettingzoo
import pytest
from gymnasium.spaces import Discrete
from pettingzoo.test import api_test, max_cycles_test, render_test, seed_test
from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import BaseWrapper, TerminateIllegalWrapper

import uno_env
from uno_env import GameBatch, Position, Rules
from uno_env.game import scoring
from uno_env.game.actions import Action, parse_action
from uno_env.game.observation import FULL_SIZE, OBSERVATION_SIZE

PRESETS = ["angry_birds", "classic", "official"]
PLAYERS = [2, 3, 4, 7, 10]
every_table = pytest.mark.parametrize(
    ("preset", "players"), [(preset, players) for preset in PRESETS for players in PLAYERS]
)


def keen(mask, rng):
    """A random action, but no draw or keep while there is another: so rounds come to an end."""
    legal = np.flatnonzero(mask).tolist()
    return rng.choice([a for a in legal if a not in (Action.DRAW, Action.KEEP)] or legal)


def play(env, rng, choose=keen, **reset):
    """Play an episode out: the sums of rewards that `last` told each agent, and the decisions."""
    env.reset(**reset)
    sums = dict.fromkeys(env.possible_agents, 0.0)
    decisions = 0
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last(observe=False)
        sums[agent] += reward
        done = terminated or truncated
        decisions += not done
        env.step(None if done else choose(info["action_mask"], rng))
    return sums, decisions


# ---------------------------------------------------------------------- PettingZoo's suites

INHERENT = (
    # Said of every dict observation but those of PettingZoo's own games, which it knows by name.
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or",
    # Said of what an agent that is done sees: there it is right.
    "Action mask numpy array is all zeros (no legal actions).",
)


@pytest.mark.parametrize("settings", [{}, {"episode": "game", "reward": "points", "max_cycles": 9}])
@every_table
def test_pettingzoo_api(preset, players, settings):
    env = uno_env.env(preset, num_players=players, **settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env, num_cycles=30)
    for warning in caught:
        assert str(warning.message).startswith(INHERENT), warning.message


@every_table
def test_pettingzoo_seeds(preset, players):
    seed_test(lambda: uno_env.env(preset, num_players=players, episode="game"), num_cycles=15)


@every_table
def test_pettingzoo_render(preset, players, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    render_test(lambda **mode: uno_env.env(preset, num_players=players, **mode))


class AllDraw(BaseWrapper):
    """Begins where each seat in turn can do nothing but draw a card that cannot be played.

    PettingZoo's test of `max_cycles` presumes that all agents act in each cycle, by actions that
    need no mask. Such a game of UNO there is.
    """

    def __init__(self, rules, max_cycles):
        super().__init__(uno_env.env(rules, max_cycles=max_cycles * rules.num_players))
        self.metadata = {**self.env.metadata, "is_parallelizable": True}
        cards = [f"{colour}{number}" for colour in "YGB" for number in "01122334455667788"]
        hands, pile = cards[: rules.num_players], cards[rules.num_players :]
        self.start = Position.from_case(
            {"rules": rules, "hands": hands, "discard": "R9", "draw": " ".join(pile)}
        )

    def reset(self, seed=None, options=None):
        super().reset(seed=seed, options={"position": self.start})

    def action_space(self, agent):
        return Discrete(1, start=int(Action.DRAW))


@every_table
def test_pettingzoo_max_cycles(preset, players):
    class Module:
        @staticmethod
        def env(max_cycles):
            return AllDraw(Rules.preset(preset, num_players=players), max_cycles)

        @staticmethod
        def parallel_env(max_cycles):
            return aec_to_parallel(Module.env(max_cycles))

    max_cycles_test(Module)


@pytest.mark.parametrize("preset", PRESETS)
def test_made_through_the_registry(preset):
    env = pettingzoo.make("aec", f"uno/{preset}-v0", num_players=3, max_cycles=5)
    assert isinstance(env, uno_env.raw_env)
    assert env.rules == Rules.preset(preset, num_players=3)
    _, decisions = play(env, random.Random(0))
    assert decisions == 5


def test_pettingzoos_conversion_for_turn_based_games():
    parallel = turn_based_aec_to_parallel(uno_env.env("classic", num_players=3))
    rng = random.Random(0)
    _, infos = parallel.reset(seed=0)
    total = 0.0
    while parallel.agents:
        masks = {agent: infos[agent]["action_mask"] for agent in parallel.agents}
        actions = {agent: keen(mask, rng) if mask.any() else None for agent, mask in masks.items()}
        _, rewards, terminations, _, infos = parallel.step(actions)
        total += sum(rewards.values())
    assert all(terminations.values())
    assert total == pytest.approx(0)


# ---------------------------------------------------------------------- what is seen


@every_table
def test_agrees_step_for_step_with_a_batch_of_one(preset, players):
    rng = random.Random(players)
    env = uno_env.env(preset, num_players=players, episode="game", max_cycles=None)
    batch = GameBatch(Rules.preset(preset, num_players=players), 1, seed=11)
    env.reset(seed=11)
    for _ in range(60 + 20 * players):
        seat = int(batch.player[0])
        agent = env.agent_selection
        assert agent == f"player_{seat}"
        seen, _, terminated, _, info = env.last()
        assert not terminated
        np.testing.assert_array_equal(seen["observation"], batch.observe()[0])
        np.testing.assert_array_equal(seen["action_mask"], batch.legal[0])
        np.testing.assert_array_equal(info["action_mask"], batch.legal[0])
        np.testing.assert_array_equal(env.state(), batch.observe_all()[0])
        assert env.position == batch.position(0)
        action = keen(info["action_mask"], rng)
        env.step(action)
        _, done = batch.step([action])
        if done[0]:
            if batch.game_over[0]:
                break
            batch.next_round()


@pytest.mark.parametrize("players", PLAYERS)
def test_agents_off_turn_see_their_own_side_and_no_actions(players):
    rng = random.Random(0)
    env = uno_env.env("official", num_players=players)
    batch = GameBatch(env.rules, 1, seed=4)
    env.reset(seed=4)
    for _ in range(40):
        for seat, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)
            space = env.observation_space(agent)
            assert space.contains(seen)
            np.testing.assert_array_equal(seen["observation"], batch.observe(seat)[0])
            np.testing.assert_array_equal(seen["action_mask"], env.infos[agent]["action_mask"])
            assert seen["action_mask"].dtype == np.int8
            assert seen["action_mask"].any() == (agent == env.agent_selection)
        action = keen(env.infos[env.agent_selection]["action_mask"], rng)
        env.step(action)
        if batch.step([action])[1][0]:
            break


def test_spaces_and_shapes():
    env = uno_env.env(num_players=10)
    assert env.possible_agents == [f"player_{seat}" for seat in range(10)]
    assert env.max_num_agents == 10
    assert env.action_space("player_9") == Discrete(84)
    assert env.observation_space("player_0")["observation"].shape == (OBSERVATION_SIZE,)
    env.reset(seed=1)
    assert env.state().shape == (FULL_SIZE,)
    assert env.state_space.contains(env.state())


def test_nothing_handed_out_changes_later_or_changes_the_game():
    env = uno_env.env()
    env.reset(seed=2)
    agent = env.agent_selection
    seen, _, _, _, info = env.last()
    kept = copy.deepcopy((seen, info))
    action = int(info["action_mask"].argmax())
    illegal = int(info["action_mask"].argmin())
    info["action_mask"][illegal] = kept[0]["action_mask"][illegal] = 1  # a user's own affair
    kept[1]["action_mask"][illegal] = 1
    seen["action_mask"][illegal] = 1
    env.step(action)
    np.testing.assert_array_equal(seen["observation"], kept[0]["observation"])
    np.testing.assert_array_equal(info["action_mask"], kept[1]["action_mask"])
    env.reset(seed=2)
    env.infos[agent]["action_mask"][:] = 1
    env.observe(agent)["action_mask"][:] = 1
    env.step(illegal)
    assert all(env.terminations.values())


# ---------------------------------------------------------------------- rewards and ends


@every_table
def test_every_seat_gets_its_reward_for_the_round(preset, players):
    env = uno_env.env(preset, num_players=players, max_cycles=None)
    sums, _ = play(env, random.Random(1), seed=1)
    winner = env.position.winner
    for seat, agent in enumerate(env.possible_agents):
        expected = 1 if seat == winner else -1 / (players - 1)
        assert sums[agent] == pytest.approx(expected)
    assert env.agents == []


@pytest.mark.parametrize("scoring_rule", ["winner", "lowest"])
@pytest.mark.parametrize("players", [2, 5])
def test_points_as_rewards(players, scoring_rule):
    rules = Rules.preset("classic", num_players=players, scoring=scoring_rule)
    env = uno_env.env(rules, reward="points")
    sums, _ = play(env, random.Random(3), seed=3)
    points = np.array([env.position.points], np.int32)
    np.testing.assert_allclose(list(sums.values()), scoring.point_rewards(rules, points)[0])
    assert max(sums.values()) == sums[f"player_{env.position.winner}"] > 0
    assert sum(sums.values()) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("preset", PRESETS)
def test_a_game_goes_on_to_the_target(preset, players):
    env = uno_env.env({"preset": preset, "target": 300}, num_players=players, episode="game")
    sums, _ = play(env, random.Random(5), seed=5)
    assert env.position.game_over
    (winner,) = env.position.game_winners
    for seat, agent in enumerate(env.possible_agents):
        assert sums[agent] == pytest.approx(1 if seat == winner else -1 / (players - 1))

    env = uno_env.env(env.rules, episode="game", reward="points")
    sums, _ = play(env, random.Random(5), seed=5)
    totals = np.array([env.position.scores], np.int32)
    np.testing.assert_allclose(
        list(sums.values()), scoring.point_rewards(env.rules, totals)[0], rtol=1e-5
    )


def test_points_of_each_round_come_when_it_ends():
    env = uno_env.env("classic", num_players=3, episode="game", reward="points")
    rng = random.Random(8)
    env.reset(seed=8)
    paid = 0
    while env.agents and not any(env.terminations.values()):
        totals = env.position.scores
        env.step(keen(env.infos[env.agent_selection]["action_mask"], rng))
        assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-3)
        assert any(env.rewards.values()) == (env.position.scores != totals)
        paid += any(env.rewards.values())
    assert paid > 1


BLOCKED = Position.from_case(
    {
        "rules": "official",
        "hands": ["W Y1 Y2", "G1 G2"],
        "discard": "G7",
        "scores": [40, 60],
    }
)
"""After W:R and a draw nobody can do anything."""


@pytest.mark.parametrize("reward", ["win", "points"])
def test_a_blocked_round_rewards_nobody(reward):
    env = uno_env.env("official", reward=reward)
    env.reset(options={"position": BLOCKED})
    env.step(parse_action("W:R"))
    env.step(Action.DRAW)
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    assert set(env.rewards.values()) == {0.0}


def test_a_game_goes_on_after_a_blocked_round():
    env = uno_env.env("official", episode="game", reward="points", render_mode="ansi")
    env.reset(options={"position": BLOCKED})
    env.step(parse_action("W:R"))
    assert "player_0 played W:R" in env.render()
    env.step(Action.DRAW)
    assert "player_1 drew" not in env.render()  # that was in the round before
    assert set(env.terminations.values()) == {False}
    assert set(env.rewards.values()) == {0.0}
    assert env.position.scores == (40, 60)
    assert all(len(hand) >= 7 for hand in env.position.hands)


@pytest.mark.parametrize("episode", ["round", "game"])
def test_the_last_card_of_the_pile_may_block_the_round(episode):
    position = Position.from_case({"hands": ["R1", "G2"], "discard": "B5", "draw": "Y3"})
    env = uno_env.env(position.rules, episode=episode)
    env.reset(options={"position": position})
    env.step(Action.DRAW)
    assert set(env.rewards.values()) == {0.0}
    assert set(env.terminations.values()) == {episode == "round"}
    if episode == "game":
        assert all(len(hand) >= 7 for hand in env.position.hands)


def test_tables_that_run_out_of_cards_are_those_of_the_core():
    rng = np.random.default_rng(4)
    ends = set()
    for _ in range(150):
        top, *deck = rng.permutation(["R1", "R2", "RS", "Y1", "Y2", "G3", "B3", "B+2"])
        deck = rng.permutation([*deck, "W", "KP"])
        case = {"hands": [" ".join(deck[:2]), " ".join(deck[2:4])], "discard": str(top)}
        case["draw"] = " ".join(deck[4 : rng.integers(4, 9)])
        position = Position.from_case(case)
        batch = GameBatch(position.rules, 1, seed=1)
        batch.load(0, position)
        if batch.done[0]:
            continue
        env = uno_env.env(position.rules, max_cycles=None)
        env.reset(seed=1, options={"position": position})
        for _ in range(200):  # some small tables go round in circles
            mask = env.infos[env.agent_selection]["action_mask"]
            assert (mask == batch.legal[0]).all()
            action = rng.choice(mask.nonzero()[0])
            batch.step([action])
            env.step(action)
            assert set(env.terminations.values()) == {bool(batch.done[0])}
            if batch.done[0]:
                ends.add(any(env.rewards.values()))
                break
    assert ends == {True, False}, "some rounds are won, some blocked"


@pytest.mark.parametrize("episode", ["round", "game"])
def test_reaching_the_cap_is_truncation_without_a_result(episode):
    env = uno_env.env(num_players=3, episode=episode, max_cycles=4)
    env.reset(seed=0)
    for _ in range(4):
        assert not any(env.truncations.values())
        env.step(Action.DRAW if env.infos[env.agent_selection]["action_mask"][64] else Action.KEEP)
    assert set(env.truncations.values()) == {True}
    assert set(env.terminations.values()) == {False}
    assert set(env.rewards.values()) == {0.0}
    for _ in range(3):
        assert env.last()[3]
        assert not env.last()[0]["action_mask"].any()
        env.step(None)
    assert env.agents == []


def test_the_cap_counts_the_decisions_of_a_round_not_of_the_game():
    env = uno_env.env("classic", episode="game", max_cycles=400)
    _, decisions = play(env, random.Random(0), seed=1)
    assert env.position.game_over
    assert decisions > 400


def test_a_round_that_ends_with_the_last_decision_allowed_has_a_result():
    env = uno_env.env(max_cycles=1)
    env.reset(options={"position": Position.from_case({"hands": ["R1", "R2"], "discard": "R5"})})
    env.step(parse_action("R1"))
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert set(env.truncations.values()) == {False}


# ---------------------------------------------------------------------- illegal actions


def offend(env, after, seed):
    """Some decisions, an illegal action, and what each agent is then told."""
    rng = random.Random(seed)
    env.reset(seed=seed)
    for _ in range(after):
        env.step(keen(env.observe(env.agent_selection)["action_mask"], rng))
    offender = env.agent_selection
    env.step(int(env.observe(offender)["action_mask"].argmin()))
    told = []
    for agent in env.agent_iter():
        told.append((agent, *env.last(observe=False)[1:4]))
        env.step(None)
    return offender, told


@pytest.mark.parametrize("players", [2, 4])
def test_an_illegal_action_ends_the_round_as_pettingzoos_wrapper_does(players):
    ours = uno_env.env(num_players=players)
    wrapped = TerminateIllegalWrapper(uno_env.raw_env(num_players=players), illegal_reward=-1)
    offender, told = offend(ours, 5, seed=6)
    assert (offender, told) == offend(wrapped, 5, seed=6)
    assert told == [
        (agent, -1 if agent == offender else 0, True, True) for agent in ours.possible_agents
    ]


def test_why_an_action_was_illegal_is_told_to_the_offender():
    env = uno_env.env()
    env.reset(options={"position": Position.from_case({"hands": ["R1 R2", "B2"], "discard": "R5"})})
    env.step(parse_action("B2"))
    assert "why_illegal" in env.infos["player_0"]
    assert "B2" in env.infos["player_0"]["why_illegal"]
    assert not env.infos["player_0"]["action_mask"].any()
    assert "why_illegal" not in env.infos["player_1"]
    assert env.last()[4]["why_illegal"] == env.infos["player_0"]["why_illegal"]


@pytest.mark.parametrize("episode", ["round", "game"])
def test_the_reset_after_an_illegal_action_is_clean(episode):
    used, fresh = (uno_env.env("official", num_players=3, episode=episode) for _ in range(2))
    offend(used, 7, seed=1)
    assert play(used, random.Random(2), seed=2) == play(fresh, random.Random(2), seed=2)
    assert used.position == fresh.position


# ---------------------------------------------------------------------- resets and seeds


def course(env, steps, rng):
    """The positions of the next steps."""
    positions = [env.position]
    for _ in range(steps):
        env.step(keen(env.infos[env.agent_selection]["action_mask"], rng))
        positions.append(env.position)
    return positions


def test_a_seed_decides_all_whatever_came_before():
    used, fresh = uno_env.env(num_players=4), uno_env.env(num_players=4)
    used.reset(seed=1)
    course(used, 9, random.Random(1))
    used.reset(seed=7)
    fresh.reset(seed=7)
    assert course(used, 15, random.Random(3)) == course(fresh, 15, random.Random(3))


def test_without_a_seed_the_stream_runs_on():
    env = uno_env.env()
    batch = GameBatch(env.rules, 1, seed=9)
    env.reset(seed=9)
    for _ in range(3):
        env.reset()
        batch.reset()
        assert env.position == batch.position(0)


def test_without_any_seed_games_differ():
    envs = [uno_env.env() for _ in range(2)]
    for env in envs:
        env.reset()
    assert envs[0].position != envs[1].position


@pytest.mark.parametrize("seed", [0, 2**63, 2**64 - 1, np.int64(3)])
def test_any_whole_number_of_64_bits_is_a_seed(seed):
    env = uno_env.env()
    env.reset(seed=seed)
    assert env.position == GameBatch(env.rules, 1, seed=seed).position(0)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_and_pickles_play_on_alike(duplicate):
    env = uno_env.env("classic", num_players=3)
    env.reset(seed=3)
    course(env, 5, random.Random(0))
    twin = duplicate(env)
    assert course(env, 9, random.Random(1)) == course(twin, 9, random.Random(1))


def test_a_position_to_begin_with():
    start = Position.from_case({"hands": ["R1 R2", "B2 B3"], "discard": "R5", "draw": "G1 G2"})
    env = uno_env.env()
    env.reset(seed=1, options={"position": start})
    assert env.position == start
    assert env.agent_selection == "player_0"


def test_a_position_that_cannot_be_played_on_leaves_the_game_as_it_was():
    env = uno_env.env()
    env.reset(seed=1)
    before = env.position
    over = Position.from_case({"hands": ["R1", "R2"], "discard": "R5", "phase": "over"})
    others = Position.from_case({"hands": ["R1", "R2", "R3"], "discard": "R5"})
    for position, error, message in (
        (over, ValueError, "no decision left"),
        (others, ValueError, "num_players=3"),
        ("R1 R2", TypeError, "allowed is a Position"),
    ):
        with pytest.raises(error, match=message):
            env.reset(options={"position": position})
        assert env.position == before


# ---------------------------------------------------------------------- misuse


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_players": 1}, ValueError, "num_players=1: allowed is a whole number from 2 to 10"),
        ({"num_players": 11}, ValueError, "num_players=11: allowed is a whole number from 2 to 10"),
        ({"num_players": "4"}, ValueError, "num_players='4'"),
        ({"rules": "mattel"}, ValueError, "'mattel': known are angry_birds, classic, official"),
        ({"rules": {"stack": True}}, ValueError, "unknown switch 'stack' of Rules: known are "),
        ({"rules": {"uno_penalty": 0}}, ValueError, "uno_penalty=0: allowed is a whole number"),
        ({"rules": 5}, TypeError, "rules must be a Rules, the name of a preset or a mapping"),
        ({"episode": "match"}, ValueError, "episode='match': allowed is 'round' or 'game'"),
        ({"reward": 1}, ValueError, "reward=1: allowed is 'win' or 'points'"),
        ({"render_mode": "rgb"}, ValueError, "render_mode='rgb': allowed is None or 'human' or "),
        ({"max_cycles": 0}, ValueError, "max_cycles=0: allowed is a whole number from 1, or None"),
        ({"max_cycles": 1.5}, TypeError, "max_cycles=1.5: allowed is a whole number from 1"),
        ({"max_cycles": True}, TypeError, "max_cycles=True"),
        ({"players": 3}, TypeError, "unknown argument 'players': known are rules, num_players"),
        ({"uno_penalty": 3}, TypeError, "unknown argument 'uno_penalty'"),
    ],
)
@pytest.mark.parametrize("make", [uno_env.env, uno_env.raw_env])
def test_wrong_arguments_are_named_with_what_is_allowed(make, arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make(**arguments)


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (84, ValueError),
        (-1, ValueError),
        (2**70, ValueError),
        (1.0, TypeError),
        ("R5", TypeError),
        (None, TypeError),
        (True, TypeError),
        (np.array([3]), TypeError),
    ],
)
def test_an_action_out_of_range_is_an_error_and_changes_nothing(action, error):
    env = uno_env.env()
    env.reset(seed=1)
    before = env.position
    with pytest.raises(error, match=r"action=.* of player_\d: allowed is a whole number from 0 to"):
        env.step(action)
    assert env.position == before
    assert not any(env.terminations.values())
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.array, Action])
def test_any_kind_of_whole_number_is_an_action(kind):
    env = uno_env.env()
    env.reset(seed=1)
    env.step(kind(64))
    assert not any(env.terminations.values())


@pytest.mark.parametrize(
    ("seed", "error"),
    [
        (-1, ValueError),
        (2**64, ValueError),
        ("1", TypeError),
        (1.0, TypeError),
        (True, TypeError),
    ],
)
def test_a_wrong_seed_is_an_error(seed, error):
    with pytest.raises(error, match=re.escape(f"seed={seed!r}: allowed is a whole number from 0")):
        uno_env.env().reset(seed=seed)


@pytest.mark.parametrize(
    "use",
    [
        lambda env: env.step(0),
        lambda env: env.observe("player_0"),
        lambda env: env.state(),
        lambda env: env.agent_iter(),
        lambda env: uno_env.env(render_mode="ansi").render(),
    ],
)
def test_nothing_goes_before_the_first_reset(use):
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before"):
        use(uno_env.env())


@pytest.mark.parametrize(
    "name",
    [
        *("agents", "num_agents", "agent_selection", "position"),
        *("rewards", "terminations", "truncations", "infos"),
    ],
)
def test_what_a_reset_makes_is_missing_before(name):
    env = uno_env.env()
    with pytest.raises(AttributeError, match=f"{name} cannot be accessed before reset"):
        getattr(env, name)
    env.reset()
    assert getattr(env, name) is not None


def test_an_attribute_that_does_not_exist():
    with pytest.raises(AttributeError, match="'raw_env' object has no attribute 'agent'"):
        _ = uno_env.env().agent


@pytest.mark.parametrize("ask", ["observe", "action_space", "observation_space"])
def test_an_agent_that_does_not_exist(ask):
    env = uno_env.env(num_players=3)
    env.reset()
    with pytest.raises(ValueError, match="'player_3': known are player_0 to player_2"):
        getattr(env, ask)("player_3")


def test_the_loop_over_agents_needs_a_step():
    env = uno_env.env()
    env.reset()
    agents = env.agent_iter()
    next(agents)
    with pytest.raises(AssertionError, match=r"need to call step\(\) or reset\(\)"):
        next(agents)
    env.reset(seed=0)
    assert list(env.agent_iter(1)) == [env.agent_selection]


def test_an_agent_that_is_done_takes_no_action():
    env = uno_env.env(max_cycles=1)
    env.reset(seed=0)
    env.step(Action.DRAW)
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(Action.DRAW)
    for _ in range(2):
        env.step(None)
    assert env.agents == []
    env.step(None)  # PettingZoo warns, on its own log, and does nothing
    assert env.agents == []


def test_close_may_come_at_any_time():
    env = uno_env.env()
    env.close()
    env.reset()
    env.close()
