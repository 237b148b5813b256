"""The results of a tournament as one HTML file that needs nothing else: no network, no scripts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from eval.estimates import Estimate
from eval.ratings import Ratings
from eval.results import cut_short, describe, first_seat, round_length
from eval.standings import Tournament
from eval.text import probability

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #667085; --line: #d9dee7; --page: #f6f7f9;
  --card: #fff; --own: #2f6fde; --good: 47, 125, 225; --bad: 224, 122, 44; --alarm: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --soft: #98a2b3; --line: #333b49;
  --page: #12161d; --card: #1a2029; --own: #6ba1ff; --good: 88, 150, 245; --bad: 235, 145, 75;
  --alarm: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 1.2rem 0.9rem 3rem; background: var(--page);
  color: var(--ink); font: 16px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.55rem; margin: 0 0 0.2rem; letter-spacing: -0.01em; }
h2 { font-size: 1.05rem; margin: 0 0 0.2rem; }
p { margin: 0.3rem 0; } .soft, caption { color: var(--soft); font-size: 0.86rem; text-align: left; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 0.95rem 1rem; margin-top: 0.9rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); gap: 0.6rem;
  margin-top: 0.9rem; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 0.55rem 0.8rem; }
.tiles b { display: block; white-space: nowrap; font-size: 1.1rem;
  font-variant-numeric: tabular-nums; }
.tiles small { color: var(--soft); font-weight: 400; font-size: 0.8em; }
.scroll { overflow-x: auto; margin: 0.5rem -0.3rem 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 0.36rem 0.5rem; text-align: right; white-space: nowrap; }
th { color: var(--soft); font-weight: 500; font-size: 0.84rem; vertical-align: bottom; }
tbody tr { border-top: 1px solid var(--line); }
tbody th, .left { text-align: left; }
tbody th { color: var(--ink); font-weight: 600; font-size: 1em; }
.cells td { text-align: center; border-left: 2px solid var(--card); }
.cells thead th { text-align: center; } .cells thead th:first-child { text-align: left; }
small { color: var(--soft); } .cells td small { display: block; color: inherit; opacity: 0.75; }
tbody th { vertical-align: middle; }
@media (max-width: 34rem) { td small { display: block; } th { white-space: normal; }
  th, td { padding: 0.36rem 0.3rem; } }
svg { display: block; width: 100%; max-width: 38rem; height: auto; margin-top: 0.4rem; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); } svg .faint { fill: var(--soft); }
.rule { stroke: var(--line); stroke-width: 1; } .own { stroke: var(--own); fill: none; }
.dot { fill: var(--own); stroke: none; } .band { fill: var(--own); opacity: 0.2; }
.many { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.6rem, 1fr)); gap: 0.8rem; }
.many p { margin: 0; font-size: 0.86rem; } .out { color: var(--alarm); font-weight: 500; }
pre { overflow-x: auto; background: var(--page); border: 1px solid var(--line); padding: 0.6rem;
  border-radius: 8px; font-size: 0.78rem; } code { overflow-wrap: anywhere; }
summary { cursor: pointer; }
"""
_WIDTH = 400
"""Of plots, in their own units: about that of a phone, so that their text is as large as ours."""


def html(tournament: Tournament, results: Mapping[str, Any]) -> str:
    """The report.

    Args:
        tournament: the results.
        results: the same as `results.json` has them.
    """
    names = ", ".join(map(escape, tournament.agents))
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>UNO tournament: {names}</title><style>{_STYLE}</style></head><body>",
        "<h1>UNO tournament</h1>",
    ]
    if tournament.matches:
        parts += [*_head(tournament), *_failures(tournament), *_standings(tournament)]
        parts += [*_rating_plot(tournament), *_cross_tables(tournament)]
        parts += [*_better_table(tournament), *_tightening(tournament)]
    else:
        parts += ["<p>No match counts.</p>", *_failures(tournament)]
    parts += [*_again(results["plan"]), "</body></html>", ""]
    return "\n".join(parts)


