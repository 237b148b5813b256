"""Golden games: short recorded rounds that together meet every effect, switch and house rule.

A file in ``tests/golden`` has the rules, the seed, each action with the seat that took it, and the
table at the end::

    rules: angry_birds num_players=3
    seed: 17
    0 R5
    1 draw
    ...
    end:
    hands: ...

What a course meets is found out by playing it on the reference engine, not said in the file.
``python tests/golden.py`` writes them all anew, after a rule has changed on purpose.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reference import ReferenceGame
from test_differential import STYLES, random_rules

from uno_env import GameBatch, Rules
from uno_env.game.actions import parse_action
from uno_env.game.rules import HOUSE_RULES, PRESETS

FOLDER = Path(__file__).with_name("golden")
LONGEST = 90
"""Actions of a golden game, at most."""
SWITCHES: dict[str, tuple[object, ...]] = {
    "deck": ("angry_birds", "classic"),
    "dealer_draw": ("symbols_zero", "numbers_only"),
    "voluntary_draw": ("always", "without_match"),
    "drawn_card": ("optional", "forced"),
    "wild_draw_four": ("no_matching_colour", "no_matching_card", "bluff"),
    "uno_call": ("explicit", "automatic"),
    "uno_enforcement": ("caught", "automatic"),
    "king_pig_recipients": ("all", "opponents"),
    "last_card_draws": (True, False),
    "scoring": ("winner", "lowest"),
    **dict.fromkeys(HOUSE_RULES, (True, False)),
}
EFFECTS = (
    *(f"opening {symbol}" for symbol in ("S", "R", "+2", "W", "KP")),
    *("opening W+4 goes back", "dealer draw tied"),
    *(f"laid {symbol}" for symbol in ("S", "R", "+2", "W", "W+4", "KP")),
    *("catch", "let-go", "penalty at once", "guilty", "innocent", "accepted", "reshuffle"),
    "king pig deals to its player",
    *("king pig passes over its player", "king pig passes over its winner"),
    *("last card +2", "last card W+4", "last card KP", "round won", "game won"),
    *("stack offered", "stack drawn", "challengeable answered", "swapped", "hands passed on"),
    *("jumped in", "no jump", "drew on", "pair won"),
)
"""What has to happen in one of them, as the reference counts it; cards laid beside that."""


@dataclass(frozen=True)
class Golden:
    """A recorded round."""

    rules: Rules
    seed: int
    course: tuple[tuple[int, str], ...]
    """Each seat and its action."""
    end: str
    """The position after it, as text."""

    def __str__(self) -> str:
        actions = "\n".join(f"{seat} {action}" for seat, action in self.course)
        return f"rules: {self.rules}\nseed: {self.seed}\n{actions}\nend:\n{self.end}\n"

    @classmethod
    def read(cls, path: Path) -> Golden:
        """A file's."""
        course, _, end = path.read_text().partition("\nend:\n")
        rules, seed, *lines = course.splitlines()
        actions = tuple((int(seat), text) for seat, text in (line.split() for line in lines))
        return cls(
            Rules.parse(rules.removeprefix("rules: ")),
            int(seed.removeprefix("seed: ")),
            actions,
            end.rstrip("\n"),
        )


def met_in(golden: Golden) -> set[str]:
    """The effects and switches that the reference meets on its course."""
    game = ReferenceGame(golden.rules, golden.seed)
    for seat, action in golden.course:
        assert game.player == seat, (seat, action)
        symbol = action.partition(":")[0]
        game.happened[f"laid {symbol if symbol in ('W', 'W+4', 'KP') else symbol[1:]}"] += 1
        game.step(action)
    switches = {f"{name}={getattr(golden.rules, name)}" for name in SWITCHES}
    return {event for event in EFFECTS if game.happened[event]} | switches


def wanted() -> set[str]:
    """All that golden games have to meet."""
    switches = {f"{name}={value}" for name, values in SWITCHES.items() for value in values}
    return {*EFFECTS, *switches}


def played(golden: Golden) -> str:
    """The table after the course, on the core; the seats are checked on the way."""
    batch = GameBatch(golden.rules, 1, golden.seed)
    for seat, action in golden.course:
        assert batch.player[0] == seat, f"{action}: seat {batch.player[0]} is to act, not {seat}"
        batch.step(batch.check([parse_action(action)]))
    return str(batch.position(0))


# ---------------------------------------------------------------------- writing them


def candidates() -> Iterator[Golden]:
    """Rounds in all styles of play, the presets' first."""
    number = 0
    while True:
        rng = random.Random(number)
        presets = [Rules.preset(name, num_players=1 + number % 4 + 1) for name in PRESETS]
        rules = presets[number // 4] if number < 4 * len(PRESETS) else random_rules(rng, [2, 3, 4])
        styles = [rng.choice(STYLES) for _ in range(rules.num_players)]
        game = ReferenceGame(rules, number)
        course: list[tuple[int, str]] = []
        while game.phase != "over" and len(course) < LONGEST:
            course.append((game.player, styles[game.player](rng, game.legal)))
            game.step(course[-1][1])
        if game.phase == "over":
            golden = Golden(rules, number, tuple(course), "")
            yield Golden(rules, number, golden.course, played(golden))
        number += 1


def write_all() -> None:
    """Find rounds until all is met, and write them in place of those that are there."""
    missing, found = wanted(), []
    for golden in candidates():
        news = met_in(golden) & missing
        if news:
            found.append(golden)
            missing -= news
        if not missing:
            break
    # Those found late meet much of what the early ones do: keep only what is needed.
    counts = Counter(event for golden in found for event in met_in(golden))
    for golden in list(found):
        own = met_in(golden) & wanted()
        if golden.seed >= 4 * len(PRESETS) and all(counts[event] > 1 for event in own):
            found.remove(golden)
            counts.subtract(own)
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for golden in found:
        (FOLDER / f"{golden.seed:05d}.txt").write_text(str(golden))
    print(f"{len(found)} games, {sum(len(golden.course) for golden in found)} actions")


if __name__ == "__main__":
    write_all()
