"""The fast core against the reference engine, state for state after every action.

Both play the same games from the same seeds: several rounds of a game, then new games on the same
random words. Seats play in different styles, so that calls are forgotten, piles run out and rounds
end on every kind of card. What happened is counted, and a test insists that everything did.

Tables of few cards are played as well, for what a whole deck hardly or never brings: a blocked
round, for one, needs every card but one in the hands, and then some hand holds the active colour.
"""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from reference import ReferenceGame, whole_deck

from uno_env import GameBatch, Position, Rules
from uno_env.game.actions import ACTIONS
from uno_env.game.rules import HOUSE_RULES, PRESETS

PLAYER_COUNTS = (2, 3, 4, 7, 10)
GAMES_AT_ONCE = 4
MOST_ACTIONS_PER_ROUND = 300
MOST_ACTIONS_PER_TABLE = 100
UNFINISHED = ("turn", "player", "on_turn", "said", "drawn")
"""What means nothing once a round is over."""


# --- Styles of play ------------------------------------------------------------------------------

Style = Callable[[random.Random, list[str]], str]


def uniform(rng: random.Random, legal: list[str]) -> str:
    """Anything, all alike."""
    return rng.choice(legal)


def keen(rng: random.Random, legal: list[str]) -> str:
    """Draws or keeps only when there is nothing else."""
    return rng.choice([action for action in legal if action not in ("draw", "keep")] or legal)


def forgetful(rng: random.Random, legal: list[str]) -> str:
    """Keen, but never says UNO and rarely catches."""
    if "catch" in legal:
        return rng.choice(["catch", "let-go", "let-go", "let-go"])
    return keen(rng, [action for action in legal if action != "uno"])


def careful(rng: random.Random, legal: list[str]) -> str:
    """Keen, always says UNO and always catches."""
    for action in ("uno", "catch"):
        if action in legal:
            return action
    return keen(rng, legal)


SAVED = ("S", "R", "+2", "W", "W+4", "KP", "draw", "keep")


def saving(rng: random.Random, legal: list[str]) -> str:
    """Saves the cards that do most for the end, and forgets half of the calls."""
    if "uno" in legal and rng.random() < 0.5:
        return "uno"
    worth = {action: _worth(action) for action in legal if action != "uno"}
    return rng.choice([action for action in worth if worth[action] == min(worth.values())])


def _worth(action: str) -> int:
    """The place in `SAVED`; 0 for anything else, such as numbers."""
    card = action.partition(":")[0]
    symbol = card[1:] if card[0] in "RYGB" else card
    return SAVED.index(symbol) + 1 if symbol in SAVED else 0


def hoarding(rng: random.Random, legal: list[str]) -> str:
    """Draws and keeps whenever possible, so the piles run out."""
    for action in ("draw", "keep"):
        if action in legal:
            return action
    return uniform(rng, legal)


STYLES: tuple[Style, ...] = (uniform, keen, forgetful, careful, saving, hoarding)


def seat_styles(rng: random.Random, num_players: int) -> list[Style]:
    """Who plays how in one round: half the tables are of one mind."""
    if rng.random() < 0.5:
        return [rng.choice(STYLES)] * num_players
    return [rng.choice(STYLES) for _ in range(num_players)]


# --- Both engines side by side -------------------------------------------------------------------


def core_snapshot(batch: GameBatch, game: int) -> dict[str, Any]:
    """A game of the core as `ReferenceGame.snapshot` gives it."""
    position = batch.position(game)
    return {
        name: getattr(position, name)
        for name in (
            *("phase", "turn", "on_turn", "hands", "discard", "draw", "colour", "direction"),
            *("dealer", "scores", "points", "winner", "drawn", "said", "guilty", "over"),
            *("colour_before", "stack", "game_over", "game_winners", "known", "lack"),
        )
    }


def compare(game: ReferenceGame, core: GameBatch, row: int) -> str:
    """What differs between the two tables, a line for each; empty if nothing does."""
    ours, theirs = game.snapshot(), core_snapshot(core, row)
    ours["legal"] = game.legal
    theirs["legal"] = [ACTIONS[action] for action in np.flatnonzero(core.legal[row])]
    ours["player"], theirs["player"] = game.player, int(core.player[row])
    if game.phase == "over":
        for name in UNFINISHED:
            del ours[name], theirs[name]
    return "\n".join(
        f"{name}: reference {ours[name]}, core {theirs[name]}"
        for name in ours
        if ours[name] != theirs[name]
    )


