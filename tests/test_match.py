"""Matches: played right, the same however the work is cut, honest intervals, clear errors."""

import dataclasses
import re

import numpy as np
import pytest

from agents import Agent, known_agents, make_agent
from agents.keen import KeenAgent
from eval import floor
from eval.answers import AgentError
from eval.estimates import estimate
from eval.floor import BLOCKED, TRUNCATED, Rounds
from eval.match import main, play, play_all, quick_match
from eval.results import MatchResult
from uno_env import GameBatch, Position, Rules
from uno_env.game.actions import Action


def agents(*names):
    return [make_agent(name) for name in names]


class FirstLegal(Agent):
    """Takes the legal action with the lowest id: deterministic, unlike greedy."""

    name = "first"

    def act(self, observation, mask, rng):
        return mask.argmax(axis=1)


class Drawer(Agent):
    """Never plays if it can draw or keep."""

    name = "drawer"

    def act(self, observation, mask, rng):
        actions = mask.argmax(axis=1)
        for action in (Action.DRAW, Action.KEEP):
            actions[mask[:, action]] = action
        return actions


class Answering(Agent):
    """Does what it is told, after a number of good answers."""

    name = "culprit"

    def __init__(self, answer, good=0):
        self.answer = answer
        self.good = good

    def act(self, observation, mask, rng):
        self.good -= 1
        return mask.argmax(axis=1) if self.good >= 0 else self.answer(mask)


def assert_same(one, other):
    for name, values in one.rows.arrays().items():
        assert np.array_equal(values, getattr(other.rows, name)), name
    for spec in dataclasses.fields(MatchResult):
        if spec.name != "rows":
            assert getattr(one, spec.name) == getattr(other, spec.name), spec.name


# --- Play ----------------------------------------------------------------------------------------


def play_slowly(lineup, rules, seed, rotation):
    """One round, one game at a time: winner, points and first by place, decisions."""
    players = len(lineup)
    batch = GameBatch(rules, 1, seed=seed)
    place_in = [(seat - rotation) % players for seat in range(players)]
    first, decisions = place_in[batch.player[0]], 0
    while not batch.done[0]:
        agent = lineup[place_in[batch.player[0]]]
        batch.step(batch.check(agent.act(batch.observe(), batch.legal, None)))
        decisions += 1
    points = [0] * players
    for seat in range(players):
        points[place_in[seat]] = int(batch.points[0, seat])
    return place_in[batch.winner[0]], points, decisions, first


@pytest.mark.parametrize("preset", ["angry_birds", "classic", "official"])
def test_rounds_are_those_of_single_games(preset):
    first, (greedy,) = FirstLegal(), agents("greedy")
    lineup = [greedy, first, greedy]
    rules = Rules.preset(preset, num_players=3)
    result = play(lineup, rules, deals=8, seed=4)
    seeds = np.random.SeedSequence(4).generate_state(8, np.uint64)
    for deal in range(8):
        for rotation in range(3):
            winner, points, decisions, begins = play_slowly(lineup, rules, seeds[deal], rotation)
            assert result.winner[deal, rotation] == winner
            assert result.points[deal, rotation].tolist() == points
            assert result.decisions[deal, rotation] == decisions
            assert result.rows.first.reshape(8, 3)[deal, rotation] == begins


@pytest.mark.parametrize("players", [2, 3, 10])
def test_deterministic_agents_against_themselves_share_each_deal(players):
    """All rotations of a deal are one game, which each place of the line-up wins once."""
    for lineup in (agents(*["greedy"] * players), agents("greedy") * players):
        result = play(lineup, deals=30)
        for place in range(players):
            assert (result.shares(place) == 1 / players).all()
            assert result.win_rate(place).value == pytest.approx(1 / players)
        assert np.ptp(result.decisions, axis=1).max() == 0
        assert np.ptp(result.points.sum(axis=1), axis=1).max() == 0


def test_chance_against_itself_is_even():
    """The bound is crossed by chance once in 15,000 seeds; the seed is fixed."""
    shares = play(agents("keen", "keen"), deals=1000).shares()
    assert abs(shares.mean() - 0.5) < 4 * shares.std() / len(shares) ** 0.5


def test_swapping_the_lineup_swaps_the_result():
    first, (greedy,) = FirstLegal(), agents("greedy")
    one = play([greedy, first], deals=50, seed=3)
    other = play([first, greedy], deals=50, seed=3)
    assert np.array_equal(one.winner, 1 - other.winner[:, ::-1])
    assert np.array_equal(one.points, other.points[:, ::-1, ::-1])
    assert np.array_equal(one.shares(0), other.shares(1))


