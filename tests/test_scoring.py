"""The bots that add up features: each idea in a position that shows it, and what features say."""

import numpy as np
import pytest
from colours import renamed, renamed_actions
from test_agents import Watched, decide

from agents import Agent, known_agents, make_agent
from agents.expert import ExpertAgent
from agents.forgetful import forgetful
from agents.scoring import ScoringAgent, as_array
from agents.watcher import WatcherAgent
from eval.match import play
from uno_env import ACTIONS, GameBatch, Position, Rules
from uno_env.features import FEATURES, NAMES, features
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import Colour
from uno_env.game.rules import PRESETS
from uno_env.legal_actions import LegalActions
from uno_env.sight import Sight

SCORING = sorted(name for name, kind in known_agents().items() if issubclass(kind, ScoringAgent))
MANY = "Y5 Y6 Y7 Y8 Y9 Y0 B6"
NEVER = (15, 15, 15, 15)


def table(hand, other=MANY, discard="R5", **more):
    """A table for two; the second hand is hidden but for its size."""
    return {"hands": [hand, other], "discard": discard, "draw": "G0 R0 B0", **more}


def at_three(hand, other, **more):
    hands = [hand, other, "Y1 Y2 Y3 Y4 B7"]
    rules = "angry_birds num_players=3"
    return {"hands": hands, "discard": "R5", "draw": "G0 R0 B0", "rules": rules, **more}


# --- What each bot minds --------------------------------------------------------------------------


@pytest.mark.parametrize("bot", SCORING)
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        # Wilds are kept while another card fits, though they are worth most points ...
        (table("R1 W G2 G6 B2"), "R1"),
        # ... and where one has just been drawn, but a coloured card is played.
        (table("R1 G5 G6 B2 W", discard="Y5", phase="drawn", drawn="W"), "keep"),
        (table("R1 G5 G6 B2 G3", discard="G5", phase="drawn", drawn="G3"), "G3"),
        # King Pig goes before the other wilds.
        (table("KP W G1 G2 G3 G4", discard="R7"), "KP:G"),
        # The last card is to follow, above all where its player goes on.
        (table("W B3", said=True), "W:B"),
        (table("RS R9", said=True, rules="angry_birds action_points=5"), "RS"),
        # It goes on if it can follow itself.
        (table("RS G2 G3 B4 R4", rules="angry_birds action_points=0"), "RS"),
        # It does not part with the last card of a colour.
        (table("R1 R2 R3 R4 G5 B1 B2"), {"R1", "R2", "R3", "R4"}),
        # It says UNO, catches, names for an opening wild what it holds most of.
        (table("R3 B4"), "uno"),
        (table("B4", discard="R5 R3", phase="catch", turn=1, on_turn=0), "catch"),
        ({"hands": ["G1 G2 B3 W", MANY], "opening": "KP", "dealer": 1}, "colour:G"),
        # It draws only when it must.
        (table("B1 G2 G3"), "draw"),
        # It never bluffs.
        (table("W+4 R1 G1 G2 B5", "Y1", discard="R7", rules="official"), "R1"),
    ],
)
def test_all_mind_their_hand(bot, case, expected):
    assert decide(bot, **case) in ({expected} if isinstance(expected, str) else expected)


def test_points_are_shed_when_an_opponent_is_about_to_go_out():
    """Where nothing else tells two plays apart."""
    near, far = (table("R1 R9 G1 G9", other, discard="R5") for other in ("Y1", MANY))
    assert decide("thrifty", **near) == "R9"
    assert decide("thrifty", **far) == "R1"


def challenged(size, lack=NEVER):
    hand = " ".join(f"G{number}" for number in range(1, size + 1))
    case = table("R1 R2 R3", hand, "R7 W+4", colour="B", phase="challenge", turn=0, on_turn=1)
    return case | {"rules": "official", "lack": [NEVER, lack]}


@pytest.mark.parametrize("bot", SCORING)
def test_likely_bluffs_are_challenged(bot):
    assert decide(bot, **challenged(7)) == "challenge"
    assert decide(bot, **challenged(1)) == "accept"
    # Who has shown to lack every colour cannot have bluffed; `thrifty` does not remember.
    no_bluff = challenged(7, lack=(0, 0, 0, 0))
    assert decide(bot, **no_bluff) == ("challenge" if bot == "thrifty" else "accept")


