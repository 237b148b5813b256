"""The rulebook as plain code: one table, lists of card texts, nothing clever.

This engine is the yardstick for the fast core, so it shares none of the core's code. It takes from
the package the order of the cards, the names of the actions and the `Rules`, and nothing else.
Docstrings cite the rulebook's headings in quotation marks; every rule has a function named after
it. Cards and actions are written as in the rulebook: ``R5``, ``B+2``, ``W``, ``KP:G``, ``draw``.

Phases of a round
    ``turn``       the player on turn plays, draws or says UNO
    ``drawn``      the player on turn has drawn a playable card
    ``catch``      an opponent is asked whether to catch a player who did not say UNO
    ``challenge``  the victim of a Wild Draw 4 is asked whether to challenge it
    ``colour``     the opening card is a wild and its colour is still to be named
    ``swap``       who laid a 7 chooses whom to swap hands with
    ``jump_in``    who holds the like of the card just laid is asked whether to play it
    ``stack``      who is hit by a draw card may answer with one of the same kind
    ``over``       the round has ended
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from uno_env.game.actions import ACTIONS
from uno_env.game.cards import CARDS
from uno_env.game.rules import Rules

COLOURS = ("R", "Y", "G", "B")
NUMBERS = tuple("0123456789")
ACTION_SYMBOLS = ("S", "R", "+2")
WILDS = ("W", "W+4", "KP")
CARDS_DEALT = 7
KIND = {card: kind for kind, card in enumerate(CARDS)}
ACTION_ID = {action: number for number, action in enumerate(ACTIONS)}
NEVER = 15
"""Where `lack` stops counting."""

CASE_KEYS = (
    *("id", "rules", "hands", "discard", "opening", "draw", "colour"),
    *("turn", "direction", "dealer", "scores", "do", "expect"),
)


# --- Cards ("Presets and switches") --------------------------------------------------------------


def is_wild(card: str) -> bool:
    """Whether a card has no colour of its own."""
    return card in WILDS


def colour_of(card: str) -> str | None:
    """The printed colour; a wild has none."""
    return None if is_wild(card) else card[0]


def symbol_of(card: str) -> str | None:
    """The printed number or symbol; a wild has none."""
    return None if is_wild(card) else card[1:]


def whole_deck(rules: Rules) -> list[str]:
    """The 108 cards and, with Angry Birds, 4 King Pigs, in deck order."""
    deck: list[str] = []
    for colour in COLOURS:
        deck += [colour + "0"]
        for symbol in (*NUMBERS[1:], *ACTION_SYMBOLS):
            deck += [colour + symbol] * 2
    deck += ["W"] * 4 + ["W+4"] * 4
    if rules.deck == "angry_birds":
        deck += ["KP"] * 4
    return deck


def in_deck_order(cards: Iterable[str]) -> list[str]:
    """The cards by kind, equal cards side by side."""
    return sorted(cards, key=KIND.__getitem__)


def points_of(card: str, rules: Rules) -> int:
    """What a card counts: its number, or the points of its kind ("Presets and switches")."""
    if is_wild(card):
        return rules.wild_points
    symbol = card[1:]
    return rules.action_points if symbol in ACTION_SYMBOLS else int(symbol)


def plays_of(card: str) -> list[str]:
    """The actions that lay a card: a wild comes with the colour it names."""
    return [f"{card}:{colour}" for colour in COLOURS] if is_wild(card) else [card]


def card_and_colour(play: str) -> tuple[str, str]:
    """The card that a play lays and the colour active after it."""
    card, _, named = play.partition(":")
    return card, named or card[0]


def parse_cards(text: str) -> list[str]:
    """Cards written with spaces between; ValueError if one is unknown."""
    cards = text.split()
    for card in cards:
        if card not in CARDS:
            raise ValueError(f"unknown card {card!r} in {text!r}")
    return cards


# --- Randomness ----------------------------------------------------------------------------------

WORD = 1 << 64


def mix64(word: int) -> int:
    """SplitMix64's finaliser."""
    word ^= word >> 30
    word = word * 0xBF58476D1CE4E5B9 % WORD
    word ^= word >> 27
    word = word * 0x94D049BB133111EB % WORD
    return word ^ word >> 31


