"""Search: what it plays out, what it drops, when it leaves its policy's choice, and its cheats."""

import itertools

import numpy as np
import pytest

import agents.search
from agents import Agent, known_agents, make_agent
from agents.oracle import OracleAgent
from agents.policy import PolicyAgent
from agents.rollouts import Part, play_out
from agents.search import Race, SearchAgent, stages
from eval.match import play
from uno_env import ACTIONS, GameBatch, Position, Rules
from uno_env.determinize import sample_tables
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.observation import FULL_SIZE
from uno_env.game.rules import PRESETS
from uno_env.policy import Policy, weight_shapes

TINY = "rollouts=2,max_decisions=6"


def load(**case):
    position = Position.from_case(case)
    batch = GameBatch(position.rules)
    batch.load(0, position)
    return batch


def decide(agent, seed=0, **case):
    """The text of what an agent does in one position."""
    agent, batch = make_agent(agent), load(**case)
    observation = batch.observe_all() if agent.cheats else batch.observe()
    return ACTIONS[agent.act(observation, batch.legal, np.random.default_rng(seed))[0]]


class Stub:
    """In place of `play_out`: notes what is asked, and values rollouts by their first action."""

    def __init__(self, monkeypatch, worth=lambda actions, rng: np.zeros(len(actions))):
        self.worth, self.stages, self.rng = worth, [], np.random.default_rng(1)
        monkeypatch.setattr(agents.search, "play_out", self)

    def __call__(self, parts, values, policy, rng, **options):
        stage = list(parts)
        self.stages.append(stage)
        at = np.concatenate([part.at for part in stage])
        assert sorted(at) == list(range(len(values)))
        for part in stage:
            values[part.at] = self.worth(part.actions, self.rng)

    def counts(self):
        """Rollouts by action, stage by stage."""
        return [
            np.sum([np.bincount(part.actions, minlength=NUM_ACTIONS) for part in stage], axis=0)
            for stage in self.stages
        ]


FIVE = {"hands": ["R1 R2 R3 R4 R5 B1", "Y1 Y2 Y3"], "discard": "R7", "draw": "G1 G2 G3"}
WITHOUT_DRAWING = [ACTIONS.index(f"R{number}") for number in (5, 4, 3, 2, 1)]


# --- What every bot owes -------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 10])
@pytest.mark.parametrize("preset", PRESETS)
def test_legal_everywhere(preset, players):
    lineup = [make_agent(f"{name}:{TINY}") for name in ("search", "oracle", "prophet")]
    lineup = [*lineup, *[make_agent("greedy")] * 10][:players]
    deals = 4 if players < 10 else 1
    assert play(lineup, preset, deals=deals, max_decisions=40).rounds == deals * players


def test_rules_may_differ_from_row_to_row():
    batches = [GameBatch(name, 3) for name in PRESETS]
    observation = np.concatenate([batch.observe() for batch in batches])[[0, 3, 6, 1, 4, 7]]
    mask = np.concatenate([batch.legal for batch in batches])[[0, 3, 6, 1, 4, 7]]
    actions = make_agent("search:rollouts=4").act(observation, mask, np.random.default_rng(0))
    assert mask[np.arange(6), actions].all()


def test_chance_comes_from_the_generator_alone():
    batch = GameBatch("angry_birds", 30, seed=4)
    agent = make_agent("search:rollouts=16,rollout=keen,margin=0")
    chosen = [
        agent.act(batch.observe(), batch.legal, np.random.default_rng(seed)) for seed in (0, 0, 1)
    ]
    assert np.array_equal(chosen[0], chosen[1])
    assert not np.array_equal(chosen[0], chosen[2])


# --- What it plays out ---------------------------------------------------------------------------


def test_every_action_meets_the_same_tables(monkeypatch):
    stub = Stub(monkeypatch)
    batch = GameBatch("angry_birds", 12, seed=2)
    agent = SearchAgent(rollout="greedy", rollouts=8)
    agent.act(batch.observe(), batch.legal, np.random.default_rng(0))
    [[part]] = stub.stages
    state = part.batch.state
    same_game = np.flatnonzero(np.diff(part.actions)) + 1
    runs = np.split(np.arange(len(part.actions)), same_game)
    assert {len(run) % 8 for run in runs} == {0}
    blocks = np.arange(len(part.actions)).reshape(-1, 8)
    compared = 0
    for first, second in itertools.pairwise(blocks):
        if not np.array_equal(state.hands[first, 0], state.hands[second, 0]):
            continue  # another decision
        compared += 1
        assert part.actions[first[0]] != part.actions[second[0]]
        for array in state.arrays().values():
            assert np.array_equal(array[first], array[second])
        assert len(np.unique(state.stream[first])) == 8
    assert compared > 20