@pytest.mark.parametrize("bot", ["watcher", "expert"])
def test_a_challenge_looks_at_the_colour_that_was_active(bot):
    """Red was: who has shown to lack red cannot have bluffed, whatever else it may hold."""
    no_bluff = challenged(7, lack=(0, 15, 15, 15)) | {"colour_before": "R"}
    assert decide(bot, **no_bluff) == "accept"
    likely = challenged(7, lack=(15, 0, 0, 0)) | {"colour_before": "R"}
    assert decide(bot, **likely) == "challenge"


@pytest.mark.parametrize("bot", ["watcher", "expert"])
@pytest.mark.parametrize("hit", ["S", "R", "+2"])
def test_the_next_player_is_hit_when_it_is_nearly_out(bot, hit):
    hand = f"R8 R{hit} R2 G3 B2 B4 B9 G9"
    free = {"rules": "angry_birds num_players=3 action_points=0"}
    assert decide(bot, **at_three(hand, "B1") | free) == f"R{hit}"
    assert decide(bot, **at_three(hand, MANY) | free) == "R2"


@pytest.mark.parametrize("bot", ["watcher", "expert"])
@pytest.mark.parametrize("wild", ["W", "W+4", "KP"])
def test_wilds_are_played_before_it_is_too_late(bot, wild):
    near, far = (
        table(f"G5 G6 B2 R2 {wild}", other, discard="Y5", phase="drawn", drawn=wild)
        for other in ("B1", MANY)
    )
    assert decide(bot, **near).startswith(f"{wild}:")
    assert decide(bot, **far) == "keep"
    assert decide("thrifty", **near) == "keep"


@pytest.mark.parametrize("bot", ["watcher", "expert"])
@pytest.mark.parametrize("colour", "GB")
def test_steers_towards_what_the_next_lacks(bot, colour):
    lack = tuple(15 * (colour != other.name) for other in Colour)
    assert decide(bot, **table("W G1 G2 B1 B2", lack=[NEVER, lack])) == f"W:{colour}"


@pytest.mark.parametrize("bot", ["watcher", "expert"])
@pytest.mark.parametrize(("known", "named"), [("G3 G4", "B"), ("B3 B4", "G")])
def test_steers_away_from_what_a_king_pig_dealt(bot, known, named):
    case = table("W G1 G2 B1 B2", "G3 G4 B3 B4 R7", known=["", known])
    assert decide(bot, **case) == f"W:{named}"


@pytest.mark.parametrize(("gone", "expected"), [("R", "R8"), ("G", "G7")])
def test_expert_counts_what_is_unseen(gone, expected):
    """It plays the colour of which little is left, against somebody with one card."""
    discard = " ".join(f"{gone}{number}" for number in (0, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6))
    case = {"hands": ["R8 G7 R1 G1 B3", "Y1"], "discard": f"{discard} R7", "draw": "B0"}
    assert decide("expert", **case) == expected


def pig_over_wild(case):
    """How much better `expert` finds a King Pig than a Wild of the same colour."""
    position = Position.from_case(case)
    batch = GameBatch(position.rules)
    batch.load(0, position)
    of = scores(make_agent("expert"), batch.observe(), batch.legal, position.rules.num_players)[0]
    return of[ACTIONS.index("KP:G")] - of[ACTIONS.index("W:G")]


def test_expert_times_king_pig():
    usual = pig_over_wild(at_three("KP W G5 G6 B2 R1", MANY))
    assert pig_over_wild(at_three("KP W G5 G6 B2 R1", "B1 B3")) > usual
    assert pig_over_wild(at_three("KP W G5", MANY)) < usual
    # With hardly any green card left, the dealing goes on for long.
    greens = " ".join(f"G{number} G{number}" for number in (1, 2, 3, 4, 7, 8, 9))
    seen = {"discard": f"G0 {greens} GS GS GR GR R5", "draw": "R0 B0"}
    assert pig_over_wild(at_three("KP W G5 G6 B2 R1", MANY) | seen) < usual


# --- What they see --------------------------------------------------------------------------------


def some_choices(preset, players, games=200, decisions=30):
    """A batch of games in mid-round, all to be decided."""
    rng, keen = np.random.default_rng(4), make_agent("keen")
    batch = GameBatch(Rules.preset(preset, num_players=players), games, seed=6)
    for _ in range(decisions):
        batch.step(keen.act(batch.observe(), batch.legal | batch.done[:, None], rng))
    return batch.take(~batch.done)