def test_cut_off_rounds_are_nobodys():
    result = play([Drawer(), Drawer()], deals=20, max_decisions=50)
    assert result.truncated == result.rounds == 40
    assert result.wins.tolist() == [0, 0]
    assert (result.winner == TRUNCATED).all()
    assert (result.decisions == 50).all()
    assert not result.points.any()
    assert "40 rounds were cut off after 50 decisions" in str(result)
    some = play([*agents("greedy"), Drawer()], deals=100, max_decisions=40)
    assert 0 < some.truncated < 200
    assert some.wins.sum() + some.truncated == 200
    assert some.decisions.max() == 40


def test_results_in_numbers():
    result = MatchResult(
        names=("a", "b"),
        rules=Rules(),
        seed=0,
        max_decisions=9,
        rows=Rounds(
            deal=np.array([0, 0, 1, 1, 2, 2], np.int32),
            rotation=np.array([0, 1] * 3, np.int8),
            number=np.zeros(6, np.int32),
            winner=np.array([0, 1, 0, 0, BLOCKED, TRUNCATED], np.int8),
            points=np.arange(12, dtype=np.int32).reshape(6, 2),
            decisions=np.full(6, 7, np.int32),
            first=np.array([0, 1, 1, 0, 0, 1], np.int8),
        ),
    )
    assert (result.deals, result.rounds, result.blocked, result.truncated) == (3, 6, 1, 1)
    assert result.wins.tolist() == [3, 1]
    assert result.shares(0).tolist() == [0.5, 1, 0]
    assert result.win_rate(1).value == pytest.approx(1 / 6)
    assert result.mean_points.tolist() == [5, 6]
    assert result.first_seat.value == pytest.approx(3 / 6)
    assert result.mean_decisions == 7
    assert "1 rounds were blocked" in str(result)


def test_the_same_deals_take_variance_off():
    """What luck one seat had the other has too; of two that play alike nothing else is left."""
    alike = play(agents("greedy", "greedy"), deals=30)
    assert alike.paired_variance == 0
    other = play(agents("keen", "greedy"), deals=2_000, seed=1)
    assert 0.8 < other.paired_variance < 1
    assert f"took {100 * (1 - other.paired_variance):.0f}% off the variance" in str(other)


# --- However the work is cut ---------------------------------------------------------------------


def test_results_do_not_depend_on_company():
    keen, random, greedy = agents("keen", "random", "greedy")
    options = {"deals": 130, "seed": 8, "max_decisions": 150, "piece": 100}
    alone = play([keen, random], **options)
    assert 0 < alone.truncated < alone.rounds
    three = play_all([[greedy, random], [keen, random], [random, keen]], **options)
    assert_same(alone, three[1])


@pytest.mark.parametrize("games", [False, True])
def test_how_many_play_at_a_time_decides_nothing_but_chance(games, monkeypatch):
    """Agents without chance of their own play the same rounds through a narrow window."""
    options = {"deals": 30 if games else 200, "games": games}
    lineup = [make_agent("greedy"), FirstLegal(), make_agent("greedy")]
    whole = play(lineup, **options)
    monkeypatch.setattr(floor, "WINDOW", 7)
    assert_same(whole, play(lineup, **options))


def test_who_does_not_look_is_told_nothing():
    """And answers as if it were; whoever does look is told all the same."""
    told = {"blind": [], "looks": []}

    class Blind(KeenAgent):
        name = "blind"

        def act(self, observation, mask, rng):
            told[self.name].append(observation.any())
            return super().act(observation, mask, rng)

    class Looks(Blind):
        name, observes = "looks", True

    one = play([Blind(), "greedy"], deals=50)
    other = play([Looks(), "greedy"], deals=50)
    assert not any(told["blind"])
    assert all(told["looks"])
    assert np.array_equal(one.rows.winner, other.rows.winner)
    assert np.array_equal(one.rows.decisions, other.rows.decisions)


@pytest.mark.parametrize("name", sorted(known_agents()))
def test_who_says_it_does_not_look_does_not(name):
    agent = make_agent(name)
    if agent.observes or agent.interactive:
        return
    batch = GameBatch("angry_birds", 200, seed=3)
    blank = np.zeros_like(batch.observe())
    answers = [
        agent.act(seen, batch.legal, np.random.default_rng(1)) for seen in (batch.observe(), blank)
    ]
    assert np.array_equal(*answers)


def test_results_do_not_depend_on_jobs():
    told = []
    lineup = agents("keen", "greedy")
    options = {"deals": 130, "seed": 8, "piece": 100}
    there = play(lineup, jobs=2, progress=lambda *done: told.append(done), **options)
    assert_same(there, play(lineup, **options))
    assert told[-1] == (260, 260)


