"""Why an action is illegal, in words that name the rule.

This goes through the rules by itself, one game and one card at a time, and does not look at the
mask; tests hold the two against each other.
"""

from __future__ import annotations

import numpy as np

from uno_env.game.actions import ACTIONS, Action
from uno_env.game.cards import (
    CARD_BITS,
    CARD_KIND,
    CARDS,
    NUM_CARDS,
    NUM_COLOURED_SYMBOLS,
    NUM_COLOURS,
    NUM_FACES,
    NUM_SYMBOLS,
    Colour,
    kind_of_face,
)
from uno_env.game.dealing import nothing_to_draw
from uno_env.game.rules import Rules
from uno_env.game.state import Phase, State


def why_illegal(state: State, game: int, action: int) -> str | None:
    """Why an action may not be played now, naming the rule; None if it may.

    This walks through the rules by itself and does not look at the mask.
    """
    phase = Phase(state.phase[game])
    if phase == Phase.OVER:
        return "the round is over"
    if action < NUM_FACES:
        return _why_no_play(state, game, action, phase)
    if action == Action.UNO:
        return _why_no_uno(state, game, phase)
    if action == Action.DRAW:
        return _why_no_draw(state, game, phase)
    if action >= Action.SWAP:
        return _why_no_swap(state.rules, action, phase)
    return _why_not_asked(state, action, phase)


def _hand_kinds(state: State, game: int) -> list[int]:
    """Kinds held by the seat to act, one entry per card."""
    hand = state.hands[game, state.acting[game]]
    held = (CARD_BITS[:NUM_CARDS] & hand).any(axis=1)
    return [int(kind) for kind in CARD_KIND[:NUM_CARDS][held]]


def _colour_of_kind(kind: int) -> int | None:
    coloured = kind < NUM_COLOURED_SYMBOLS * NUM_COLOURS
    return kind // NUM_COLOURED_SYMBOLS if coloured else None


def _matches(kind: int, top: int) -> bool:
    """Whether one card matches the top face ("Words": match)."""
    colour = _colour_of_kind(kind)
    if colour is None:
        return False
    top_colour, top_symbol = divmod(top, NUM_SYMBOLS)
    return colour == top_colour or kind % NUM_COLOURED_SYMBOLS == top_symbol


def _why_no_play(state: State, game: int, action: int, phase: Phase) -> str | None:
    kind = kind_of_face(action)
    text = CARDS[kind]
    hand = _hand_kinds(state, game)
    top = int(state.top[game])
    answers = _may_lay_out_of_turn(state.rules, phase)
    if phase not in (Phase.TURN, Phase.DRAWN) and not answers:
        return f"{text} cannot be played now: {_WAITS_FOR[phase]}"
    if kind not in hand:
        return f"{text} is not in the hand of seat {state.acting[game]}"
    if answers:
        return _why_no_answer(kind, kind_of_face(top), phase)
    if phase == Phase.DRAWN and kind != CARD_KIND[state.drawn[game]]:
        return (
            f"after a draw only the drawn card, {CARDS[CARD_KIND[state.drawn[game]]]}, "
            "may be played"
        )
    if _colour_of_kind(kind) is not None:
        if _matches(kind, top):
            return None
        return (
            f"{text} does not match: neither the active colour {Colour(top // NUM_SYMBOLS).name} "
            f"nor the number or symbol of {CARDS[kind_of_face(top)]}"
        )
    if text == "W+4":
        return _why_no_wild_draw_four(state.rules, hand, top)
    return None


def _may_lay_out_of_turn(rules: Rules, phase: Phase) -> bool:
    """Whether who is asked may answer with a card ("House rules")."""
    return phase in (Phase.JUMP_IN, Phase.STACK) or (phase == Phase.CHALLENGE and rules.stacking)


def _why_no_answer(kind: int, top: int, phase: Phase) -> str | None:
    """Why a card is no jump, or no answer to a draw card."""
    if phase == Phase.JUMP_IN:
        if kind == top:
            return None
        return f"{CARDS[kind]} is no jump: only {CARDS[top]}, the like of the card on top, is"
    same = kind == top or (
        _colour_of_kind(kind) is not None
        and _colour_of_kind(top) is not None
        and kind % NUM_COLOURED_SYMBOLS == top % NUM_COLOURED_SYMBOLS
    )
    if same:
        return None
    return f"{CARDS[kind]} does not answer {CARDS[top]}: only a card of the same kind does"


