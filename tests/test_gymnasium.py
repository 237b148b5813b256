"""The Gymnasium environments: its own suite, ends and rewards, vector against single, misuse."""

import pickle
import re
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from safetensors import safe_open
from safetensors.numpy import save_file
from sb3_contrib.common.maskable.utils import get_action_masks
from test_policy import random_policy

from uno_env import GameBatch, Rules
from uno_env.envs.opponents import choose_uniformly, start_chance
from uno_env.envs.single_agent import UnoEnv
from uno_env.envs.vector import UnoVectorEnv
from uno_env.game import scoring
from uno_env.game.actions import ACTIONS, NUM_ACTIONS, Action
from uno_env.game.observation import HIGH, LAYOUT, OBSERVATION_SIZE
from uno_env.policy import PolicyFileError

NAMES = ["UnoAngryBirds-v0", "UnoClassic-v0", "UnoOfficial-v0"]
PRESETS = ["angry_birds", "classic", "official"]
PLAYERS = [2, 3, 4, 10]


def keen(observation, mask, rng=None):
    """The first play there is, and only else a draw; says UNO where it may. Uses no chance."""
    preference = np.arange(NUM_ACTIONS)[::-1].copy()
    preference[[Action.DRAW, Action.KEEP]] = -2, -1
    preference[Action.UNO] = NUM_ACTIONS
    return np.where(mask, preference, -3).argmax(axis=1)


def random_keen(mask, rng):
    """A random action in each row, but no draw or keep while there is another."""
    weight = mask * rng.random(mask.shape)
    weight[:, [Action.DRAW, Action.KEEP]] *= 1e-9
    return weight.argmax(axis=1)


def play(env, rng=None, **reset):
    """Play one episode, keenly if there is no chance: its last step, and how many there were."""
    observation, info = env.reset(**reset)
    steps = 0
    while True:
        steps += 1
        mask = info["action_mask"][None]
        action = keen(observation, mask) if rng is None else random_keen(mask, rng)
        step = env.step(int(action[0]))
        info = step[-1]
        if step[2] or step[3]:
            return step, steps


# ---------------------------------------------------------------------- what Gymnasium asks for