def test_it_looks_at_the_likeliest(monkeypatch):
    stub = Stub(monkeypatch)
    decide(SearchAgent(rollout="greedy", rollouts=4, candidates=3), **FIVE)
    assert np.flatnonzero(stub.counts()[0]).tolist() == sorted(WITHOUT_DRAWING[:3])
    # Without preferences it looks at all.
    decide(SearchAgent(rollouts=4, candidates=3, rollout="keen"), **FIVE)
    assert np.flatnonzero(stub.counts()[1]).size == load(**FIVE).legal.sum() == 6


@pytest.mark.parametrize("rollouts", [1, 3, 31, 32, 100, 128, 512])
def test_the_budget_is_kept(monkeypatch, rollouts):
    """Noise alone drops few, so some actions are played out to the end of the budget."""
    stub = Stub(monkeypatch, lambda actions, rng: rng.random(len(actions)) < 0.5)
    for seed in range(8):
        stub.stages.clear()
        decide(SearchAgent(rollout="greedy", rollouts=rollouts), seed, **FIVE)
        total = np.sum(stub.counts(), axis=0)
        assert total.max() <= rollouts
        assert total[WITHOUT_DRAWING[0]] == total.max()
    for options in (1, 5, 1000):
        assert stages(rollouts, options)[-1] == rollouts
        assert stages(rollouts, options)[0] >= min(rollouts, 16)


def test_few_games_are_played_in_few_stages():
    """A step of a hundred games takes about as long as one of several hundred."""
    assert stages(128, 400) == [16, 32, 64, 128]
    assert stages(128, 10) == [64, 128]
    assert stages(128, 5) == [128]


def test_losers_are_dropped_early(monkeypatch):
    loser, winner = WITHOUT_DRAWING[1], WITHOUT_DRAWING[2]

    def worth(actions, rng):
        chance = np.where(actions == winner, 0.9, np.where(actions == loser, 0.0, 0.6))
        return rng.random(len(actions)) < chance

    stub = Stub(monkeypatch, worth)
    assert decide(SearchAgent(rollout="greedy", rollouts=1024), **FIVE) == "R3"
    first, *later = stub.counts()
    assert first[loser] == stages(1024, 5)[0] == 128
    assert all(stage[loser] == 0 for stage in later)
    # At most the better half goes on, and the prior's choice.
    assert np.count_nonzero(first) == 5
    assert all(np.count_nonzero(stage) <= 3 for stage in later)
    # Once nothing is in doubt any more, it stops.
    assert np.sum(stub.counts()) < 5 * 1024


def test_it_stays_with_the_prior_where_nothing_is_sure(monkeypatch):
    """Among five actions that are alike one nearly always looks better than the prior's choice."""
    Stub(monkeypatch, lambda actions, rng: rng.random(len(actions)) < 0.5)
    agents_by_margin = {
        margin: SearchAgent(rollout="greedy", rollouts=64, margin=margin) for margin in (0, 1, 3)
    }
    left = {
        margin: sum(decide(agent, seed, **FIVE) != "R5" for seed in range(24))
        for margin, agent in agents_by_margin.items()
    }
    assert left[3] < left[1] < left[0]
    assert left[3] <= 2
    assert left[0] >= 12
    Stub(monkeypatch)  # all alike on every table
    assert decide(SearchAgent(rollout="greedy", rollouts=64, margin=0), **FIVE) == "R5"


def test_a_gain_that_is_sure_is_taken(monkeypatch):
    Stub(monkeypatch, lambda actions, rng: actions == WITHOUT_DRAWING[4])
    assert decide(SearchAgent(rollout="greedy", rollouts=64), **FIVE) == "R1"


def test_races_pair_what_met_the_same_tables():
    """Both win half, but one a table more wherever the other does: sure, though small."""
    race = Race(np.ones((1, 2), bool), 100, margin=1.0)
    luck = np.random.default_rng(0).random((1, 100)) < 0.5
    values = np.stack([luck[0], luck[0] | (np.arange(100) < 6)]).astype(np.float32)
    assert 0 < values[1].mean() - values[0].mean() < 0.05
    race.note(np.zeros(2, int), np.arange(2), values)
    race.drop(np.array([0]), 100)
    assert race.choice().tolist() == [1]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({"hands": ["R1 B2", "Y1"], "discard": "R7"}, "uno"),
        (
            {
                "hands": ["B4", "Y8 Y9"],
                "discard": "R5 R3",
                "phase": "catch",
                "turn": 1,
                "on_turn": 0,
            },
            "catch",
        ),
        ({"hands": ["R1", "Y1 Y2"], "discard": "R7"}, "R1"),
        ({"hands": ["B1 B2 B3", "Y1 Y2"], "discard": "R7"}, "draw"),
    ],
)
def test_clear_cases_cost_nothing(monkeypatch, case, expected):
    stub = Stub(monkeypatch)
    assert decide("search", draw="G1 G2 G3", **case) == expected
    assert not stub.stages