class Match:
    """A batch of the core and, game for game, the reference."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules = rules
        self.seed = seed
        self.rng = random.Random(seed)
        self.core = GameBatch(rules, GAMES_AT_ONCE, seed=seed)
        self.games = [ReferenceGame(rules, seed + i) for i in range(GAMES_AT_ONCE)]
        self.record: list[list[str]] = [[] for _ in self.games]
        self.actions_this_round = [0] * GAMES_AT_ONCE
        self.rounds_finished = 0
        self.happened: Counter[str] = Counter()
        self.styles = [self._new_styles() for _ in self.games]
        self._compare()

    def _new_styles(self) -> list[Style]:
        return seat_styles(self.rng, self.rules.num_players)

    def play(self, rounds: int) -> Counter[str]:
        """Finish so many rounds; returns what happened in them."""
        while self.rounds_finished < rounds:
            self._act()
            self._compare()
            self._go_on()
        return sum((game.happened for game in self.games), self.happened)

    def _act(self) -> None:
        actions = []
        for i, game in enumerate(self.games):
            action = self.styles[i][game.player](self.rng, game.legal)
            actions.append(ACTIONS.index(action))
            self.record[i].append(action)
            self.actions_this_round[i] += 1
            before = game.phase
            game.step(action)
            self.happened.update([f"action {action}", f"{before} to {game.phase}"])
        self.core.step(np.array(actions))

    def _go_on(self) -> None:
        """After a round the next one or, after a game and now and then, a new game."""
        next_round = np.zeros(GAMES_AT_ONCE, dtype=bool)
        new_game = np.zeros(GAMES_AT_ONCE, dtype=bool)
        for i, game in enumerate(self.games):
            over = game.phase == "over"
            given_up = not over and self.actions_this_round[i] >= MOST_ACTIONS_PER_ROUND
            if not over and not given_up:
                continue
            new_game[i] = game.game_over or given_up or self.rng.random() < 0.1
            next_round[i] = not new_game[i]
            self.rounds_finished += over
            self.actions_this_round[i] = 0
            self.styles[i] = self._new_styles()
            self.record[i].append("new_game" if new_game[i] else "next_round")
            (game.new_game if new_game[i] else game.next_round)()
        if next_round.any():
            self.core.next_round(next_round)
        if new_game.any():
            self.core.reset(new_game)
        if next_round.any() or new_game.any():
            self._compare()

    def _compare(self) -> None:
        for i, game in enumerate(self.games):
            if differences := compare(game, self.core, i):
                raise AssertionError(
                    f"rules {self.rules}, seed {self.seed + i}, actions so far: {self.record[i]}"
                    f"\n{differences}"
                )


# --- The tests -----------------------------------------------------------------------------------

SHORT_ROUNDS = 3
LONG_ROUNDS = 400
MIXED_SHORT = 20
MIXED_LONG = 200
MIXED_LONG_ROUNDS = 60
TABLES_SHORT = 100
TABLES_LONG = 5000


@functools.cache
def play_preset(preset: str, num_players: int, rounds: int) -> Counter[str]:
    rules = Rules.preset(preset, num_players=num_players)
    return Match(rules, seed=1000 * num_players).play(rounds)


def random_rules(rng: random.Random, counts: Sequence[int] = range(2, 11)) -> Rules:
    """Any switches that are allowed; in half of all tables about half of the house rules."""
    players = rng.choice(counts)
    house = rng.random() < 0.5
    return Rules(
        num_players=players,
        **{
            name: house and (name != "partners" or players == 4) and rng.random() < 0.5
            for name in HOUSE_RULES
        },
        deck=rng.choice(["angry_birds", "classic"]),
        dealer_draw=rng.choice(["symbols_zero", "numbers_only"]),
        voluntary_draw=rng.choice(["always", "without_match"]),
        drawn_card=rng.choice(["optional", "forced"]),
        wild_draw_four=rng.choice(["no_matching_colour", "no_matching_card", "bluff"]),
        uno_call=rng.choice(["explicit", "explicit", "automatic"]),
        uno_enforcement=rng.choice(["caught", "automatic"]),
        uno_penalty=rng.randint(1, 10),
        king_pig_recipients=rng.choice(["all", "opponents"]),
        last_card_draws=rng.choice([True, True, False]),
        action_points=rng.choice([0, 20, 50, 500]),
        wild_points=rng.choice([0, 40, 50, 500]),
        scoring=rng.choice(["winner", "lowest"]),
        target=rng.choice([1, 100, 300, 500]),
    )


@functools.cache
def play_mixed(number: int, rounds: int) -> Counter[str]:
    return Match(random_rules(random.Random(number)), seed=number).play(rounds)


def small_table(rng: random.Random, rules: Rules, drawing: float) -> dict[str, Any]:
    """A conformance case with few cards in the hands and hardly any in the piles.

    In a third of them somebody is about to go out on a card that deals others some; in a part,
    `drawing`, the hands are full of draw cards.
    """
    cards = whole_deck(rules)
    rng.shuffle(cards)
    if rng.random() < drawing:
        cards.sort(key=lambda card: card.endswith(("+2", "+4")))
    turn = rng.randrange(rules.num_players)
    last_card = rng.choice(["R+2", "W+4", "KP", "KP", *[None] * 6])
    pile = rng.choice([0, 5])

    def some(low: int, high: int) -> str:
        return " ".join(cards.pop() for _ in range(rng.randint(low, high)))

    hands = [some(1, 3) for _ in range(rules.num_players)]
    if last_card in cards:
        cards.remove(last_card)
        hands[turn] = last_card
    case: dict[str, Any] = {
        "rules": rules,
        "hands": hands,
        "draw": some(0, pile),
        "dealer": rng.randrange(rules.num_players),
        "scores": [rng.randrange(rules.target) for _ in range(rules.num_players)],
    }
    if rng.random() < 0.2 and cards[-1] != "W+4":
        return {**case, "opening": cards.pop()}
    case |= {"discard": some(1, 1 + pile), "turn": turn}
    if case["discard"].split()[-1] in ("W", "W+4", "KP"):
        case["colour"] = rng.choice("RYGB")
    return {**case, "direction": rng.choice([1, -1])}


@functools.cache
def play_small_table(number: int, stacked: bool = False) -> Counter[str]:
    """One round from a small table; the random words go on from those of the core's first deal."""
    rng = random.Random(number)
    rules = random_rules(rng, [2, 2, 3, 4, 7, 10])
    if stacked:
        four = rng.choice(["bluff", rules.wild_draw_four])
        rules = Rules.make(rules, stacking=True, wild_draw_four=four, uno_enforcement="caught")
    case = small_table(rng, rules, drawing=0.9 if stacked else 0.1)
    core = GameBatch(rules, 1, seed=number)
    core.load(0, Position.from_case(case))
    game = ReferenceGame.from_case(case)
    game.random = ReferenceGame(rules, number).random
    styles = seat_styles(rng, rules.num_players)
    record: list[str] = []
    while True:
        differences = compare(game, core, 0)
        assert not differences, f"case {case}, actions so far: {record}\n{differences}"
        if game.phase == "over" or len(record) == MOST_ACTIONS_PER_TABLE:
            return game.happened
        record.append(styles[game.player](rng, game.legal))
        before = game.phase
        game.step(record[-1])
        game.happened[f"{before} to {game.phase}"] += 1
        core.step(np.array([ACTIONS.index(record[-1])]))