@pytest.mark.parametrize("settings", [{}, {"seat": "rotate", "reward": "points"}])
@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("name", NAMES)
def test_check_env(name, players, settings):
    env = gymnasium.make(name, num_players=players, opponents=keen, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def test_the_registered_names_need_no_import():
    code = (
        "import gymnasium; e = gymnasium.make('uno_env:UnoAngryBirds-v0'); "
        "v = gymnasium.make_vec('uno_env:UnoClassic-v0', num_envs=3); "
        "print(v.num_envs)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True)
    assert (done.stdout.split(), done.stderr) == ([b"3"], b"")


@pytest.mark.parametrize(("name", "preset"), list(zip(NAMES, PRESETS, strict=True)))
def test_names_give_the_presets_and_take_switches(name, preset):
    env = gymnasium.make(name, num_players=5, rules={"uno_penalty": 3}).unwrapped
    assert env.rules == Rules.preset(preset, num_players=5, uno_penalty=3)
    envs = gymnasium.make_vec(name, num_envs=2, num_players=5, rules={"uno_penalty": 3})
    assert envs.rules == env.rules
    assert UnoEnv(preset).rules == UnoVectorEnv(1, preset).rules == Rules.preset(preset)


def test_spaces():
    env = UnoEnv()
    assert env.action_space == gymnasium.spaces.Discrete(NUM_ACTIONS)
    assert env.observation_space.shape == (OBSERVATION_SIZE,)
    assert env.observation_space.dtype == np.uint8
    np.testing.assert_array_equal(env.observation_space.high, HIGH)
    envs = gymnasium.make_vec(NAMES[0], num_envs=5)
    assert envs.single_action_space == env.action_space
    assert envs.single_observation_space == env.observation_space
    observations, _ = envs.reset(seed=0)
    assert observations in envs.observation_space
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_masks_say_what_the_core_says_and_are_for_the_learner():
    env = gymnasium.make(NAMES[0], num_players=3, opponents=keen)
    observation, info = env.reset(seed=5)
    assert info["action_mask"].dtype == np.int8
    assert get_action_masks(env).dtype == np.bool_
    np.testing.assert_array_equal(get_action_masks(env), info["action_mask"] == 1)
    assert observation[LAYOUT["to_act"]] == 1
    for action in range(NUM_ACTIONS):
        why = env.unwrapped._tables.batch.why_illegal(0, action)
        assert (why is None) == bool(info["action_mask"][action])


def test_ansi_rendering_says_who_did_what():
    env = gymnasium.make(NAMES[1], render_mode="ansi", num_players=2, opponents=keen)
    env.reset(seed=3)
    assert "classic" in env.render()
    envs = gymnasium.make_vec(NAMES[1], num_envs=3, render_mode="ansi")
    envs.reset(seed=3)
    envs.step(envs.action_masks().argmax(axis=1))
    assert [text.startswith("\x1b") for text in envs.render()] == [True] * 3


def test_envs_can_be_pickled():
    env = UnoEnv(opponents=keen)
    env.reset(seed=1)
    other = pickle.loads(pickle.dumps(env))
    action = int(env.action_masks().argmax())
    assert data_equivalence(env.step(action), other.step(action))


# ---------------------------------------------------------------------- rounds, seats and rewards


@pytest.mark.parametrize("reward", ["win", "points"])
@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("preset", PRESETS)
def test_each_episode_ends_with_its_reward(preset, players, reward):
    env = UnoEnv(preset, num_players=players, opponents=keen, seat="rotate", reward=reward)
    won = lost = 0
    env.reset(seed=0)
    for _ in range(20):
        (observation, gained, terminated, truncated, info), _ = play(env)
        assert terminated
        assert not truncated
        batch, seat = env._tables.batch, env._tables.seat[0]
        assert observation.tolist() == batch.observe(seat)[0].tolist()
        assert not info["action_mask"].any()
        assert not env.action_masks().any()
        if batch.winner[0] < 0:
            assert gained == 0
        elif reward == "points":
            assert gained == scoring.point_rewards(env.rules, batch.points)[0, seat]
        else:
            assert gained == pytest.approx(1 if batch.winner[0] == seat else -1 / (players - 1))
        won += gained > 0
        lost += gained < 0
    assert lost
    assert won or players == 10


def test_a_round_over_before_the_first_decision_is_dealt_anew():
    # Cut off after two decisions, most rounds of ten never come to seat 7.
    env = UnoEnv(num_players=10, seat=7, max_cycles=2, opponents=keen)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        assert info["action_mask"].any()
        assert observation[LAYOUT["to_act"]] == 1
        _, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        if truncated:
            assert (reward, terminated, info["action_mask"].any()) == (0, False, False)


def test_no_own_decision_is_skipped():
    """A learner beside the core, moved by the same hands, is asked as often as its seat acts."""
    env = UnoEnv(num_players=3, seat=1, opponents=keen)
    observation, info = env.reset(seed=9)
    batch = GameBatch(env.rules, 1, 9)
    rng = np.random.default_rng(9)
    done = False
    while not done:
        while batch.player[0] != 1 and not batch.done[0]:
            batch.step(keen(batch.observe(), batch.legal))
        assert observation.tolist() == batch.observe(1)[0].tolist()
        action = random_keen(info["action_mask"][None], rng)
        batch.step(action)
        observation, _, done, _, info = env.step(int(action[0]))


@pytest.mark.parametrize("cap", [1, 7, 30])
def test_truncation_counts_the_decisions_of_all_seats(cap):
    env = UnoEnv(num_players=2, max_cycles=cap)
    rng = np.random.default_rng(0)
    for seed in range(10):
        (_, reward, terminated, truncated, _), steps = play(env, rng, seed=seed)
        assert terminated != truncated
        assert env._tables._decisions[0] <= cap
        assert steps <= cap
        if truncated:
            assert reward == 0
            assert env._tables._decisions[0] == cap


def test_seats():
    env = UnoEnv(num_players=4, seat="rotate", opponents=keen)
    env.reset(seed=6)
    seats = [int(env._tables.seat[0])]
    for _ in range(5):
        env.reset()
        seats.append(int(env._tables.seat[0]))
    assert seats == [2, 3, 0, 1, 2, 3]
    envs = UnoVectorEnv(6, num_players=4, seat="rotate")
    envs.reset(seed=3)
    assert envs._tables.seat.tolist() == [3, 0, 1, 2, 3, 0]


def test_a_list_of_opponents_sits_in_the_order_of_seats_after_the_learner():
    asked = []

    def at(place):
        def act(observation, mask, rng):
            seats = (env._tables.batch.player - env._tables.seat) % 4
            asked.append(place)
            assert seats.tolist() == [place]
            return mask.argmax(axis=1)

        return act

    env = UnoEnv(num_players=4, seat=2, opponents=[at(1), at(2), at(3)])
    for seed in range(3):
        play(env, np.random.default_rng(seed), seed=seed)
    assert set(asked) == {1, 2, 3}


def test_a_policy_file_is_an_opponent(tmp_path):
    path = tmp_path / "policy.safetensors"
    policy = random_policy()
    policy.save(path)
    games = [
        [step.tolist() for step in run(UnoEnv(opponents=opponent), 4)]
        for opponent in (str(path), path, policy, policy.act, [policy])
    ]
    assert games == [games[0]] * 5


def run(env, seed):
    """The observations of an episode."""
    observation, info = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    done = False
    seen = [observation]
    while not done:
        action = int(random_keen(info["action_mask"][None], rng)[0])
        observation, _, terminated, truncated, info = env.step(action)
        done = terminated or truncated
        seen.append(observation)
    return seen


def test_the_random_opponent_chooses_evenly_and_legally():
    mask = np.zeros((6000, NUM_ACTIONS), np.bool_)
    mask[:, [3, 40, 64]] = True
    mask[::2, 83] = True
    chosen, after = choose_uniformly(mask, start_chance(np.arange(6000, dtype=np.uint64)))
    assert mask[np.arange(6000), chosen].all()
    for part, count in ((chosen[::2], 4), (chosen[1::2], 3)):
        times = np.bincount(part)[[3, 40, 64, 83][:count]]
        assert np.abs(times - 3000 / count).max() < 150
    assert len(np.unique(after)) == 6000


# ---------------------------------------------------------------------- vector against single

TABLES = [
    {"opponents": "random", "max_cycles": 60},
    {"opponents": keen, "seat": "rotate"},
    {"opponents": keen, "reward": "points", "seat": 1, "num_players": 3},
    {"opponents": [keen, "random", keen], "num_players": 4, "seat": "rotate", "max_cycles": 90},
    {"opponents": keen, "num_players": 10, "seat": 7, "max_cycles": 25},
]


@pytest.mark.parametrize("settings", TABLES)
@pytest.mark.parametrize("name", NAMES)
def test_vector_equals_single_environments_step_for_step(name, settings):
    number = 12
    envs = gymnasium.make_vec(name, num_envs=number, **settings)
    singles = SyncVectorEnv(
        [lambda: gymnasium.make(name, **settings)] * number,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    rng = np.random.default_rng(0)
    ended = 0
    for seed in (11, [7 * i for i in range(number)], None):
        ours, theirs = envs.reset(seed=seed), singles.reset(seed=seed)
        assert data_equivalence(ours, theirs, exact=True)
        for _ in range(40):
            mask = ours[-1]["action_mask"]
            assert mask.any(axis=1).all()
            np.testing.assert_array_equal(envs.action_masks(), mask == 1)
            actions = random_keen(mask, rng)
            ours, theirs = envs.step(actions), singles.step(actions)
            for one, other in zip(ours, theirs, strict=True):
                assert data_equivalence(one, other, exact=True)
            ended += ours[2].sum() + ours[3].sum()
    assert ended > number


def test_an_environment_does_not_depend_on_the_batch_around_it():
    large, small = UnoVectorEnv(50, num_players=3), UnoVectorEnv(2, num_players=3)
    a, _ = large.reset(seed=100)
    b, _ = small.reset(seed=[131, 117])
    rng = np.random.default_rng(2)
    for _ in range(100):
        np.testing.assert_array_equal(a[[31, 17]], b)
        actions = random_keen(large.action_masks(), rng)
        a, *_ = large.step(actions)
        b, *_ = small.step(actions[[31, 17]])


def test_some_environments_can_be_reset_alone():
    envs = UnoVectorEnv(4)
    before, _ = envs.reset(seed=1)
    mask = np.array([False, True, False, True])
    with pytest.raises(ResetNeeded):
        UnoVectorEnv(4).reset(options={"reset_mask": mask})
    after, _ = envs.reset(seed=[5, 6, 7, 8], options={"reset_mask": mask})
    np.testing.assert_array_equal(after[~mask], before[~mask])
    fresh, _ = UnoVectorEnv(4).reset(seed=5)
    np.testing.assert_array_equal(after[mask], fresh[mask])


# ---------------------------------------------------------------------- misuse


def test_an_illegal_action_ends_the_episode_or_raises():
    env = UnoEnv(opponents=keen)
    _, info = env.reset(seed=2)
    illegal = int(info["action_mask"].argmin())
    _, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-1, True, False)
    assert isinstance(info["why_illegal"], str)
    assert not info["action_mask"].any()
    with pytest.raises(ResetNeeded):
        env.step(illegal)

    strict, twin = (UnoEnv(opponents=keen, illegal_action="raise") for _ in range(2))
    strict.reset(seed=2)
    _, before = twin.reset(seed=2)
    with pytest.raises(ValueError, match=re.escape(info["why_illegal"])):
        strict.step(illegal)
    legal = int(before["action_mask"].argmax())
    assert data_equivalence(strict.step(legal), twin.step(legal))


def test_an_illegal_action_of_a_vector_names_it_and_changes_nothing():
    envs, twin = UnoVectorEnv(5), UnoVectorEnv(5)
    envs.reset(seed=2)
    _, infos = twin.reset(seed=2)
    actions = infos["action_mask"].argmax(axis=1)
    wrong = actions.copy()
    wrong[3] = infos["action_mask"][3].argmin()
    text = re.escape(f"{ACTIONS[wrong[3]]} ({wrong[3]}) of game 3: ")
    for bad, error, message in (
        (wrong, ValueError, text + "."),
        (np.full(5, 84), ValueError, "action 84 of game 0.*from 0 to 83"),
        (np.full(5, -1), ValueError, "action -1 of game 0"),
        (actions[:4], ValueError, r"\(4,\).*\(5,\)"),
        (actions[:, None], ValueError, r"\(5, 1\)"),
        (actions.astype(float), TypeError, "float64"),
        (None, TypeError, "object"),
    ):
        with pytest.raises(error, match=message):
            envs.step(bad)
    assert data_equivalence(envs.step(actions), twin.step(actions), exact=True)


@pytest.mark.parametrize("action", [84, -1, 1.0, None, True, "R5", [3], np.array([3])])
def test_an_action_that_is_none_is_refused_and_changes_nothing(action):
    env = UnoEnv()
    env.reset(seed=2)
    before = env._tables.batch.position(0)
    with pytest.raises((TypeError, ValueError), match=r"action=.*from 0 to 83"):
        env.step(action)
    assert env._tables.batch.position(0) == before


def test_steps_want_a_reset():
    for env, action in ((UnoEnv(render_mode="ansi"), 0), (UnoVectorEnv(render_mode="ansi"), [0])):
        with pytest.raises(ResetNeeded):
            env.step(action)
        with pytest.raises(ResetNeeded):
            env.render()
        assert not env.action_masks().any()


@pytest.mark.parametrize("make", [UnoEnv, lambda **settings: UnoVectorEnv(3, **settings)])
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"opponents": "greedy"}, ValueError, "opponents='greedy'.*'random'.*policy file"),
        ({"opponents": "nowhere.safetensors"}, FileNotFoundError, "nowhere.safetensors"),
        ({"opponents": 3}, TypeError, "opponents=3.*callable"),
        ({"opponents": random_policy}, None, ""),
        ({"opponents": UnoEnv}, TypeError, "allowed is"),
        ({"opponents": ["random"], "num_players": 3}, ValueError, "1 entries.*2 other seats"),
        ({"opponents": ["random", None], "num_players": 3}, TypeError, r"opponents\[1\]=None"),
        ({"opponents": ["random", "x"], "num_players": 3}, ValueError, r"opponents\[1\]='x'"),
        (
            {"opponents": [keen, "x.safetensors"], "num_players": 3},
            FileNotFoundError,
            r"opponents\[1\]: no policy file at x\.safetensors",
        ),
        ({"seat": 2}, ValueError, "seat=2.*0 to 1, or 'rotate'"),
        ({"seat": "any"}, ValueError, "seat='any'.*'rotate', or a whole number from 0 to 1"),
        ({"seat": 1.0}, TypeError, "seat=1.0"),
        ({"max_cycles": 0}, ValueError, "max_cycles=0.*from 1, or None"),
        ({"reward": "score"}, ValueError, "reward='score'.*'win' or 'points'"),
        ({"render_mode": "rgb"}, ValueError, "render_mode='rgb'"),
        ({"num_players": 11}, ValueError, "11"),
        ({"preset": "classic", "rules": "official"}, TypeError, "preset 'classic'"),
        ({"preset": "classic", "rules": {"preset": "official"}}, ValueError, "of that preset"),
    ],
)
def test_arguments_are_checked(make, settings, error, message):
    if error is None:
        make(**settings)
        return
    with pytest.raises(error, match=message):
        make(**settings)