def test_more_deals_leave_the_first_pieces_as_they_are():
    lineup = agents("keen", "greedy")
    few, many = (play(lineup, deals=deals, piece=100) for deals in (50, 70))
    assert np.array_equal(few.winner, many.winner[:50])


def test_seeds_differ():
    lineup = agents("greedy", "greedy")
    one, other = (play(lineup, deals=50, seed=seed) for seed in (0, 1))
    assert not np.array_equal(one.decisions, other.decisions)


def test_progress_counts_rounds():
    told = []
    play(agents("keen", "keen"), deals=10, progress=lambda *done: told.append(done))
    assert [over for over, _ in told] == sorted({over for over, _ in told})
    assert told[-1] == (20, 20)


# --- Intervals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("likely", [0.5, 0.15, 0.97])
@pytest.mark.parametrize("alike", [0.0, 0.5])
def test_intervals_cover(likely, alike):
    """Of 4,000 estimates from 200 deals of two rounds, alike or not, 93 to 97% cover the truth."""
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 4000, 200)) < likely
    second = np.where(rng.random(first.shape) < alike, first, second)
    shares = (first + second.astype(float)) / 2
    intervals = [estimate(row) for row in shares]
    covered = np.mean([interval.low <= likely <= interval.high for interval in intervals])
    assert 0.93 < covered < 0.97


def test_intervals_at_the_edges():
    nothing, everything = estimate(np.zeros(100)), estimate(np.ones(100))
    assert nothing.value == nothing.low == 0
    assert 0.02 < nothing.high < 0.06
    assert everything.value == everything.high == 1
    assert str(everything) == f"100.0 ± {100 * everything.margin:.1f}"
    split = estimate(np.full(1000, 0.5))
    assert split.margin < 0.002
    assert estimate(np.full(4, 0.5)).margin > 0.1
    assert estimate(np.array([1.0])).low < 0.3
    with pytest.raises(ValueError, match="at least one deal"):
        estimate(np.zeros(0))


def test_paired_deals_narrow_the_interval():
    shares = np.tile([0.0, 0.5, 0.5, 1.0], 100)
    split = np.tile([0.5, 0.5, 0.5, 0.5], 100)
    assert estimate(split).margin < estimate(shares).margin / 5


# --- Bad agents ----------------------------------------------------------------------------------


def raising(mask):
    raise KeyError("lost")


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (raising, "raised KeyError: 'lost'"),
        (
            lambda mask: mask.argmax(axis=1)[:, None],
            r"of the shape \(\d+, 1\): needed are integers",
        ),
        (lambda mask: 3, r"of the shape \(\)"),
        (lambda mask: None, "answered with object"),
        (lambda mask: mask.argmax(axis=1) * 1.0, "answered with float64"),
        (lambda mask: mask.argmax(axis=1) * np.nan, "answered with float64"),
        (
            lambda mask: np.full(len(mask), -1),
            "answered -1: allowed is a whole number from 0 to 83",
        ),
        (lambda mask: np.full(len(mask), 128), "answered 128"),
        (lambda mask: np.full(len(mask), Action.SWAP), r"answered swap:1 \(75\), which is illegal"),
        (lambda mask: mask.__setitem__(..., True) or mask.argmin(axis=1) + 83, "answered swap:9"),
    ],
)
def test_bad_answers_are_named(answer, complaint):
    lineup = [*agents("greedy"), Answering(answer)]
    with pytest.raises(AgentError, match=f"^agent 'culprit' .*{complaint}"):
        play(lineup, deals=5)


def test_a_bad_answer_can_be_replayed():
    """The message holds the deal's seed and the position as text."""
    lineup = [*agents("greedy"), Answering(lambda mask: np.full(len(mask), Action.SWAP), good=10)]
    with pytest.raises(AgentError) as caught:
        play(lineup, "classic", deals=3, seed=5)
    line, where, again, *position = str(caught.value).splitlines()
    assert again.startswith("again: python -m eval.replay greedy culprit --rules classic --seed 5")
    assert "swap:1" in line
    found = re.match(
        r"seed 5, deal (\d) \(the game with the seed (\d+)\), rotation (\d), decision (\d+)$", where
    )
    deal, seed, rotation, decision = map(int, found.groups())
    assert seed == np.random.SeedSequence(5).generate_state(3, np.uint64)[deal]
    batch = GameBatch("classic", 1, seed=seed)
    both = [lineup[0], FirstLegal()]
    for _ in range(decision - 1):
        agent = both[(batch.player[0] - rotation) % 2]
        batch.step(agent.act(batch.observe(), batch.legal, None))
    assert Position.parse("\n".join(position)) == batch.position(0)


def test_bad_answers_come_back_from_processes():
    lineups = [agents("greedy", "keen"), [*agents("greedy"), BadFromAfar()]]
    with pytest.raises(AgentError, match="agent 'afar' raised RuntimeError: too far"):
        play_all(lineups, deals=5, jobs=2)


