"""The folder of a tournament: identical however it came about, and never spoilt."""

import gzip
import io
import json
import os
import re
import shlex
import shutil
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


# --- Whatever is damaged is said -----------------------------------------------------------------


def copied(whole, path, results=None, rounds=None):
    """The folder with other results, or another text of its rounds."""
    shutil.copytree(whole[0], path)
    if results:
        read = json.loads((path / "results.json").read_text())
        changed = results(read)
        text = changed if isinstance(changed, str) else json.dumps(read)
        (path / "results.json").write_text(text)
    if rounds:
        changed = rounds(gzip.decompress((path / "rounds.csv.gz").read_bytes()).decode())
        packed = changed if isinstance(changed, bytes) else gzip.compress(changed.encode())
        (path / "rounds.csv.gz").write_bytes(packed)
    return path


def setting(*keys, value):
    def change(read):
        for key in keys[:-1]:
            read = read[key]
        read[keys[-1]] = value

    return change


A_FAILURE = {
    **dict.fromkeys(["agent", "what", "rules", "position", "options"], "x"),
    **dict.fromkeys(["seed", "deal", "deal_seed", "rotation", "round", "decision"], 1),
    "lineup": ["keen", "x"],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda read: "[" * 100_000, "nested too deeply"),
        (lambda read: '{"\\ud800": 1}', "half of a surrogate pair"),
        (setting("format", value=[1]), "has the format"),
        (setting("plan", value=[]), "cannot be read"),
        (setting("plan", "agents", value=5), "damaged: TypeError"),
        (setting("plan", "agents", 0, "name", value={}), "allowed are names that differ"),
        (setting("plan", "agents", 0, "name", value="greedy"), "allowed are names that differ"),
        (setting("plan", "rules", value="chess"), "unknown preset 'chess'"),
        (setting("plan", "rules", value={}), "`parse` reads their text form"),
        (setting("plan", "players", value=2.5), r"num_players=2\.5: allowed is"),
        (setting("plan", "players", value=3), "allowed are line-ups of 3"),
        (setting("plan", "matches", 0, value=[0]), "allowed are line-ups of 2"),
        (setting("plan", "matches", 0, value=[0, -1]), "matches=-1: allowed is a whole number"),
        (setting("plan", "matches", 0, value=[0, 3]), "matches=3: allowed is a whole number"),
        (setting("plan", "matches", 0, value=[1, 1]), "not all of them the same"),
        (setting("plan", "matches", value=[[0, 1]]), "does not hold the matches that count"),
        (setting("plan", "deals", value=39), "deal=39: allowed is a whole number from 0 to 38"),
        (setting("plan", "deals", value=41), "deals 0 to 40 are needed in order"),
        (setting("plan", "deals", value=10**9), "deals=1000000000: allowed is"),
        (setting("plan", "games", value=1), "games=1: allowed is True or False"),
        (setting("plan", "seed", value="4"), "seed='4': allowed is a whole number"),
        (setting("plan", "max_decisions", value=None), "max_decisions=None: allowed is"),
        (setting("counted", value=[0, 1]), "does not hold the matches that count"),
        (setting("counted", value={}), "does not hold the matches that count"),
        (setting("failures", value=[5]), "a failure is needed with agent, what"),
        (setting("failures", value=[{**A_FAILURE, "more": 1}]), "a failure is needed with"),
        (
            setting("failures", value=[{**A_FAILURE, "seed": "1"}]),
            "seed='1': allowed is a whole",
        ),
        (setting("failures", value=[{**A_FAILURE, "what": 1}]), "what=1: allowed is text"),
        (setting("failures", value=[{**A_FAILURE, "lineup": [1]}]), "allowed is a list of names"),
    ],
)
def test_damaged_results_are_said(whole, tmp_path, change, message):
    path = copied(whole, tmp_path / "out", change)
    with pytest.raises(FolderError, match=message):
        load(path)