def test_seeds_are_checked():
    for env in (UnoEnv(), UnoVectorEnv(2)):
        for seed, error in ((-1, ValueError), (2**64, ValueError), (1.5, TypeError)):
            with pytest.raises(error, match="seed="):
                env.reset(seed=seed)
    for seeds, error in (([1], ValueError), ([1, -1], ValueError), ([1, 2.5], TypeError)):
        with pytest.raises(error, match="seed"):
            UnoVectorEnv(2).reset(seed=seeds)
    UnoVectorEnv(2).reset(seed=2**64 - 1)
    for mask, error in (
        (np.ones(3, bool), ValueError),
        (np.zeros(2, bool), ValueError),
        (np.ones(2), TypeError),
    ):
        with pytest.raises(error, match="reset_mask"):
            UnoVectorEnv(2).reset(options={"reset_mask": mask})


def test_a_policy_file_for_other_layouts_is_refused(tmp_path):
    path = tmp_path / "old.safetensors"
    random_policy().save(path)
    with safe_open(path, framework="numpy") as file:
        header = {**file.metadata(), "uno_env.observation": "0"}
        save_file({name: file.get_tensor(name) for name in file.keys()}, path, header)  # noqa: SIM118
    for make in (UnoEnv, UnoVectorEnv):
        for opponents, name in ((path, "opponents"), (["random", path], r"opponents\[1\]")):
            with pytest.raises(PolicyFileError, match=f"^{name}: .*old.*its observation is 0"):
                make(num_players=3 if isinstance(opponents, list) else 2, opponents=opponents)