def _plus_minus(value: float, margin: float, digits: int = 1, sign: str = "") -> str:
    return f"{value:{sign}.{digits}f} <small>± {margin:.{digits}f}</small>"


def _percent(share: Estimate) -> str:
    return _plus_minus(100 * share.value, 100 * share.margin)


def _tile(label: str, value: str) -> str:
    return f'<div><span class="soft">{label}</span><b>{value}</b></div>'


def _head(tournament: Tournament) -> list[str]:
    matches = tournament.matches
    length = round_length(matches)
    line_up = f"Each of {len(matches):,} line-ups" if tournament.mixed else "Each pairing"
    notes = [f'<p class="soft">{escape(line)}</p>' for line in cut_short(matches)]
    return [
        f'<p class="soft">{line_up}: {escape(describe(matches[0]))}. ± is a 95% interval.</p>',
        '<div class="tiles">',
        _tile("rounds in all", f"{tournament.rounds:,}"),
        _tile("first to decide wins", f"{_percent(first_seat(matches))} %"),
        _tile("decisions per round", _plus_minus(length.value, length.margin)),
        "</div>",
        *notes,
    ]


def _section(title: str, note: str, body: Iterable[str]) -> list[str]:
    return ["<section>", f"<h2>{title}</h2>", f'<p class="soft">{note}</p>', *body, "</section>"]


def _row(cells: Iterable[str]) -> str:
    return "<tr>" + "".join(cells) + "</tr>"


def _standings(tournament: Tournament) -> list[str]:
    fitted, ranked = tournament.ratings, tournament.ranking()
    body = []
    for place, agent in enumerate(ranked, 1):
        name = escape(tournament.agents[agent])
        if tournament.is_out(agent):
            name += ' <span class="out">out</span>'
        rated, own = _is_rated(fitted, agent), tournament.own_places(agent)
        rating = fitted.rating(agent) if rated else None
        after = ranked[place] if place < len(ranked) else None
        better = fitted.better(agent, after) if rated and after is not None else math.nan
        points = tournament.points(agent) if own else None
        values = [
            _plus_minus(rating.value, rating.margin, 0, "+") if rating else "-",
            _percent(tournament.overall(agent)) if own else "-",
            _plus_minus(points.value, points.margin) if points else "-",
            "" if math.isnan(better) else escape(probability(better)),
        ]
        body.append(
            _row([f"<td>{place}</td><th>{name}</th>", *(f"<td>{value}</td>" for value in values)])
        )
    over = "tables" if tournament.mixed else "opponents"
    return _section(
        "Standings",
        f"Ratings are fitted to all {tournament.unit} at once: 400 points are odds of ten to "
        f"one, 0 is the mean of the field. Wins are the mean over {over}, each alike.",
        [
            '<div class="scroll"><table><thead><tr><th></th><th class="left">bot</th>'
            f"<th>rating</th><th>% of {tournament.unit}</th><th>points a round</th>"
            "<th>better than next</th></tr></thead><tbody>",
            *body,
            "</tbody></table></div>",
        ],
    )


def _is_rated(fitted: Ratings, agent: int) -> bool:
    return not math.isnan(float(fitted.strength[agent]))


def _ticks(low: float, high: float, number: int = 7) -> list[float]:
    """Round values from `low` to `high`, about so many."""
    rough = max(high - low, 1e-9) / number
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step)
    return [step * i for i in range(first, math.floor(high / step) + 1)]


