"""The flat action layout: one number for every action of every rule, never renumbered.

======  =======================  =====================================================
 id      text                     meaning
======  =======================  =====================================================
 0-63    ``R0`` ... ``KP:B``      play the card that then lies as this face (`cards`)
 64      ``draw``                 draw a card
 65      ``keep``                 keep the card just drawn
 66      ``uno``                  say UNO
 67      ``catch``                catch a player who did not say UNO
 68      ``let-go``               do not catch (house rule `jump_in`: do not jump in)
 69      ``challenge``            challenge a Wild Draw 4
 70      ``accept``               accept it (house rule `stacking`: draw the sum)
 71-74   ``colour:R`` ...         name the colour of an opening Wild or King Pig
 75-83   ``swap:1`` ...           house rule `seven_zero`: swap hands, places clockwise
======  =======================  =====================================================

Masks are made as two words of bits: the first for ids 0-63, the second for those from 64.
"""

from __future__ import annotations

from enum import IntEnum

from uno_env.game.cards import (
    CARDS,
    NUM_COLOURED_SYMBOLS,
    NUM_FACES,
    NUM_SYMBOLS,
    Colour,
    kind_of_face,
)


class Action(IntEnum):
    """Ids of the actions that are not plays; `COLOUR` and `SWAP` are the first of their range."""

    DRAW = NUM_FACES
    KEEP = 65
    UNO = 66
    CATCH = 67
    LET_GO = 68
    CHALLENGE = 69
    ACCEPT = 70
    COLOUR = 71
    SWAP = 75


MAX_SWAP = 9


def _play_text(face: int) -> str:
    text = CARDS[kind_of_face(face)]
    colour, symbol = divmod(face, NUM_SYMBOLS)
    return text if symbol < NUM_COLOURED_SYMBOLS else f"{text}:{Colour(colour).name}"


ACTIONS: tuple[str, ...] = (
    *(_play_text(face) for face in range(NUM_FACES)),
    *("draw", "keep", "uno", "catch", "let-go", "challenge", "accept"),
    *(f"colour:{colour.name}" for colour in Colour),
    *(f"swap:{places}" for places in range(1, MAX_SWAP + 1)),
)
"""The text of each action, by id."""

NUM_ACTIONS = len(ACTIONS)
ACTION_LAYOUT_VERSION = 1
_ID_OF_TEXT = {text: action for action, text in enumerate(ACTIONS)}


def parse_action(text: str) -> int:
    """The id of an action written in the rulebook's notation, such as ``R5`` or ``W:G``.

    Raises:
        ValueError: `text` is not an action; the message lists what is.
    """
    action = _ID_OF_TEXT.get(text)
    if action is None:
        others = ", ".join(ACTIONS[NUM_FACES : Action.COLOUR])
        raise ValueError(
            f"unknown action {text!r}: an action is a coloured card such as R5, a wild with a "
            f"colour such as W:R, W+4:G or KP:B, one of {others}, colour:R or swap:1"
        )
    return action


def bit_in_second_word(action: int) -> int:
    """The bit of an action from `Action.DRAW` on in the second word of a mask."""
    return 1 << (action - NUM_FACES)
