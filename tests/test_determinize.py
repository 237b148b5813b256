"""Tables made from what one seat sees: that they fit it, and that nothing else shapes them."""

import dataclasses

import numpy as np
import pytest

from agents import make_agent
from uno_env import CARDS, GameBatch, Position, Rules
from uno_env.determinize import rules_of, sample_tables, true_tables
from uno_env.game.actions import Action
from uno_env.game.cards import CARD_BITS, CARD_COLOUR, CARD_KIND, KIND_OF_TEXT, NO_CARD, NUM_KINDS
from uno_env.game.observation import FULL_SIZE, LAYOUT, OBSERVATION_SIZE, deck_words
from uno_env.game.rules import HOUSE_RULES, PRESETS
from uno_env.game.state import Phase

IN_PLAY = {Phase.TURN, Phase.DRAWN, Phase.CATCH, Phase.CHALLENGE, Phase.COLOUR}


def random_rules(rng):
    def one(*options):
        return options[rng.integers(len(options))]

    players = int(rng.integers(2, 11))
    house = one(True, False)
    return Rules(
        num_players=players,
        **{
            name: house and (name != "partners" or players == 4) and one(True, False)
            for name in HOUSE_RULES
        },
        deck=one("angry_birds", "classic"),
        voluntary_draw=one("always", "without_match"),
        drawn_card=one("optional", "forced"),
        wild_draw_four=one("no_matching_colour", "no_matching_card", "bluff"),
        uno_call=one("explicit", "automatic"),
        uno_enforcement=one("caught", "automatic"),
        uno_penalty=int(rng.integers(1, 11)),
        king_pig_recipients=one("all", "opponents"),
        last_card_draws=one(True, False),
        action_points=5 * int(rng.integers(101)),
        wild_points=5 * int(rng.integers(101)),
        scoring=one("winner", "lowest"),
        target=int(rng.integers(1, 8192)),
    )


def course(rules, rng, games=30, decisions=45, every=5):
    """Batches of games in play, as play goes on."""
    agents = [make_agent(name) for name in ("keen", "random", "greedy")]
    batch = GameBatch(rules, games, seed=int(rng.integers(2**40)))
    batch.state.scores[:] = rng.integers(0, 8192, batch.state.scores.shape)
    for decision in range(decisions):
        batch = batch.take(~batch.done) if not batch.done.all() else GameBatch(rules, games)
        if decision % every == 0:
            yield batch
        batch.step(agents[rng.integers(3)].act(batch.observe(), batch.legal, rng))


def all_rules():
    presets = [
        Rules.preset(name, num_players=players) for name in PRESETS for players in range(2, 11)
    ]
    rng = np.random.default_rng(8)
    house = [
        Rules(num_players=4, **{name: True}, wild_draw_four=four)
        for name in HOUSE_RULES
        for four in ("bluff", "no_matching_colour")
    ]
    every = Rules(num_players=4, **dict.fromkeys(HOUSE_RULES, True))
    return [*presets, *house, every, *(random_rules(rng) for _ in range(30))]


def cards_on_the_table(batch):
    """How often each card of the deck lies somewhere: (N, D)."""
    state, size = batch.state, batch.rules.deck_size
    sets = np.concatenate([state.hands, state.discard[:, None]], axis=1)
    times = (sets[:, :, None] & CARD_BITS[:size]).any(axis=3).sum(axis=1)
    in_pile = np.arange(size) >= state.pile_at[:, None]
    game = in_pile.nonzero()[0]
    np.add.at(times, (game, state.pile[in_pile]), 1)
    return times


@pytest.mark.parametrize("rules", all_rules(), ids=str)
def test_a_table_is_seen_as_the_game_it_was_made_from(rules):
    """So the observation tells all that a seat needs; also a seat's that is not to act."""
    rng = np.random.default_rng(3)
    for batch in course(rules, rng):
        number = batch.num_games
        for seat in (None, rng.integers(rules.num_players, size=number)):
            observation = batch.observe(seat)
            tables = sample_tables(
                observation, 3, rng, trust=rng.choice([1.0, 0.5]), no_wilds=seat is None
            )
            assert tables.num_games == 3 * number
            assert np.array_equal(tables.observe(0), np.repeat(observation, 3, axis=0))
            assert (cards_on_the_table(tables) == 1).all()
            acts = batch.player == (batch.player if seat is None else seat)
            assert np.array_equal(tables.legal[::3][acts], batch.legal[acts])
            assert tables.legal.any(axis=1).all()
            tables.position(int(rng.integers(3 * number)))  # raises if it cannot be


