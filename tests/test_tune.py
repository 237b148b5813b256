"""Tuning: what it fits, and that it goes on where it stopped."""

import numpy as np
import pytest

import eval.tune
from agents.expert import ExpertAgent
from eval.tune import BY_HAND, Found, Tables, Tuning, main
from uno_env import Rules
from uno_env.features import NAMES
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.legal_actions import LegalActions

SMALL = {"rounds": 30, "deals": 2, "seed": 1}


def test_weights_that_decided_are_found():
    """Choices that win as often as given weights say."""
    rng = np.random.default_rng(0)
    true = np.zeros(len(NAMES), np.float32)
    tuned = [NAMES.index(name) for name in ("wild", "colour", "can")]
    true[tuned] = -0.3, 0.2, -0.1
    found = Found()
    for _ in range(20):
        mask = rng.random((2000, NUM_ACTIONS)) < 0.04
        mask[:, 0] = True
        legal = LegalActions.of(mask)
        x = rng.random((len(NAMES), len(legal.rows)), dtype=np.float32)
        # How a decision stands as a whole tells nothing.
        luck = rng.random(len(mask))[legal.rows] * 0.4
        found.add(x, rng.random(len(legal.rows)) < 0.4 + luck + true @ x * 0.5, legal)
    start = np.full(len(NAMES), 7, np.float32)
    fitted = found.fitted(start, tuned)
    assert np.allclose(fitted[tuned], 0.5 * true[tuned], atol=0.02)
    assert (np.delete(fitted, tuned) == 7).all()


@pytest.mark.parametrize("players", [2, 3])
def test_a_step_and_what_it_leaves(tmp_path, players, monkeypatch):
    # Weights found from so little may keep cards for ever.
    monkeypatch.setattr(eval.tune, "_LIMIT", 20)
    path = tmp_path / "new" / "state.npz"
    tuning = Tuning("watcher", players, path)
    before = tuning.weights.copy()
    line = tuning.advance(**SMALL)
    assert line.startswith("step 1: ")
    assert "% before" in line
    assert np.count_nonzero(tuning.found.products) > 10
    stays = [i for i in range(len(NAMES)) if i not in tuning.tuned]
    assert np.array_equal(tuning.weights[stays], before[stays])
    assert not {NAMES[i] for i in tuning.tuned} & BY_HAND
    tuning.save()
    assert [file.name for file in path.parent.iterdir()] == ["state.npz"]

    # Stopped and gone on with, it finds what it finds in one go.
    again = Tuning("watcher", players, path)
    assert again.step == 1
    assert again.advance(**SMALL) == tuning.advance(**SMALL)
    assert np.array_equal(again.weights, tuning.weights)


def test_choices_and_their_outcome():
    rng = np.random.default_rng(3)
    tables = Tables.deal(Rules.preset("angry_birds", num_players=3), 200, ExpertAgent(), rng)
    tables.advance(12, rng)
    games, mask = tables.choices()
    assert games.size > 20
    assert (tables.batch.player[games] == tables.seats[games]).all()
    assert (mask.sum(axis=1) > 1).all()
    others = [Action.DRAW, *range(Action.UNO, NUM_ACTIONS)]
    assert not mask[:, others].any()
    won = tables.won(rng)
    over = tables.batch.done
    assert (won[over] == (tables.batch.winner[over] == tables.seats[over])).all()
    assert 0.2 < won.mean() < 0.6


@pytest.mark.parametrize(
    ("bot", "message"), [("greedy", "no bot with weights"), ("x", "'x' is no")]
)
def test_only_bots_with_weights(tmp_path, bot, message, capsys):
    with pytest.raises(ValueError, match=message):
        Tuning(bot, 2, tmp_path / "state.npz")
    with pytest.raises(SystemExit) as raised:
        main([bot, "--out", str(tmp_path / "state.npz")])
    assert raised.value.code == 2
    assert message in capsys.readouterr().err


SQUARES = np.zeros((len(NAMES), len(NAMES)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"what": None}, "is about another bot"),
        ({"what": np.zeros(3)}, "is about another bot"),
        ({"step": None}, "does not hold the state of a tuning"),
        ({"step": np.array([1, 2])}, "does not hold the state of a tuning"),
        ({"step": np.array(-1)}, "steps from 0"),
        ({"weights": np.zeros(len(NAMES))}, "does not hold the state of a tuning"),
        ({"weights": np.full(len(NAMES), 1e7, np.float32)}, "allowed are weights up to 1e"),
        ({"squares": SQUARES[0]}, "does not hold the state of a tuning"),
        ({"squares": SQUARES.astype(int)}, "does not hold the state of a tuning"),
        ({"squares": SQUARES + np.nan}, "does not hold the state of a tuning"),
        ({"more": SQUARES}, "does not hold the state of a tuning"),
        ({"products": np.array([{}], object)}, "values of type object: read are numbers"),
    ],
)
def test_a_damaged_state_is_refused(tmp_path, wrong, message, capsys):
    path = tmp_path / "state.npz"
    Tuning("watcher", 2, path).save()
    with np.load(path) as state:
        arrays = {name: array for name, array in {**state, **wrong}.items() if array is not None}
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=message):
        Tuning("watcher", 2, path)
    with pytest.raises(SystemExit):
        main(["watcher", "--out", str(path)])
    assert message in capsys.readouterr().err


def test_command(tmp_path, capsys):
    path = str(tmp_path / "state.npz")
    small = ["--rounds", "20", "--deals", "4", "--steps", "1"]
    assert main(["thrifty", "--out", path, *small]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("step 1: ")
    assert lines[1].split()[0] == "keep"
    # All steps are done: it only says what came out.
    assert main(["thrifty", "--out", path, *small]) == 0
    assert capsys.readouterr().out.splitlines() == lines[1:]
    with pytest.raises(SystemExit):
        main(["expert", "--out", path, *small])
    assert "is about another bot, table or set of features" in capsys.readouterr().err
