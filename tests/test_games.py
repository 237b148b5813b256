"""Whole games: the rounds of a deal's game are dealt alike to all who play it."""

import numpy as np
import pytest

from agents import Agent, make_agent
from eval.floor import TRUNCATED, PiecePlay, Table, say_nothing
from eval.match import main, play
from eval.tournament import round_robin
from uno_env import Rules
from uno_env.game import scoring

RULES = Rules.preset("angry_birds", target=150)


@pytest.fixture(scope="module")
def result():
    return play([make_agent("keen"), make_agent("greedy")], RULES, deals=30, seed=2, games=True)


def test_games_end_when_a_total_reaches_the_target(result):
    rows = result.rows
    totals = {}
    for row in range(result.rounds):
        key = rows.deal[row], rows.rotation[row]
        before = totals.get(key, (0, np.zeros(2, int)))
        assert rows.number[row] == before[0]
        assert before[1].max() < 150
        totals[key] = before[0] + 1, before[1] + rows.points[row]
    assert len(totals) == 60
    assert all(points.max() >= 150 for _, points in totals.values())
    assert max(number for number, _ in totals.values()) > 1


def test_the_higher_total_wins_the_game(result):
    assert (result.won.sum(axis=2) == 1).all()
    assert np.array_equal(result.won.argmax(axis=2), result.points.argmax(axis=2))
    assert result.wins.sum() == 60
    assert result.win_rate(0).value + result.win_rate(1).value == pytest.approx(1)
    assert "games" in str(result)


def test_each_round_is_dealt_alike_to_all():
    """Whoever plays, and from whatever seat: the hands dealt depend on deal and round alone."""

    def openings(names):
        seen = {}
        table = Table.of([names], RULES, 6, 3, games=True)

        def watch(play, games, actions):
            for game in games:
                if play.decisions[game] == 0:
                    hands = play.batch.position(game).hands
                    seen[game // 2, game % 2, int(play.number[game])] = hands

        PiecePlay(table, table.pieces()[0], watch).play(say_nothing)
        return seen

    first, second = openings(["keen", "greedy"]), openings(["greedy", "keen"])
    common = first.keys() & second.keys()
    assert sum(number > 0 for _, _, number in common) > 6
    for deal, rotation, number in common:
        assert first[deal, rotation, number] == second[deal, rotation, number]
        other = first.get((deal, 1 - rotation, number))
        assert other in (None, first[deal, rotation, number])
    hands = [tuple(first[deal, 0, number]) for deal, r, number in first if r == 0]
    assert len(set(hands)) == len(hands)


def test_the_lowest_total_wins_where_own_cards_count():
    rules = Rules.preset("angry_birds", target=100, scoring="lowest", num_players=3)
    result = play(["keen", "greedy", "greedy"], rules, deals=10, games=True)
    totals = result.points.reshape(-1, 3)
    winners = scoring.game_winners(rules, totals)
    assert np.array_equal(result.won.reshape(-1, 3) > 0, winners)
    assert np.allclose(result.won.sum(axis=2), 1)


class Drawer(Agent):
    name = "drawer"

    def act(self, observation, mask, rng):
        return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


def test_a_round_that_is_cut_off_ends_its_game_without_a_winner():
    result = play([Drawer(), make_agent("keen")], RULES, deals=10, games=True, max_decisions=40)
    assert result.truncated > 0
    last = result.winner == TRUNCATED
    assert last.sum() == result.truncated
    assert not result.won[last].any()
    assert "or the games they belong to" in str(result)


def test_tournaments_and_matches_of_games(capsys):
    result = round_robin(["keen", "greedy", "random"], RULES, deals=12, games=True)
    assert result.matches[0].games
    assert result.ratings.strength.argmax() == 1
    rules = ["--rules", "angry_birds target=150", "--seed", "2"]
    assert main(["greedy", "keen", "--games", "40", *rules, "--all"]) == 0
    assert "% of games" in capsys.readouterr().out
