"""What `tests/fuzz.py` fuzzes: every kind of file from outside, how it is spoilt, read and used.

Each function of `TARGETS` makes real files of its kind in a folder and returns a `Target`. Reading
a spoilt one may raise the errors that `DOCUMENTED` lists, and nothing else; one that is read
without an error is used, which has to work.
"""

from __future__ import annotations

import gzip
import io
import json
import traceback
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from fuzz import PACKAGES

from agents import make_agents
from eval import standings
from eval.floor import Failure, Rounds, Table, play_piece
from eval.folder import (
    PIECES,
    RESULTS,
    ROUNDS,
    Folder,
    FolderError,
    as_json,
    plan_of,
    read_results,
)
from eval.report import html
from eval.results import MatchResult
from eval.text import format_table
from eval.tournament import load, round_robin
from eval.tune import Tuning
from train import card as cards
from train.arguments import Arguments, preset
from train.plot import curves
from train.run import (
    ARGUMENTS,
    POLICY,
    PROGRESS,
    RunError,
    best_checkpoint,
    check_same,
    read_arguments,
    read_progress,
    seconds_of,
)
from uno_env import ACTIONS, GameBatch, Position, Rules
from uno_env.game.cards import CARDS
from uno_env.game.rules import HOUSE_RULES, PRESETS
from uno_env.game.setup import PHASES
from uno_env.policy import Policy, PolicyFileError, weight_shapes
from uno_env.records import Record, Recorder, RecordError
from uno_env.render.ansi import render
from uno_env.replay import describe

DOCUMENTED: dict[str, tuple[type[Exception], ...]] = {
    "policy": (PolicyFileError,),
    "record": (RecordError,),
    "position": (ValueError,),
    "case": (ValueError, TypeError),
    "tournament": (FolderError,),
    "piece": (FolderError,),
    "arguments": (RunError,),
    "progress": (RunError,),
    "state": (RunError,),
    "card": (ValueError,),
    "tuning": (ValueError,),
}
"""The errors that reading a file of each kind may raise."""
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Target:
    """A kind of file."""

    name: str
    seeds: list[bytes]
    """Valid files."""
    read: Callable[[bytes], Callable[[], object]]
    """Writes the bytes where such a file belongs, reads it, and returns what uses it."""
    mutate: Callable[[bytes, Random], bytes]
    """Spoils a file that has the form of its kind; raises whatever it does if it has not."""

    def check(self, data: bytes) -> bool:
        """Read a file, and use it where it can be read; returns whether it could.

        Whatever comes out of here as an error is a fault.
        """
        try:
            use = self.read(data)
        except DOCUMENTED[self.name] as error:
            _check_ours(error)
            return False
        use()
        return True

    def spoil(self, data: bytes, rng: Random) -> bytes:
        """The file with something changed, mostly in the form of its kind."""
        for _ in range(rng.choice([1, 1, 1, 2, 3, 5])):
            if rng.random() < 0.15:
                data = _bytes(data, rng)
                continue
            try:
                with warnings.catch_warnings(action="ignore"):  # of headers and casts of numpy
                    data = self.mutate(data, rng)
            except Exception:  # it has lost its form already
                data = _bytes(data, rng)
        return data


class StrayError(AssertionError):
    """An error of a documented type that nobody meant."""


