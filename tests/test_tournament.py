"""Tournaments: the table, the benchmark for training, the command line."""

import os

import numpy as np
import pytest
from test_agents import small_policy

from agents import Agent, make_agent
from eval import command, tournament
from eval.match import play
from eval.tournament import benchmark, format_table, main, round_robin


class Failing(Agent):
    name = "failing"

    def act(self, observation, mask, rng):
        raise RuntimeError("no idea")


def numbers(line):
    """The estimates of a line of a table, in order."""
    return [cell for cell in line.split("  ") if "±" in cell]


def test_two_players_are_played_once_and_read_both_ways():
    result = round_robin(["random", "keen", "greedy"], deals=50, seed=3)
    assert result.rows == result.columns == ("random", "keen", "greedy")
    assert len(result.matches) == 3
    assert set(result.cells) == {(r, c) for r in range(3) for c in range(3) if r != c}
    for row, column in result.cells:
        one, other = result.win_rate(row, column), result.win_rate(column, row)
        assert one.value + other.value == pytest.approx(1)


def test_more_players_meet_a_table_of_each_other():
    names = ["keen", "greedy"]
    result = round_robin(names, {"preset": "official", "num_players": 3}, deals=50, seed=3)
    assert len(result.matches) == 2
    for row, column in ((0, 1), (1, 0)):
        lineup = [make_agent(names[row]), *[make_agent(names[column])] * 2]
        alone = play(lineup, "official", deals=50, seed=3)
        assert result.win_rate(row, column) == alone.win_rate()


def test_overall_is_the_mean_over_the_same_deals():
    result = round_robin(["random", "keen", "greedy"], deals=50, seed=3)
    against_random, against_keen = (result.win_rate(2, column) for column in (0, 1))
    overall = result.overall(2)
    assert overall.value == pytest.approx((against_random.value + against_keen.value) / 2)
    assert overall.margin < against_keen.margin


@pytest.mark.parametrize(("players", "seating"), [(2, "tables"), (3, "all")])
def test_the_tables_are_the_same_whatever_the_jobs(players, seating):
    one, other = (
        format_table(
            round_robin(
                ["random", "keen", "greedy"],
                {"num_players": players},
                deals=60 if players == 2 else 12,
                piece=30,
                seating=seating,
                max_decisions=100,
                jobs=jobs,
            )
        )
        for jobs in (1, 2)
    )
    assert one == other


# --- Mixed tables --------------------------------------------------------------------------------

BOTS = ["keen", "greedy", "thrifty", "expert"]


def seated(seating, names, players=3, max_decisions=100):
    options = {"deals": 20, "seed": 3, "max_decisions": max_decisions}
    return round_robin(names, {"num_players": players}, seating=seating, **options)


@pytest.fixture(scope="module")
def mixed():
    return seated("mixed", BOTS)


@pytest.fixture(scope="module")
def both():
    """One against a table of each other, and mixed tables."""
    return seated("all", BOTS[:3])


def test_mixed_tables_seat_different_bots_in_every_order(mixed):
    result = mixed
    assert not result.cells
    assert len(result.mixed) == len(result.matches) == 8
    for lineup, match in result.mixed:
        table = [make_agent(BOTS[i]) for i in lineup]
        alone = play(table, deals=20, seed=3, max_decisions=100)
        assert np.array_equal(match.winner, alone.winner)
        assert match.names == tuple(BOTS[i] for i in lineup)


def test_overall_and_points_are_those_of_all_its_tables(mixed):
    result = mixed
    for agent in range(4):
        won, points, rounds = 0, 0, 0
        for lineup, match in result.mixed:
            if agent in lineup:
                won += np.count_nonzero(match.winner == lineup.index(agent))
                points += match.points[..., lineup.index(agent)].sum()
                rounds += match.rounds
        assert result.overall(agent).value == pytest.approx(won / rounds)
        assert result.points(agent).value == pytest.approx(points / rounds)
    won = 1 - sum(match.truncated for match in result.matches) / result.rounds
    assert sum(result.overall(agent).value for agent in range(4)) == pytest.approx(4 / 3 * won)


def test_head_to_head_is_the_share_of_what_the_two_won(both):
    result = both
    assert len(result.cells) == 6
    won = np.zeros((3, 3))
    for lineup, match in result.mixed:
        for place, agent in enumerate(lineup):
            for other in lineup:
                won[agent, other] += np.count_nonzero(match.winner == place)
    for one, other in ((0, 1), (2, 0), (1, 2)):
        share = result.head_to_head(one, other)
        assert share.value == pytest.approx(won[one, other] / (won[one, other] + won[other, one]))
        assert share.low < share.value < share.high
        back = result.head_to_head(other, one)
        assert back.value == pytest.approx(1 - share.value)
        assert back.low == pytest.approx(1 - share.high)
    assert result.head_to_head(1, 1) is None