def test_every_kind_of_decision_is_met():
    rng, met = np.random.default_rng(3), set()
    for name in PRESETS:
        for batch in course(Rules.preset(name, num_players=3), rng, games=200):
            met |= set(batch.state.phase.tolist())
    assert met >= IN_PLAY


def test_rules_are_read_off():
    rng = np.random.default_rng(0)
    for _ in range(200):
        rules = random_rules(rng)
        assert rules_of(GameBatch(rules).observe()[0]) == rules


def test_rules_come_out_rounded_unless_they_are_given():
    rules = Rules(action_points=23, wild_points=49, target=9000, dealer_draw="numbers_only")
    observation = GameBatch(rules).observe()
    read = rules_of(observation[0])
    assert (read.action_points, read.wild_points) == (20, 45)
    assert read.target == 255 * 32 + 9000 % 32
    assert read.dealer_draw == "symbols_zero"
    rng = np.random.default_rng(0)
    assert sample_tables(observation, 1, rng).rules == read
    given = sample_tables(observation, 1, rng, rules)
    assert given.rules == rules
    assert np.array_equal(given.observe(0), observation)


# --- What is known of hidden cards ---------------------------------------------------------------


def table(rules="angry_birds", seat=0, **case):
    """One seat's observation of a position."""
    position = Position.from_case({"rules": rules, **case})
    batch = GameBatch(position.rules)
    batch.load(0, position)
    return batch.observe(seat)


def of_colour(tables, seat, colour):
    """Cards of a colour in a hand: (N,)."""
    bits = np.bitwise_or.reduce(CARD_BITS[colour == CARD_COLOUR], axis=0)
    return np.bitwise_count(tables.state.hands[:, seat] & bits).sum(axis=1)


def test_known_cards_are_where_they_were_seen():
    observation = table(
        hands=["R1 R2", "Y1 Y2 W G3", "Y3 G4 G5"],
        known=["", "Y1 W", "Y3 G4"],
        discard="B7",
        draw="B1 B2 B3",
    )
    tables = sample_tables(observation, 400, np.random.default_rng(0))
    has_y1 = [("Y1" in tables.position(g).known[1]) for g in range(400)]
    for game in range(400):
        position = tables.position(game)
        first, second = position.known[1:]
        assert "W" in first
        assert "G4" in second
        assert sorted([*first, *second]) == ["G4", "W", "Y1", "Y3"]
        assert len(first) == 2
    # Which of the two yellow cards it was the observation does not tell.
    assert 140 < sum(has_y1) < 260


def test_who_drew_on_a_colour_had_none():
    never = (15, 15, 15, 15)
    hands = ["R1 R2", "Y1 Y2 B1 G3 W"]
    for got in range(7):
        observation = table(hands=hands, lack=[never, (got, 15, 0, 15)], discard="B7", draw="B5 B6")
        tables = sample_tables(observation, 300, np.random.default_rng(got))
        reds, greens = of_colour(tables, 1, 0), of_colour(tables, 1, 2)
        assert greens.max() == 0
        assert reds.max() <= got
        assert got == 0 or reds.max() >= 1
        doubtful = sample_tables(observation, 300, np.random.default_rng(got), trust=0.0)
        assert of_colour(doubtful, 1, 2).max() >= 2


def test_who_drew_may_be_taken_to_have_had_no_wilds():
    lack = [(15, 15, 15, 15), (15, 4, 15, 1)]
    observation = table(hands=["R1 R2", "Y1 Y2 B1 W"], lack=lack, discard="R7", draw="B5 B6")
    for no_wilds in (True, False):
        rng = np.random.default_rng(0)
        tables = sample_tables(observation, 500, rng, no_wilds=no_wilds)
        assert np.array_equal(tables.observe(0), np.repeat(observation, 500, axis=0))
        wilds = of_colour(tables, 1, 4)
        assert wilds.max() == 1 if no_wilds else wilds.max() >= 2


def test_lacks_are_trusted_as_often_as_asked():
    lack = [(15, 15, 15, 15), (0, 0, 0, 15)]
    observation = table(hands=["R1 R2", "B1 B2 B3"], lack=lack, discard="B7", draw="B5")
    tables = sample_tables(observation, 2000, np.random.default_rng(0), trust=0.7)
    broken = sum(of_colour(tables, 1, colour) for colour in range(3)) > 0
    # Without trust about 97 of 100 hands have one of those colours or only wilds and blues.
    assert 0.2 < broken.mean() < 0.3