def _check_ours(error: Exception) -> None:
    """A documented error is raised where something is checked, and does not come of use."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    ours = any(Path(last.filename).is_relative_to(ROOT / package) for package in PACKAGES)
    if not ours or not (last.line or "raise").startswith("raise") or not str(error):
        raise StrayError(f"{type(error).__name__}: {error}") from error


# ---------------------------------------------------------------------- spoiling

WORDS = (
    *CARDS,
    *ACTIONS,
    *PRESETS,
    *PHASES,
    *(f"{name}=True" for name in HOUSE_RULES),
    *("num_players=3", "num_players=10", "uno_penalty=10", "target=1", "wild_draw_four=bluff"),
    *("uno_call=automatic", "scoring=lowest", "deck=classic", "deck=x"),
    *Position.__dataclass_fields__,
    *("R", "G", "|", ":", ",", "True", "False", "None", "é", "٣", "\x00", "\x85", "..", "[", "{"),
    *("-1", "0", "1", "2", "7", "15", "16", "127", "128", "255", "256", "1.5", "nan", "1_0"),
    *(str(sign * 2**power) for power in (30, 31, 32, 63, 64) for sign in (1, -1)),
)
"""What is put into text: words that files hold, and some that they should not."""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 10, 255, 2**15, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64),
    *(10**400, -(2**31), -(2**63), 0.0, -0.0, 0.5, 1.0, 1e308, -1e308, 5e-324, np.nan, np.inf),
    *("", " ", "keen", "R5", "\ud800", "é" * 50, "a/b", "../x", "\x00", "x:y", "os:system"),
    *([], {}, [[]], [0], [0, 1], [None], ["R5"], {"": 0}),
)
"""What is put into JSON."""


def _bytes(data: bytes, rng: Random) -> bytes:
    """Bytes changed, dropped, doubled or put in."""
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice([1, 1, 2, 4, 16, 256, len(data)]))
    new = rng.choice([b"", data[at:end] * 2, rng.randbytes(max(end - at, 1)), b"\xff", b"\n", b"["])
    return data[:at] + new + data[end:]


def _text(text: str, rng: Random) -> str:
    """Text with a word or a line changed, dropped, moved or put in."""
    apart = rng.choice([None, " ", "\n", ":"])
    words = text.split(apart)
    at = rng.randrange(len(words) + 1)
    kind = rng.randrange(7)
    if kind == 0 or at == len(words):
        words.insert(at, rng.choice(WORDS))
    elif kind > 4:
        other = rng.randrange(len(words))
        words[at], words[other] = words[other], words[at]
    elif kind == 1:
        words[at] = rng.choice(WORDS)
    elif kind == 2:
        del words[at]
    elif kind == 3:
        words.insert(rng.randrange(len(words)), words[at])
    else:
        letter = rng.randrange(len(words[at]) + 1)
        words[at] = words[at][:letter] + rng.choice(WORDS)[:2] + words[at][letter + 1 :]
    return (" " if apart is None else apart).join(words)


def _value(value: Any, rng: Random) -> Any:
    """A JSON value with one of the values in it changed."""
    spots = [(None, None)]
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict | list):
            keys = [*(node if isinstance(node, dict) else range(len(node)))]
            spots += [(node, key) for key in keys]
            stack += [node[key] for key in keys]
    node, key = rng.choice(spots)
    old = value if node is None else node[key]
    kind = rng.randrange(6)
    if isinstance(node, dict | list) and kind == 0:
        del node[key]
        return value
    if isinstance(node, list) and kind == 1:
        node.insert(key, old)
        return value
    if isinstance(node, dict) and kind == 1:
        node[rng.choice(WORDS)] = old
        return value
    if kind == 2 and len(spots) > 1:
        other, place = rng.choice(spots[1:])
        new = json.loads(json.dumps(other[place]))
    elif isinstance(old, str) and kind > 2:
        new = json.dumps(_value(json.loads(old), rng)) if old[:1] == "{" else _text(old, rng)
    elif isinstance(old, int | float) and not isinstance(old, bool) and kind > 3:
        new = old + rng.choice([-1, 1, 0.5, 10])
    else:
        new = rng.choice(VALUES)
    if node is None:
        return new
    node[key] = new
    return value


def _json(data: bytes, rng: Random) -> bytes:
    return json.dumps(_value(json.loads(data), rng)).encode()


def _json_lines(data: bytes, rng: Random) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    kind = rng.randrange(8)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(rng.randrange(len(lines)), lines[at])
    else:
        lines[at] = _json(lines[at], rng)
    return b"\n".join(lines)


def _utf8(data: bytes, rng: Random) -> bytes:
    return _text(data.decode(), rng).encode()


def _safetensors(data: bytes, rng: Random) -> bytes:
    """The header's values, or weights, or both so that they fit each other."""
    size = int.from_bytes(data[:8], "little")
    header, payload = json.loads(data[8 : 8 + size]), bytearray(data[8 + size :])
    kind = rng.randrange(4)
    if kind == 0:
        number = np.float32(rng.choice([np.nan, np.inf, 1e7, -1e6, 1e-45, 0]))
        at = 4 * rng.randrange(max(len(payload) // 4, 1))
        payload[at : at + 4] = number.tobytes()
    elif kind == 1:  # a network of another width, as the header says it
        hidden, at = rng.choice([0, 1, 2, 5, 4096, 4097, 2**40]), 0
        for name, shape in weight_shapes(hidden).items():
            end = at + 4 * int(np.prod(shape, dtype=object))
            header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, end]}
            at = end
        if at < 2**20:
            payload = bytearray(at)
    elif kind == 2:
        header["__metadata__"] = _value(header["__metadata__"], rng)
    else:
        header = _value(header, rng)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(payload)


