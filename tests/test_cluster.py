"""Ray plays what one process plays, whatever is lost on the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.keen import KeenAgent
from eval.cluster import Cluster
from eval.floor import WorkerError
from eval.match import play, quick_match
from eval.tournament import main, round_robin

OPTIONS: dict[str, Any] = {"deals": 60, "piece": 30, "seed": 5, "max_decisions": 300}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


class Deadly(KeenAgent):
    """Keen; kills its process in the first piece, or in every one."""

    name = "deadly"

    def __init__(self, mark: Path, always: bool = False) -> None:
        self.mark, self.always = mark, always

    def act(self, observation: Any, mask: Any, rng: Any) -> Any:
        if self.always or not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(observation, mask, rng)


class Careless(KeenAgent):
    name = "careless"

    def act(self, observation: Any, mask: Any, rng: Any) -> Any:
        raise ZeroDivisionError("nobody looked")


def test_without_ray_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(WorkerError, match=r"uno-env\[ray\]"):
        play(["keen", "greedy"], deals=10, jobs=Cluster())


def test_an_address_is_for_ray_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["keen", "greedy", "--address", "auto"])
    assert "--address is for --engine ray" in capsys.readouterr().err


@pytest.mark.parametrize("cores", [0, 1.5, "two"])
def test_cores_are_a_whole_number(cores: Any) -> None:
    with pytest.raises(ValueError, match="cores"):
        Cluster(cores=cores)


@pytest.fixture(scope="class")
def two_cores() -> Iterator[None]:
    """A cluster of this machine, which the tests of a class use."""
    ray = pytest.importorskip("ray")
    with Cluster(cores=2).connected():
        yield
    assert not ray.is_initialized()


@pytest.mark.usefixtures("two_cores")
class TestOnThisMachine:
    def test_folders_are_those_of_one_process(self, tmp_path: Path) -> None:
        bots = ["random", "keen", "greedy"]
        round_robin(bots, out=tmp_path / "one", jobs=1, **OPTIONS)
        round_robin(bots, out=tmp_path / "ray", jobs=Cluster(), **OPTIONS)
        assert contents(tmp_path / "ray") == contents(tmp_path / "one")

    def test_a_match_stops_where_it_does_with_one_process(self) -> None:
        one, ray = (
            quick_match(["greedy", "random"], deals=2_000, seed=1, jobs=jobs)
            for jobs in (1, Cluster(cores=2))
        )
        assert str(ray) == str(one)
        assert one.result.deals < 2_000

    def test_an_agent_that_fails_is_out_as_it_is_with_one_process(self) -> None:
        one, ray = (
            round_robin(["keen", Careless(), "greedy"], jobs=jobs, **OPTIONS)
            for jobs in (1, Cluster())
        )
        assert list(map(str, ray.failures)) == list(map(str, one.failures))
        assert len(ray.failures) == 1
        assert str(ray) == str(one)

    def test_a_lost_process_costs_its_piece(self, tmp_path: Path) -> None:
        calm = tmp_path / "calm"
        calm.touch()
        for mark in (calm, tmp_path / "mark"):
            bots = [Deadly(mark), "random"]
            round_robin(bots, out=tmp_path / f"of {mark.name}", jobs=Cluster(), **OPTIONS)
        assert (tmp_path / "mark").exists()
        assert contents(tmp_path / "of mark") == contents(tmp_path / "of calm")

    def test_a_piece_that_is_lost_each_time_is_named(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        bots = ["random", "keen", Deadly(tmp_path / "mark", always=True)]
        with pytest.raises(WorkerError, match=r"deals \d+ to \d+ of match [12] was lost 4 times"):
            round_robin(bots, out=out, jobs=Cluster(cores=1), **OPTIONS)
        bots[2] = Deadly(tmp_path / "mark")
        round_robin(bots, out=out, resume=True, **OPTIONS)
        round_robin(bots, out=tmp_path / "whole", **OPTIONS)
        assert contents(out) == contents(tmp_path / "whole")

    def test_only_this_machine_reaches_it(self) -> None:
        """Everything that Ray's processes listen on is bound to the loopback address."""
        listening = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True)
        lines = [line for line in listening.stdout.splitlines() if "ray" in line or "gcs" in line]
        assert lines
        for line in lines:
            assert "127.0.0.1" in line.split()[3], line


def test_a_cluster_that_is_not_there_is_said() -> None:
    pytest.importorskip("ray")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(WorkerError, match=f"no Ray at {address}"):
        play(["keen", "greedy"], deals=10, jobs=Cluster(address))


def test_a_machine_that_is_lost_costs_its_pieces(tmp_path: Path) -> None:
    """Two nodes; the one without the driver is killed as soon as it plays."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster as Nodes

    bots = ["keen", "greedy", "expert"]
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
    other = nodes.add_node(num_cpus=1)
    options = {**OPTIONS, "deals": 200}
    lost = threading.Event()

    def lose(over: int, total: int) -> None:
        if over and not lost.is_set():
            nodes.remove_node(other, allow_graceful=False)
            lost.set()

    try:
        out = tmp_path / "ray"
        round_robin(bots, out=out, jobs=Cluster(nodes.address), progress=lose, **options)
    finally:
        nodes.shutdown()
    assert lost.is_set()
    round_robin(bots, out=tmp_path / "one", **options)
    assert contents(tmp_path / "ray") == contents(tmp_path / "one")
