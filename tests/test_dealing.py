"""Random words, who deals, and where cards go, by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from reference import ReferenceGame

from uno_env import GameBatch, Rules
from uno_env.game.dealing import GAMMA, mix, seed_of_stream


def test_words_are_splitmix64() -> None:
    """Seed 0 gives the published first outputs of SplitMix64 begun at 0."""
    words = mix(np.arange(1, 4, dtype=np.uint64) * GAMMA)
    assert words.tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1, 123456789])
def test_the_seed_of_a_stream(seed: int) -> None:
    stream = int(mix(np.array([seed], np.uint64))[0])
    assert seed_of_stream(stream) == seed


@pytest.mark.parametrize(
    ("seed", "first", "second"),
    [
        (38575658, "2999", "3000"),
        (402728, "4400", "4399"),
        (120906, "8006", "7998"),
        (14445, "7695", "7702"),
        (52049, "5379", "5380"),
        (7088, "5744", "5739"),
        (1019, "2846", "2844"),
    ],
)
def test_another_draw_for_the_dealer_is_among_the_tied_alone(
    seed: int, first: str, second: str
) -> None:
    """Rule "Dealer": the highest deals, the tied draw again; seeds that draw these numbers."""
    rules = Rules.preset("classic")
    highest = int(second > first)
    assert ReferenceGame(rules, seed).dealer == highest
    assert GameBatch(rules, 1, seed=seed).position(0).dealer == highest