class BadFromAfar(Agent):
    name = "afar"

    def act(self, observation, mask, rng):
        raise RuntimeError("too far")


# --- Bad arguments -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lineup", "options", "complaint"),
    [
        (["keen"], {}, "line-ups of 1 agents: allowed are 2 to 10"),
        (["keen"] * 11, {}, "line-ups of 11 agents"),
        (["keen"] * 2, {"rules": Rules(num_players=3)}, "rules for 3 players at a table of 2"),
        (["keen"] * 2, {"rules": "classic num_players=3"}, "rules for 3 players at a table of 2"),
        (["keen"] * 2, {"rules": {"num_players": 3}}, "rules for 3 players at a table of 2"),
        (["keen"] * 3, {"rules": "classic num_players=2"}, "rules for 2 players at a table of 3"),
        (["keen"] * 2, {"rules": "clasic"}, "unknown preset 'clasic'"),
        (["keen"] * 2, {"deals": 0}, "deals=0: allowed is a whole number from 1"),
        (["keen"] * 2, {"seed": -1}, "seed=-1: allowed is a whole number from 0"),
        (["keen"] * 2, {"seed": 1.0}, r"seed=1\.0: allowed"),
        (["keen"] * 2, {"deals": True}, "deals=True: allowed is a whole number from 1"),
        (["keen"] * 2, {"max_decisions": 0}, "max_decisions=0"),
        (["keen"] * 2, {"jobs": 0}, "jobs=0"),
        (["keen"] * 2, {"piece": 0}, "piece=0"),
    ],
)
def test_bad_arguments(lineup, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        play(agents(*lineup), **options)


def test_agents_may_be_named():
    assert_same(play(["greedy", "keen"], deals=5), play(agents("greedy", "keen"), deals=5))
    assert play(["keen"] * 3, "classic num_players=3", deals=2).rules.num_players == 3


class Nameless(Agent):
    def act(self, observation, mask, rng):
        raise AssertionError("asked")


@pytest.mark.parametrize("name", [None, "", 5])
def test_agents_need_a_name_before_they_play(name):
    nameless = Nameless()
    if name is not None:
        nameless.name = name
    with pytest.raises(ValueError, match=rf"Nameless\.name={name!r}: allowed is text"):
        play([nameless, *agents("keen")])


@pytest.mark.parametrize("lineup", ["greedy", None, [None, None]])
def test_lineups_are_sequences_of_agents(lineup):
    with pytest.raises(TypeError, match="allowed is"):
        play(lineup)


@pytest.mark.parametrize("place", [-1, -2, 2, "x", 0.0, True])
def test_only_places_of_the_lineup_have_a_share(place):
    result = play(agents("keen", "keen"), deals=2)
    for ask in (result.shares, result.win_rate):
        with pytest.raises(ValueError, match=f"place={place!r}: allowed is a whole number from 0"):
            ask(place)


def test_lineups_must_be_of_one_length():
    with pytest.raises(ValueError, match="line-ups of 2, 3 agents"):
        play_all([agents("keen", "keen"), agents("keen", "keen", "keen")])
    with pytest.raises(ValueError, match="line-ups of no agents"):
        play_all([])


# --- Command line --------------------------------------------------------------------------------


def test_command(capsys):
    arguments = [
        "greedy",
        "keen",
        "--players",
        "3",
        "--rounds",
        "119",
        "--seed",
        "2",
        "--jobs",
        "1",
    ]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    greedy, keen = agents("greedy", "keen")
    assert out == f"{quick_match([greedy, keen, keen], deals=40, seed=2)}\n"
    assert "than a table of keen" in out
    assert "angry_birds, 3 players: 40 deals from every seat = 120 rounds, seed 2" in out
    assert not err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["greedy"], "required: B"),
        (["greedy", "nobody"], "unknown agent 'nobody'"),
        (["greedy", "missing.safetensors"], "no policy file at missing.safetensors"),
        (["greedy", "keen", "--rounds", "0"], "--rounds: '0': allowed is a whole number from 1"),
        (["greedy", "keen", "--seed", "x"], "--seed: 'x': allowed"),
        (["greedy", "keen", "--players", "11"], "num_players=11: allowed is"),
        (["greedy", "keen", "--rules", "classic deck=tarot"], "deck='tarot'"),
        (
            ["greedy", "keen", "--rules", "classic num_players=3", "--players", "4"],
            "rules for 3 players at a table of 4",
        ),
        (["greedy", "keen", "--speed", "11"], "unrecognized arguments"),
    ],
)
def test_command_with_bad_arguments(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("python -m eval.match: ")
    assert complaint in err
    assert err.count("\n") == 1