def _arrays(data: bytes, rng: Random) -> bytes:
    """An array of another type, shape or number, or with a header that says so; or a JSON value."""
    if not data.startswith(b"PK"):
        return _json(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(files))
    kind = rng.randrange(6)
    if kind == 0:
        del files[name]
    elif kind == 1:
        files[rng.choice(sorted(files))] = files[name]
    elif kind == 2:
        head, rest = files[name][:128], files[name][128:]
        files[name] = _text(head.decode("latin1"), rng).encode("latin1", "replace") + rest
    else:
        array = np.load(io.BytesIO(files[name]))
        if kind == 3:
            array = array.astype(rng.choice(["i1", ">i8", "f4", "f8", "u8", "?", "U3", "S2"]))
        elif kind == 4:
            array = rng.choice([array[..., None], array[:1], array[:-1], array[1:], array[0]])
        else:
            array.reshape(-1)[rng.randrange(array.size)] = rng.choice([-3, -1, 0, 1, 9, 127])
        written = io.BytesIO()
        np.save(written, array)
        files[name] = written.getvalue()
    return _npz(files, rng.random() < 0.5)


def _npz(files: dict[str, bytes], stored: bool = True) -> bytes:
    written = io.BytesIO()
    kind = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(written, "w", kind) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, kind)
    return written.getvalue()


# ---------------------------------------------------------------------- the kinds of files


def _play_on(batch: GameBatch, decisions: int = 12) -> None:
    """Some random decisions; the table is looked at before each."""
    rng = np.random.default_rng(0)
    for _ in range(decisions):
        if batch.done[0]:
            if batch.game_over[0]:
                return
            batch.next_round()
        legal = batch.legal
        assert legal.any(), "nothing is legal"
        batch.observe()
        batch.step((legal * rng.random(legal.shape)).argmax(axis=1))


def _played(text: str, seed: int = 1) -> tuple[GameBatch, Record]:
    """The table after 60 decisions, or at the end of the round, and its record."""
    batch = GameBatch(text, 1, seed)
    recorder = Recorder(batch, seed)
    rng = np.random.default_rng(seed)
    for _ in range(60):
        if batch.done[0]:
            recorder.end_round(batch)
            break
        action = int((batch.legal[0] * (1 + rng.random(84))).argmax())
        recorder.decide(int(batch.player[0]), action)
        batch.step(np.array([action]))
    return batch, recorder.record


TABLES = (
    *("angry_birds", "classic num_players=3", "official num_players=10 scoring=lowest target=50"),
    "official num_players=4 wild_draw_four=bluff "
    + " ".join(f"{name}=True" for name in HOUSE_RULES),
)
"""Rules of tables that together have everything."""