def line(number, **values):
    """The rounds with other values in a line, by the name of the column."""

    def change(text):
        lines = text.splitlines()
        names, fields = lines[0].split(","), lines[number].split(",")
        for name, value in values.items():
            fields[names.index(name)] = str(value)
        return "\n".join([*lines[:number], ",".join(fields), *lines[number + 1 :], ""])

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: b"match", "Not a gzipped file"),
        (lambda text: gzip.compress(text.encode())[:-9], "damaged"),
        (lambda text: gzip.compress(text.encode())[:40] + b"\xff" * 400, "damaged: Error -3"),
        (lambda text: "", "its first line is ''"),
        (lambda text: text.replace("points_1", "points_2", 1), "needed is match,deal,rotation"),
        (lambda text: text + "\u00e9", "'ascii' codec"),
        (lambda text: text + "\n" * 200_000, "holds more than 100 times its size"),
        (lambda text: text.splitlines()[0] + "\n", "does not hold the matches that count"),
        (lambda text: text.splitlines()[0] + "\n\n", "damaged: loadtxt: input contained no data"),
        (lambda text: text + "1,2\n", "damaged"),
        (lambda text: "".join(text.splitlines(keepends=True)[:-1]), "are needed in order"),
        (line(3, match=7), "damaged"),
        (line(3, match="1.0"), "damaged"),
        (line(3, match=2**70), "damaged"),
        (line(3, deal=256), "deal=256: allowed is a whole number from 0 to 39"),
        (line(3, rotation=2), "rotation=2: allowed is a whole number from 0 to 1"),
        (line(3, round=1), "number=1: allowed is a whole number from 0 to 0"),
        (line(3, first=-1), "first=-1: allowed is a whole number from 0 to 1"),
        (line(3, winner=256), "winner=256: allowed is a whole number from -2 to 1"),
        (line(3, winner=-2, points_0=5), "points where nobody won: needed are zeros"),
        (line(3, decisions=0), "decisions=0: allowed is a whole number from 1"),
        (line(3, points_1=-1), "points=-1: allowed is a whole number from 0"),
        (line(3, points_1=2**40), "points=1099511627776: allowed is a whole number from 0"),
        (line(3, deal=2), "deals 0 to 39 are needed in order"),
    ],
)
def test_damaged_rounds_are_said(whole, tmp_path, change, message):
    path = copied(whole, tmp_path / "out", rounds=change)
    with pytest.raises(FolderError, match=message):
        load(path)


def test_rounds_of_games_are_needed_in_order(tmp_path):
    options = {"rules": "angry_birds target=100", "deals": 4, "games": True}
    whole = [tmp_path / "whole"]
    round_robin(["keen", "greedy"], out=whole[0], **options)
    for number, change in enumerate([line(2, round=2), line(1, round=1)]):
        path = copied(whole, tmp_path / str(number), rounds=change)
        with pytest.raises(FolderError, match="in order"):
            load(path)


class Broken(Agent):
    name = "broken"

    def act(self, observation, mask, rng):
        raise RuntimeError("broken")


def test_a_tournament_of_which_no_match_counts_is_read(tmp_path):
    result = round_robin([Broken(), "keen"], out=tmp_path / "out", deals=2)
    again = load(tmp_path / "out")
    assert format_table(again) == format_table(result)
    assert again.failures == result.failures
    assert not again.matches


@pytest.mark.parametrize("change", [5, None, [5], [[0, 1]]])
def test_another_seating_is_said_whatever_stands_there(whole, tmp_path, change):
    path = copied(whole, tmp_path / "out", setting("plan", "matches", value=change))
    number = len(change) if isinstance(change, list) else 0
    with pytest.raises(FolderError, match=f"another, of {number} line-ups, now asked for are 3"):
        round_robin(BOTS, out=path, resume=True, **PLAY)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"winner": None}, "columns deal, rotation, number, points"),
        ({"deal": np.zeros((20, 1), int)}, r"deal: int64 of the shape \(20, 1\): needed"),
        ({"deal": np.zeros(20)}, r"deal: float64 of the shape \(20,\): needed are whole numbers"),
        ({"points": np.zeros((20, 3), int)}, r"needed are whole numbers of the shape \(20, 2\)"),
        ({"winner": np.full(20, 2, np.uint64)}, "winner=2: allowed is a whole number from -2 to 1"),
        ({"number": np.arange(20)}, "number=1: allowed is a whole number from 0 to 0"),
        ({"deal": np.zeros(20, int)}, "deals 0 to 9 are needed in order, in 2 rotations each"),
        ({"first": np.array([None] * 20)}, "values of type object: read are numbers and text"),
    ],
)
def test_damaged_pieces_are_said(tmp_path, change, message):
    path = tmp_path / "out"
    interrupted(path)
    piece = sorted((path / "pieces").iterdir())[0]
    with np.load(piece) as file:
        arrays = {k: array for k, array in {**file, **change}.items() if array is not None}
    np.savez_compressed(piece, **arrays)
    before = tree(tmp_path)
    with pytest.raises(FolderError, match=f"{piece.name} is damaged .*{message}"):
        round_robin(BOTS, out=path, resume=True, **PLAY)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, '{"lineup": ["\\ud800"]}', "{}"])
def test_damaged_failures_are_said(tmp_path, text):
    path = tmp_path / "out"
    interrupted(path)
    piece = sorted((path / "pieces").iterdir())[0]
    piece.unlink()
    piece.with_suffix(".json").write_text(text)
    with pytest.raises(FolderError, match=r"000000\.json is damaged .* delete it"):
        round_robin(BOTS, out=path, resume=True, **PLAY)


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
