"""Who sits with whom: every plan covers what it says, and no seat is better than another."""

from collections import Counter
from itertools import combinations
from math import factorial

import pytest

from eval.seating import MAX_MIXED, SEATINGS, against_a_table, circles, lineups_of


def neighbours(lineups):
    """How often each sits directly before each other."""
    pairs = (pair for each in lineups for pair in zip(each, [*each[1:], each[0]], strict=True))
    return Counter(pairs)


def turned(lineup):
    """The same order around the table, from wherever it begins."""
    return min(lineup[i:] + lineup[:i] for i in range(len(lineup)))


@pytest.mark.parametrize("players", range(2, 11))
def test_in_circles_each_sits_before_each_other_equally_often(players):
    orders = circles(players)
    assert all(sorted(order) == [*range(players)] for order in orders)
    assert len({turned(order) for order in orders}) == len(orders)
    found = neighbours(orders)
    assert len(found) == players * (players - 1)
    assert len(set(found.values())) == 1
    if players <= 4:
        assert len(orders) == factorial(players - 1)


def test_tables_are_one_against_all_the_same():
    assert lineups_of("tables", 3, 2) == [(0, 1), (0, 2), (1, 2)]
    assert lineups_of("tables", 2, 4) == [(0, 1, 1, 1), (1, 0, 0, 0)]


@pytest.mark.parametrize(("number", "players"), [(3, 3), (5, 3), (4, 4), (6, 4), (7, 6)])
def test_mixed_tables_seat_every_choice_of_different_agents(number, players):
    lineups = lineups_of("mixed", number, players)
    chosen = Counter(tuple(sorted(lineup)) for lineup in lineups)
    assert set(chosen) == set(combinations(range(number), players))
    assert set(chosen.values()) == {len(circles(players))}
    assert len({*neighbours(lineups).values()}) == 1


@pytest.mark.parametrize(("number", "players"), [(2, 4), (3, 4), (2, 5), (4, 7), (9, 10)])
def test_fewer_agents_than_places_sit_as_evenly_as_can_be(number, players):
    lineups = lineups_of("mixed", number, players)
    seen = Counter()
    for lineup in lineups:
        places = Counter(lineup)
        assert max(places.values()) - min(places[agent] for agent in range(number)) <= 1
        seen[tuple(sorted(lineup))] += 1
    choices = combinations(range(number), players % number)
    everyone = [*range(number)] * (players // number)
    assert set(seen) == {tuple(sorted([*everyone, *more])) for more in choices}
    assert len(set(seen.values())) == 1
    assert len({turned(lineup) for lineup in lineups}) == len(lineups)
    found = neighbours(lineups)
    assert all(found[pair] == found[pair[::-1]] > 0 for pair in combinations(range(number), 2))


@pytest.mark.parametrize(("number", "players"), [(3, 2), (2, 3)])
def test_tables_that_can_only_be_one_against_others_are_those(number, players):
    tables = lineups_of("tables", number, players)
    for seating in SEATINGS:
        assert sorted(lineups_of(seating, number, players)) == sorted(tables)


def test_all_is_both_and_nothing_twice():
    found = lineups_of("all", 4, 3)
    assert found == [*lineups_of("tables", 4, 3), *lineups_of("mixed", 4, 3)]
    assert [*map(against_a_table, found)] == [True] * 12 + [False] * 8


@pytest.mark.parametrize(
    ("seating", "number", "complaint"),
    [
        ("everything", 3, "seating='everything': allowed is tables, mixed, all"),
        ("mixed", 12, r"mixed tables of 4 of 12 agents: 2,970 line-ups, allowed are 2,000"),
        ("all", 12, "2,970 line-ups"),
    ],
)
def test_plans_that_are_none(seating, number, complaint):
    with pytest.raises(ValueError, match=complaint):
        lineups_of(seating, number, 4)
    assert len(lineups_of("mixed", 11, 4)) == 1980 <= MAX_MIXED