def scores(agent, observation, mask, players):
    """By row and action, minus infinity for what is illegal."""
    legal = LegalActions.of(mask)
    dense = np.full(mask.shape, -np.inf, np.float32)
    dense[legal.rows, legal.actions] = agent.scores(Sight(observation, players), legal)
    return dense


@pytest.mark.parametrize("bot", SCORING)
@pytest.mark.parametrize(("preset", "players"), [("angry_birds", 2), ("official", 4)])
def test_colours_are_alike(bot, preset, players):
    """With the colours renamed, every action is worth what its namesake was."""
    batch = some_choices(preset, players)
    order = [2, 0, 3, 1]
    seen, mask = batch.observe(), batch.legal
    before, after = (
        scores(make_agent(bot), *some, players)
        for some in ((seen, mask), renamed(seen, mask, order))
    )
    assert np.isfinite(before[mask]).all()
    assert np.allclose(before[:, renamed_actions(order)], after, atol=1e-5)


@pytest.mark.parametrize("players", [2, 5, 10])
def test_sight_counts_cards(players):
    batch = some_choices("angry_birds", players, games=40)
    sight = Sight(batch.observe(), players)
    for game in range(batch.num_games):
        position = batch.position(game)
        observer = int(batch.player[game])
        own = list(position.hands[observer])
        others = [hand for seat, hand in enumerate(position.hands) if seat != observer]
        hidden = [card for cards in (*others, position.draw) for card in cards]
        wilds = ("W", "W+4", "KP")
        for cards, by_colour, by_symbol in (
            (own, sight.held_colours, sight.held_symbols),
            (hidden, sight.unseen_colours, sight.unseen_symbols),
        ):
            coloured = [card for card in cards if card not in wilds]
            assert by_colour[game].tolist() == [
                sum(card[0] == colour.name for card in coloured) for colour in Colour
            ]
            symbols = [*"0123456789", "S", "R", "+2"]
            assert by_symbol[game].tolist() == [
                *(sum(card[1:] == symbol for card in coloured) for symbol in symbols),
                *(cards.count(wild) for wild in wilds),
            ]
        assert sight.wilds[game] == sum(card in wilds for card in own)
        assert sight.unseen[game] == len(hidden)
        assert sight.lowest[game] == min(map(len, others))


def sight_of(**case):
    position = Position.from_case(case)
    batch = GameBatch(position.rules)
    batch.load(0, position)
    return Sight(batch.observe(), position.rules.num_players)


def test_how_likely_a_colour_is_held():
    """Cards that it may be among are drawn from the unseen, with the colour's share."""
    hand, own = "G1 G2 G3 G4", "R1 R2 R3 R4"
    unseen = 112 - 5
    red = (unseen - 20) / unseen  # of 25 red cards, five are seen
    for lack, cards in (
        (NEVER, 4),
        ((0, 15, 15, 15), 0),
        ((1, 15, 15, 15), 1),
        ((9, *NEVER[1:]), 4),
    ):
        sight = sight_of(**table(own, hand, lack=[NEVER, lack]))
        assert sight.holds[0, 0, Colour.R] == pytest.approx(1 - red**cards, abs=1e-5)
    known = sight_of(**table(own, hand, known=["", "G3"], lack=[NEVER, (0, 0, 0, 0)]))
    assert known.holds[0, 0].tolist() == pytest.approx([0, 0, 1, 0], abs=1e-5)


def feature(name, action, **case):
    values = features(sight_of(**case), np.array([0]), np.array([ACTIONS.index(action)]))
    return float(values[NAMES.index(name), 0])


@pytest.mark.parametrize("rules", ["angry_birds", "angry_birds king_pig_recipients=opponents"])
@pytest.mark.parametrize("players", [2, 4])
def test_what_a_king_pig_deals_to_its_player(rules, players):
    """Cards are dealt in turn until one has the colour; every lap ends with the player."""
    hands = ["KP G1", *["Y1 Y2"] * 1, *["B1", "B2"][: players - 2]]
    case = {"hands": hands, "discard": "R5", "rules": f"{rules} num_players={players}"}
    hit = 25 / (112 - 3)
    expected = sum((1 - hit) ** (players * lap - 1) for lap in range(1, 400))
    if "opponents" in rules:
        expected = 0
    assert 4 * feature("pig_own", "KP:B", **case) == pytest.approx(expected, rel=1e-4)
    assert feature("pig_own", "G1", **case) == 0


