"""Who sits with whom in a tournament, and in which order around the table.

- ``tables``: every agent against a table of every other, both ways. With two players every pair
  once, since that match is read both ways.
- ``mixed``: as many different agents at one table as there are: every choice of P of them. If they
  are fewer than P, each has as many places as the others or one more: every choice of who has more.
- ``all``: both.

Matches play each deal from every seat, so a line-up is an order *around* the table, and where it
begins does not matter. Who sits before whom may: most attacks fall on the next player, and whoever
follows a weak player is seldom hit. So a choice is played in several orders, in which every place
stands directly before every other equally often: for three and four players in all there are (2 and
6), beyond that in P - 1 orders if P is odd and 2 (P - 1) if it is even. Where agents have several
places, orders that come out the same are played once; each still comes with its mirror image, so
nobody sits before another more often than behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from math import comb

SEATINGS = ("tables", "mixed", "all")
"""The plans there are."""
MAX_MIXED = 2000
"""The most line-ups of mixed tables."""

Lineup = tuple[int, ...]
"""Agents by index, place by place."""


def lineups_of(seating: str, number: int, players: int) -> list[Lineup]:
    """The line-ups of a plan, in the order in which they are played; none comes twice.

    Args:
        seating: one of `SEATINGS`.
        number: of agents, at least 2.
        players: places of a table.

    Raises:
        ValueError: no such plan, or too many line-ups.
    """
    if seating not in SEATINGS:
        raise ValueError(f"seating={seating!r}: allowed is {', '.join(SEATINGS)}")
    found: list[Lineup] = []
    if seating != "mixed":
        pairs = combinations if players == 2 else permutations
        found += [(row, *[column] * (players - 1)) for row, column in pairs(range(number), 2)]
    if seating != "tables":
        found += _mixed(number, players)
    return list(dict.fromkeys(found))


def against_a_table(lineup: Sequence[int]) -> bool:
    """Whether the first agent of a line-up sits alone at a table of another's."""
    return lineup[0] != lineup[1] and len(set(lineup[1:])) == 1


def _mixed(number: int, players: int) -> list[Lineup]:
    """The line-ups of mixed tables."""
    each, left = divmod(players, number)
    orders = circles(players)
    many = comb(number, left) * len(orders)
    if many > MAX_MIXED:
        raise ValueError(
            f"mixed tables of {players} of {number} agents: {many:,} line-ups, allowed are "
            f"{MAX_MIXED:,}: name fewer agents"
        )
    found: list[Lineup] = []
    for more in combinations(range(number), left):
        # Who has more places comes first, so that of each choice the same orders come out the same.
        agents = [agent for agent in more for _ in range(each + 1)]
        agents += [agent for agent in range(number) if agent not in more for _ in range(each)]
        found += [_from_its_start([agents[place] for place in order]) for order in orders]
    return list(dict.fromkeys(found))


def circles(players: int) -> list[Lineup]:
    """Orders around a table in which every place is directly before every other equally often.

    One place stays and the others, on a ring of their own, are passed through in a zigzag (0, 1,
    -1, 2, -2 and so on) from each of them, forwards and backwards. For an even ring the steps of
    the zigzag are all different, so every step is made from everywhere once; for an odd one they
    are the odd ones, each twice, and backwards the even ones. The zigzag is Walecki's (in Lucas,
    Récréations mathématiques 2, 1892).
    """
    ring = players - 1
    zigzag = [(step + 1) // 2 * (1 if step % 2 else -1) for step in range(ring)]
    found = []
    for start in range(ring):
        order = [ring, *((start + step) % ring for step in zigzag)]
        found += [_from_its_start(order), _from_its_start(order[::-1])]
    return list(dict.fromkeys(found))


def _from_its_start(order: Sequence[int]) -> Lineup:
    """The same order around the table, written from where it is always written from.

    That is the agent that is alone against a table, if there is one, else the lowest.
    """
    turned = ((*order[i:], *order[:i]) for i in range(len(order)))
    return min(turned, key=lambda each: (len(set(each[1:])), each))
