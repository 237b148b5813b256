"""What a browser is told of a table: only what the person at it may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from agents.advice import Advice
from agents.web.rooms import RecordRoom, TableRoom
from uno_env.game.actions import ACTIONS, Action
from uno_env.game.cards import CARDS, NUM_FACES, Colour
from uno_env.game.position import Position
from uno_env.records import Decision
from uno_env.render.words import what_happened, what_is_next

_COLOURS = {"R": "red", "Y": "yellow", "G": "green", "B": "blue"}
_MOST_LOGGED = 60
_LABELS = {
    Action.DRAW: "Draw",
    Action.KEEP: "Keep it",
    Action.UNO: "Say UNO",
    Action.LET_GO: "Let it pass",
    Action.CHALLENGE: "Challenge",
}
_PLAYS = {
    card: [face for face in range(NUM_FACES) if ACTIONS[face].partition(":")[0] == card]
    for card in CARDS
}
"""The actions that play each card: of a wild one for each colour."""


def table(room: TableRoom) -> dict[str, Any]:
    """A table, as the person in its room sees it: one who has no seat sees all hands."""
    at, seat = room.table, room.seat
    position = at.position
    mine = seat is not None and at.turn == seat
    legal = at.legal if mine else []
    return {
        **_position(position, at.names, room.log, seat),
        "decisions": at.decisions,
        "bot": at.bot is not None,
        "mine": mine,
        "hand": [
            _card(card, legal, at.why_illegal(_PLAYS[card][0]) if mine else None)
            for card in (() if seat is None else position.hands[seat])
        ],
        "choices": [
            {"action": action, "label": _label(action, position, at.names)}
            for action in legal
            if action >= NUM_FACES
        ],
    }


def record(room: RecordRoom, step: int) -> dict[str, Any]:
    """The table of a record after so many lines, all hands open, and the action chosen there."""
    entries = room.record.entries
    following = entries[step] if step < len(entries) else None
    chosen = following.action if isinstance(following, Decision) else None
    position = room.position(step)
    return {
        **_position(position, room.record.seats, room.log(step), None),
        "step": step,
        "steps": len(entries),
        "chosen": chosen,
    }


def advice(position: Position, names: Sequence[str], given: list[Advice]) -> list[dict[str, Any]]:
    """Advice, each piece with a label for its action."""
    return [
        {
            **asdict(each),
            "text": ACTIONS[each.action],
            "label": _label(each.action, position, names),
        }
        for each in given
    ]


def _position(
    position: Position, names: Sequence[str], log: list[tuple[int, int]], seat: int | None
) -> dict[str, Any]:
    """What all at the table see, and the hands that are open to `seat`: all to None."""
    asked = position.turn if seat is None else seat
    return {
        "rules": str(position.rules),
        "seat": seat,
        "seats": [
            {
                "name": names[player],
                "cards": len(hand),
                "hand": hand if seat in (None, player) else None,
                "score": position.scores[player],
                "points": position.points[player],
                "turn": player == position.turn and not position.over,
                "uno": position.said and player == position.on_turn,
                "dealer": player == position.dealer,
                "winner": player == position.winner,
            }
            for player, hand in enumerate(position.hands)
        ],
        "top": position.opening or position.top,
        "colour": position.colour,
        "pile": len(position.draw),
        "stack": position.stack,
        "direction": position.direction,
        "log": [what_happened(last, names) for last in log[-_MOST_LOGGED:]],
        "decided": len(log),
        "status": what_is_next(position, names, seat=asked),
        "over": position.over,
        "game_over": position.game_over,
    }


def _card(card: str, legal: Sequence[int], why: str | None) -> dict[str, Any]:
    """A card of the person's hand: the actions that play it now, or why there are none."""
    plays = [face for face in _PLAYS[card] if face in legal]
    return {"card": card, "plays": plays, "why": None if plays else why}


def _label(action: int, position: Position, names: Sequence[str]) -> str:
    """An action on a button."""
    text = ACTIONS[action]
    if action < NUM_FACES:
        card, _, colour = text.partition(":")
        return f"{card}, {_COLOURS[colour]}" if colour else card
    if action == Action.CATCH:
        return f"Catch {names[position.on_turn]}"
    if action == Action.ACCEPT:
        return f"Draw {position.stack} cards" if position.stack else "Accept and draw 4"
    if action >= Action.SWAP:
        other = (position.turn + action - Action.SWAP + 1) % len(names)
        return f"Swap with {names[other]}"
    if action >= Action.COLOUR:
        return _COLOURS[Colour(action - Action.COLOUR).name].capitalize()
    return _LABELS[Action(action)]