def test_whether_the_next_can_follow():
    case = table("RS R1 G9", "Y1")
    # A red card; a one of another colour or a wild. Its own player goes on after a Skip.
    unseen = 112 - 4
    follows = 1 - (1 - 22 / unseen) * (1 - (6 + 12) / unseen)
    assert feature("can", "R1", **case) == pytest.approx(follows, abs=1e-5)
    assert feature("can_at_one", "R1", **case) == pytest.approx(follows, abs=1e-5)
    assert feature("can_at_two", "R1", **case) == 0
    assert feature("can", "RS", **case) == 0


@pytest.mark.parametrize(
    ("name", "action", "case", "value"),
    [
        ("colour", "R1", table("R1 R2 R3 G1 G2"), 0.5),
        ("colour_none", "G5", table("R1 G5 B2"), 1),
        ("colour_one", "R1", table("R1 R2 B2"), 1),
        ("symbol", "R1", table("R1 G1 B1 B2"), 1),
        ("stuck", "R1", table("R1 G2 B3"), 1),
        ("stuck", "R1", table("R1 G2 W"), 0),
        ("colours", "R1", table("R1 G2 B3 B4"), 0.5),
        ("singles", "R1", table("R1 R2 G2 B3 B4"), 0.5),
        ("last_wild_one_left", "W:R", table("W R1"), 1),
        ("last_wild_one_left", "W:R", table("W KP"), 0),
        ("another_wild", "W:R", table("W KP W+4"), 2),
        ("again_wins", "RS", table("RS R1"), 1),
        ("again_wins", "RS", table("RS G1"), 0),
        ("again_stuck", "RS", table("RS G1 B1"), 1),
        ("again_follows", "RS", at_three("RS R1", "B1"), 0),
        ("next_at_one", "RS", at_three("RS R1", "B1"), 0),
        ("next_at_one", "R1", at_three("RS R1", "B1"), 1),
        ("next_at_one", "RR", at_three("RR R1", "B1 B2"), 0),
        ("hit_at_two", "RR", at_three("RR R1", "B1 B2"), 1),
        ("draws_at_one", "R+2", table("R+2 R1", "B1"), 1),
        ("stays", "R1", table("R1 G5"), 1),
        ("stays", "G5", table("R1 G5"), 0),
        ("wild_drawn", "W:R", table("W G1", phase="drawn", drawn="W"), 1),
        ("points_lowest_one", "RS", table("RS R1", "B1"), 1),
        ("points_lowest_one", "RS", table("RS R1", "B1", rules="classic"), 0.4),
        ("points_lowest_one", "R5", table("R5 R1", "B1"), 0.1),
        ("points_lowest_one", "R5", table("R5 R1"), 0),
    ],
)
def test_features(name, action, case, value):
    assert feature(name, action, **case) == pytest.approx(value)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 3, 10])
def test_features_are_of_like_size(preset, players):
    batch = some_choices(preset, players)
    legal = LegalActions.of(batch.legal)
    plays = legal.actions < Action.DRAW
    values = features(Sight(batch.observe(), players), legal.rows[plays], legal.actions[plays])
    assert values.shape == (len(FEATURES), plays.sum())
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    assert values.min() >= 0
    assert values.max() <= 6


# --- How they choose ------------------------------------------------------------------------------


def test_tables_of_several_sizes_in_one_batch():
    parts = [some_choices("angry_birds", players, games=30) for players in (2, 4, 3)]
    seen = [part.observe() for part in parts]
    masks = [part.legal for part in parts]
    rng = np.random.default_rng(0)
    order = rng.permutation(sum(map(len, seen)))
    for bot in SCORING:
        agent = make_agent(bot)
        apart = np.concatenate([agent.act(*part, rng) for part in zip(seen, masks, strict=True)])
        together = agent.act(np.concatenate(seen)[order], np.concatenate(masks)[order], rng)
        assert np.array_equal(together, apart[order])


