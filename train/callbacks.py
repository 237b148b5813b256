"""What happens beside training: past selves join the pool, checkpoints, and a progress bar."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from stable_baselines3.common.callbacks import BaseCallback

from agents.policy import PolicyAgent
from train.network import export_policy
from train.opponents import OpponentPool
from uno_env.game.rules import Rules


class _EachRollout(BaseCallback):
    """Counts rollouts and does nothing at single steps."""

    def __init__(self) -> None:
        super().__init__()
        self.rollouts = 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.rollouts += 1
        self.after_rollout()

    def after_rollout(self) -> None:
        """Called when a rollout has been collected, before the update on it."""


class PastSelves(_EachRollout):
    """Every so many rollouts, the policy as it is joins the pool of opponents."""

    def __init__(self, pool: OpponentPool, rules: Rules, *, every: int) -> None:
        super().__init__()
        self.pool, self.rules, self.every = pool, rules, every

    def after_rollout(self) -> None:
        """Add a past self when it is time."""
        if self.rollouts % self.every == 0:
            policy = export_policy(self.model.policy, self.rules)
            rng = np.random.default_rng([self.model.seed or 0, self.rollouts])
            self.pool.add_past(PolicyAgent(policy, temperature=1.0), rng)


class Checkpoints(_EachRollout):
    """Every so many rollouts, MaskablePPO's state and the portable policy are written."""

    def __init__(self, folder: Path, rules: Rules, *, every: int) -> None:
        super().__init__()
        self.folder, self.rules, self.every = folder, rules, every

    def after_rollout(self) -> None:
        """Write both files, each whole or not at all, when it is time."""
        if self.rollouts % self.every:
            return
        self.folder.mkdir(exist_ok=True)
        name = f"{self.num_timesteps:010d}"
        partial = self.folder / f".{name}.partial.zip"
        self.model.save(partial)
        partial.replace(self.folder / f"{name}.zip")
        policy = export_policy(self.model.policy, self.rules, {"timesteps": self.num_timesteps})
        policy.save(self.folder / f"{name}.safetensors")


class Progress(_EachRollout):
    """A progress bar, and the share of rounds won against each opponent, to TensorBoard too."""

    def __init__(self, pool: OpponentPool) -> None:
        super().__init__()
        self.pool = pool
        self._seen = np.zeros((2, len(pool.rounds)), np.int64)
        self.bar = Bar(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%  {task.fields[speed]:,.0f} choices/s"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[wins]}"),
        )

    def _on_training_start(self) -> None:
        total = self.locals["total_timesteps"]
        self.task = self.bar.add_task("", total=total, speed=0.0, wins="")
        self.bar.start()

    def after_rollout(self) -> None:
        """Show where training stands."""
        now = np.stack([self.pool.rounds, self.pool.wins])
        rounds, wins = np.maximum(now - self._seen, 0)
        self._seen = now.copy()
        shares = {}
        for i, agent in enumerate(self.pool.agents[: self.pool.num_fixed]):
            if rounds[i]:
                shares[agent.name] = wins[i] / rounds[i]
        past = slice(self.pool.num_fixed, None)
        if rounds[past].sum():
            shares["past selves"] = wins[past].sum() / rounds[past].sum()
        for name, share in shares.items():
            self.logger.record(f"wins/{name}", share)
        elapsed = self.bar.tasks[self.task].elapsed or 1e-9
        self.bar.update(
            self.task,
            completed=self.num_timesteps,
            speed=self.num_timesteps / elapsed,
            wins="  ".join(f"{name} {share:.0%}" for name, share in shares.items()),
        )

    def stop(self) -> None:
        """Leave the terminal as it was, however training ended."""
        self.bar.stop()