class RandomWords:
    """The stream of 64-bit words that belongs to one seed, taken in order."""

    def __init__(self, seed: int) -> None:
        self.key = mix64(seed % WORD)
        self.taken = 0

    def take(self) -> int:
        """The next word."""
        self.taken += 1
        return mix64((self.key + self.taken * 0x9E3779B97F4A7C15) % WORD)

    def shuffle(self, cards: Iterable[str]) -> list[str]:
        """A new pile of these cards, next card first.

        The cards are taken in deck order, two to a word: the first has the low half. They are
        sorted by the upper 25 bits of their half; of two alike the earlier comes first.
        """
        ordered = in_deck_order(cards)
        halves: list[int] = []
        while len(halves) < len(ordered):
            word = self.take()
            halves += [word % (1 << 32), word >> 32]
        places = sorted(range(len(ordered)), key=lambda place: (halves[place] >> 7, place))
        return [ordered[place] for place in places]


class ReferenceGame:
    """One game, played round after round.

    Attributes:
        player: the seat to act: on turn, asked in a catch window, or victim in a challenge.
        on_turn: the seat whose turn it is; in a catch window or a challenge, who laid the card.
        phase: see the module's docstring.
        hands, discard, draw: card texts; the top discard is last, the next card to draw first.
        colour: the active colour; None while an opening wild is unnamed.
        direction: 1 clockwise, -1 against it.
        scores: totals of the game, which a finished round has been added to.
        points: what this round gave; zeros until it is over.
        winner: who went out; None before that and in a blocked round.
        drawn: the card just drawn, in phase ``drawn``.
        said: whether the player on turn has said UNO this turn.
        guilty: whether a Wild Draw 4 under ``bluff`` was laid while holding the active colour.
        colour_before: what was active before a Wild Draw 4 that may still be challenged.
        stack: cards that stacked draw cards make somebody draw.
        known: per seat, cards that King Pigs dealt to it and it has not played since.
        lack: per seat and colour, cards received since it last drew under that active colour.
        happened: how often each event of the rules has occurred, over all rounds.
    """

    def __init__(self, rules: Rules, seed: int) -> None:
        """A new game: the dealer is drawn and the first round is dealt."""
        self._sit_down(rules, seed)
        self.new_game()

    def _sit_down(self, rules: Rules, seed: int) -> None:
        self.rules = rules
        self.num_players = rules.num_players
        self.random = RandomWords(seed)
        self.happened: Counter[str] = Counter()
        self.scores = [0] * self.num_players
        self.dealer = self.num_players - 1
        self._clear_table()

    def _clear_table(self) -> None:
        self.hands: list[list[str]] = [[] for _ in range(self.num_players)]
        self.draw: list[str] = []
        self.discard: list[str] = []
        self.colour: str | None = None
        self.direction = 1
        self.phase = "turn"
        self.on_turn = self.player = 0
        self.drawn: str | None = None
        self.said = False
        self.guilty = False
        self.colour_before: str | None = None
        self.stack = 0
        self.asked_to_jump_in = False
        self.still_to_ask: list[int] = []
        self.known: list[list[str]] = [[] for _ in range(self.num_players)]
        self.lack = [dict.fromkeys(COLOURS, NEVER) for _ in range(self.num_players)]
        self.points = [0] * self.num_players
        self.winner: int | None = None
        self.game_over = False
        self.game_winners: list[int] = []

    # --- "Setting up" ----------------------------------------------------------------------------

    def new_game(self) -> None:
        """Another game on the same random words: totals 0, the dealer drawn again."""
        self.scores = [0] * self.num_players
        self.dealer = self._draw_for_dealer()
        self._start_round()

    def next_round(self) -> None:
        """The next round of the same game; its dealer is the next seat clockwise."""
        self.dealer = self._left_of(self.dealer)
        self._start_round()

    def _draw_for_dealer(self) -> int:
        """Rule "Dealer": the highest number deals; players tied for the top draw again.

        `numbers_only` draws on until a number comes, so only numbers are there to be drawn. Cards
        are drawn from the whole deck each: who come upon the same card are tied.
        """
        cards = whole_deck(self.rules)
        if self.rules.dealer_draw == "numbers_only":
            cards = [card for card in cards if symbol_of(card) in NUMBERS]
        contenders = list(range(self.num_players))
        while len(contenders) > 1:
            draws = {seat: self._four_draws(cards) for seat in range(self.num_players)}
            values = {seat: draws[seat] for seat in contenders}
            contenders = [seat for seat in contenders if values[seat] == max(values.values())]
            first = [draws[0] for draws in values.values()]
            if first.count(max(first)) > 1:
                self.happened["dealer draw tied"] += 1
        return contenders[0]

    def _four_draws(self, cards: list[str]) -> list[int]:
        """Rule "Dealer": what a player draws, and draws again as often as it is tied."""
        words = [self.random.take(), self.random.take()]
        halves = [half for word in words for half in (word % 2**32, word >> 32)]
        return [self._dealer_value(cards[half * len(cards) >> 32]) for half in halves]

    @staticmethod
    def _dealer_value(card: str) -> int:
        """Rule "Dealer", `symbols_zero`: a number counts itself, anything else 0."""
        symbol = symbol_of(card)
        return int(symbol) if symbol in NUMBERS else 0

    def _start_round(self) -> None:
        """Rule "Deal": seven each, one by one from the dealer's left; then a card is turned up."""
        self._clear_table()
        self.draw = self.random.shuffle(whole_deck(self.rules))
        for _ in range(CARDS_DEALT):
            for seat in self._clockwise_from_left_of(self.dealer):
                self.hands[seat].append(self.draw.pop(0))
        self.discard = [self.draw.pop(0)]
        self._opening_card()

    def _opening_card(self) -> None:
        """Rule "Opening card": its effect, then the first turn."""
        self._opening_wild_draw_four_goes_back()
        first = self._left_of(self.dealer)
        card = self.discard[-1]
        self.colour = colour_of(card)
        self.happened[f"opening {symbol_of(card) or card}"] += 1
        if is_wild(card):
            self.phase = "colour"
            self.on_turn = self.player = first
        elif symbol_of(card) == "S":
            self._begin_turn(self._left_of(first))
        elif symbol_of(card) == "+2":
            self._give_cards(first, 2)
            self._begin_turn(self._left_of(first))
        elif symbol_of(card) == "R":
            self.direction = -1
            self._begin_turn(self.dealer)
        else:
            self._begin_turn(first)

    def _opening_wild_draw_four_goes_back(self) -> None:
        """Rule "Opening card": a Wild Draw 4 goes back and the pile is reshuffled."""
        while self.discard == ["W+4"]:
            self.happened["opening W+4 goes back"] += 1
            self.draw = self.random.shuffle([*self.draw, *self.discard])
            self.discard = [self.draw.pop(0)]

    def _name_opening_colour(self, colour: str) -> None:
        """Rule "Opening card", Wild or King Pig: colour named, nothing dealt, a normal turn."""
        self.colour = colour
        self._begin_turn(self.on_turn)

    # --- Seats -----------------------------------------------------------------------------------

    def _left_of(self, seat: int) -> int:
        """The next seat clockwise, whatever the direction of play."""
        return (seat + 1) % self.num_players

    def _clockwise_from_left_of(self, seat: int) -> list[int]:
        """All seats clockwise, `seat` itself last."""
        return [(seat + places) % self.num_players for places in range(1, self.num_players + 1)]

    def _after(self, seat: int) -> int:
        """The next seat in the direction of play."""
        return (seat + self.direction) % self.num_players

    # --- "A turn": what may be done --------------------------------------------------------------

    @property
    def legal(self) -> list[str]:
        """The actions of the seat to act, in the order of the action layout."""
        return sorted(self._offered_actions(), key=ACTION_ID.__getitem__)

    def _offered_actions(self) -> list[str]:
        match self.phase:
            case "turn":
                return self._turn_actions()
            case "drawn":
                return self._drawn_actions()
            case "catch":
                return ["catch", "let-go"]
            case "challenge":
                return ["challenge", "accept", *self._answers_with_uno()]
            case "stack":
                return ["accept", *self._answers_with_uno()]
            case "jump_in":
                return ["let-go", *self._with_uno([self.discard[-1]])]
            case "swap":
                return [f"swap:{places}" for places in range(1, self.num_players)]
            case "colour":
                return [f"colour:{colour}" for colour in COLOURS]
            case _:
                return []

    def _turn_actions(self) -> list[str]:
        playable = [card for card in set(self.hands[self.on_turn]) if self._may_play(card)]
        actions = [play for card in playable for play in plays_of(card)]
        if self._may_draw():
            actions.append("draw")
        if self._may_say_uno(playable):
            actions.append("uno")
        return actions

    def _drawn_actions(self) -> list[str]:
        """After a draw only the drawn card may be played; it is kept where that is optional."""
        assert self.drawn is not None
        actions = plays_of(self.drawn)
        if self.rules.drawn_card == "optional":
            actions.append("keep")
        if self._may_say_uno([self.drawn]):
            actions.append("uno")
        return actions

    def _may_play(self, card: str) -> bool:
        """A matching card, a Wild or King Pig at any time, a Wild Draw 4 where it may be."""
        if card == "W+4":
            return self._may_play_wild_draw_four()
        return is_wild(card) or self._matches(card)

    def _may_play_wild_draw_four(self) -> bool:
        """Rule "Presets and switches", `wild_draw_four`."""
        if self.rules.wild_draw_four == "no_matching_colour":
            return not self._holds_active_colour()
        if self.rules.wild_draw_four == "no_matching_card":
            return not self._holds_matching_card()
        return True

    def _matches(self, card: str) -> bool:
        """Same colour as the active colour, or same number or symbol as the top card."""
        if is_wild(card):
            return False
        return colour_of(card) == self.colour or symbol_of(card) == symbol_of(self.discard[-1])

    def _holds_active_colour(self) -> bool:
        return any(colour_of(card) == self.colour for card in self.hands[self.on_turn])

    def _holds_matching_card(self) -> bool:
        """Wilds do not count as matching."""
        return any(self._matches(card) for card in self.hands[self.on_turn])

    def _may_draw(self) -> bool:
        """Offered while a card can be had; `without_match`: only with no matching card."""
        if self.rules.voluntary_draw == "without_match" and self._holds_matching_card():
            return False
        return len(self.draw) > 0 or len(self.discard) > 1

    def _may_say_uno(self, playable: list[str]) -> bool:
        """Rule "UNO": holding two cards of which one may be played now, not yet said."""
        if self.rules.uno_call == "automatic" or self.said:
            return False
        return len(self.hands[self.player]) == 2 and len(playable) > 0

    # --- "A turn": doing it ----------------------------------------------------------------------

    def step(self, action: str) -> None:
        """Do an action for the seat to act; ValueError and nothing done if it is not legal."""
        legal = self.legal
        if action not in legal:
            raise ValueError(f"{action!r} is not legal in phase {self.phase}, which has {legal}")
        deeds: dict[str, Callable[[], None]] = {
            "draw": self._draw_a_card,
            "keep": self._keep_the_drawn_card,
            "uno": self._say_uno,
            "catch": self._catch,
            "let-go": self._let_go,
            "challenge": self._challenge,
            "accept": self._accept,
        }
        if action in deeds:
            deeds[action]()
        elif action.startswith("colour:"):
            self._name_opening_colour(action.removeprefix("colour:"))
        elif action.startswith("swap:"):
            self._swap_hands(int(action.removeprefix("swap:")))
        else:
            self._play(action)

    def _begin_turn(self, seat: int) -> None:
        """The turn of `seat`; with nothing to draw and nothing to play it passes by itself.

        Once every player in a row has passed so, the round is blocked.
        """
        self.phase = "turn"
        self.drawn = None
        self.said = False
        self.guilty = False
        self.colour_before = None
        self.stack = 0
        for _ in range(self.num_players):
            self.on_turn = self.player = seat
            if self._turn_actions():
                return
            self.happened["turn passes by itself"] += 1
            seat = self._after(seat)
        self._blocked_round()

    def _draw_a_card(self) -> None:
        """Draw one; if it cannot be played the turn passes by itself."""
        assert self.colour is not None
        card = self._give_card(self.on_turn)
        while self.rules.draw_to_match and card is not None and not self._may_play(card):
            self.happened["drew on"] += 1
            card = self._give_card(self.on_turn)
        self.lack[self.on_turn][self.colour] = 0
        if card is not None and self._may_play(card):
            self.phase = "drawn"
            self.drawn = card
        else:
            self._begin_turn(self._after(self.on_turn))

    def _keep_the_drawn_card(self) -> None:
        self._begin_turn(self._after(self.on_turn))

    def _say_uno(self) -> None:
        """Rule "UNO": saying it does not end the turn."""
        self.said = True

    def _play(self, play: str) -> None:
        """Lay a card. Then, in this order ("UNO"): catch, challenge, draws, next turn."""
        card, colour = card_and_colour(play)
        if self.phase in ("jump_in", "challenge"):
            self._take_over()
        self.asked_to_jump_in = self.phase == "jump_in"
        hand = self.hands[self.on_turn]
        self.guilty = self._is_bluff(card)
        if self.rules.wild_draw_four == "bluff" and card == "W+4":
            self.colour_before = self.colour
        hand.remove(card)
        if card in self.known[self.on_turn]:
            self.known[self.on_turn].remove(card)
        self.discard.append(card)
        self.colour = colour
        self.drawn = None
        if not hand:
            self._end_round()
        elif len(hand) == 1 and not self._uno_counts_as_said():
            self._missing_call()
        else:
            self._jump_in_window()

    def _is_bluff(self, card: str) -> bool:
        """Rule "Bluffing": guilty is who held the active colour at the time of play."""
        bluffing = self.rules.wild_draw_four == "bluff" and card == "W+4"
        return bluffing and self._holds_active_colour()

    def _carry_out_card(self) -> None:
        """The effect of the card just laid, and the turn that follows it."""
        card = self.discard[-1]
        victim = self._after(self.on_turn)
        if card == "KP":
            self._king_pig(to_player=self.rules.king_pig_recipients == "all")
            self._begin_turn(victim)
        elif card == "W+4" or symbol_of(card) == "+2":
            self._hit(victim)
        elif self.rules.seven_zero and symbol_of(card) == "7":
            self.phase = "swap"
            self.player = self.on_turn
            self.said = False
        elif self.rules.seven_zero and symbol_of(card) == "0":
            self._pass_hands_on()
            self._begin_turn(victim)
        elif symbol_of(card) == "S":
            self._begin_turn(self._after(victim))
        elif symbol_of(card) == "R":
            self._reverse()
        else:
            self._begin_turn(victim)

    def _reverse(self) -> None:
        """Rule "Reverse" flips direction; with two players it acts as Skip."""
        self.direction = -self.direction
        if self.num_players == 2:
            self._begin_turn(self.on_turn)
        else:
            self._begin_turn(self._after(self.on_turn))

    def _king_pig(self, to_player: bool) -> None:
        """Rule "King Pig": one card to each seat, clockwise from the player's left, lap after lap.

        It ends with a card of the named colour, which a wild never is, or when both piles have run
        out. The dealt cards are public.
        """
        seats = self._clockwise_from_left_of(self.on_turn)
        if self.rules.partners and not to_player:
            seats.remove(self._partner(self.on_turn))
        who = "player" if self.winner is None else "winner"
        while True:
            for seat in seats:
                if seat == self.on_turn and not to_player:
                    self.happened[f"king pig passes over its {who}"] += 1
                    continue
                card = self._give_card(seat)
                if card is None:
                    self.happened["king pig runs out of cards"] += 1
                    return
                if seat == self.on_turn:
                    self.happened["king pig deals to its player"] += 1
                self.known[seat].append(card)
                if colour_of(card) == self.colour:
                    return

    # --- "Bluffing" ------------------------------------------------------------------------------

    def _challenge_window(self) -> None:
        """The victim of a Wild Draw 4, and nobody else, may challenge it."""
        if self.discard[-1] == "W+4" and self.rules.wild_draw_four == "bluff":
            self.phase = "challenge"
            self.player = self._after(self.on_turn)
            if self.rules.stacking:
                self.said = False
        else:
            self._carry_out_card()

    def _accept(self) -> None:
        if self.phase == "stack":
            self.happened["stack drawn"] += 1
            self._give_cards(self.on_turn, self.stack)
            self._begin_turn(self._after(self.on_turn))
        else:
            self.happened["accepted"] += 1
            self._carry_out_card()

    def _challenge(self) -> None:
        """Guilty: the player draws four, the challenger has the turn. Innocent: six, none."""
        challenger = self.player
        if self.guilty:
            self.happened["guilty"] += 1
            self._give_cards(self.on_turn, self.stack + 4)
            self._begin_turn(challenger)
        else:
            self.happened["innocent"] += 1
            self._give_cards(challenger, self.stack + 6)
            self._begin_turn(self._after(challenger))

    # --- "House rules" ---------------------------------------------------------------------------

    def _with_uno(self, playable: list[str]) -> list[str]:
        """What may be played when asked, and UNO where that may be said first."""
        plays = [play for card in playable for play in plays_of(card)]
        return [*plays, "uno"] if self._may_say_uno(playable) else plays

    def _answers_with_uno(self) -> list[str]:
        """Rule "Stacking": cards of the same kind answer a draw card."""
        return self._with_uno(self._answers(self.player) if self.rules.stacking else [])

    def _answers(self, seat: int) -> list[str]:
        top = self.discard[-1]
        kind = "W+4" if top == "W+4" else "+2"
        return sorted({c for c in self.hands[seat] if kind in (c, symbol_of(c))})

    def _take_over(self) -> None:
        """Rules "Jumping in", "Stacking": who plays out of turn has the turn from now on."""
        if self.phase == "challenge":
            self.stack += 4
            self.happened["challengeable answered"] += 1
        else:
            self.happened["jumped in"] += 1
        self.on_turn = self.player

    def _jump_in_window(self) -> None:
        """Rule "Jumping in": whoever else holds the like of a coloured card may play it at once."""
        card = self.discard[-1]
        if self.rules.jump_in and not is_wild(card) and not self.asked_to_jump_in:
            for seat in self._clockwise_from_left_of(self.on_turn)[:-1]:
                if card in self.hands[seat]:
                    self.phase = "jump_in"
                    self.player = seat
                    self.said = False
                    return
        self._challenge_window()

    def _hit(self, victim: int) -> None:
        """Draw Two and Wild Draw 4; rule "Stacking": the next seat may answer, or draws the sum."""
        self.stack += 4 if self.discard[-1] == "W+4" else 2
        asked = self.phase == "challenge"
        if self.rules.stacking and not asked and self._answers(victim):
            self.phase = "stack"
            self.on_turn = self.player = victim
            self.said = False
            self.happened["stack offered"] += 1
            return
        self._give_cards(victim, self.stack)
        self._begin_turn(self._after(victim))

    def _swap_hands(self, places: int) -> None:
        """Rule "Sevens and zeros": with the seat so many places clockwise."""
        one, other = self.on_turn, (self.on_turn + places) % self.num_players
        self._move_hands({one: other, other: one})
        self.happened["swapped"] += 1
        self._begin_turn(self._after(self.on_turn))

    def _pass_hands_on(self) -> None:
        """Rule "Sevens and zeros": all hands go one seat on in the direction of play."""
        self._move_hands({self._after(seat): seat for seat in range(self.num_players)})
        self.happened["hands passed on"] += 1

    def _move_hands(self, source: dict[int, int]) -> None:
        """Each seat gets the hand of another, and what was seen of it."""
        for held in (self.hands, self.known, self.lack):
            before = list(held)
            for seat, giver in source.items():
                held[seat] = before[giver]

    def _partner(self, seat: int) -> int:
        """Rule "Partners": opposite seats are a pair."""
        return (seat + 2) % 4

    def _pairs_points(self) -> None:
        """Rule "Partners": both of a pair have what the pair has."""
        assert self.winner is not None
        self.happened["pair won"] += 1
        in_hand = [self._points_in_hand(seat) for seat in range(4)]
        of_pair = [in_hand[0] + in_hand[2], in_hand[1] + in_hand[3]]
        if self.rules.scoring == "winner":
            own = self.winner % 2
            of_pair = [of_pair[1 - own] if pair == own else 0 for pair in range(2)]
        self.points = [of_pair[seat % 2] for seat in range(4)]
        self.scores = [have + more for have, more in zip(self.scores, self.points, strict=True)]
        if max(self.scores) >= self.rules.target:
            best = (max if self.rules.scoring == "winner" else min)(self.scores)
            self._end_game([seat for seat in range(4) if self.scores[seat] == best])

    # --- "Draw pile empty" -----------------------------------------------------------------------

    def _give_cards(self, seat: int, count: int) -> None:
        """Deal `count` cards to a seat, or what there is."""
        for _ in range(count):
            self._give_card(seat)

    def _give_card(self, seat: int) -> str | None:
        """Deal one card to a seat; None if nothing is left."""
        if not self.draw:
            self._reshuffle()
        if not self.draw:
            self.happened["no card left to give"] += 1
            return None
        card = self.draw.pop(0)
        self.hands[seat].append(card)
        for colour in COLOURS:
            self.lack[seat][colour] = min(self.lack[seat][colour] + 1, NEVER)
        return card

    def _reshuffle(self) -> None:
        """All discards but the top one become a new draw pile; the active colour stays."""
        buried, top = self.discard[:-1], self.discard[-1]
        if buried:
            self.happened["reshuffle"] += 1
            self.draw = self.random.shuffle(buried)
            self.discard = [top]

    # --- "UNO" -----------------------------------------------------------------------------------

    def _uno_counts_as_said(self) -> bool:
        return self.said or self.rules.uno_call == "automatic"

    def _missing_call(self) -> None:
        """`automatic`: the penalty follows at once. `caught`: every opponent is asked."""
        if self.rules.uno_enforcement == "automatic":
            self.happened["penalty at once"] += 1
            self._give_cards(self.on_turn, self.rules.uno_penalty)
            self._jump_in_window()
        else:
            self.still_to_ask = self._clockwise_from_left_of(self.on_turn)[:-1]
            if self.rules.partners:
                self.still_to_ask.remove(self._partner(self.on_turn))
            self._ask_next_opponent()

    def _ask_next_opponent(self) -> None:
        """Clockwise from the player's left; a player whom nobody catches is safe."""
        if self.still_to_ask:
            self.phase = "catch"
            self.player = self.still_to_ask.pop(0)
        else:
            self._jump_in_window()

    def _catch(self) -> None:
        """A catch gives the penalty and closes the window."""
        self.happened["catch"] += 1
        self.still_to_ask = []
        self._give_cards(self.on_turn, self.rules.uno_penalty)
        self._jump_in_window()

    def _let_go(self) -> None:
        if self.phase == "jump_in":
            self.happened["no jump"] += 1
            self._challenge_window()
        else:
            self.happened["let-go"] += 1
            self._ask_next_opponent()

    # --- "The end of a round and of a game" ------------------------------------------------------

    def _end_round(self) -> None:
        """A hand is empty: the last card's draws, then points, then perhaps the game's end."""
        self.phase = "over"
        self.guilty = False
        self.colour_before = None
        self.winner = self.on_turn
        if self.rules.last_card_draws:
            self._last_card_draws()
        self.happened["round won"] += 1
        self.stack = 0
        if self.rules.partners:
            self._pairs_points()
        elif self.rules.scoring == "winner":
            self._winner_takes_the_opponents_points()
        else:
            self._own_points_count()

    def _last_card_draws(self) -> None:
        """Draw Two, Wild Draw 4 and King Pig deal; the King Pig to opponents only."""
        card = self.discard[-1]
        victim = self._after(self.on_turn)
        if card == "KP":
            self.happened["last card KP"] += 1
            self._king_pig(to_player=False)
        elif card == "W+4":
            self.happened["last card W+4"] += 1
            self._give_cards(victim, self.stack + 4)
        elif symbol_of(card) == "+2":
            self.happened["last card +2"] += 1
            self._give_cards(victim, self.stack + 2)

    def _points_in_hand(self, seat: int) -> int:
        return sum(points_of(card, self.rules) for card in self.hands[seat])

    def _winner_takes_the_opponents_points(self) -> None:
        """The sum of the opponents' cards; the target, at least, ends the game."""
        assert self.winner is not None
        total = sum(self._points_in_hand(seat) for seat in range(self.num_players))
        self.points[self.winner] = total
        self.scores[self.winner] += total
        if self.scores[self.winner] >= self.rules.target:
            self._end_game([self.winner])

    def _own_points_count(self) -> None:
        """`lowest`: own cards count against one; the lowest total wins, ties win together."""
        for seat in range(self.num_players):
            self.points[seat] = self._points_in_hand(seat)
            self.scores[seat] += self.points[seat]
        if max(self.scores) >= self.rules.target:
            lowest = min(self.scores)
            self._end_game([seat for seat, total in enumerate(self.scores) if total == lowest])

    def _end_game(self, winners: list[int]) -> None:
        self.happened["game won"] += 1
        self.game_over = True
        self.game_winners = winners

    def _blocked_round(self) -> None:
        """Rule "A turn": void, no points."""
        self.happened["round blocked"] += 1
        self.phase = "over"

    # --- Looking at the table --------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Everything there is to compare, as plain values."""
        return {
            "phase": self.phase,
            "turn": self.player,
            "on_turn": self.on_turn,
            "hands": tuple(tuple(in_deck_order(hand)) for hand in self.hands),
            "discard": (*in_deck_order(self.discard[:-1]), self.discard[-1]),
            "draw": tuple(self.draw),
            "colour": self.colour,
            "direction": self.direction,
            "dealer": self.dealer,
            "scores": tuple(self.scores),
            "points": tuple(self.points),
            "winner": self.winner,
            "drawn": self.drawn,
            "said": self.said,
            "guilty": self.guilty,
            "colour_before": self.colour_before,
            "stack": self.stack,
            "over": self.phase == "over",
            "game_over": self.game_over,
            "game_winners": tuple(self.game_winners),
            "known": tuple(tuple(in_deck_order(cards)) for cards in self.known),
            "lack": tuple(tuple(counts[c] for c in COLOURS) for counts in self.lack),
        }

    # --- Conformance cases -----------------------------------------------------------------------

    @classmethod
    def from_case(cls, case: Mapping[str, Any], seed: int = 0) -> ReferenceGame:
        """The table that a conformance case sets, turns that can do nothing already passed.

        Args:
            case: its keys as the conformance cases have them; `id`, `do` and `expect` are not
                looked at.
            seed: what reshuffles come from.

        Raises:
            ValueError: an unknown key or card, or a table that cannot be.
        """
        for key in case:
            if key not in CASE_KEYS:
                raise ValueError(f"unknown key {key!r} of a case: known are {', '.join(CASE_KEYS)}")
        if "hands" not in case or ("discard" in case) == ("opening" in case):
            raise ValueError("a case has hands and either discard or opening")
        num_players = len(case["hands"])
        rules = Rules.make(case.get("rules", "angry_birds"), num_players=num_players)
        game = cls.__new__(cls)
        game._sit_down(rules, seed)
        game.hands = [parse_cards(hand) for hand in case["hands"]]
        game.draw = parse_cards(case.get("draw", ""))
        game.discard = parse_cards(case["opening" if "opening" in case else "discard"])
        game.dealer = case.get("dealer", num_players - 1)
        game.scores = list(case.get("scores", [0] * num_players))
        game._check_table()
        if "opening" in case:
            game._begin_with_opening(case)
        else:
            game._begin_in_the_middle(case)
        return game

    def _check_table(self) -> None:
        used = Counter(self.draw + self.discard)
        for hand in self.hands:
            used.update(hand)
        too_many = used - Counter(whole_deck(self.rules))
        if too_many:
            raise ValueError(f"more than the deck has of {', '.join(sorted(too_many))}")
        if not all(self.hands):
            raise ValueError("a hand is empty, so the round would be over")
        if not self.discard:
            raise ValueError("the discard pile is empty")
        if len(self.scores) != self.num_players:
            raise ValueError(f"scores {self.scores} are not one for each of the hands")
        self._check_seat("dealer", self.dealer)

    def _check_seat(self, key: str, seat: int) -> None:
        if seat not in range(self.num_players):
            raise ValueError(f"{key} {seat!r} is not a seat from 0 to {self.num_players - 1}")

    def _begin_with_opening(self, case: Mapping[str, Any]) -> None:
        for key in ("turn", "colour", "direction"):
            if key in case:
                raise ValueError(f"{key} follows from the opening card and is not given with it")
        if len(self.discard) != 1:
            raise ValueError("the opening card is one card")
        if set(self.draw + self.discard) == {"W+4"}:
            raise ValueError("an opening Wild Draw 4 needs another card in the draw pile")
        self._opening_card()

    def _begin_in_the_middle(self, case: Mapping[str, Any]) -> None:
        turn = case.get("turn", 0)
        self._check_seat("turn", turn)
        printed = colour_of(self.discard[-1])
        self.colour = case.get("colour", printed)
        if self.colour not in COLOURS:
            raise ValueError(f"colour {self.colour!r} is not one of {', '.join(COLOURS)}")
        if printed not in (None, self.colour):
            raise ValueError(f"colour {self.colour} is not that of {self.discard[-1]} on top")
        self.direction = case.get("direction", 1)
        if self.direction not in (1, -1):
            raise ValueError(f"direction {self.direction!r} is neither 1 nor -1")
        self._begin_turn(turn)
