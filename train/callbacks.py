"""What happens between two iterations of the learner, and the progress bar.

SB3 calls back in the middle of an iteration: when a rollout is collected and the update on it is
still to come. A checkpoint there could not be exact, so all this happens after the update, which is
when the next rollout starts or training ends.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from stable_baselines3.common.callbacks import BaseCallback

from agents.policy import PolicyAgent
from train import checkpoint
from train.arguments import Arguments
from train.diagnostics import Diagnostics, LearningError, Rollout, what_is_not_finite
from train.evaluation import Best, Evaluation, Score
from train.network import export_policy
from train.opponents import OpponentPool
from train.run import RunFolder
from uno_env.game.rules import Rules

_LOSSES = ("train/value_loss", "train/policy_gradient_loss", "train/entropy_loss", "train/loss")


class EnoughError(Exception):
    """Training is to end before its time, and all is written."""


class AfterUpdate(BaseCallback):
    """Counts updates and does nothing at single steps."""

    def __init__(self) -> None:
        super().__init__()
        self.updates = 0
        self._seen = 0

    def _on_training_start(self) -> None:
        self._seen = self.num_timesteps = self.model.num_timesteps

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.model.num_timesteps > self._seen:
            self._seen = self.num_timesteps = self.model.num_timesteps
            self.updates += 1
            self.after_update()

    def _on_training_end(self) -> None:
        self._on_rollout_start()

    def after_update(self) -> None:
        """Called between two iterations."""


class PastSelves(AfterUpdate):
    """The pool learns what was counted, and every so many updates the policy as it is joins it."""

    def __init__(self, pool: OpponentPool, rules: Rules, *, every: int) -> None:
        super().__init__()
        self.pool, self.rules, self.every = pool, rules, every

    def after_update(self) -> None:
        """Add a past self when it is time."""
        self.pool.update()
        if self.updates % self.every == 0:
            policy = export_policy(self.model.policy, self.rules)
            rng = np.random.default_rng([self.model.seed or 0, self.updates])
            self.pool.add_past(PolicyAgent(policy, temperature=1.0), rng)


class Watch(AfterUpdate):
    """Diagnostics: warnings, and an end where a number is not finite.

    Args:
        critic_first: choices in which the actor does not learn yet, so that nothing is to be
            noticed of it.
    """

    def __init__(self, critic_first: int = 0) -> None:
        super().__init__()
        self.critic_first = critic_first
        self.diagnostics = Diagnostics()
        self._rollout = Rollout(0.0, 0.0, 0.0)

    def _on_rollout_end(self) -> None:
        buffer: Any = self.model.rollout_buffer  # type: ignore[attr-defined]
        self._rollout = Rollout.of(buffer.action_masks, buffer.returns)

    def after_update(self) -> None:
        """Look at the update.

        Raises:
            LearningError: a loss or a weight is not finite.
        """
        values = self.logger.name_to_value
        losses = {name: float(values[name]) for name in _LOSSES}
        wrong = what_is_not_finite(self.model.policy, losses)
        if wrong:
            raise LearningError(
                f"{wrong} is not finite after {self.num_timesteps:,} choices: training ends; "
                "lower learning_rate"
            )
        if self.num_timesteps <= self.critic_first:
            return
        self.diagnostics.look(
            self._rollout,
            -losses["train/entropy_loss"],
            float(values["train/approx_kl"]),
            losses["train/value_loss"],
            self.model._current_progress_remaining,
        )


class Recorder(AfterUpdate):
    """The learning curve, evaluations, the best policy and checkpoints; comes last.

    Args:
        folder: of the run.
        arguments: of the run.
        pool: the opponents.
        evaluation: what policies are evaluated by.
        past: the callback that adds past selves, which counts the same updates.
        watch: the diagnostics.
    """

    def __init__(
        self,
        folder: RunFolder,
        arguments: Arguments,
        pool: OpponentPool,
        evaluation: Evaluation,
        past: PastSelves,
        watch: Watch,
    ) -> None:
        super().__init__()
        self.folder, self.arguments, self.pool = folder, arguments, pool
        self.evaluation, self.past, self.watch = evaluation, past, watch
        self.rules = next(iter(evaluation.kinds.values()))
        self.best = Best()
        self._counted = [np.zeros_like(pool.rounds), np.zeros_like(pool.wins)]
        self._wins: dict[str, float] = {}
        self._started, self._from = time.monotonic(), 0
        self.bar = Bar(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%  {task.fields[speed]:,.0f} choices/s"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[wins]}"),
            console=Console(stderr=True, force_jupyter=False),
            disable=not sys.stderr.isatty(),
        )

    def _on_training_start(self) -> None:
        super()._on_training_start()
        total = self.arguments.total_timesteps
        self._started, self._from = time.monotonic(), self.num_timesteps
        self.task = self.bar.add_task(
            "", total=total, completed=self.num_timesteps, speed=0.0, wins=""
        )
        self.bar.start()

    def _on_rollout_end(self) -> None:
        """Count who was won against, before the pool's places may change hands."""
        now = [self.pool.rounds.copy(), self.pool.wins.copy()]
        rounds, wins = (
            np.maximum(new - old, 0) for new, old in zip(now, self._counted, strict=True)
        )
        fixed, self._wins = self.pool.num_fixed, {}
        for i, agent in enumerate(self.pool.agents[:fixed]):
            if rounds[i]:
                self._wins[agent.name] = float(wins[i] / rounds[i])
        if rounds[fixed:].sum():
            self._wins["past selves"] = float(wins[fixed:].sum() / rounds[fixed:].sum())
        self._counted = now

    def after_update(self) -> None:
        """Write down where training stands, and keep it.

        Raises:
            EnoughError: nothing has improved for as long as was asked.
        """
        over = self.num_timesteps >= self.arguments.total_timesteps
        row = self._row()
        new_best = False
        if over or self.updates % self.arguments.eval_every == 0:
            score, shares = self.evaluation.play(export_policy(self.model.policy, self.rules))
            new_best = self.best.offer(score, self.num_timesteps)
            row |= {f"eval/{name}": share for name, share in shares.items()}
            row |= {"eval/score": score.value, "eval/best_timesteps": self.best.timesteps}
        patience = self.arguments.patience
        over_early = patience is not None and self.best.without_gain >= patience
        self._write_row(row)
        if over or over_early or new_best or self.updates % self.arguments.checkpoint_every == 0:
            self._write_checkpoint(new_best)
        self._show()
        if over_early and not over:
            raise EnoughError(f"{patience} evaluations without a gain")

    def _row(self) -> dict[str, Any]:
        seconds = time.monotonic() - self._started
        row: dict[str, Any] = {
            "timesteps": self.num_timesteps,
            "updates": self.updates,
            "time/seconds": round(seconds, 3),
            "time/fps": round((self.num_timesteps - self._from) / max(seconds, 1e-9), 1),
        }
        row |= {name: _number(value) for name, value in self.logger.name_to_value.items()}
        row["train/entropy"] = -row["train/entropy_loss"]
        row |= {f"wins/{name}": share for name, share in self._wins.items()}
        if self.model.ep_info_buffer:
            for name, key in (("reward", "r"), ("choices", "l")):
                values = [info[key] for info in self.model.ep_info_buffer]
                row[f"rollout/{name}"] = float(np.mean(values))
        row["pool/past selves"] = len(self.pool.agents) - self.pool.num_fixed
        for players in sorted({rules.num_players for rules in self.evaluation.kinds.values()}):
            fixed = self.pool.agents[: self.pool.num_fixed]
            shares = self.pool.shares(players)
            for agent, share in zip(fixed, shares, strict=False):
                row[f"pool/{players} players/{agent.name}"] = float(share)
        return row

    def _write_row(self, row: dict[str, Any]) -> None:
        self.folder.add_progress(row)
        # SB3's own values are there already; what it would add is in the row.
        for name, value in row.items():
            if "/" in name and value is not None:
                self.logger.record(name, value)
        self.logger.dump(self.num_timesteps)

    def _show(self) -> None:
        elapsed = max(time.monotonic() - self._started, 1e-9)
        self.bar.update(
            self.task,
            completed=self.num_timesteps,
            speed=(self.num_timesteps - self._from) / elapsed,
            wins="  ".join(f"{name} {share:.0%}" for name, share in self._wins.items()),
        )

    def _write_checkpoint(self, new_best: bool) -> None:
        best = self.best
        extra = {
            "updates": self.updates,
            "best": {"timesteps": best.timesteps, "without_gain": best.without_gain},
            "diagnostics": self.watch.diagnostics.saved(),
        }
        arrays = {"starts": np.asarray(self.model._last_episode_starts)}
        arrays |= {"rounds": self._counted[0], "wins": self._counted[1]}
        if best.highest is not None:
            arrays |= {f"best.{i}": part for i, part in enumerate(best.highest.parts)}
        model: Any = self.model
        self.folder.write_checkpoint(
            self.num_timesteps,
            lambda folder: checkpoint.write(folder, model, self.pool, self.rules, extra, arrays),
        )
        if new_best:
            self.folder.take_policy(self.num_timesteps)
        self.folder.drop_checkpoints(self.arguments.keep_checkpoints, best.timesteps)

    def restore(self, state: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Go on from what a checkpoint holds of this and the other callbacks."""
        self.updates = self.past.updates = self.watch.updates = state["updates"]
        self._counted = [arrays["rounds"], arrays["wins"]]
        self.best.timesteps = state["best"]["timesteps"]
        self.best.without_gain = state["best"]["without_gain"]
        kinds = range(len(self.evaluation.kinds))
        if self.best.timesteps:
            self.best.highest = Score(tuple(arrays[f"best.{i}"] for i in kinds))
        self.watch.diagnostics.restore(state["diagnostics"])

    def stop(self) -> None:
        """Leave the terminal as it was, however training ended."""
        self.bar.stop()


def _number(value: Any) -> float | None:
    """As JSON holds it: None in place of what is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None