def _rating_plot(tournament: Tournament) -> list[str]:
    fitted = tournament.ratings
    ranked = [agent for agent in tournament.ranking() if _is_rated(fitted, agent)]
    ratings = [fitted.rating(agent) for agent in ranked]
    ends = [end for each in ratings for end in (each.low, each.high) if math.isfinite(end)] or [0.0]
    low, high = min([*ends, -10.0]), max([*ends, 10.0])
    pad, height = 14, 42 * len(ranked) + 26

    def x(value: float) -> float:
        inside = min(max(value, low), high)
        return round(pad + (_WIDTH - 2 * pad) * (inside - low) / (high - low), 1)

    lines = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="ratings">']
    for tick in _ticks(low, high):
        lines.append(
            f'<line class="rule" x1="{x(tick)}" x2="{x(tick)}" y1="4" y2="{height - 20}"/>'
            f'<text class="faint" x="{x(tick)}" y="{height - 6}" text-anchor="middle">'
            f"{tick:.0f}</text>"
        )
    for i, (agent, rating) in enumerate(zip(ranked, ratings, strict=True)):
        y = 42 * i + 28
        at = x(rating.value)
        anchor = "start" if at < _WIDTH / 3 else "end" if at > 2 * _WIDTH / 3 else "middle"
        lines.append(
            f'<text x="{at}" y="{y - 11}" text-anchor="{anchor}">'
            f"{escape(tournament.agents[agent])}"
            f'<tspan class="faint">  {rating.value:+.0f} ± {rating.margin:.0f}</tspan></text>'
            f'<line class="own" stroke-width="5" stroke-linecap="round" opacity="0.4" '
            f'x1="{x(rating.low)}" x2="{x(rating.high)}" y1="{y}" y2="{y}"/>'
            f'<circle class="dot" cx="{at}" cy="{y}" r="4"/>'
        )
    return _section("Ratings", "With their 95% intervals.", [*lines, "</svg>"])


def _cross_tables(tournament: Tournament) -> list[str]:
    unit, even = tournament.unit, 1 / tournament.rules.num_players
    sections = []
    if tournament.cells:
        note = (
            f"% of {unit} that the bot of the row won against a table of the column's; "
            f"even is {100 * even:.1f}."
        )
        sections += _section("Cross table", note, _shares(tournament, tournament.cell, even))
    if tournament.mixed:
        note = (
            f"Of the {unit} that the bot of the row or that of the column won at the "
            f"{len(tournament.mixed):,} tables where different bots sat, these two among them: % "
            "that the row's won, place for place; even is 50."
        )
        shares = _shares(tournament, tournament.head_to_head, 0.5)
        sections += _section("Cross table of mixed tables", note, shares)
    return sections


def _shares(
    tournament: Tournament, share_of: Callable[[int, int], Estimate | None], even: float
) -> list[str]:
    """A grid of shares of rows against columns."""

    def cell(row: int, column: int) -> str:
        share = share_of(row, column) if row != column else None
        if share is None:
            return '<td class="soft">·</td>'
        return (
            f"<td{_shade(share.value, even)}>{100 * share.value:.1f}"
            f"<small>± {100 * share.margin:.1f}</small></td>"
        )

    return _grid(tournament, tournament.ranking(), cell)


def _better_table(tournament: Tournament) -> list[str]:
    fitted = tournament.ratings
    ranked = [agent for agent in tournament.ranking() if _is_rated(fitted, agent)]

    def cell(row: int, column: int) -> str:
        if row == column:
            return '<td class="soft">·</td>'
        value = fitted.better(row, column)
        return f"<td{_shade(value, 0.5)}>{escape(probability(value))}</td>"

    note = "The probability that the bot of the row is better than that of the column, by rating."
    return _section("Who is better", note, _grid(tournament, ranked, cell))


def _shade(value: float, even: float) -> str:
    """A background: from plain at an even value to full at all or nothing."""
    strength = (value - even) / (1 - even if value > even else even)
    if not abs(strength) > 0.005:
        return ""
    colour = "good" if strength > 0 else "bad"
    return f' style="background: rgba(var(--{colour}), {0.06 + 0.44 * abs(strength):.2f})"'


def _grid(
    tournament: Tournament, ranked: Sequence[int], cell: Callable[[int, int], str]
) -> list[str]:
    heads = "".join(f"<th>{escape(tournament.agents[agent])}</th>" for agent in ranked)
    return [
        '<div class="scroll"><table class="cells">',
        f"<thead><tr><th></th>{heads}</tr></thead><tbody>",
        *(
            _row(
                [
                    f"<th>{escape(tournament.agents[row])}</th>",
                    *(cell(row, column) for column in ranked),
                ]
            )
            for row in ranked
        ),
        "</tbody></table></div>",
    ]


