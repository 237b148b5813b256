"""Which positions can be: what their fields must agree on.

A `Position` asks this of itself when it is made; the forms and ranges of single fields are its own
affair.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from uno_env.game import legality
from uno_env.game.cards import CARD_KIND, CARDS, KIND_OF_TEXT, WILD_KINDS
from uno_env.game.setup import COLOUR_NAMES, face_on_table, faces_of

if TYPE_CHECKING:
    from uno_env.game.position import Position


def colour_of(card: str) -> str | None:
    """The colour of a card written as text, None for a wild."""
    return card[0] if KIND_OF_TEXT[card] < WILD_KINDS.start else None


def validate(position: Position) -> None:
    """Raise a ValueError that names the field and the value, if play cannot come to this table."""
    _validate_cards(position)
    _validate_end(position)
    if position.opening is None:
        _validate_colour(position)
    else:
        _validate_opening(position)
    _validate_phase(position)


def _validate_cards(position: Position) -> None:
    deck = Counter(CARDS[kind] for kind in CARD_KIND[: position.rules.deck_size])
    opening = () if position.opening is None else (position.opening,)
    used = Counter(
        card
        for cards in (*position.hands, position.discard, position.draw, opening)
        for card in cards
    )
    for card, number in used.items():
        if number > deck[card]:
            raise ValueError(
                f"{card} stands {number} times on the table: the deck {position.rules.deck} has "
                f"{deck[card]}"
            )
    for seat, (known, hand) in enumerate(zip(position.known, position.hands, strict=True)):
        if Counter(known) - Counter(hand):
            raise ValueError(
                f"known={' '.join(known)} of seat {seat}: not all of it is in the hand"
            )


def _validate_end(position: Position) -> None:
    """Nobody but the winner of a round that is over has no cards; points come with a winner."""
    winner = position.winner
    if winner is not None and not position.over:
        raise ValueError(f"winner={winner} in phase {position.phase}: it belongs to phase over")
    if any(position.points) and winner is None:
        raise ValueError(f"points={position.points}: without a winner there are none")
    for seat, hand in enumerate(position.hands):
        if not hand and seat != winner:
            raise ValueError(
                f"the hand of seat {seat} is empty: then the round is over and the seat is its "
                f"winner, but phase={position.phase} and winner={winner}"
            )
    if winner is not None and position.hands[winner]:
        raise ValueError(f"winner={winner}: that seat still holds cards")


def _validate_opening(position: Position) -> None:
    if position.discard:
        raise ValueError("a position has either a discard pile or an opening card")
    if position.opening == "W+4" and set(position.draw) <= {"W+4"}:
        raise ValueError("opening=W+4: it goes back, and the pile holds no other card to turn")
    if position.colour is not None or position.phase != "turn":
        raise ValueError("with an opening card the colour and the phase are still to come")
    if position.said:
        raise ValueError("said=True: before the opening card takes effect nobody has said UNO")


def _validate_colour(position: Position) -> None:
    if not position.discard:
        raise ValueError("a position has either a discard pile or an opening card")
    colour, top_colour = position.colour, colour_of(position.top)
    if position.phase == "colour":
        if colour is not None or position.top not in ("W", "KP"):
            raise ValueError("phase=colour: the top card is a W or KP and no colour is named yet")
    elif not isinstance(colour, str) or colour not in COLOUR_NAMES:
        raise ValueError(
            f"colour={colour!r} with {position.top} on top: allowed is one of R, Y, G, B"
        )
    elif top_colour is not None and colour != top_colour:
        raise ValueError(f"colour={colour}: the active colour of {position.top} is {top_colour}")


def _validate_phase(position: Position) -> None:
    phase, rules = position.phase, position.rules
    asked = phase in ("catch", "challenge", "jump_in")
    if asked == (position.turn == position.on_turn) and phase != "over":
        raise ValueError(
            f"turn={position.turn}, on_turn={position.on_turn} in phase {phase}: they differ in "
            "phases catch, challenge and jump_in alone"
        )
    _validate_house_rules(position)
    asked = phase in ("catch", "challenge")
    if (phase == "drawn") != (position.drawn is not None):
        raise ValueError(f"drawn={position.drawn!r} in phase {phase}: it belongs to phase drawn")
    if position.drawn is not None:
        _validate_drawn(position, position.drawn)
    if phase == "catch":
        _validate_catch(position)
    wild_draw_four = not position.opening and position.top == "W+4"
    bluffed = wild_draw_four and rules.wild_draw_four == "bluff"
    if phase == "challenge":
        if not bluffed:
            raise ValueError("phase=challenge: a W+4 is on top and wild_draw_four is bluff")
        victim = (position.on_turn + position.direction) % rules.num_players
        if position.turn != victim:
            raise ValueError(
                f"turn={position.turn} in phase challenge: seat {victim}, next to "
                f"on_turn={position.on_turn}, is asked"
            )
    if position.guilty and not (bluffed and asked):
        raise ValueError(
            "guilty=True: it belongs to phases catch and challenge, with a W+4 on top and "
            "wild_draw_four bluff"
        )
    if position.colour_before is not None:
        if not (bluffed and asked):
            raise ValueError(
                f"colour_before={position.colour_before}: it belongs to phases catch and "
                "challenge, with a W+4 on top and wild_draw_four bluff"
            )
        _validate_guilt(position)
    if position.said and (rules.uno_call == "automatic" or phase == "colour"):
        raise ValueError(
            f"said=True in phase {phase}, uno_call {rules.uno_call}: UNO is said on one's turn, "
            "where uno_call is explicit"
        )


_OF_HOUSE_RULE = {"swap": "seven_zero", "jump_in": "jump_in", "stack": "stacking"}
"""The house rule that each of these phases belongs to."""


def _validate_house_rules(position: Position) -> None:
    """Phases and stacks that house rules bring ("House rules")."""
    phase, rules = position.phase, position.rules
    house_rule = _OF_HOUSE_RULE.get(phase)
    if house_rule and not getattr(rules, house_rule):
        raise ValueError(f"phase={phase}: it belongs to the house rule {house_rule}, which is off")
    top = "" if position.opening else position.top
    if phase == "swap" and top[1:] != "7":
        raise ValueError(f"phase=swap with {top} on top: hands are swapped after a 7")
    if phase == "jump_in":
        if colour_of(top) is None:
            raise ValueError(f"phase=jump_in with {top} on top: it takes a coloured card")
        if top not in position.hands[position.turn]:
            raise ValueError(f"phase=jump_in: seat {position.turn}, which is asked, holds no {top}")
    _validate_stack(position, top)


def _validate_stack(position: Position, top: str) -> None:
    """Cards are stacked up under a draw card that somebody may still answer, or be caught for."""
    phase, rules, stack = position.phase, position.rules, position.stack
    unit = 4 if top == "W+4" else 2
    kind = top if top == "W+4" else top[1:]
    if stack and not (rules.stacking and kind in ("+2", "W+4") and phase in _STACKED_IN):
        raise ValueError(
            f"stack={stack} in phase {phase}: it belongs to the house rule stacking, with a draw "
            f"card on top, in phases {', '.join(_STACKED_IN)}"
        )
    if stack % unit:
        raise ValueError(f"stack={stack} with {top} on top: allowed are multiples of {unit}")
    if phase != "stack":
        return
    if not stack or (top == "W+4" and rules.wild_draw_four == "bluff"):
        raise ValueError(
            f"phase=stack with stack={stack} and {top} on top: a draw card that nobody may "
            "challenge has taken effect"
        )
    if not any(card == top or card[1:] == kind for card in position.hands[position.turn]):
        raise ValueError(f"phase=stack: seat {position.turn}, which is asked, holds no answer")


_STACKED_IN = ("catch", "challenge", "jump_in", "stack")


def _validate_guilt(position: Position) -> None:
    """Who holds the colour of before is guilty, unless it all came with a penalty."""
    hand, rules = position.hands[position.on_turn], position.rules
    of_colour = [colour_of(card) == position.colour_before for card in hand]
    caught = position.phase == "challenge" and rules.uno_call == "explicit" and not position.said
    may_be_drawn = caught and 2 <= len(hand) <= 1 + rules.uno_penalty and not all(of_colour)
    if position.guilty and not any(of_colour):
        raise ValueError(
            f"guilty=True, colour_before={position.colour_before}: seat {position.on_turn} holds "
            "no card of that colour"
        )
    if not position.guilty and any(of_colour) and not may_be_drawn:
        raise ValueError(
            f"guilty=False, colour_before={position.colour_before}: seat {position.on_turn} held "
            "a card of that colour before the W+4 was laid"
        )


def _validate_drawn(position: Position, drawn: str) -> None:
    """The card drawn may be played, or the turn would have passed by itself."""
    rules, hand = position.rules, position.hands[position.turn]
    if drawn not in hand:
        raise ValueError(f"drawn={drawn}: not in the hand of seat {position.turn}")
    held = np.array([faces_of(hand)])
    top = np.array([face_on_table(position.top, COLOUR_NAMES.index(str(position.colour)))])
    playable = legality.playable(rules, held, top, legality.matching_cards(held, top))
    if not playable[0] & faces_of([drawn]):
        why = f" with {' '.join(hand)} in hand and wild_draw_four {rules.wild_draw_four}"
        raise ValueError(
            f"drawn={drawn}: it may not be played on {position.top} in colour {position.colour}"
            f"{why if drawn == 'W+4' else ''}, so the turn has passed"
        )


def _validate_catch(position: Position) -> None:
    rules, player = position.rules, position.on_turn
    if rules.uno_call == "automatic" or rules.uno_enforcement == "automatic":
        raise ValueError(
            f"phase=catch: under uno_call {rules.uno_call} and uno_enforcement "
            f"{rules.uno_enforcement} nobody is caught"
        )
    if len(position.hands[player]) != 1 or position.said:
        raise ValueError(
            f"phase=catch: seat {player} holds {len(position.hands[player])} cards and "
            f"said={position.said}, caught is who holds one and has not said UNO"
        )