def step_20_times(env):
    for seed in range(20):
        _, info = env.reset(seed=seed)
        env.step(info["action_mask"].argmax(axis=-1))


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda mask: mask.argmin(axis=1), ValueError, "answered .* in game .: illegal: "),
        (lambda mask: np.full(len(mask), 84), ValueError, "answered 84 in game .*0 to 83"),
        (lambda mask: np.zeros(len(mask)), TypeError, "float64 .* in game ., the first of . it"),
        (lambda mask: 64, TypeError, r"shape \(\) in game .*: needed are integers of the shape"),
        (lambda mask: mask[84, 84], RuntimeError, "raised IndexError in game ., the first of . it"),
    ],
)
def test_answers_of_opponents_are_checked(answer, error, message):
    asked = []

    def opponent(observation, mask, rng):
        asked.append(1)
        mask_before = mask.copy()
        mask[:] = True  # changes nothing
        return answer(mask_before)

    for env in (UnoEnv(opponents=opponent), UnoVectorEnv(4, opponents=opponent)):
        with pytest.raises(error, match=f"opponent .*opponent .*{message}"):
            step_20_times(env)
    assert asked


class Fails:
    """Plays keenly with some chance, but errs in a call of the tests' choosing."""

    def __init__(self):
        self.calls_left = np.inf
        self.error = True

    def act(self, observation, mask, rng):
        self.calls_left -= 1
        actions = random_keen(mask, rng)
        if self.calls_left < 0:
            self.calls_left = np.inf
            if self.error:
                raise KeyError("lost")
            return mask.argmin(axis=1)
        return actions