def test_lacks_give_way_where_too_few_cards_are_left():
    every = " ".join(CARDS[kind] for kind in CARD_KIND[:112] if CARDS[kind][0] in "BWK")
    rest = every.split()
    rest.remove("B0")
    observation = table(
        hands=[" ".join(rest), "R1 R2 R3"],
        lack=[(15, 15, 15, 15), (0, 0, 0, 15)],
        discard="B0",
        draw="G1",
    )
    tables = sample_tables(observation, 50, np.random.default_rng(0))
    assert np.array_equal(tables.observe(0), np.repeat(observation, 50, axis=0))


def test_a_bluff_fits_the_hand():
    observation = table(
        "official",
        hands=["B1 B2", "R1 R2 Y1"],
        discard="W+4",
        colour="G",
        colour_before="R",
        guilty=True,
        phase="challenge",
        turn=0,
        on_turn=1,
    )
    tables = sample_tables(observation, 500, np.random.default_rng(0))
    guilty = tables.state.guilty
    assert np.array_equal(guilty, of_colour(tables, 1, 0) > 0)
    assert 0 < guilty.sum() < 500


def test_a_card_that_another_drew_may_be_played():
    observation = table(
        hands=["B1 B2", "R1 Y2 Y1"], discard="R9", phase="drawn", drawn="R1", turn=1, draw="G1"
    )
    tables = sample_tables(observation, 300, np.random.default_rng(0))
    drawn = {tables.position(game).drawn for game in range(300)}
    assert len(drawn) > 10
    assert all(card[0] == "R" or card[1:] == "9" or card in ("W", "KP") for card in drawn)


def test_who_said_uno_can_play():
    """The call exists only where one of the two cards may be played; also for who looks on."""
    case = {"hands": ["G1 G2", "B1 Y2"], "discard": "B7", "said": True, "turn": 1, "draw": "R1 R2"}
    for rules in PRESETS:
        tables = sample_tables(table(rules, **case), 300, np.random.default_rng(0))
        assert tables.legal[:, : Action.DRAW].any(axis=1).all()
        assert len({tables.position(game).hands[1] for game in range(300)}) > 50


def test_who_said_uno_may_play_the_known_card():
    """Then nothing is to be learned of the other."""
    case = {"hands": ["G1 G2", "B1 Y2"], "discard": "B7", "said": True, "turn": 1, "draw": "R1 R2"}
    blue, red = (
        sample_tables(table(known=["", card], **case), 500, np.random.default_rng(0))
        for card in ("B1", "Y2")
    )
    follows = [tables.legal[:, : Action.DRAW].sum(axis=1) for tables in (blue, red)]
    assert all((counts > 0).all() for counts in follows)
    other = of_colour(blue, 1, 0)
    assert 0.1 < (other > 0).mean() < 0.4  # red, which does not follow, as often as other colours
    assert (of_colour(red, 1, 0) > 0).mean() < 0.1  # the red seven


def test_drawing_is_proof_where_the_rules_make_it_so():
    lack = [(15, 15, 15, 15), (0, 15, 15, 15)]
    case = {"hands": ["Y1 Y2", "B1 B2 B3 B4 B5"], "lack": lack, "discard": "B7", "draw": "G5"}
    for rules, proof in (("classic", True), ("classic drawn_card=optional", False)):
        tables = sample_tables(table(rules, **case), 300, np.random.default_rng(0), trust=0.0)
        assert of_colour(tables, 1, 0).any() != proof


# --- Chance --------------------------------------------------------------------------------------


def assert_frequencies(counts, expected):
    """Within five standard deviations of Poisson counts."""
    assert np.abs(counts - expected).max() < 5 * np.sqrt(np.max(expected))


@pytest.mark.parametrize("players", [2, 4])
def test_unseen_cards_are_uniform(players):
    """A false alarm is expected once in thousands of seeds; the seed is fixed."""
    observation = GameBatch(Rules(num_players=players), seed=3).observe()
    unseen = sample_tables(observation, 1, np.random.default_rng(0)).state
    hidden = ~(
        (unseen.hands[0, 0] & CARD_BITS[:112]).any(axis=1)
        | (unseen.discard[0] & CARD_BITS[:112]).any(axis=1)
    )
    k, number = 20_000, int(hidden.sum())
    tables = sample_tables(observation, k, np.random.default_rng(1))
    for seat in range(1, players):
        held = (tables.state.hands[:, seat, None] & CARD_BITS[:112]).any(axis=2)
        assert_frequencies(held.sum(axis=0)[hidden], 7 * k / number)
    for place in (0, 1, -1):
        first = tables.state.pile[:, place if place < 0 else int(tables.state.pile_at[0]) + place]
        assert_frequencies(np.bincount(first, minlength=112)[hidden], k / number)


