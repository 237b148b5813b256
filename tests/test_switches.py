"""What switches change is measured on the same deals, and told with its uncertainty."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from eval.estimates import Mean
from eval.match import play
from eval.switches import (
    FIGURES,
    VARIATIONS,
    Variation,
    compare,
    figures_of,
    format_table,
    main,
    variations_of,
)
from uno_env import Rules
from uno_env.game.rules import HOUSE_RULES

PAGE = (Path(__file__).parents[1] / "eval" / "RULES_RESEARCH.md").read_text()
"""What is told of the figures."""


def test_each_variation_differs_in_one_switch() -> None:
    for preset in ("angry_birds", "classic", "official"):
        for players in (2, 4):
            rules = Rules.preset(preset, num_players=players)
            varied = variations_of(rules)
            assert len({made for _, made in varied}) == len(varied)
            for switch, made in varied:
                name, value = switch.split("=")
                assert made != rules
                assert str(getattr(made, name)) == value
                assert Rules.make(made, **{name: getattr(rules, name)}) == rules
            names = {switch.split("=")[0] for switch, _ in varied}
            assert ("partners" in names) == (players == 4)
            assert ("king_pig_recipients" in names) == (preset == "angry_birds")
            assert set(HOUSE_RULES) - {"partners"} < names
    assert len(set(VARIATIONS)) == len(VARIATIONS)


def test_the_figures_are_those_of_the_rounds() -> None:
    match = play(["keen", "greedy", "keen"], deals=40)
    figures = figures_of(match)
    assert figures.shape == (40, len(FIGURES))
    means = figures.mean(axis=0)
    assert means[0] == pytest.approx(100 * match.first_seat.value)
    assert means[1] == pytest.approx(match.mean_decisions)
    assert means[2] == pytest.approx(match.mean_points.sum())


def test_changes_are_paired_deal_by_deal() -> None:
    """A switch that only counts points changes nothing else for bots that do not look at them."""
    found = compare(Rules.preset("angry_birds"), deals=200, bots=("keen", "random"))
    by_switch = {each.switch: each for each in found}
    assert by_switch[""].changes == (Mean(0.0, 0.0, 0.0),) * 3
    cheaper = by_switch["action_points=20"]
    assert cheaper.changes[:2] == (Mean(0.0, 0.0, 0.0),) * 2
    assert cheaper.changes[2].high < 0
    for each in found:
        for value, change, base in zip(each.values, each.changes, found[0].values, strict=True):
            assert change.value == pytest.approx(value.value - base.value)


def test_stacking_and_swaps_are_noticed() -> None:
    found = {each.switch: each for each in compare(Rules.preset("angry_birds"), deals=500)}
    assert found["seven_zero=True"].changes[1].low > 0
    assert found["draw_to_match=True"].changes[1].low > 0


def test_the_table_marks_what_is_sure() -> None:
    even, none = Mean(-0.04, -0.54, 0.46), Mean(0.0, 0.0, 0.0)
    base = Variation("", (Mean(50.0, 49.0, 51.0),) * 3, (none,) * 3)
    other = Variation("stacking=True", base.values, (even, Mean(-2.0, -3.0, -1.0), none))
    lines = format_table(Rules.preset("classic"), [base, other]).splitlines()
    assert lines[0].startswith("| `classic` (even: 50) | the first wins, % |")
    assert lines[2] == "|  | 50.0 ± 1.0 | 50.0 ± 1.0 | 50.0 ± 1.0 |"
    assert lines[3] == "| `stacking=True` | 0.0 ± 0.5 | **-2.0 ± 1.0** | 0 |"


def test_intervals_hold() -> None:
    """Over 60 small samples the interval of a long-run value misses it seldom."""
    rules = Rules.preset("classic")
    match = play(["keen", "keen"], rules, deals=6_000, seed=9)
    truth = figures_of(match).mean(axis=0)
    missed = np.zeros(len(FIGURES))
    for seed in range(60):
        figures = figures_of(play(["keen", "keen"], rules, deals=60, seed=seed))
        margin = 1.96 * figures.std(axis=0, ddof=1) / 60**0.5
        missed += abs(figures.mean(axis=0) - truth) > margin
    assert (missed <= 9).all()


def test_the_command_prints_a_table_for_each_number_of_players(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--rules", "classic", "--players", "2", "3", "--rounds", "40"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("the first wins, %") == 2
    assert "`classic num_players=3` (even: 33.3)" in printed
    with pytest.raises(SystemExit):
        main(["--rules", "chess"])
    assert "unknown preset 'chess'" in capsys.readouterr().err


def told(players: int) -> dict[str, list[str]]:
    """The cells of the page's table for so many players, by switch."""
    named = "" if players == 2 else f" num_players={players}"
    _, found, rest = PAGE.partition(f"| `angry_birds{named}` (even: {100 / players:.3g}) |")
    assert found
    rows = [line.strip("|").split("|") for line in rest.partition("\n\n")[0].splitlines()[2:]]
    return {name.strip(" `"): [cell.strip() for cell in cells] for name, *cells in rows}


@pytest.mark.parametrize("players", [2, 4])
def test_the_page_tells_of_every_switch(players: int) -> None:
    rules = Rules.preset("angry_birds", num_players=players)
    assert list(told(players)) == ["", *(switch for switch, _ in variations_of(rules))]


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 4])
def test_other_deals_tell_the_same_as_the_page(players: int) -> None:
    """Within five standard errors; figures on the page are rounded to a tenth."""
    rules = Rules.preset("angry_birds", num_players=players)
    page = told(players)
    for found in compare(rules, deals=20_000 // players, seed=1):
        for cell, now in zip(page[found.switch], found.changes, strict=True):
            if not found.switch:
                continue
            value, _, margin = cell.strip("*").partition(" ± ")
            error = (float(margin or 0) ** 2 + now.margin**2) ** 0.5 / 1.96
            assert abs(float(value) - now.value) <= 0.1 + 5 * error, (found.switch, cell, now)


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(example, "rules research", "exec"), {})
    assert "draw_to_match=True" in capsys.readouterr().out