def policy(folder: Path) -> Target:
    """A policy file; it then chooses, is saved again, and what its header tells is made a card."""
    path, again = folder / POLICY, folder / f"again.{POLICY}"
    rng = np.random.default_rng(0)
    arguments = {k: v for k, v in preset("standard").as_json().items() if k != "out"}
    seeds = []
    for hidden, training in ((1, {}), (3, {"arguments": arguments, "timesteps": 5})):
        weights = {k: rng.normal(size=s).astype("f4") for k, s in weight_shapes(hidden).items()}
        Policy(weights, Rules(), training).save(path)
        seeds.append(path.read_bytes())
    batch = GameBatch("official num_players=3", 3, seed=1)
    seen, legal = batch.observe(), batch.legal

    def read(data: bytes) -> Callable[[], object]:
        path.write_bytes(data)
        loaded = Policy.load(path)

        def use() -> None:
            assert np.isfinite(loaded.logits(seen, legal)[legal]).all()
            for temperature in (0.0, 1.0):
                actions = loaded.act(seen, legal, np.random.default_rng(1), temperature)
                assert legal[np.arange(3), actions].all()
            loaded.save(again)
            assert str(Policy.load(again).rules) == str(loaded.rules)
            with suppress(PolicyFileError):
                told = cards._arguments_of(loaded, path)
                cards.card_text(path.name, loaded, told, []).encode()

        return use

    return Target("policy", seeds, read, _safetensors)


def record(folder: Path) -> Target:
    """A record; it is played again, up to the line that does not fit, and written anew."""
    path = folder / "round.jsonl"
    start = _played(TABLES[0])[0].position(0)
    seeds = [str(_played(text)[1]) for text in TABLES]
    seeds.append(str(Record(start.rules, 3, ("a", "b"), (), start)))

    def read(data: bytes) -> Callable[[], object]:
        path.write_bytes(data)
        loaded = Record.read(path)

        def use() -> None:
            loaded.write(path)
            assert Record.read(path) == loaded
            with suppress(RecordError):
                for line in describe(loaded):
                    line.encode()

        return use

    return Target("record", [seed.encode() for seed in seeds], read, _json_lines)


def _use_position(position: Position) -> None:
    assert Position.parse(str(position)) == position
    batch = GameBatch(position.rules)
    batch.load(0, position)
    now = batch.position(0)
    assert Position.parse(str(now)) == now
    render(position)
    _play_on(batch)


def position(folder: Path) -> Target:
    """The text of a position; the game goes on from it."""
    seeds = []
    for text in TABLES:
        batch = GameBatch(text, 1, 5)
        for _ in range(6):
            seeds.append(str(batch.position(0)).encode())
            _play_on(batch, 9)

    def read(data: bytes) -> Callable[[], object]:
        made = Position.parse(data.decode(errors="replace"))
        return lambda: _use_position(made)

    return Target("position", seeds, read, _utf8)


def case(folder: Path) -> Target:
    """The keys of a conformance case; the game goes on from it."""
    cases: list[dict[str, Any]] = [
        {"hands": ["R5 W+4 G1", "B2 B3"], "discard": "R9", "draw": "Y1", "colour": "R", "turn": 1},
        {"rules": "classic", "hands": ["R5", "B2", "Y1 Y2"], "opening": "RS", "draw": "G1 G2"},
        {"hands": ["R7", "B2"], "discard": "R9", "said": True}
        | {"scores": [3, 4], "known": ["R7", ""]},
        {"rules": {"preset": "official", "stacking": True}, "hands": ["R+2", "B+2 B1"]}
        | {"discard": "Y+2", "phase": "stack", "stack": 2, "lack": [[15] * 4, [0, 1, 2, 3]]},
        {"hands": ["", "B2 B1"], "discard": "Y+2", "phase": "over", "winner": 0, "points": [3, 0]},
    ]

    def read(data: bytes) -> Callable[[], object]:
        try:
            keys = json.loads(data)
        except (ValueError, RecursionError):
            return lambda: None  # whoever calls `from_case` has read the file
        made = Position.from_case(keys)
        return lambda: _use_position(made)

    return Target("case", [json.dumps(each).encode() for each in cases], read, _json)


_APART = b"\x00"
"""Between the two files of a tournament."""