def test_masks_that_the_table_does_not_make_are_the_priors():
    batch = load(**FIVE)
    mask = np.zeros((1, NUM_ACTIONS), bool)
    mask[0, [Action.SWAP, Action.SWAP + 1]] = True
    prior = make_agent("greedy").act(batch.observe(), mask, np.random.default_rng(0))
    found = make_agent("search").act(batch.observe(), mask, np.random.default_rng(0))
    assert found == prior


# --- What it finds -------------------------------------------------------------------------------

SKIP_TO_WIN = {
    "rules": "angry_birds action_points=5",
    "hands": ["R9 RS", "Y1"],
    "discard": "R7",
    "said": True,
    "draw": "G1 G2 G3 B1 B2 B3",
}


def test_it_sees_what_its_policy_does_not():
    assert decide("greedy", **SKIP_TO_WIN) == "R9"
    assert decide("search:rollouts=64", **SKIP_TO_WIN) == "RS"
    assert decide("search:rollouts=64,value=points", **SKIP_TO_WIN) == "RS"


def test_search_gains():
    """The prophet wins 96 of 100 in the long run: what search itself gains takes longer to see."""
    prophet = make_agent("prophet:rollouts=1,max_decisions=80")
    assert play([prophet, make_agent("greedy")], deals=8).win_rate().low > 0.5


def test_the_oracle_knows_the_hands():
    case = {"hands": ["W G1 G2 R3", "G7"], "discard": "Y5", "draw": "B1 B2 B3 R1 R2 R4 B9"}
    assert decide("greedy", **case) == "W:G"
    for seed in range(5):
        assert decide("oracle:rollouts=8", seed, **case) != "W:G"


def test_the_prophet_knows_the_pile():
    """What it plays out on has the true pile, where the oracle's is shuffled."""
    case = {"hands": ["W G1 B3", "Y1 Y2 Y3"], "discard": "R5", "draw": "B1 B2 R1 R2 R4 B9 G9 G8"}
    tables = OracleAgent(rollouts=2).tables(
        load(**case).observe_all(), 30, np.random.default_rng(0)
    )
    prophet = make_agent("prophet")
    true = prophet.tables(load(**case).observe_all(), 30, np.random.default_rng(0))
    draws = [{batch.position(game).draw for game in range(30)} for batch in (tables, true)]
    assert len(draws[0]) > 20
    assert draws[1] == {tuple(case["draw"].split())}
    hands = load(**case).position(0).hands
    assert all(
        batch.position(game).hands == hands for batch in (tables, true) for game in range(30)
    )


def test_cheats_are_given_all_there_is():
    widths = []

    class Nosy(Agent):
        name = "nosy"
        cheats = True

        def act(self, observation, mask, rng):
            widths.append(observation.shape[1])
            return mask.argmax(axis=1)

    play([Nosy(), make_agent("greedy")], deals=2)
    assert set(widths) == {FULL_SIZE}
    cheats = {name for name, kind in known_agents().items() if kind.cheats}
    assert cheats == {"oracle", "prophet"}
    batch = GameBatch()
    with pytest.raises(ValueError, match=r"oracle was given .*uint8 \(B, 1130\), all there"):
        make_agent("oracle").act(batch.observe(), batch.legal, np.random.default_rng(0))


# --- Rollouts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [4, 10_000])
@pytest.mark.parametrize("points", [False, True])
def test_rollouts_end_as_the_games_do(monkeypatch, room, points):
    """However many are in play at once: each has its own stream, and `greedy` needs no chance."""
    monkeypatch.setattr("agents.rollouts.ROOM", room)
    greedy, rng = make_agent("greedy"), np.random.default_rng(0)
    tables = sample_tables(GameBatch(Rules(num_players=3), 5).observe(), 6, rng)
    actions = greedy.act(tables.observe(), tables.legal, rng)
    parts = [
        Part(tables.take(at), actions[at], at + 2) for at in np.split(np.arange(30), [3, 10, 11])
    ]
    values = np.full(33, -9, np.float32)  # three belong to nobody
    play_out(iter(parts), values, greedy, rng, max_decisions=10_000, points=points)
    assert (values[[0, 1, 32]] == -9).all()
    while not tables.done.all():
        tables.step(greedy.act(tables.observe(), tables.legal | tables.done[:, None], rng))
    won = tables.winner == 0
    expected = tables.points[:, 0] - tables.points[:, 1:].mean(axis=1) if points else won
    assert np.allclose(values[2:32], expected)


