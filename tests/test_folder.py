"""The folder of a tournament: identical however it came about, and never spoilt."""

import gzip
import io
import json
import os
import re
import shlex
import signal
from pathlib import Path

import numpy as np
import pytest
from test_agents import small_policy

from agents import Agent, make_agent
from eval import folder as folders
from eval import replay, workers
from eval.folder import Folder, FolderError
from eval.text import format_table
from eval.tournament import load, main, round_robin
from uno_env import Position
from uno_env.game.actions import Action
from uno_env.records import Record
from uno_env.records import replay as play_record

FILES = ["report.html", "results.json", "rounds.csv.gz"]
PLAY = {"deals": 40, "seed": 4, "piece": 20, "max_decisions": 300}
BOTS = ("keen", "greedy", "random")


def contents(path):
    assert sorted(file.name for file in path.iterdir()) == FILES
    return {name: (path / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A tournament that nothing went wrong with."""
    path = tmp_path_factory.mktemp("whole") / "out"
    return path, round_robin(BOTS, out=path, **PLAY)


class Interrupted:
    """Progress that presses Ctrl-C when so many rounds are over."""

    def __init__(self, rounds):
        self.rounds = rounds

    def __call__(self, over, total):
        if over >= self.rounds:
            raise KeyboardInterrupt


def interrupted(path, rounds=70, bots=BOTS, **options):
    with pytest.raises(KeyboardInterrupt):
        round_robin(bots, out=path, progress=Interrupted(rounds), **{**PLAY, **options})
    return sorted(file.name for file in (path / "pieces").iterdir())


# --- Identical however it came about -------------------------------------------------------------


def test_folders_are_the_same_whatever_the_jobs(whole, tmp_path):
    round_robin(BOTS, out=tmp_path / "out", jobs=2, **PLAY)
    assert contents(tmp_path / "out") == contents(whole[0])


@pytest.mark.parametrize(("jobs", "at_least"), [(1, 3), (2, 1)])
def test_an_interrupted_tournament_is_resumed_to_the_same_result(whole, tmp_path, jobs, at_least):
    path = tmp_path / "out"
    assert len(interrupted(path, jobs=jobs)) >= at_least
    again = []
    result = round_robin(
        BOTS, out=path, resume=True, progress=lambda *done: again.append(done), **PLAY
    )
    assert contents(path) == contents(whole[0])
    assert format_table(result) == format_table(whole[1])
    assert again[-1][1] < 240, "what is over is not played again"


def test_a_complete_tournament_is_resumed_by_reading_it(whole):
    before = contents(whole[0])

    def never(*_):
        raise AssertionError("played")

    result = round_robin(BOTS, out=whole[0], resume=True, progress=never, **PLAY)
    assert format_table(result) == format_table(whole[1])
    assert contents(whole[0]) == before


class Killed(Agent):
    """Kills its process; the first time only, or each time."""

    name = "killed"

    def __init__(self, marker, always=False):
        self.marker, self.always = str(marker), always

    def act(self, observation, mask, rng):
        if self.always or not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return mask.argmax(axis=1)


def test_a_killed_process_is_replaced(tmp_path):
    (tmp_path / "before").touch()
    bots = [Killed(tmp_path / "marker"), "keen", "greedy"]
    quiet = [Killed(tmp_path / "before"), "keen", "greedy"]
    options = {**PLAY, "deals": 20}
    round_robin(bots, out=tmp_path / "killed", jobs=2, **options)
    round_robin(quiet, out=tmp_path / "quiet", **options)
    assert (tmp_path / "marker").exists()
    assert contents(tmp_path / "killed") == contents(tmp_path / "quiet")


def test_a_process_that_always_dies_costs_its_piece_alone(tmp_path):
    path, options = tmp_path / "out", {**PLAY, "deals": 20}
    bots = ["keen", "greedy", Killed(tmp_path / "marker", always=True)]
    with pytest.raises(workers.WorkerError, match=r"deals \d+ to \d+ of match \d died 2"):
        round_robin(bots, out=path, jobs=2, **options)
    assert len([*(path / "pieces").iterdir()]) >= 1
    bots[2].always = False
    round_robin(bots, out=path, resume=True, **options)
    round_robin(bots, out=tmp_path / "quiet", **options)
    assert contents(path) == contents(tmp_path / "quiet")


# --- What it holds -------------------------------------------------------------------------------


def test_there_is_a_line_for_each_round(whole):
    path, result = whole
    text = gzip.decompress((path / "rounds.csv.gz").read_bytes()).decode()
    head, *lines = text.splitlines()
    assert head == "match,deal,rotation,round,first,winner,decisions,points_0,points_1"
    assert len(lines) == result.rounds == 240
    table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1)
    for number, (_, match) in result.played.items():
        own = table[table[:, 0] == number]
        assert (own[:, 5] == 0).sum() == match.wins[0]
        assert own[:, 7:].sum(axis=0).tolist() == match.points.sum(axis=(0, 1)).tolist()


def test_everything_is_recomputed_from_the_folder(whole):
    path, result = whole
    again = load(path)
    assert format_table(again) == format_table(result)
    summary = json.loads((path / "results.json").read_text())["summary"]
    for agent in range(3):
        rating = again.ratings.rating(agent)
        assert summary["ratings"][agent] == [rating.value, rating.low, rating.high]


def test_games_are_kept_too(tmp_path):
    options = {"rules": "angry_birds target=100", "deals": 8, "piece": 8, "games": True}
    result = round_robin(["keen", "greedy"], out=tmp_path / "out", **options)
    again = load(tmp_path / "out")
    assert np.array_equal(again.matches[0].won, result.matches[0].won)
    assert format_table(again) == format_table(result)


def test_mixed_tables_are_kept_resumed_and_shown_alike(tmp_path):
    rules = "angry_birds num_players=3"
    options = {"rules": rules, "seating": "all", **PLAY, "deals": 12, "max_decisions": 100}
    result = round_robin(BOTS, out=tmp_path / "whole", **options)
    interrupted(tmp_path / "half", rounds=150, **options)
    round_robin(BOTS, out=tmp_path / "half", resume=True, **options)
    assert contents(tmp_path / "half") == contents(tmp_path / "whole")
    assert format_table(load(tmp_path / "whole")) == format_table(result)
    results = json.loads((tmp_path / "whole" / "results.json").read_text())
    assert results["plan"]["matches"][-2:] == [[0, 1, 2], [0, 2, 1]]
    share = result.head_to_head(0, 2)
    assert results["summary"]["head_to_head"][0][2] == [share.value, share.low, share.high]
    text = (tmp_path / "whole" / "report.html").read_text()
    assert "Cross table of mixed tables" in text
    assert f"{100 * share.value:.1f}<small>" in text


def test_the_report_needs_nothing_else(whole):
    text = (whole[0] / "report.html").read_text()
    assert not re.search(r"https?:|//|<script|<link|<img|<iframe|@import|url\(|\bsrc=", text)
    assert 'name="viewport"' in text
    assert text.count("<svg") == 4
    for name in BOTS:
        assert name in text
    for title in ("Standings", "Ratings", "Cross table", "Who is better", "tightened"):
        assert title in text


def test_names_in_the_report_are_text(tmp_path):
    odd = make_agent("keen")
    odd.name = "<script>alert(1)</script>"
    round_robin([odd, "greedy"], out=tmp_path / "out", deals=4)
    assert "<script" not in (tmp_path / "out" / "report.html").read_text()


# --- Nothing is overwritten ----------------------------------------------------------------------


def tree(path):
    files = (file for file in path.rglob("*") if file.is_file())
    return {str(file): file.read_bytes() for file in files}


def make_half(path):
    interrupted(path)


def make_whole(path):
    round_robin(["keen", "greedy"], out=path, deals=2)


def make_foreign(path):
    path.mkdir()
    (path / "thesis.tex").write_text("dear")


def make_damaged(path):
    path.mkdir()
    (path / "results.json").write_text('{"plan": ')


def make_other(path):
    interrupted(path, seed=5)


def make_other_seating(path):
    options = {**PLAY, "rules": "angry_birds num_players=3"}
    with pytest.raises(KeyboardInterrupt):
        round_robin(BOTS, out=path, seating="mixed", progress=Interrupted(10), **options)


def make_changed_bot(path):
    interrupted(path, bots=["keen", "greedy", make_agent("random"), Fine()])


def make_damaged_piece(path):
    interrupted(path)
    piece = sorted((path / "pieces").iterdir())[0]
    piece.write_bytes(piece.read_bytes()[:-40])


class Fine(Agent):
    name = "fine"

    def act(self, observation, mask, rng):
        return mask.argmax(axis=1)


@pytest.mark.parametrize(
    ("make", "resume", "complaint"),
    [
        (make_half, False, r"half played \(\d pieces are over\): go on with it by --resume"),
        (make_whole, False, "holds a tournament already: name another folder"),
        (make_foreign, False, "is not empty and holds no tournament"),
        (make_damaged, False, "holds a results.json that cannot be read"),
        (lambda path: path.write_text("a file"), False, "is a file: allowed is a new folder"),
        (make_foreign, True, "holds no tournament to resume"),
        (lambda path: None, True, "holds no tournament to resume"),
        (make_damaged, True, "results.json cannot be read"),
        (make_other, True, "its seed is 5, now asked for is 4; nothing was changed"),
        (make_changed_bot, True, "another tournament: its agents is"),
        (make_damaged_piece, True, r"0000-000000.npz is damaged .* nothing was changed: delete it"),
    ],
)
def test_folders_that_do_not_fit_stay_as_they_are(make, resume, complaint, tmp_path):
    path = tmp_path / "out"
    make(path)
    before = tree(tmp_path)
    with pytest.raises(FolderError, match=complaint):
        round_robin(BOTS, out=path, resume=resume, **PLAY)
    assert tree(tmp_path) == before


def test_a_tournament_is_resumed_with_its_seating(tmp_path):
    path = tmp_path / "out"
    make_other_seating(path)
    before = tree(tmp_path)
    with pytest.raises(FolderError, match="its seating is another, of 2 line-ups, now asked for "):
        round_robin(BOTS, "angry_birds num_players=3", out=path, resume=True, **PLAY)
    assert tree(tmp_path) == before


def test_a_piece_that_was_deleted_is_played_again(whole, tmp_path):
    path = tmp_path / "out"
    make_damaged_piece(path)
    sorted((path / "pieces").iterdir())[0].unlink()
    round_robin(BOTS, out=path, resume=True, **PLAY)
    assert contents(path) == contents(whole[0])


def test_a_folder_is_used_by_one_process_at_a_time(tmp_path):
    path = tmp_path / "out"
    plan = {"seed": 1}
    with (
        Folder(path, plan, resume=False),
        pytest.raises(FolderError, match="is in use by another process"),
    ):
        Folder(path, plan, resume=True)
    with Folder(path, plan, resume=True) as held:
        assert not held.complete


def test_a_disk_that_is_full_is_said(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders.os, "fsync", full)
    with pytest.raises(FolderError, match=r"cannot write .*No space left"):
        round_robin(["keen", "greedy"], out=tmp_path / "out", deals=2)
    assert not [*(tmp_path / "out").glob("*.partial")]


# --- Agents that fail ----------------------------------------------------------------------------


class Flawed(Agent):
    """Like the first legal action, until a hand of one card has to be announced."""

    name = "test_folder:Flawed"

    def act(self, observation, mask, rng):
        if mask[:, Action.UNO].any():
            return np.full(len(mask), Action.SWAP)
        return mask.argmax(axis=1)


SPEC = "test_folder:Flawed"


@pytest.mark.parametrize("jobs", [1, 2])
def test_who_fails_is_out_and_the_rest_is_kept(jobs, tmp_path):
    bots = ["keen", "greedy", SPEC, "random"]
    result = round_robin(bots, out=tmp_path / "out", jobs=jobs, **{**PLAY, "deals": 15})
    pairs = {lineup for lineup, _ in result.played.values()}
    assert pairs == {(0, 1), (0, 3), (1, 3)}
    (failure,) = result.failures
    assert failure.agent == SPEC
    assert failure.lineup == ("keen", SPEC)
    assert "illegal" in failure.what
    assert result.is_out(2)
    alone = round_robin(["keen", "greedy"], **{**PLAY, "deals": 15})
    assert result.win_rate(0, 1) == alone.win_rate(0, 1)
    assert np.isnan(result.ratings.strength).tolist() == [False, False, True, False]
    table = format_table(result)
    assert f"{SPEC} (out)" in table
    text = (tmp_path / "out" / "report.html").read_text()
    assert "eval.replay keen test_folder:Flawed" in text
    assert format_table(load(tmp_path / "out")) == table


def test_results_of_before_are_kept_whatever_the_order(tmp_path):
    class Late(Agent):
        """Fails against whoever catches it."""

        name = "late"

        def act(self, observation, mask, rng):
            if mask[:, Action.CATCH].any():
                raise RuntimeError("caught")
            return mask.argmax(axis=1)

    first = round_robin([Late(), Fine(), "keen"], out=tmp_path / "a", **{**PLAY, "deals": 15})
    path = tmp_path / "b"
    interrupted(path, 31, [Late(), Fine(), "keen"], deals=15)
    again = round_robin([Late(), Fine(), "keen"], out=path, resume=True, **{**PLAY, "deals": 15})
    assert contents(path) == contents(tmp_path / "a")
    assert [failure.agent for failure in first.failures] == ["late"]
    assert str(first.failures) == str(again.failures)


def test_a_failure_is_named_in_a_form_that_replays_it(capsys):
    options = ["--rounds", "60", "--seed", "3", "--piece", "40", "--jobs", "1"]
    assert main(["keen", SPEC, "greedy", *options]) == 1
    out, err = capsys.readouterr()
    assert "(out)" in out
    line, where, again, *position = err.strip().splitlines()
    assert line.startswith(f"python -m eval.tournament: agent {SPEC!r} answered swap:1 (75)")
    assert re.match(r"seed 3, deal \d+ \(the game with the seed \d+\), rotation \d, deci", where)
    assert Position.parse("\n".join(position))
    command = re.fullmatch(r"again: python -m eval\.replay (.*)", again)[1]
    assert replay.main(shlex.split(command)) == 0
    shown = capsys.readouterr().out
    assert "1: seat " in shown
    assert shown.strip().endswith("\n".join(position))


def test_a_failure_at_a_mixed_table_is_replayed(capsys):
    """Two places of `keen` draw their chance from one stream, also when it is played again."""
    options = ["--rounds", "400", "--seed", "3", "--players", "4", "--seating", "mixed"]
    assert main(["keen", "random", SPEC, *options, "--jobs", "1"]) == 1
    line, _, again, *position = capsys.readouterr().err.strip().splitlines()
    assert "swap:1 (75)" in line
    command = shlex.split(re.fullmatch(r"again: python -m eval\.replay (.*)", again)[1])
    assert sorted(command[:4]).count("keen") == 2
    assert replay.main(command) == 0
    assert capsys.readouterr().out.strip().endswith("\n".join(position))


def test_a_round_is_shown_again(capsys):
    match = round_robin(["keen", "greedy"], deals=9, seed=2).matches[0]
    arguments = ["keen", "greedy", "--rounds", "18", "--seed", "2", "--deal", "7"]
    assert replay.main([*arguments, "--rotation", "1"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    decisions = match.decisions[7, 1]
    assert last.startswith(f"round 0 was won by place {match.winner[7, 1]} (")
    assert f"after {decisions} decisions" in last
    with pytest.raises(SystemExit):
        replay.main([*arguments[:-1], "9"])
    assert "deal=9: allowed is a whole number from 0 to 8" in capsys.readouterr().err


def test_a_round_of_a_match_is_recorded(capsys, tmp_path):
    """The record plays again to the same end, its seats named as in that rotation."""
    match = round_robin(["keen", "greedy"], deals=9, seed=2).matches[0]
    arguments = ["keen", "greedy", "--rounds", "18", "--seed", "2", "--deal", "7"]
    for rotation in (0, 1):
        path = tmp_path / f"{rotation}.jsonl"
        more = ["--rotation", str(rotation), "--record", str(path)]
        assert replay.main([*arguments, *more]) == 0
        record = Record.read(path)
        assert record.seats == (("keen", "greedy"), ("greedy", "keen"))[rotation]
        *_, last = play_record(record)
        assert len(record.entries) == match.decisions[7, rotation] + 1
        winner = record.seats[int(last.winner[0])]
        assert winner == match.names[match.winner[7, rotation]]
    text = path.read_text()
    with pytest.raises(SystemExit):
        replay.main([*arguments, "--record", str(path)])
    assert "is there already" in capsys.readouterr().err
    assert path.read_text() == text
    with pytest.raises(SystemExit):
        replay.main(["keen", "greedy", "--games", "2", "--deal", "0", "--record", str(path)])
    assert "--record is for rounds" in capsys.readouterr().err


# --- Command line --------------------------------------------------------------------------------


def test_command_writes_and_resumes(tmp_path, capsys):
    path = tmp_path / "out"
    arguments = ["keen", "greedy", "--rounds", "40", "--jobs", "1", "--out", str(path)]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    assert first.rstrip().endswith(f"report: {path / 'report.html'}")
    assert main(arguments) == 1
    assert "holds a tournament already" in capsys.readouterr().err
    assert main([*arguments, "--resume"]) == 0
    assert capsys.readouterr().out == first
    assert main([*arguments[:-2], "--out", str(path), "--resume", "--seed", "8"]) == 1
    assert "another tournament" in capsys.readouterr().err


def test_command_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupt(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("eval.tournament.play_pieces", interrupt)
    path = tmp_path / "out"
    assert main(["keen", "greedy", "--out", str(path)]) == 130
    assert f"what is over is kept in {path}: the same command with --resume" in (
        capsys.readouterr().err
    )


def test_command_notes_policies_of_other_rules(tmp_path, capsys):
    small_policy(tmp_path / "small.safetensors", 0)
    options = ["--rounds", "4", "--rules", "classic", "--jobs", "1"]
    assert main([str(tmp_path / "small.safetensors"), "greedy", *options]) == 0
    assert "note: small was trained under [" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("agent", "complaint"),
    [
        ("nowhere:Bot", "cannot import nowhere"),
        ("test_folder:Nobody", "has no attribute 'Nobody'"),
        ("test_folder:BOTS", "is a tuple: needed is an Agent"),
        ("test_folder:Killed", "making it raised TypeError"),
    ],
)
def test_modules_that_hold_no_agent(agent, complaint, capsys):
    with pytest.raises(SystemExit):
        main(["keen", agent])
    err = capsys.readouterr().err
    assert complaint in err
    assert err.count("\n") == 1


def test_agents_of_modules():
    assert make_agent("test_folder:Fine").name == "fine"
    assert make_agent(SPEC).name == SPEC