def test_with_several_places_each_place_counts():
    """Bots that are alike are even, though one of them has more places at each table."""

    class Alike(Agent):
        def __init__(self, name):
            self.name = name

        def act(self, observation, mask, rng):
            return make_agent("greedy").act(observation, mask, rng)

    result = seated("mixed", [Alike("a"), Alike("b")], players=5, max_decisions=2000)
    assert {tuple(sorted(lineup)) for lineup, _ in result.mixed} == {
        (0, 0, 0, 1, 1),
        (0, 0, 1, 1, 1),
    }
    for agent in (0, 1):
        assert result.overall(agent).value == pytest.approx(0.2)
        assert result.head_to_head(agent, 1 - agent).value == pytest.approx(0.5)
        assert result.ratings.rating(agent).value == pytest.approx(0, abs=1e-6)


def test_who_wins_no_mixed_table_is_not_compared():
    result = seated("mixed", BOTS, max_decisions=1)
    assert result.head_to_head(0, 1) is None
    assert format_table(result).splitlines()[1].split()[:5] == ["keen", *"----"]


def test_tables_say_what_mixed_tables_show(mixed, both):
    parts = [part.splitlines() for part in format_table(both).split("\n\n")]
    cells, heads, ratings, notes = parts
    assert cells[0].split() == BOTS[:3]
    assert heads[0].split() == [*BOTS[:3], "overall"]
    assert len(ratings) == 4
    assert "won by the agent of the row against a table of the column's (even: 33.3)" in notes[0]
    assert "of the rounds that the agent of the row or that of the column won" in notes[1]
    assert "20 deals from every seat = 60 rounds, seed 3; so each of 8 line-ups" in notes[3]
    (heads, _, notes) = format_table(mixed).split("\n\n")
    assert heads.split()[:5] == [*BOTS, "overall"]
    assert "against a table" not in notes


def test_who_fails_is_out_of_mixed_tables():
    result = round_robin(
        ["keen", "greedy", Failing(), "thrifty"], {"num_players": 3}, deals=5, seating="mixed"
    )
    assert {tuple(sorted(lineup)) for lineup, _ in result.mixed} == {(0, 1, 3)}
    assert [failure.lineup for failure in result.failures] == [("keen", "greedy", "failing")]


def test_format_table():
    result = round_robin(["random", "keen", "greedy"], deals=60, seed=1, max_decisions=40)
    table, ratings, notes = (part.splitlines() for part in format_table(result).split("\n\n"))
    (head, *rows), (what, where, first, cut) = table, notes
    assert head.split() == ["random", "keen", "greedy", "overall"]
    assert [row.split()[0] for row in rows] == ["random", "keen", "greedy"]
    assert {len(row) for row in rows} == {len(head)}
    for number, row in enumerate(rows):
        cells = [result.win_rate(number, column) for column in range(3) if column != number]
        assert [cell.strip() for cell in numbers(row)] == [
            *map(str, cells),
            str(result.overall(number)),
        ]
    assert ratings[0].split("  ")[-2:] == ["points per round", "better than the next"]
    assert [row.split()[0] for row in ratings[1:]] == ["greedy", "keen", "random"]
    assert "(even: 50.0)" in what
    assert first.startswith("the first to decide won ")
    assert where == "angry_birds, 2 players: 60 deals from every seat = 120 rounds, seed 1"
    assert cut.endswith("rounds were cut off after 40 decisions: nobody won them")


def test_benchmark():
    result = benchmark("greedy", deals=60, seed=1)
    assert (result.rows, result.columns) == (("greedy",), ("random", "keen", "greedy", "expert"))
    assert result.win_rate(0, 2).value == 0.5
    alone = play([make_agent("greedy"), make_agent("keen")], deals=60, seed=1)
    assert result.win_rate(0, 1) == alone.win_rate()
    head, row, *_ = format_table(result).splitlines()
    assert head.split() == ["random", "keen", "greedy", "expert", "overall"]
    assert len(numbers(row)) == 5


def test_benchmark_against_one_and_with_more_players():
    result = benchmark(make_agent("greedy"), ["keen"], {"num_players": 4}, deals=20)
    head, row, *notes = format_table(result).splitlines()
    assert head.split() == ["keen"]
    assert len(numbers(row)) == 1
    assert "(even: 25.0)" in " ".join(notes)