def tournament(folder: Path) -> Target:
    """The results and rounds of a tournament, in one; all is worked out from them and shown."""
    bots = ("keen", "greedy", "random")
    asked: tuple[dict[str, Any], ...] = (
        {"deals": 3},
        {"rules": "classic num_players=3", "deals": 2, "seating": "all"},
        {"rules": "official target=50", "deals": 2, "games": True},
    )
    plan: dict[str, Any] = {}
    seeds = []
    for number, options in enumerate(asked):
        path = folder / str(number)
        round_robin(bots, seed=3, max_decisions=200, out=path, **options)
        plan = plan or read_results(path)["plan"]
        rounds = gzip.decompress((path / ROUNDS).read_bytes())
        seeds.append((path / RESULTS).read_bytes() + _APART + rounds)
    results = json.loads(seeds[0].partition(_APART)[0])
    results["failures"] = [asdict(_failure())]
    results |= {"counted": [0], "out": ["random"]}
    first = [line for line in seeds[0].partition(_APART)[2].split(b"\n") if line[:1] in b"m0"]
    seeds.append(as_json(results) + _APART + b"\n".join(first) + b"\n")
    path = folder / "0"

    def read(data: bytes) -> Callable[[], object]:
        results, _, rounds = data.partition(_APART)
        (path / RESULTS).write_bytes(results)
        packed = rounds if rounds.startswith(b"\x1f\x8b") else gzip.compress(rounds, 1)
        (path / ROUNDS).write_bytes(packed)
        with suppress(FolderError), Folder(path, plan, resume=True):
            pass
        loaded = load(path)

        def use() -> None:
            format_table(loaded).encode()
            html(loaded, standings.as_json(loaded, plan)).encode()
            str(loaded.failures)

        return use

    def mutate(data: bytes, rng: Random) -> bytes:
        results, apart, rounds = data.partition(_APART)
        if rng.random() < 0.6:
            return _json(results, rng) + apart + rounds
        lines = rounds.split(b"\n")
        at, kind = rng.randrange(len(lines)), rng.randrange(8)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(rng.randrange(len(lines)), lines[at])
        elif kind == 2:
            return results + apart + _bytes(gzip.compress(rounds, 1, mtime=0), rng)
        else:
            fields = lines[at].split(b",")
            fields[rng.randrange(len(fields))] = rng.choice(WORDS).encode()
            lines[at] = b",".join(fields)
        return results + apart + b"\n".join(lines)

    return Target("tournament", seeds, read, mutate)


def _failure() -> Failure:
    return Failure(
        agent="random",
        what="raised",
        lineup=("keen", "random"),
        rules="angry_birds",
        seed=3,
        deal=1,
        deal_seed=2**60,
        rotation=0,
        round=0,
        decision=7,
        position=str(GameBatch("angry_birds").position(0)),
        options=" --games 4",
    )


def piece(folder: Path) -> Target:
    """A piece of a tournament that is half played: its rounds, or the failure of an agent."""
    bots = make_agents(["keen", "greedy"])
    table = Table.of([bots], "official target=50", 2, 1, games=True)
    (only,) = table.pieces()
    played = play_piece(table, only)
    assert isinstance(played, Rounds)
    written = io.BytesIO()
    np.savez(written, **played.arrays())
    path = folder / "half"
    plan = plan_of(table, bots, {}, [[0, 1]])
    with Folder(path, plan, resume=False) as held:
        held.keep(only, played)
    (file,) = (path / PIECES).iterdir()

    def read(data: bytes) -> Callable[[], object]:
        for old in (path / PIECES).iterdir():
            old.unlink()
        file.with_suffix(".npz" if data.startswith(b"PK") else ".json").write_bytes(data)
        with Folder(path, plan, resume=True) as held:
            outcome = held.kept([only])[only]

        def use() -> None:
            if isinstance(outcome, Failure):
                str(outcome).encode()
                return
            match = MatchResult(("keen", "greedy"), table.rules, 1, 2000, outcome, games=True)
            str(match)
            match.shares()

        return use

    return Target("piece", [written.getvalue(), as_json(asdict(_failure()))], read, _arrays)


