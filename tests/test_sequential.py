"""The test that may stop early: its rate of errors, its power, and the matches that use it."""

import numpy as np
import pytest

from agents import Agent, make_agent
from eval.match import play, quick_match
from eval.sequential import SequentialTest

EVEN = (0.3, 0.4, 0.3)
"""How often two equal bots share a deal 0 : 2, 1 : 1 and 2 : 0, about."""


def stops(chances, matches, deals, every, seed, even=0.5):
    """After how many deals the test settles each of many matches; 0 for those it never does."""
    rng = np.random.default_rng(seed)
    values = np.linspace(0, 1, len(chances))
    found = []
    for _ in range(matches):
        test, stop = SequentialTest(even), 0
        shares = rng.choice(values, deals, p=chances)
        for start in range(0, deals, every):
            test = test.after(shares[start : start + every])
            if test.settled:
                stop = start + every
                break
        found.append(stop)
    return np.array(found)


def test_equal_bots_are_seldom_told_apart():
    """At most 5% ever, and the bound for 300 matches is crossed by chance once in a thousand."""
    assert np.count_nonzero(stops(EVEN, 300, 1_600, 32, seed=1)) / 300 < 0.05 + 0.04


@pytest.mark.parametrize(("edge", "deals"), [(0.15, 120), (0.05, 900)])
def test_unequal_bots_are_told_apart(edge, deals):
    low, middle, high = EVEN
    found = stops((low - edge, middle, high + edge), 40, 3_000, 32, seed=2)
    assert (found > 0).all()
    assert np.median(found) < deals


@pytest.mark.long
@pytest.mark.parametrize("chances", [EVEN, (0.45, 0.1, 0.45), (0.05, 0.9, 0.05)])
def test_the_rate_of_errors_holds_for_long_matches(chances):
    assert np.mean(stops(chances, 2_000, 10_000, 100, seed=3) > 0) < 0.05


@pytest.mark.long
def test_the_rate_of_errors_holds_for_real_play():
    """`keen` against itself, in 200 matches."""
    shares = play([make_agent("keen"), make_agent("keen")], deals=200 * 200, seed=5).shares()
    wrong = 0
    for match in shares.reshape(200, 200):
        test = SequentialTest()
        for start in range(0, 200, 20):
            test = test.after(match[start : start + 20])
        wrong += test.settled
    assert wrong <= 18  # by chance once in a thousand, were it 5%


def test_at_larger_tables_even_is_less_than_half():
    found = stops((0.3, 0.4, 0.3), 20, 200, 20, seed=4, even=0.25)
    assert (found > 0).all()
    chances = (0.40, 0.30, 0.20, 0.10, 0.0)  # of five shares from 0 to 1: on the mean a quarter
    assert np.count_nonzero(stops(chances, 200, 800, 40, seed=5, even=0.25)) < 200 * 0.1


def test_the_interval_holds_the_mean_at_all_looks():
    rng = np.random.default_rng(6)
    missed = 0
    for _ in range(60):
        test, miss = SequentialTest(), False
        for _ in range(8):
            test = test.after(rng.choice([0, 0.5, 1], 50, p=(0.2, 0.4, 0.4)))
            low, high = test.interval()
            assert low <= test.mean <= high
            miss |= not low <= 0.6 <= high
        missed += miss
    assert missed <= 8


def test_the_order_within_a_look_does_not_matter():
    one = SequentialTest().after(np.array([0, 1 / 3, 1])).after(np.array([2 / 3]))
    other = SequentialTest().after(np.array([1, 0, 1 / 3])).after(np.array([1 - 1 / 3]))
    assert one.counts == other.counts
    assert one.p_value == other.p_value
    assert one.mean == pytest.approx(0.5)
    assert SequentialTest().mean == 0.5
    assert not SequentialTest().settled


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: SequentialTest(even=1.0), "even=1.0: allowed is more than 0, below 1"),
        (lambda: SequentialTest(alpha=0.0), "alpha=0.0"),
        (lambda: SequentialTest().after(np.array([1.5])), "allowed is 0 to 1"),
        (lambda: SequentialTest().after(np.array([np.nan])), "allowed is 0 to 1"),
    ],
)
def test_bad_arguments(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()


# --- Matches -------------------------------------------------------------------------------------


def test_a_match_stops_when_it_is_settled():
    answer = quick_match(["greedy", "keen"], seed=3)
    assert answer.test.settled
    assert answer.result.deals < 2_000
    assert "greedy is better than keen: it wins " in str(answer)
    assert "stopped early: 20,000 were asked for" in str(answer)
    same = play(["greedy", "keen"], deals=answer.result.deals, seed=3, piece=512)
    assert answer.test.mean == pytest.approx(same.shares().mean())
    worse = quick_match(["keen", "greedy"], seed=3)
    assert "keen is worse than greedy" in str(worse)


def test_where_a_match_stops_does_not_depend_on_jobs():
    one, other = (quick_match(["greedy", "keen"], deals=3_000, seed=3, jobs=n) for n in (1, 2))
    assert str(one) == str(other)


def test_a_match_of_equals_goes_to_its_end_and_claims_nothing():
    answer = quick_match(["greedy", make_agent("greedy")], deals=300)
    assert answer.result.deals == 300
    assert "not settled whether greedy is better than greedy" in str(answer)
    assert "stopped" not in str(answer)


def test_a_match_may_be_played_to_its_end():
    answer = quick_match(["greedy", "random"], deals=300, early=False, max_decisions=500)
    assert answer.test.settled
    assert answer.result.deals == 300


class Idler(Agent):
    """Draws whenever it may, so that rounds are cut off."""

    name = "idler"

    def act(self, observation, mask, rng):
        return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


def test_rounds_that_nobody_wins_speak_for_nobody():
    answer = quick_match([Idler(), Idler()], deals=60, max_decisions=40)
    assert answer.result.truncated > 0
    assert not answer.test.settled
    assert answer.test.mean == pytest.approx(0.5, abs=0.1)