def _tightening(tournament: Tournament) -> list[str]:
    looks = tournament.tightening()
    fitted = tournament.ratings
    ranked = [agent for agent in tournament.ranking() if _is_rated(fitted, agent)]
    if len(looks) < 3:
        return []
    margins = [fit.rating(agent).margin for agent in ranked for _, fit in looks[1:]]
    span = float(np.median([each for each in margins if math.isfinite(each)] or [1.0])) * 2.2
    figures = []
    for agent in ranked:
        final = fitted.rating(agent)
        figures.append(
            f"<div><p>{escape(tournament.agents[agent])} "
            f"<small>{final.value:+.0f} ± {final.margin:.0f}</small></p>"
            + _funnel([(deals, fit) for deals, fit in looks], agent, span)
            + "</div>"
        )
    note = (
        f"What the first {looks[0][0]:,} to {looks[-1][0]:,} deals said (from left to right, each "
        f"step the same factor), around what all of them say; from top to bottom {2 * span:.0f} "
        "points of rating."
    )
    return _section("How the intervals tightened", note, ['<div class="many">', *figures, "</div>"])


def _funnel(looks: Sequence[tuple[int, Ratings]], agent: int, span: float) -> str:
    width, height = 160, 80
    final = looks[-1][1].rating(agent).value
    first, last = (math.log(looks[i][0]) for i in (0, -1))

    def x(deals: int) -> float:
        return round(2 + (width - 4) * (math.log(deals) - first) / (last - first), 1)

    def y(value: float) -> float:
        inside = min(max((value - final) / span, -1.0), 1.0)
        return round(height / 2 * (1 - 0.96 * inside), 1)

    points = [(x(deals), fit.rating(agent)) for deals, fit in looks]
    band = [f"{at},{y(r.high)}" for at, r in points] + [
        f"{at},{y(r.low)}" for at, r in points[::-1]
    ]
    line = " ".join(f"{at},{y(rating.value)}" for at, rating in points)
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="rating by number of deals">'
        f'<line class="rule" x1="2" x2="{width - 2}" y1="{height / 2}" y2="{height / 2}"/>'
        f'<polygon class="band" points="{" ".join(band)}"/>'
        f'<polyline class="own" stroke-width="1.8" points="{line}"/></svg>'
    )


def _failures(tournament: Tournament) -> list[str]:
    if not tournament.failures:
        return []
    body = []
    for failure in tournament.failures:
        body += [
            f'<p><span class="out">{escape(failure.agent)}</span> {escape(failure.what)}</p>',
            f'<p class="soft">at a table of {escape(", ".join(failure.lineup))}: '
            f"{escape(failure.where)}</p>",
            f"<p><code>{escape(failure.replay)}</code></p>",
            f"<details><summary>position</summary><pre>{escape(failure.position)}</pre></details>",
        ]
    note = "These bots failed. The match in which they did and all their later ones do not count."
    return _section("Out", note, body)


def _again(plan: Mapping[str, Any]) -> list[str]:
    bots = [
        _row([f"<th>{escape(agent['name'])}</th>", f"<td>{escape(agent['fingerprint'])}</td>"])
        for agent in plan["agents"]
    ]
    other = ", ".join(
        f"{key.replace('_', ' ')} {escape(str(value))}"
        for key, value in plan.items()
        if key not in ("agents", "matches")
    )
    return [
        "<section><details><summary>What was played, exactly</summary>",
        f'<p class="soft">{other}</p>',
        f'<div class="scroll"><table><tbody>{"".join(bots)}</tbody></table></div>',
        "<p class=soft>Every line-up plays the same deals, each from every seat. Intervals come "
        "from whole deals, since their rounds are paired: Wilson's for shares, and for ratings "
        "(Bradley-Terry, at larger tables Plackett-Luce) from the spread of what deals "
        "brought.</p>",
        "</details></section>",
    ]