def test_the_longest_rollouts_may_be_cut_off():
    greedy, rng = make_agent("greedy"), np.random.default_rng(0)
    cut = []
    for longest in (0, 0.2, 1):
        batch = GameBatch(num_games=100)
        parts = [
            Part(batch.take(at), batch.legal[at].argmax(axis=1), at)
            for at in np.split(np.arange(100), 5)
        ]
        values = np.full(100, -9, np.float32)
        play_out(parts, values, greedy, rng, max_decisions=1000, longest=longest)
        assert np.isin(values, [0, 0.5, 1]).all()
        cut.append(int((values == 0.5).sum()))
    assert cut[0] == 0
    assert 10 < cut[1] <= 20
    assert cut[2] == 100


def test_long_rollouts_count_as_even():
    batch = GameBatch(Rules(num_players=4), 5)
    actions = batch.legal.argmax(axis=1)
    values = np.full(5, -9, np.float32)
    part = Part(batch, actions, np.arange(5))
    greedy = make_agent("greedy")
    play_out([part], values, greedy, np.random.default_rng(0), max_decisions=3)
    assert (values == 0.25).all()
    play_out([part], values, greedy, np.random.default_rng(0), max_decisions=3, points=True)
    assert (values == 0).all()


# --- Settings and errors -------------------------------------------------------------------------


def test_settings_as_text():
    agent = make_agent("search:rollouts=512,rollout=keen,margin=0.5,value=points")
    assert (agent.rollouts, agent.policy.name, agent.margin) == (512, "keen", 0.5)
    assert agent.name == "search:rollouts=512,rollout=keen,margin=0.5,value=points"
    oracle = make_agent("oracle:candidates=7,margin=2")
    assert (oracle.candidates, oracle.margin, oracle.rollouts) == (7, 2.0, 32)
    assert make_agent("prophet:rollouts=1,candidates=3").candidates == 3
    assert SearchAgent().name == "search"


def test_a_policy_file_as_rollout_policy(tmp_path):
    rng = np.random.default_rng(0)
    weights = {
        name: rng.normal(size=shape, scale=0.1).astype(np.float32)
        for name, shape in weight_shapes(8).items()
    }
    path = tmp_path / "small.safetensors"
    Policy(weights, Rules()).save(path)
    agent = make_agent(f"search:rollouts=2,rollout={path}")
    assert isinstance(agent.policy, PolicyAgent)
    batch = GameBatch(num_games=4)
    actions = agent.act(batch.observe(), batch.legal, np.random.default_rng(0))
    assert batch.check(actions).shape == (4,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("search:rolouts=3", "unknown setting 'rolouts' in agent .*: search takes rollouts, roll"),
        ("search:rollouts", "'rollouts' in agent .*: written is search:setting=value"),
        ("search:", "'' in agent 'search:': written is search:setting=value"),
        ("search:rollouts=3,rollouts=4", "allowed is each setting once"),
        ("search:rollouts=many", "rollouts=many in agent .*: allowed is a whole number"),
        ("search:margin=x", "margin=x in agent .*: allowed is a number"),
        ("search:rollouts=0", "rollouts=0: allowed is a whole number from 1"),
        ("search:margin=-1", "margin=-1.0: allowed is a number from 0"),
        ("search:margin=nan", "margin=nan: allowed is a number from 0"),
        ("search:trust=1.5", "trust=1.5: allowed is a number from 0 to 1"),
        ("search:value=luck", "value='luck': allowed is 'win' or 'points'"),
        ("search:candidates=0", "candidates=0: allowed is a whole number from 1"),
        ("search:rollout=oracle", "rollout='oracle': allowed is an agent that does not cheat"),
        ("search:rollout=gredy", "unknown agent 'gredy'"),
        ("search:rollout=human", "rollout='human': allowed is an agent .* asks nobody"),
        (
            "search:rollouts=2000000",
            "rollouts=2000000: allowed is a whole number from 1 to 1048576",
        ),
        ("greedy:rollouts=3", "unknown setting 'rollouts' in agent .*: greedy takes no settings"),
        ("serch:rollouts=3", "unknown agent 'serch:rollouts=3'"),
    ],
)
def test_bad_settings(text, message):
    with pytest.raises(ValueError, match=message):
        make_agent(text)