def test_lacks_leave_the_rest_uniform():
    """One new card in the hand may be of the colour, the other two may not: exact shares."""
    lack = [(15, 15, 15, 15), (1, 15, 15, 15)]
    observation = table(hands=["R1 R2", "Y1 Y2 Y3"], lack=lack, discard="R7", draw="B5 B6")
    k = 20_000
    tables = sample_tables(observation, k, np.random.default_rng(0))
    reds = int(observation[0, LAYOUT["unseen"]][:13].sum())
    unseen = 112 - 3
    share = reds / (unseen - 2)
    assert abs(of_colour(tables, 1, 0).mean() - share) < 5 * np.sqrt(share * (1 - share) / k)


def test_chance_comes_from_the_generator_alone():
    observation = GameBatch("angry_birds", 3).observe()
    tables, same, other = (
        sample_tables(observation, 4, np.random.default_rng(seed)).state for seed in (1, 1, 2)
    )
    for name, array in tables.arrays().items():
        assert np.array_equal(array, same.arrays()[name])
    assert len(np.unique(tables.stream)) == 12
    assert not np.array_equal(tables.stream, other.stream)
    assert not np.array_equal(tables.pile, other.pile)


def test_a_table_can_be_played_on():
    rng = np.random.default_rng(0)
    keen = make_agent("keen")
    for rules in (Rules.preset("official", num_players=5), Rules(num_players=3)):
        tables = sample_tables(GameBatch(rules, 4).observe(), 20, rng)
        for _ in range(400):
            mask = tables.legal | tables.done[:, None]
            actions = keen.act(tables.observe(), mask, rng)
            tables.step(np.where(tables.done, 0, tables.check(actions)))
            if tables.done.all():
                break
        assert tables.done.all()
        # Nothing was lost or made up on the way.
        assert (cards_on_the_table(tables) == 1).all()


# --- The true table ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("players", [2, 3, 10])
def test_the_true_table_comes_back(name, players):
    rng = np.random.default_rng(1)
    for batch in course(Rules.preset(name, num_players=players), rng):
        full = batch.observe_all()
        tables = true_tables(full, 2, rng)
        again, expected = tables.observe_all(0), np.repeat(full, 2, axis=0)
        for feature in ("known", "known_colours"):
            if players > 2:  # which of several copies was the known one may not come back
                again[:, LAYOUT[feature]] = expected[:, LAYOUT[feature]] = 0
        assert np.array_equal(again, expected)
        assert (cards_on_the_table(tables) == 1).all()
        shuffled = true_tables(full, 2, rng, shuffle=True)
        assert np.array_equal(shuffled.state.hands, tables.state.hands)
        assert (cards_on_the_table(shuffled) == 1).all()
        if batch.state.pile_at.min() < 100:
            assert not np.array_equal(shuffled.state.pile, tables.state.pile)
        assert set(shuffled.state.drawn[shuffled.state.phase != Phase.DRAWN]) <= {NO_CARD}


def test_a_position_with_fewer_cards_than_the_deck():
    observation = table(hands=["R1 R2", "Y1 KP"], discard="R7", draw="B5 B6")
    tables = sample_tables(observation, 100, np.random.default_rng(0))
    assert np.array_equal(tables.observe(0), np.repeat(observation, 100, axis=0))
    seen = {card for game in range(100) for card in tables.position(game).hands[1]}
    assert KIND_OF_TEXT.keys() - seen < {"R1", "R2", *KIND_OF_TEXT}
    assert len(seen) > 30  # any unseen card, not those on this table alone


# --- Errors --------------------------------------------------------------------------------------


def test_bad_arguments():
    rng, observation = np.random.default_rng(0), GameBatch(num_games=2).observe()
    for wrong in (observation[:, 1:], observation.astype(int), observation[None]):
        with pytest.raises(ValueError, match=r"allowed is uint8 of the shape \(466,\) or \(B, 466"):
            sample_tables(wrong, 1, rng)
    with pytest.raises(ValueError, match="no observation"):
        sample_tables(observation[:0], 1, rng)
    with pytest.raises(ValueError, match="k=0: allowed is a whole number from 1"):
        sample_tables(observation, 0, rng)
    with pytest.raises(TypeError, match=r"k=1\.5"):
        sample_tables(observation, 1.5, rng)
    with pytest.raises(ValueError, match="trust=2: allowed is a number from 0 to 1"):
        sample_tables(observation, 1, rng, trust=2)
    with pytest.raises(ValueError, match=r"of the shape \(1130,\)"):
        true_tables(observation, 1, rng)