@pytest.mark.parametrize("num_players", PLAYER_COUNTS)
@pytest.mark.parametrize("preset", PRESETS)
def test_preset(preset: str, num_players: int) -> None:
    play_preset(preset, num_players, SHORT_ROUNDS)


@pytest.mark.parametrize("number", range(MIXED_SHORT))
def test_mixed_switches(number: int) -> None:
    play_mixed(number, SHORT_ROUNDS)


def test_small_tables() -> None:
    for number in range(TABLES_SHORT):
        play_small_table(number)
        play_small_table(number, stacked=True)


@pytest.mark.long
@pytest.mark.parametrize("num_players", PLAYER_COUNTS)
@pytest.mark.parametrize("preset", PRESETS)
def test_preset_long(preset: str, num_players: int) -> None:
    play_preset(preset, num_players, LONG_ROUNDS)


@pytest.mark.long
@pytest.mark.parametrize("number", range(MIXED_SHORT, MIXED_LONG))
def test_mixed_switches_long(number: int) -> None:
    play_mixed(number, MIXED_LONG_ROUNDS)


@pytest.mark.long
def test_small_tables_long() -> None:
    for number in range(TABLES_SHORT, TABLES_LONG):
        play_small_table(number)
        play_small_table(number, stacked=True)


EVENTS = (
    *(f"opening {symbol}" for symbol in (*"0123456789", "S", "R", "+2", "W", "KP")),
    "opening W+4 goes back",
    "dealer draw tied",
    *("catch", "let-go", "penalty at once"),
    *("guilty", "innocent", "accepted"),
    *("reshuffle", "no card left to give", "turn passes by itself"),
    *("king pig deals to its player", "king pig passes over its player"),
    *("king pig passes over its winner", "king pig runs out of cards"),
    *("last card +2", "last card W+4", "last card KP"),
    *("round won", "game won", "round blocked"),
    *(f"action {action}" for action in ACTIONS if not action.startswith("colour:")),
    *("jumped in", "no jump", "stack offered", "stack drawn", "challengeable answered"),
    *("swapped", "hands passed on", "drew on", "pair won"),
    *("turn to swap", "drawn to swap", "catch to swap", "jump_in to swap", "swap to turn"),
    *("turn to stack", "stack to stack", "stack to turn", "stack to over", "catch to stack"),
    *("turn to jump_in", "jump_in to turn", "stack to jump_in", "jump_in to stack"),
    *("catch to jump_in", "jump_in to catch", "challenge to challenge"),
    *("colour to turn", "turn to turn", "turn to drawn", "drawn to drawn", "drawn to turn"),
    *("turn to catch", "drawn to catch", "catch to catch", "catch to challenge", "catch to turn"),
    *("turn to challenge", "drawn to challenge", "challenge to turn", "turn to over"),
)
"""What `ReferenceGame.happened` counts, every action, and every step from phase to phase."""


def test_everything_happened() -> None:
    """The matches above, which are not played twice, have met every event of the rules."""
    happened: Counter[str] = Counter()
    for preset in PRESETS:
        for num_players in PLAYER_COUNTS:
            happened += play_preset(preset, num_players, SHORT_ROUNDS)
    for number in range(MIXED_SHORT):
        happened += play_mixed(number, SHORT_ROUNDS)
    for number in range(TABLES_SHORT):
        happened += play_small_table(number) + play_small_table(number, stacked=True)
    assert [event for event in EVENTS if not happened[event]] == []