def _why_no_swap(rules: Rules, action: int, phase: Phase) -> str | None:
    if not rules.seven_zero:
        return "swapping hands belongs to the house rule seven_zero, which is off"
    if phase != Phase.SWAP:
        return f"{ACTIONS[action]}: no 7 has been laid"
    places = action - Action.SWAP + 1
    if places >= rules.num_players:
        return f"{ACTIONS[action]}: allowed is swap:1 to swap:{rules.num_players - 1}"
    return None


def _why_no_wild_draw_four(rules: Rules, hand: list[int], top: int) -> str | None:
    active = top // NUM_SYMBOLS
    if rules.wild_draw_four == "no_matching_colour":
        barring = [CARDS[kind] for kind in hand if _colour_of_kind(kind) == active]
        what = f"a card of the active colour {Colour(active).name}"
    elif rules.wild_draw_four == "no_matching_card":
        barring = [CARDS[kind] for kind in hand if _matches(kind, top)]
        what = "a matching card"
    else:
        return None
    if not barring:
        return None
    return (
        f"Wild Draw 4 may not be played while holding {what} ({' '.join(barring)}): "
        f"wild_draw_four is {rules.wild_draw_four}"
    )


def _why_no_uno(state: State, game: int, phase: Phase) -> str | None:
    if state.rules.uno_call == "automatic":
        return "UNO is said by itself: uno_call is automatic"
    if phase not in (Phase.TURN, Phase.DRAWN) and not _may_lay_out_of_turn(state.rules, phase):
        return f"UNO is said on one's own turn: {_WAITS_FOR[phase]}"
    hand = _hand_kinds(state, game)
    if len(hand) != 2:
        return f"UNO is said holding two cards, seat {state.acting[game]} holds {len(hand)}"
    if state.said[game]:
        return "UNO has been said this turn"
    if all(_why_no_play(state, game, face, phase) for face in range(NUM_FACES)):
        return "UNO is said before playing the second-last card, and neither may be played now"
    return None


def _why_no_draw(state: State, game: int, phase: Phase) -> str | None:
    if phase == Phase.DRAWN:
        return "a card has been drawn this turn"
    if phase != Phase.TURN:
        return f"no card can be drawn now: {_WAITS_FOR[phase]}"
    if nothing_to_draw(state, np.array([game])).size:
        return "there is no card to draw: the pile is empty and no discard lies below the top one"
    if state.rules.voluntary_draw == "without_match":
        top = int(state.top[game])
        matching = [CARDS[kind] for kind in _hand_kinds(state, game) if _matches(kind, top)]
        if matching:
            return (
                f"no draw while holding a matching card ({' '.join(matching)}): "
                "voluntary_draw is without_match"
            )
    return None


_WAITS_FOR = {
    Phase.TURN: "it is a player's turn",
    Phase.DRAWN: "the drawn card may be played",
    Phase.CATCH: "opponents are asked whether they catch a player who did not say UNO",
    Phase.CHALLENGE: "the victim of a Wild Draw 4 is asked whether to challenge it",
    Phase.COLOUR: "the opening wild waits for its colour",
    Phase.SWAP: "who laid a 7 chooses whom to swap hands with",
    Phase.JUMP_IN: "who holds the like of the card on top is asked whether to jump in",
    Phase.STACK: "a draw card is to be answered with one of the same kind, or its cards drawn",
}

_ASKED_IN: dict[Action, tuple[tuple[Phase, ...], str]] = {
    Action.KEEP: ((Phase.DRAWN,), "only a card just drawn can be kept"),
    Action.CATCH: ((Phase.CATCH,), "nobody went down to one card without saying UNO"),
    Action.LET_GO: (
        (Phase.CATCH, Phase.JUMP_IN),
        "nobody went down to one card without saying UNO",
    ),
    Action.CHALLENGE: ((Phase.CHALLENGE,), "there is no Wild Draw 4 to challenge"),
    Action.ACCEPT: ((Phase.CHALLENGE, Phase.STACK), "there is no Wild Draw 4 to accept"),
    Action.COLOUR: ((Phase.COLOUR,), "there is no opening wild without a colour"),
}
"""The phases in which each answer is asked for, and why it is not in others."""


def _why_not_asked(state: State, action: int, phase: Phase) -> str | None:
    """Why an answer to a question that belongs to one phase may not be given."""
    asked_in, otherwise = _ASKED_IN[Action(min(action, Action.COLOUR))]
    if phase not in asked_in:
        return f"{ACTIONS[action]}: {otherwise}"
    if action == Action.KEEP and state.rules.drawn_card == "forced":
        return "a drawn card that can be played must be played: drawn_card is forced"
    return None
