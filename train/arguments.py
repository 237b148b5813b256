"""What can be asked of training: `Arguments`, all checked, and presets of them."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from eval.arguments import SHARE, finite_number, rules_for, whole_number
from eval.floor import MAX_DEALS
from eval.tournament import BASELINES
from train.opponents import PRESENT_PAST, Weighting
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from uno_env.policy import MAX_HIDDEN

_WHOLE_NUMBERS = {
    "seed": (0, 2**32 - 1),
    "total_timesteps": (1, sys.maxsize),
    "critic_first": (0, sys.maxsize),
    "num_envs": (1, 2**31 - 1),
    "num_steps": (1, 2**31 - 1),
    "batch_size": (2, 2**31 - 1),
    "num_epochs": (1, 2**31 - 1),
    "hidden": (1, MAX_HIDDEN),
    "past_every": (1, sys.maxsize),
    "max_past": (1, 2**31 - 1),
    "present_past": (1, 2**31 - 1),
    "max_decisions": (1, 2**31 - 1),
    "checkpoint_every": (1, sys.maxsize),
    "keep_checkpoints": (1, sys.maxsize),
    "eval_every": (1, sys.maxsize),
    "eval_deals": (2, MAX_DEALS),
    "benchmark_deals": (1, MAX_DEALS),
    "torch_threads": (1, 4 * (os.cpu_count() or 1)),
}
"""From where to where each of these arguments may go."""

_ABOVE_ZERO = ("a finite number above 0", lambda x: x > 0)
_FINITE_NUMBERS: dict[str, tuple[str, Callable[[float], bool]]] = {
    "learning_rate": _ABOVE_ZERO,
    "clip_range": _ABOVE_ZERO,
    "gamma": SHARE,
    "gae_lambda": SHARE,
    "points_share": SHARE,
    "past_share": SHARE,
    "opponent_power": ("a number from 0 to 10", lambda x: 0 <= x <= 10),
    "opponent_floor": SHARE,
    "opponent_half_life": _ABOVE_ZERO,
    "ent_coef": ("a finite number", math.isfinite),
}
"""What each of these arguments may be, and the check of it."""


def _new_run_folder() -> Path:
    return Path("runs") / time.strftime("%Y%m%d-%H%M%S")


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """How to train. The defaults are the preset `quick`: some four minutes on two CPU cores."""

    rules: tuple[str, ...] = ("angry_birds",)
    """Presets, each optionally followed by switches, such as "classic uno_penalty=2"; with several,
    some tables play one and some another."""
    num_players: tuple[int, ...] = ()
    """Seats at a table; by default as many as the rules say, or 2. With several numbers, under each
    of the rules some tables have one and some another."""
    shares: tuple[float, ...] = ()
    """Parts of the tables for each kind of them: first of the first rules, in the order of
    `num_players`, then of the next. They need not sum to 1. By default all alike."""
    seed: int = 0
    """Of the network, the deals, the opponents and the sampling of actions."""
    out: Path = field(default_factory=_new_run_folder)
    """Run folder; it must not exist yet. By default a new one under runs/, named by the time."""

    total_timesteps: int = 1_500_000
    """Choices of the learner to train on."""
    num_envs: int = 2_048
    """Tables stepped together."""
    num_steps: int = 8
    """Choices at each table between two updates."""
    batch_size: int = 4_096
    """Choices in each gradient step."""
    num_epochs: int = 3
    """Passes over the data in each update."""
    learning_rate: float = 1.5e-3
    """Adam's step size at the start; it falls linearly to zero."""
    gamma: float = 1.0
    """Discount per choice. A round is short and only its end counts."""
    points_share: float = 0.0
    """What is maximised: 0 for rounds won, 1 for points, which games to 500 are about; in between,
    both (`train.objective`)."""
    gae_lambda: float = 0.95
    """Of generalised advantage estimation."""
    clip_range: float = 0.2
    """PPO's clip range."""
    ent_coef: float = 0.005
    """Weight of the entropy bonus."""
    hidden: int = 64
    """Units in each hidden layer."""
    full_information: bool = True
    """Whether the critic sees the true hands in training. The actor and the policy never do."""

    warm_start: Path | None = None
    """A policy file to start from; it may have fewer hidden units."""
    critic_first: int = 0
    """Choices from which the critic alone learns, before the actor does too; for warm starts."""

    opponents: tuple[str, ...] = ("expert", "greedy")
    """Fixed opponents: names of agents, or policy files."""
    past_share: float = 0.5
    """Share of rounds against past selves."""
    past_every: int = 10
    """Updates between two past selves that join the pool."""
    max_past: int = 20
    """Past selves kept."""
    present_past: int = PRESENT_PAST
    """Past selves that play at a time."""
    opponent_weighting: Weighting = "even"
    """How often opponents are met: "hard", by (1 - x) ** power, x being the learner's strength
    against them; "equals", by x (1 - x); or "even", all alike."""
    opponent_power: float = 1.0
    """The power in "hard"."""
    opponent_floor: float = 0.2
    """Share of rounds that goes evenly to all opponents, whatever they are weighted by."""
    opponent_half_life: float = 10.0
    """Updates after which a round counts half in x."""
    max_decisions: int = 1_000
    """Decisions of all seats after which a training round is cut off."""

    eval_every: int = 30
    """Updates between two evaluations; the last update is followed by one, too."""
    eval_deals: int = 500
    """Duplicate deals of an evaluation against each of `eval_opponents`, the same ones each time,
    for each kind of table."""
    eval_opponents: tuple[str, ...] = BASELINES
    """Whom evaluations are against: names of agents, or policy files."""
    patience: int | None = None
    """Stop after so many evaluations without a new best; by default never."""
    checkpoint_every: int = 25
    """Updates between two checkpoints; the last update is followed by one, too."""
    keep_checkpoints: int = 3
    """Last checkpoints that are kept, beside the best."""
    benchmark_deals: int = 10_000
    """Duplicate deals against each baseline at the end."""
    torch_threads: int = 1
    """Threads for torch; networks this small are slower with several. Runs are the same bit for bit
    with the same number of them."""

    def __post_init__(self) -> None:
        for name, (low, high) in _WHOLE_NUMBERS.items():
            self._set(name, whole_number(name, getattr(self, name), low, high))
        for name, (allowed, fits) in _FINITE_NUMBERS.items():
            self._set(name, finite_number(name, getattr(self, name), allowed, fits))
        if self.patience is not None:
            self._set("patience", whole_number("patience", self.patience, 1))
        if self.opponent_weighting not in get_args(Weighting):
            allowed = ", ".join(get_args(Weighting))
            raise ValueError(
                f"opponent_weighting={self.opponent_weighting!r}: allowed is one of {allowed}"
            )
        if not isinstance(self.full_information, bool):
            raise ValueError(f"full_information={self.full_information!r}: allowed is a bool")
        self._check_texts()
        self._check_players()
        self._check_shares()
        self._check_batches()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_batches(self) -> None:
        choices = self.num_envs * self.num_steps
        if choices % self.batch_size == 1:
            raise ValueError(
                f"batch_size={self.batch_size} leaves 1 of the {choices} choices of an update, "
                "num_envs x num_steps: a gradient step needs at least 2"
            )

    def _check_players(self) -> None:
        """One number alone stands for a sequence of it."""
        given: Any = self.num_players
        numbers = tuple(given) if isinstance(given, list | tuple) else (given,)
        numbers = tuple(
            whole_number("num_players", number, MIN_PLAYERS, MAX_PLAYERS) for number in numbers
        )
        self._set("num_players", numbers)
        for name in ("num_players", "rules"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ValueError(f"{name}={values!r}: allowed is each once")

    def _check_shares(self) -> None:
        kinds = len(self.rules) * max(len(self.num_players), 1)
        shares: Any = self.shares
        if not isinstance(shares, list | tuple):
            raise ValueError(f"shares={shares!r}: allowed is a sequence of numbers")
        if shares and len(shares) != kinds:
            raise ValueError(f"shares={shares!r}: allowed are {kinds}, one for each kind of table")
        allowed, fits = _ABOVE_ZERO
        shares = tuple(finite_number("shares", share, allowed, fits) for share in shares)
        self._set("shares", shares)
        if not math.isfinite(self.num_envs * sum(shares)):
            raise ValueError(f"shares={shares!r}: allowed are numbers whose sum is finite")
        if min(self.tables_of_each_kind()) < 1:
            raise ValueError(
                f"num_envs={self.num_envs} is too few for {kinds} kinds of tables in these shares"
            )

    def _check_texts(self) -> None:
        """Everything that is not a number. Rules alone stand for a sequence of them."""
        given: Any = self.rules
        rules = (given,) if isinstance(given, str) else given
        if not isinstance(rules, list | tuple) or not all(isinstance(r, str) for r in rules):
            raise ValueError(f"rules={rules!r}: allowed is text such as 'classic', or several")
        if not rules:
            raise ValueError("rules is empty: allowed is at least one preset")
        self._set("rules", tuple(rules))
        if not isinstance(self.out, str | os.PathLike):
            raise ValueError(f"out={self.out!r}: allowed is the path of a folder")
        self._set("out", Path(self.out))
        if self.warm_start is not None:
            if not isinstance(self.warm_start, str | os.PathLike):
                raise ValueError(f"warm_start={self.warm_start!r}: allowed is a policy file's path")
            self._set("warm_start", Path(self.warm_start))
        for field_name in ("opponents", "eval_opponents"):
            names: Any = getattr(self, field_name)
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise ValueError(
                    f"{field_name}={names!r}: allowed is a sequence of names or policy files"
                )
            if not names:
                raise ValueError(
                    f"{field_name} is empty: allowed is at least one name or policy file"
                )
            self._set(field_name, tuple(names))

    def kinds_of_tables(self) -> list[Rules]:
        """The rules of each kind of table, number of players and all.

        Raises:
            ValueError: rules that are not allowed, or that say another number of players.
        """
        return [
            rules_for(rules, number)
            for rules in self.rules
            for number in self.num_players or [None]
        ]

    def named_kinds(self) -> dict[str, Rules]:
        """The same by name, such as "angry_birds 2 players". Raises as `kinds_of_tables`."""
        texts = [text for text in self.rules for _ in self.num_players or [None]]
        kinds = zip(texts, self.kinds_of_tables(), strict=True)
        return {f"{text} {rules.num_players} players": rules for text, rules in kinds}

    def tables_of_each_kind(self) -> list[int]:
        """How many tables there are of each kind; what is left over goes where it is due most."""
        kinds = len(self.rules) * max(len(self.num_players), 1)
        shares = self.shares or (1.0,) * kinds
        due = [self.num_envs * share / sum(shares) for share in shares]
        numbers = [math.floor(number) for number in due]
        by_rest = sorted(range(kinds), key=lambda i: (numbers[i] - due[i], i))
        for i in by_rest[: self.num_envs - sum(numbers)]:
            numbers[i] += 1
        return numbers

    def as_json(self) -> dict[str, Any]:
        """All of them, as JSON holds them; `Arguments(**values)` makes them again."""
        values = dataclasses.asdict(self)
        plain = {tuple: list, type(self.out): str}
        return {k: plain.get(type(v), lambda v: v)(v) for k, v in values.items()}


PRESETS: dict[str, dict[str, Any]] = {
    "quick": {},
    "standard": {
        "num_players": (2, 3, 4, 7),
        "shares": (4.0, 2.0, 3.0, 1.0),
        "total_timesteps": 11_000_000,
        "num_envs": 4_096,
        "eval_opponents": ("expert", "greedy"),
        "eval_deals": 300,
        "eval_every": 50,
    },
    "long": {
        "num_players": (2, 3, 4, 5, 7, 10),
        "total_timesteps": 200_000_000,
        "num_envs": 8_192,
        "batch_size": 16_384,
        "learning_rate": 1e-3,
        "hidden": 128,
        "opponents": ("expert", "watcher", "greedy"),
        "past_every": 20,
        "max_past": 40,
        "eval_opponents": ("expert", "greedy"),
        "eval_deals": 1_000,
        "eval_every": 100,
        "checkpoint_every": 50,
    },
}
"""What each preset sets that is not as in `Arguments()`: `quick`; `standard`, for less than an hour
on two cores, at tables of 2, 3, 4 and 7; `long`, for a day."""


def preset(name: str = "quick", **changes: Any) -> Arguments:
    """The arguments of a preset, with changes.

    Raises:
        ValueError: there is no such preset, or a value that is not allowed.
        TypeError: there is no such argument.
    """
    if name not in PRESETS:
        raise ValueError(f"unknown preset {name!r}: known are {', '.join(PRESETS)}")
    return Arguments(**{**PRESETS[name], **changes})