def test_weights():
    weights = np.zeros((2, len(NAMES)), np.float32)
    weights[:, NAMES.index("rank")] = -1, 1
    agent = ExpertAgent(weights)
    rng = np.random.default_rng(0)
    for players, expected in ((2, "R1"), (3, "R9")):
        hands = ["R1 R9 R4", *["B1 B2", "B1 B2"][: players - 1]]
        rules = f"angry_birds num_players={players}"
        position = Position.from_case({"hands": hands, "discard": "R5", "rules": rules})
        batch = GameBatch(position.rules)
        batch.load(0, position)
        assert ACTIONS[agent.act(batch.observe(), batch.legal, rng)[0]] == expected
    with pytest.raises(ValueError, match=r"shape \(2,\): allowed is \(2, \d+\)"):
        ExpertAgent(np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="unknown feature 'rnak': known are keep, "):
        as_array({"rnak": (1.0, 1.0)})


def test_each_knows_what_the_one_before_knows():
    known = [set(make_agent(name).WEIGHTS) for name in ("thrifty", "watcher", "expert")]
    assert known[0] < known[1] < known[2] == set(NAMES)


def test_highest_takes_the_first_of_equals():
    mask = np.zeros((3, NUM_ACTIONS), bool)
    mask[0, [3, 50, 83]] = mask[1, 7] = mask[2, [0, 1]] = True
    values = np.array([-5, 9.5, 9.5, -100, -1, -0.5], np.float32)
    assert LegalActions.of(mask).highest(values).tolist() == [50, 7, 1]


# --- forgetful ------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0, 0.3, 1])
def test_forgetful(p):
    bot = Watched(forgetful("greedy", p))
    play([bot, forgetful("keen", 0.5)], deals=250)
    mask, actions = bot.all_seen()
    for action in (Action.UNO, Action.CATCH):
        asked = mask[:, action]
        assert asked.sum() > 80
        forgot = (actions[asked] != action).mean()
        assert forgot == p if p in (0, 1) else abs(forgot - p) < 0.15


def test_forgetful_is_else_the_same():
    batch = some_choices("angry_birds", 3)
    seen, mask = batch.observe(), batch.legal
    talk = mask[:, [Action.UNO, Action.CATCH]].any(axis=1)
    assert talk.any()
    rng = np.random.default_rng(0)
    for bot in ("greedy", WatcherAgent()):
        agent = forgetful(bot, 1.0)
        same = agent.act(seen, mask, rng) == make_agent(bot).act(seen, mask, rng)
        assert same[~talk].all()
        assert not same[talk].any()
    only = np.zeros((1, NUM_ACTIONS), bool)
    only[0, Action.UNO] = True
    assert forgetful("greedy", 1.0).act(seen[:1], only, rng).tolist() == [Action.UNO]


def test_forgetful_has_a_name_that_can_be_typed():
    agent = forgetful("greedy", 0.25)
    assert isinstance(agent, Agent)
    assert agent.name == "forgetful:bot=greedy,p=0.25"
    again = make_agent(agent.name)
    assert (again.name, again.bot.name, again.p) == (agent.name, "greedy", 0.25)
    nested = make_agent("forgetful:p=1,bot=search:rollouts=3")
    assert (nested.bot.rollouts, nested.p) == (3, 1.0)


def test_forgetful_needs_what_its_bot_needs():
    cheat = make_agent("forgetful:bot=prophet,p=0.5")
    assert cheat.cheats
    assert play([cheat, "keen"], deals=1, max_decisions=20).rounds == 2
    assert make_agent("forgetful:bot=human").interactive
    assert not make_agent("forgetful:bot=greedy").cheats
    with pytest.raises(ValueError, match="allowed is an agent that does not cheat"):
        make_agent("search:rollout=forgetful:bot=oracle")
    batch = some_choices("angry_birds", 3)
    seen, mask = batch.observe(), batch.legal
    liked = make_agent("forgetful:bot=greedy").preferences(seen, mask)
    assert np.array_equal(liked, make_agent("greedy").preferences(seen, mask))
    assert make_agent("forgetful:bot=keen").preferences(seen, mask) is None


def test_forgetful_refuses():
    for p in (-0.1, 1.5, float("nan"), True, "half", None):
        with pytest.raises(ValueError, match="allowed is a probability from 0 to 1"):
            forgetful("greedy", p)
    with pytest.raises(ValueError, match="unknown agent"):
        forgetful("gredy", 0.5)
    for text, message in (
        ("forgetful:p=x", "p=x in agent .*: allowed is a number"),
        ("forgetful:p=2", "p=2.0: allowed is a probability"),
        ("forgetful:bot=", "unknown agent ''"),
        ("forgetful:bott=keen", "forgetful takes bot, p"),
    ):
        with pytest.raises(ValueError, match=message):
            make_agent(text)
