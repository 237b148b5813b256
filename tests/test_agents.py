"""The bots: what they choose, that it is legal, and that they see only what their seat may know."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from test_observation import other_worlds

from agents import Agent, known_agents, make_agent
from agents.policy import PolicyAgent
from eval.match import play
from uno_env import ACTIONS, GameBatch, Position, Rules
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.rules import HOUSE_RULES, PRESETS
from uno_env.legal_actions import LegalActions
from uno_env.policy import Policy, weight_shapes

QUICK = {"search": "search:rollouts=2,max_decisions=6"}
"""Settings for the bots that take their time."""
NAMES = sorted(
    QUICK.get(name, name)
    for name, kind in known_agents().items()
    if not (kind.cheats or kind.interactive)
)
"""All but those who cheat (in `test_search`) and people (in `test_human`)."""
LADDER = ("random", "keen", "greedy", "thrifty", "watcher", "expert")
IDLE = (Action.DRAW, Action.KEEP)


def decide(agent, seed=0, **case):
    """The text of what an agent does in one position."""
    position = Position.from_case(case)
    batch = GameBatch(position.rules)
    batch.load(0, position)
    rng = np.random.default_rng(seed)
    return ACTIONS[make_agent(agent).act(batch.observe(), batch.legal, rng)[0]]


class Watched(Agent):
    """Another agent, whose choices are looked at."""

    def __init__(self, agent):
        self.agent = make_agent(agent)
        self.name = self.agent.name
        self.seen = []

    def act(self, observation, mask, rng):
        before = mask.copy(), observation.copy()
        actions = self.agent.act(observation, mask, rng)
        assert np.array_equal(mask, before[0])
        assert np.array_equal(observation, before[1])
        assert actions.dtype == np.intp
        self.seen.append((mask.copy(), actions))
        return actions

    def all_seen(self):
        return tuple(map(np.concatenate, zip(*self.seen, strict=True)))


# --- What every bot owes -------------------------------------------------------------------------


@pytest.mark.parametrize("players", range(2, 11))
@pytest.mark.parametrize("preset", PRESETS)
def test_legal_everywhere(preset, players):
    """`play` raises on an illegal action; every bot sits in every seat."""
    lineup = [Watched(NAMES[i % len(NAMES)]) for i in range(players)]
    result = play(lineup, preset, deals=8, max_decisions=600)
    assert result.rounds == 8 * players
    # Where there are more bots than seats, some are left out.
    for name in NAMES[players:]:
        play([Watched(name), Watched("keen")], preset, deals=8, max_decisions=600)


@pytest.mark.parametrize("switches", [{"uno_call": "automatic"}, {"scoring": "lowest"}])
def test_legal_under_other_switches(switches):
    rules = {"preset": "official", **switches}
    assert play([make_agent(name) for name in NAMES], rules, deals=8).rounds == 8 * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_any_mask_is_answered(name):
    """Also masks that no rule makes yet, as those of house rules will be."""
    rng = np.random.default_rng(5)
    observation = GameBatch("official", 2000, seed=1).observe()
    for likely in (0.01, 0.1, 0.6):
        mask = rng.random((2000, NUM_ACTIONS)) < likely
        mask[np.arange(2000), rng.integers(NUM_ACTIONS, size=2000)] = True
        actions = make_agent(name).act(observation, mask, rng)
        assert actions.shape == (2000,)
        assert mask[np.arange(2000), actions].all()


@pytest.mark.parametrize("name", NAMES)
def test_empty_batch_and_rows_without_action(name):
    rng = np.random.default_rng(0)
    batch = GameBatch(num_games=2)
    actions = make_agent(name).act(batch.observe()[:0], batch.legal[:0], rng)
    assert actions.shape == (0,)
    mask = batch.legal
    mask[1] = False
    with pytest.raises(ValueError, match="row 1 of the mask has no legal action"):
        make_agent(name).act(batch.observe(), mask, rng)


@pytest.mark.parametrize("name", [*NAMES, "prophet", "human"])
def test_other_types_and_shapes_are_refused(name):
    """A mask of zeros and ones, as some environments give it, would be taken for indices."""
    agent, rng, batch = make_agent(name), np.random.default_rng(0), GameBatch(num_games=3)
    seen, mask = batch.observe_all() if agent.cheats else batch.observe(), batch.legal
    for wrong in (
        (seen, mask.astype(np.int8)),
        (seen.astype(np.float32), mask),
        (seen[:, 1:], mask),
        (seen[:2], mask),
        (seen, mask[:2]),
        (seen, mask[:, 1:]),
        (seen[0], mask[0]),
    ):
        with pytest.raises(ValueError, match=r"allowed are uint8 \(B, \d+\).* and bool \(B, 84\)"):
            agent.act(*wrong, rng)
        if agent.preferences(seen, mask) is not None:
            with pytest.raises(ValueError, match="allowed are uint8"):
                agent.preferences(*wrong)


ALL_HOUSE_RULES = " ".join(f"{name}=True" for name in HOUSE_RULES)


@pytest.mark.parametrize("rules", ["official", "angry_birds", f"official {ALL_HOUSE_RULES}"])
@pytest.mark.parametrize("name", NAMES)
def test_hidden_cards_do_not_matter(name, rules):
    """What the seat to act cannot see is dealt anew; it chooses the same."""
    rng = np.random.default_rng(2)
    agent, keen = make_agent(name), make_agent("keen")
    batch = GameBatch(Rules.make(rules, num_players=4), 80, seed=3)
    for _ in range(25):
        batch.step(keen.act(batch.observe(), batch.legal | batch.done[:, None], rng))
    batch = batch.take(~batch.done)
    other = batch.copy()
    for game in range(batch.num_games):
        position = batch.position(game)
        for changed, _ in other_worlds(position, position.turn, rng):
            other.load(game, changed)
    assert np.mean((batch.state.hands != other.state.hands).any(axis=(1, 2))) > 0.9
    assert np.array_equal(batch.observe(), other.observe())
    chosen, chosen_there = (
        agent.act(games.observe(), games.legal, np.random.default_rng(7))
        for games in (batch, other)
    )
    assert np.array_equal(chosen, chosen_there)


# --- random --------------------------------------------------------------------------------------


def chi_square_tail(statistic, freedom):
    """P(chi-square > statistic) for an even number of degrees of freedom."""
    half = statistic / 2
    return math.exp(-half) * sum(half**i / math.factorial(i) for i in range(freedom // 2))


@pytest.mark.parametrize(
    "legal", [[0, 40, 83], [5, 6, 63, 64, 66], [*range(13, 16), *range(70, 78)]]
)
def test_random_is_uniform(legal):
    """A false alarm is expected once in a million seeds; the seed is fixed."""
    batch = np.zeros((30_000, NUM_ACTIONS), bool)
    batch[:, legal] = True
    batch[::2, 50] = True  # rows of other lengths in between
    observation = np.repeat(GameBatch().observe(), len(batch), axis=0)
    actions = make_agent("random").act(observation, batch, np.random.default_rng(11))
    counts = np.bincount(actions[1::2], minlength=NUM_ACTIONS)
    assert counts[legal].sum() == counts.sum() == 15_000
    expected = 15_000 / len(legal)
    statistic = float(((counts[legal] - expected) ** 2 / expected).sum())
    assert chi_square_tail(statistic, len(legal) - 1) > 1e-6


# --- keen ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_keen_draws_only_when_it_must(preset):
    keen = Watched("keen")
    play([keen, make_agent("random")], preset, deals=100, max_decisions=600)
    mask, actions = keen.all_seen()
    can_play = mask[:, : Action.DRAW].any(axis=1)
    assert can_play.sum() > 1000
    assert not np.isin(actions[can_play], IDLE).any()
    assert np.isin(actions[~can_play], IDLE).any()


def test_keen_says_and_catches():
    keen = Watched("keen")
    play([keen, make_agent("random")], "angry_birds", deals=200)
    mask, actions = keen.all_seen()
    for action in (Action.UNO, Action.CATCH):
        asked = mask[:, action]
        assert asked.sum() > 20
        assert (actions[asked] == action).all()


def test_keen_challenges_at_random():
    case = {
        "rules": "official",
        "hands": ["R1 R2", "G3 G4"],
        "discard": "R7 W+4",
        "colour": "B",
        "phase": "challenge",
        "turn": 1,
        "on_turn": 0,
    }
    chosen = [decide("keen", seed, **case) for seed in range(40)]
    assert set(chosen) == {"challenge", "accept"}


# --- greedy --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "discard", "rules", "expected"),
    [
        ("R3 R9 RS W", "R5", "angry_birds", "RS"),
        ("R3 R9 G5 W", "R5", "angry_birds", "R9"),
        ("R7 B5 G1", "R5", "angry_birds", "R7"),
        ("R0 B9 W KP", "R5", "angry_birds", "R0"),
        ("R9 R+2 B1", "R5", "classic", "R+2"),
        ("R9 R+2 B1", "R5", "angry_birds action_points=5", "R9"),
        ("R0 R+2 B1", "R5", "angry_birds action_points=0", "R0"),
        ("W B1 B2 G3", "R5", "angry_birds", "W:B"),
        ("W KP Y1 Y2 G3", "R5", "angry_birds", "W:Y"),
        ("KP G1 G2 B+2", "R5", "angry_birds", "KP:G"),
        ("W W+4 B1 G2 G3", "R5", "angry_birds", "W+4:G"),
        ("W+4 R0 G2 G3", "R5", "official", "R0"),
        ("W W+4 KP", "R5", "angry_birds", "W+4:R"),
        ("B1 G2 G3", "R5", "angry_birds", "draw"),
    ],
)
def test_greedy_plays(hand, discard, rules, expected):
    case = {"hands": [hand, "Y8 Y9"], "discard": discard, "draw": "Y0", "rules": rules}
    assert decide("greedy", **case) == expected


def test_greedy_plays_what_it_drew():
    case = {"hands": ["B1 G2 R3", "Y8 Y9"], "discard": "R5", "phase": "drawn", "drawn": "R3"}
    assert decide("greedy", **case) == "R3"


def test_greedy_says_uno_first():
    case = {"hands": ["R3 B4", "Y8 Y9"], "discard": "R5"}
    assert decide("greedy", **case) == "uno"
    assert decide("greedy", **case, said=True) == "R3"


def test_greedy_catches():
    case = {"hands": ["B4", "Y8 Y9"], "discard": "R5 R3", "draw": "Y0 Y1 Y2"}
    assert decide("greedy", **case, phase="catch", turn=1, on_turn=0) == "catch"


def test_greedy_names_the_opening_colour():
    case = {"hands": ["G1 G2 B3 W", "Y8 Y9"], "opening": "KP", "dealer": 1}
    assert decide("greedy", **case) == "colour:G"


def test_greedy_challenges():
    case = {"rules": "official", "hands": ["R1 R2", "G3 G4"], "discard": "R7 W+4", "colour": "B"}
    assert decide("greedy", **case, phase="challenge", turn=1, on_turn=0) == "challenge"


def test_greedy_leaves_nothing_to_chance():
    batch = GameBatch("angry_birds", 200)
    chosen = [
        make_agent("greedy").act(batch.observe(), batch.legal, np.random.default_rng(seed))
        for seed in (0, 1)
    ]
    assert np.array_equal(*chosen)


# --- Strength ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("better", "worse", "players", "at_least"),
    [
        ("keen", "random", 2, 0.95),
        ("greedy", "keen", 2, 0.6),
        ("greedy", "keen", 4, 0.3),
        ("expert", "keen", 2, 0.7),
        ("expert", "keen", 4, 0.35),
        ("expert", "greedy", 2, 0.53),
        ("expert", "greedy", 4, 0.27),
    ],
)
def test_strength(better, worse, players, at_least):
    """Long-run shares are far above: about 0.99, 0.66, 0.35, 0.76, 0.42, 0.6 and 0.31."""
    lineup = [make_agent(better), *[make_agent(worse)] * (players - 1)]
    assert play(lineup, deals=600, seed=1).win_rate().low > at_least


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize(("worse", "better"), list(itertools.pairwise(LADDER)))
def test_ladder(better, worse, players):
    """Each is clearly stronger than the one before."""
    lineup = [make_agent(better), *[make_agent(worse)] * (players - 1)]
    assert play(lineup, deals=50_000 // players, seed=1).win_rate().low > 1 / players


# --- Choosing and finding ------------------------------------------------------------------------


def test_best_takes_the_highest_then_the_lowest_id():
    mask = np.zeros((3, NUM_ACTIONS), bool)
    mask[0, [3, 50, 83]] = mask[1, 7] = mask[2, [0, 1]] = True
    legal = LegalActions.of(mask)
    assert legal.best(np.array([-5, 9, 9, -100, -1, -1])).tolist() == [50, 7, 0]


def test_known_agents():
    assert set(LADDER) <= set(NAMES)
    for name in NAMES:
        agent = make_agent(name)
        assert agent.name == name
        assert not agent.cheats
        assert make_agent(agent) is agent


def test_unknown_agent():
    with pytest.raises(
        ValueError, match=r"unknown agent 'gredy': known are expert, forg.*, human, .*\.safeten"
    ):
        make_agent("gredy")


@pytest.mark.parametrize("agent", [None, 5, b"keen", Agent])
def test_what_is_no_agent(agent):
    with pytest.raises(TypeError, match="allowed is an Agent, a bot's name or the path"):
        make_agent(agent)


def test_modules_that_end_the_process_are_named(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "quits_when_imported.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "quits_when_made.py").write_text("def bot():\n    raise SystemExit(2)\n")
    with pytest.raises(ValueError, match="importing quits_when_imported raised SystemExit: 3"):
        make_agent("quits_when_imported:bot")
    with pytest.raises(ValueError, match="'quits_when_made:bot': making it raised SystemExit: 2"):
        make_agent("quits_when_made:bot")


def test_a_folder_is_no_policy_file(tmp_path):
    folder = tmp_path / "folder.safetensors"
    folder.mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        make_agent(folder)


def test_missing_policy_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.safetensors"):
        make_agent(tmp_path / "nothing.safetensors")


def test_foreign_policy_file(tmp_path):
    path = tmp_path / "foreign.safetensors"
    path.write_bytes(b"not a policy")
    with pytest.raises(ValueError, match=r"foreign\.safetensors"):
        make_agent(path)


def small_policy(path: Path, seed: int = 0) -> Path:
    """A policy file with random weights."""
    rng = np.random.default_rng(seed)
    weights = {
        name: rng.normal(size=shape, scale=0.1).astype(np.float32)
        for name, shape in weight_shapes(8).items()
    }
    Policy(weights, Rules()).save(path)
    return path


def test_policy_file_plays(tmp_path):
    agent = make_agent(str(small_policy(tmp_path / "mine.safetensors")))
    assert agent.name == "mine"
    result = play([agent, make_agent("greedy")], deals=20, max_decisions=300)
    again = play([agent, make_agent("greedy")], deals=20, max_decisions=300)
    assert np.array_equal(result.winner, again.winner)
    warm = PolicyAgent(agent.policy, "warm", temperature=1.0)
    assert play([warm, make_agent("greedy")], deals=20, max_decisions=300).rounds == 40
    with pytest.raises(ValueError, match="temperature=-1"):
        PolicyAgent(agent.policy, temperature=-1)


@pytest.mark.parametrize("name", ["greedy", "thrifty", "watcher", "expert"])
def test_a_bot_plays_what_it_says_it_likes_most(name):
    agent = make_agent(name)
    tables = [GameBatch(Rules.preset("official", num_players=n), 60, seed=n) for n in (2, 5)]
    rng = np.random.default_rng(0)
    for _ in range(40):
        observation = np.concatenate([table.observe() for table in tables])
        mask = np.concatenate([table.legal for table in tables])
        live = mask.any(axis=1)
        observation, mask = observation[live], mask[live]
        liked = np.where(mask, agent.preferences(observation, mask), -np.inf)
        actions = agent.act(observation, mask, rng)
        assert (actions == liked.argmax(axis=1)).all()
        for table in tables:
            rows = np.flatnonzero(~table.done)
            table.step(agent.act(table.observe(where=rows), table.legal_of(rows), rng), rows)