def test_other_rules():
    rng = np.random.default_rng(0)
    mixed = np.concatenate([GameBatch(name).observe() for name in ("angry_birds", "classic")])
    with pytest.raises(ValueError, match=r"row 1 was observed under \[classic.*not under \[angry"):
        sample_tables(mixed, 1, rng)
    with pytest.raises(ValueError, match=r"row 0 .*not under \[classic"):
        sample_tables(mixed[:1], 1, rng, Rules.preset("classic"))
    nonsense = mixed[:1].copy()
    nonsense[:, LAYOUT["rules"]] = 99
    with pytest.raises(ValueError, match="the observation tells of no rules"):
        sample_tables(nonsense, 1, rng)


def test_what_is_no_observation():
    rng, right = np.random.default_rng(0), GameBatch(num_games=2).observe()
    for feature in ("hand", "unseen", "pile", "hand_sizes"):
        wrong = right.copy()
        wrong[1, LAYOUT[feature]] = 110 if feature in ("pile", "hand_sizes") else 0
        with pytest.raises(ValueError, match="row 1 is no observation"):
            sample_tables(wrong, 1, rng)
    wrong = right.copy()
    wrong[1, LAYOUT["known"].start] = 1
    with pytest.raises(ValueError, match="row 1 is no observation: `known`"):
        sample_tables(wrong, 1, rng)


@pytest.mark.parametrize(
    ("feature", "at", "value"),
    [
        ("on_turn", slice(None), 0),
        ("on_turn", slice(0, 6), [0, 0, 0, 0, 0, 1]),
        ("phase", slice(None), 0),
        ("phase", slice(None), np.arange(len(Phase)) == Phase.SWAP),
        ("top", slice(None), 0),
        ("colour", slice(None), 1),
        ("to_act", 0, 0),
        ("clockwise", 0, 2),
        ("discards", 0, 9),
        ("two_cards", 0, 1),
        ("drawn", 3, 1),
        ("lack", 2, 99),
        ("scores_low", 0, 40),
        ("scores_high", 9, 1),
        ("stack", 0, 2),
    ],
)
def test_features_that_do_not_go_with_the_rest(feature, at, value):
    """They are refused rather than made into other tables than the seat has seen."""
    batch, rng = GameBatch(num_games=3, seed=5), np.random.default_rng(0)
    for rows, sample in ((batch.observe(), sample_tables), (batch.observe_all(), true_tables)):
        sample(rows, 2, rng)
        rows[1, LAYOUT[feature]][at] = value
        with pytest.raises(ValueError, match="row 1 is no observation"):
            sample(rows, 2, rng)


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (OBSERVATION_SIZE + 3, 9),  # hands
        (OBSERVATION_SIZE + NUM_KINDS + 3, 0),
        (FULL_SIZE - 3, 1),  # the draw pile
        (FULL_SIZE - 2 - 112, 0),
        (FULL_SIZE - 2 - 112, 56),
        (FULL_SIZE - 2, 56),
        (FULL_SIZE - 1, 2),
        (LAYOUT["pile"].start, 5),
    ],
)
def test_what_is_not_all_there_is(at, value):
    rows, rng = GameBatch(num_games=3, seed=0).observe_all(), np.random.default_rng(0)
    rows[1, at] = rows[1, at] + 1 if value == rows[1, at] else value
    with pytest.raises(ValueError, match="row 1 is not all there is"):
        true_tables(rows, 2, rng)


def test_a_round_that_is_over():
    batch = GameBatch()
    batch.load(0, Position.from_case({"hands": ["R1", "B1 B2"], "discard": "R7", "draw": "G1"}))
    batch.step([0 + 1])
    assert batch.done.all()
    with pytest.raises(ValueError, match="row 0 is of a round that is over"):
        sample_tables(batch.observe(0), 1, np.random.default_rng(0))


def test_deck_is_whole():
    """What the other tests count on."""
    tables = sample_tables(GameBatch().observe(), 1, np.random.default_rng(0))
    union = np.bitwise_or.reduce(tables.state.hands[0], axis=0) | tables.state.discard[0]
    assert not (union & ~deck_words(112)).any()
    assert dataclasses.is_dataclass(tables.state)
