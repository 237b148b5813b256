"""The long run, for a short time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from eval import soak as command
from eval.soak import SoakError, main, soak
from uno_env import GameBatch, Rules
from uno_env.game.rules import HOUSE_RULES, PRESETS, RULES_KEPT


@pytest.mark.parametrize(
    "rules",
    [
        *PRESETS,
        Rules.preset("official", num_players=4, **dict.fromkeys(HOUSE_RULES, True)),
        Rules.preset("angry_birds", num_players=10, stacking=True, jump_in=True),
    ],
)
def test_nothing_breaks(rules: Rules | str) -> None:
    result = soak(rules, 60_000, games=256)
    assert result.decisions >= 60_000
    assert result.rounds > 100
    assert result.capped < result.rounds / 100


def test_a_lost_card_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    step = GameBatch.step

    def losing(self: GameBatch, actions: np.ndarray) -> object:
        self.state.discard[5] = 0
        return step(self, actions)

    monkeypatch.setattr(GameBatch, "step", losing)
    with pytest.raises(SoakError, match=r"game 5 under \[classic\]: the deck is not whole"):
        soak("classic", 20_000, games=64)


def test_rounds_that_do_not_end_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MAX_CYCLES", 10)
    result = soak("classic", 10_000, games=50)
    assert 0.9 * result.rounds < result.capped < result.rounds


def test_rules_that_were_played_once_take_no_memory_for_ever() -> None:
    """As a server meets them, or who reads many records."""

    def play(targets: range) -> None:
        for target in targets:
            batch = GameBatch(f"angry_birds target={target}", 1)
            batch.step(batch.legal.argmax(axis=1))

    tracemalloc.start()
    play(range(1, RULES_KEPT + 50))
    before = tracemalloc.get_traced_memory()[0]
    play(range(RULES_KEPT + 50, RULES_KEPT + 350))
    assert tracemalloc.get_traced_memory()[0] - before < 300 * 1_000
    tracemalloc.stop()


def test_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "GAMES", 64)
    assert main(["--decisions", "5000", "--rules", "classic num_players=3"]) == 0
    assert "classic num_players=3: " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--rules", "chess"])
    assert "unknown preset 'chess'" in capsys.readouterr().err