@pytest.mark.parametrize(
    ("play_it", "complaint"),
    [
        (lambda: round_robin(["keen"]), "at least two agents"),
        (lambda: round_robin(["keen", "keen"]), "2 agents are called 'keen': names must differ"),
        (lambda: round_robin(["keen", "nobody"]), "unknown agent 'nobody'"),
        (lambda: round_robin(["keen", "greedy"], "unknown"), "unknown preset"),
        (lambda: benchmark("keen", []), "at least one baseline"),
        (lambda: round_robin("greedy"), "agents='greedy': allowed is a sequence"),
        (lambda: benchmark("keen", "greedy"), "agents='greedy': allowed is a sequence"),
        (lambda: benchmark("keen", deals=0), "deals=0"),
        (lambda: round_robin(["keen", "greedy"], seating="x"), "seating='x': allowed is tables, "),
    ],
)
def test_bad_arguments(play_it, complaint):
    with pytest.raises((ValueError, TypeError), match=complaint):
        play_it()


# --- Command line --------------------------------------------------------------------------------


def test_command(capsys):
    options = ["--rules", "classic", "--players", "3", "--rounds", "90", "--seed", "4"]
    assert main(["keen", "greedy", *options, "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    rules = {"preset": "classic", "num_players": 3}
    assert out == format_table(round_robin(["keen", "greedy"], rules, 30, 4)) + "\n"
    assert not err


def test_policy_files_of_the_same_name_go_by_their_paths(tmp_path, capsys):
    paths = [tmp_path / str(i) / "policy.safetensors" for i in range(2)]
    for seed, path in enumerate(paths):
        path.parent.mkdir()
        small_policy(path, seed)
    assert main([*map(str, paths), "greedy", "--rounds", "4", "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert all(str(path) in out for path in paths)
    assert main([str(paths[0]), "greedy", "--rounds", "4", "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert "policy" in out.splitlines()[0].split()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required: BOT"),
        (["keen"], "a tournament needs at least two agents"),
        (["keen", "greedy", "keen"], "agent 'keen' is named 2 times"),
        (["keen", "gredy"], "unknown agent 'gredy': known are expert, forgetful, greedy, human, "),
        (["keen", "no.safetensors"], "no policy file at no.safetensors"),
        (["keen", "greedy", "--players", "1"], "'1': allowed is a whole number from 2"),
        (["keen", "greedy", "--jobs", "0"], "--jobs: '0'"),
        (["keen", "greedy", "--rules", ""], "unknown preset ''"),
        (["keen", "greedy", "--seating", "x"], "--seating: invalid choice: 'x'"),
    ],
)
def test_command_with_bad_arguments(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("python -m eval.tournament: ")
    assert complaint in err
    assert err.count("\n") == 1


def test_command_names_an_agent_that_fails(monkeypatch, capsys):
    monkeypatch.setattr(command, "make_agents", lambda names: [Failing(), Keen()])
    assert main(["x", "keen", "--rounds", "10", "--jobs", "1"]) == 1
    err = capsys.readouterr().err
    assert "agent 'failing' raised RuntimeError: no idea" in err
    assert "Traceback" not in err


class Keen(Agent):
    name = "keen"

    def act(self, observation, mask, rng):
        return mask.argmax(axis=1)


@pytest.mark.parametrize("kind", ["full", "closed"])
def test_output_that_cannot_be_written_is_said(kind, monkeypatch, capsys):
    if kind == "full":
        end = os.open("/dev/full", os.O_WRONLY)
    else:
        start, end = os.pipe()
        os.close(start)
    with os.fdopen(end, "w") as output:
        monkeypatch.setattr("sys.stdout", output)
        assert main(["keen", "greedy", "--rounds", "4", "--jobs", "1"]) == 1
        monkeypatch.undo()
    err = capsys.readouterr().err
    assert err.startswith("python -m eval.tournament: cannot write the result: [Errno ")
    assert err.count("\n") == 1


def test_command_can_be_interrupted(monkeypatch, capsys):
    def interrupt(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(tournament, "round_robin", interrupt)
    assert main(["keen", "greedy", "--jobs", "1"]) == 130
    assert capsys.readouterr().err == "python -m eval.tournament: interrupted\n"


class Terminal:
    """Standard error that is a terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_is_shown_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    clock = iter(np.arange(0, 10, 0.5))
    monkeypatch.setattr(command.time, "monotonic", lambda: float(next(clock)))
    progress = command.ProgressLine()
    progress(1000, 4000)
    assert "1,000 of 4,000 rounds, 2,000 per second, 2 s left" in terminal.text
    progress(4000, 4000)
    assert terminal.text.endswith("\r")