def arguments(folder: Path) -> Target:
    """The arguments of a run; all that follows from them is worked out."""
    asked = (
        Arguments(out=folder),
        preset("standard", rules=("classic", "official stacking=True"), shares=(1.0,) * 8),
        Arguments(out=folder, warm_start=folder / POLICY, patience=3, opponents=("keen", "a:b")),
    )

    def read(data: bytes) -> Callable[[], object]:
        (folder / ARGUMENTS).write_bytes(data)
        loaded = read_arguments(folder)

        def use() -> None:
            check_same(loaded, Arguments(**{**loaded.as_json(), "out": folder}))
            assert sum(loaded.tables_of_each_kind()) == loaded.num_envs
            cards.command(loaded).encode()
            with suppress(ValueError):
                loaded.named_kinds()

        return use

    return Target("arguments", [json.dumps(a.as_json()).encode() for a in asked], read, _json)


def progress(folder: Path) -> Target:
    """The learning curve of a run; it is drawn but for the picture."""
    rows = [
        {"timesteps": 64 * i, "time/seconds": 1.5 * i, "train/entropy": None, "updates": i}
        | {"eval/classic 2 players/greedy/expert": 0.5, "eval/score": 0.5}
        for i in range(1, 4)
    ]

    def read(data: bytes) -> Callable[[], object]:
        (folder / PROGRESS).write_bytes(data)
        read_progress(folder)
        drawn = curves([folder])
        seconds_of(folder)

        def use() -> None:
            for lines in drawn.values():
                for at, shares in lines.values():
                    assert shares.shape == (1, len(at))

        return use

    seed = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return Target("progress", [seed], read, _json_lines)


def state(folder: Path) -> Target:
    """What a checkpoint says of the best policy."""
    saved = folder / "checkpoints" / f"{64:012d}"
    saved.mkdir(parents=True)

    def read(data: bytes) -> Callable[[], object]:
        (saved / "state.json").write_bytes(data)
        best = best_checkpoint(folder)
        return lambda: next(best.iterdir())

    seed = json.dumps({"best": {"timesteps": 64, "without_gain": 0}, "timesteps": 64}).encode()
    return Target("state", [seed], read, _json)


def card(folder: Path) -> Target:
    """What was measured of a policy file; it is put into the card."""
    policy(folder)
    path = folder / POLICY
    loaded = Policy.load(path)
    told = cards._arguments_of(loaded, path)
    saved = json.loads((ROOT / "uno_env/policies/angry_birds_rounds.json").read_text())
    saved = {**saved, "sha256": cards._Results(path).digest, "results": saved["results"][:9]}

    def read(data: bytes) -> Callable[[], object]:
        path.with_suffix(".json").write_bytes(data)
        results = cards._Results(path)

        def use() -> None:
            for cell in cards.cells(["angry_birds"], 4, 2):
                results.number(cell)
            cards.card_text(path.name, loaded, told, results.rows).encode()

        return use

    return Target("card", [json.dumps(saved).encode()], read, _json)


def tuning(folder: Path) -> Target:
    """The state of a bot that is tuned; the bot plays with it."""
    path = folder / "state.npz"
    Tuning("watcher", 3, path).save()
    seed = path.read_bytes()
    batch = GameBatch("angry_birds num_players=3", 2)
    seen, legal = batch.observe(), batch.legal

    def read(data: bytes) -> Callable[[], object]:
        path.write_bytes(data)
        loaded = Tuning("watcher", 3, path)

        def use() -> None:
            loaded.found.fade()
            loaded.agent(loaded.weights).act(seen, legal, np.random.default_rng(0))

        return use

    return Target("tuning", [seed], read, _arrays)


_FUNCTIONS = (
    *(policy, record, position, case, tournament, piece),
    *(arguments, progress, state, card, tuning),
)
TARGETS: dict[str, Callable[[Path], Target]] = {each.__name__: each for each in _FUNCTIONS}