@pytest.mark.parametrize("make", [UnoEnv, lambda **settings: UnoVectorEnv(6, **settings)])
def test_a_step_or_reset_in_which_an_opponent_errs_changes_nothing(make):
    opponent = Fails()
    settings = {"num_players": 4, "max_cycles": 30, "seat": "rotate", "render_mode": "ansi"}
    env = make(opponents=["random", opponent, keen], **settings)
    twin = make(opponents=["random", Fails(), keen], **settings)

    def until_it_succeeds(call):
        for calls in range(1000):
            opponent.calls_left, opponent.error = calls, calls % 2
            try:
                result = call()
            except (RuntimeError, ValueError):
                failed.append(call)
            else:
                opponent.calls_left = np.inf
                return result
            assert data_equivalence(env.render(), twin.render())
            np.testing.assert_array_equal(env.action_masks(), twin.action_masks())
        raise AssertionError

    failed = []
    env.reset(seed=3)
    twin.reset(seed=3)
    for _ in range(40):
        mask = twin.action_masks()
        actions = mask.argmax(axis=-1)
        ours, theirs = (
            until_it_succeeds(lambda actions=actions: env.step(actions)),
            twin.step(actions),
        )
        assert data_equivalence(ours, theirs, exact=True)
        if make is UnoEnv and (ours[2] or ours[3]):
            assert data_equivalence(until_it_succeeds(env.reset), twin.reset(), exact=True)
    assert len(failed) > 20


@pytest.mark.parametrize("make", [UnoEnv, lambda **settings: UnoVectorEnv(6, **settings)])
def test_chance_is_as_before_where_an_opponent_errs_in_a_seeded_reset(make):
    opponent = Fails()
    env = make(opponents=opponent, num_players=3)
    env.reset(seed=3)
    chance = env.np_random.bit_generator.state
    opponent.calls_left = 0
    with pytest.raises(RuntimeError):
        env.reset(seed=4)
    assert env.np_random.bit_generator.state == chance
    assert env.np_random_seed == 3


def test_a_first_reset_in_which_an_opponent_errs_is_none():
    opponent = Fails()
    opponent.calls_left = 0
    envs = UnoVectorEnv(50, opponents=opponent)
    with pytest.raises(RuntimeError, match=r"raised KeyError in game \d+, .*: 'lost'"):
        envs.reset(seed=1)
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros(50, np.intp))
    opponent.calls_left = np.inf
    ours, theirs = envs.reset(seed=1), UnoVectorEnv(50, opponents=Fails()).reset(seed=1)
    assert data_equivalence(ours, theirs, exact=True)
