"""What happens at a table, said in words: the same for every kind of picture."""

from __future__ import annotations

from collections.abc import Sequence

from uno_env.game.actions import ACTIONS, NUM_ACTIONS, Action
from uno_env.game.cards import NUM_FACES
from uno_env.game.position import Position

_DECISIONS = {
    "turn": "to act",
    "drawn": "may play the card just drawn{drawn}",
    "catch": "may catch {player}, who did not say UNO",
    "challenge": "may challenge the Wild Draw 4 of {player}",
    "colour": "to name the colour",
    "swap": "to choose with whom to swap hands",
    "jump_in": "may jump in with a card like the one on top",
    "stack": "may stack a draw card on {stack} cards, or draws them",
}
"""What is asked of the seat to act, in each phase of a round."""

_SAID = {
    Action.DRAW: "drew",
    Action.KEEP: "kept the card drawn",
    Action.UNO: "said UNO",
    Action.CATCH: "caught the player",
    Action.LET_GO: "let it pass",
    Action.CHALLENGE: "challenged",
    Action.ACCEPT: "accepted",
}


def name_seats(position: Position, names: Sequence[str] | None) -> list[str]:
    """What each seat is called; ``player_0`` ... by default.

    Raises:
        ValueError: not one name per seat.
    """
    players = position.rules.num_players
    called = [f"player_{seat}" for seat in range(players)] if names is None else list(names)
    if len(called) != players:
        raise ValueError(f"names={names!r}: allowed is one for each of the {players} players")
    return called


def what_happened(last: tuple[int, int] | None, called: Sequence[str]) -> str:
    """The last seat that acted and what it did; empty where nobody has acted.

    Args:
        last: a seat and the id of its action.
        called: what each seat is called.

    Raises:
        ValueError: `last` is no seat with an action.
    """
    if last is None:
        return ""
    seat, action = last
    if not (0 <= seat < len(called) and 0 <= action < NUM_ACTIONS):
        raise ValueError(
            f"last={last!r}: allowed is a seat, 0 to {len(called) - 1}, with an action, 0 to "
            f"{NUM_ACTIONS - 1}"
        )
    text = ACTIONS[action]
    if action < NUM_FACES:
        return f"{called[seat]} played {text}"
    if action >= Action.SWAP:
        other = (seat + action - Action.SWAP + 1) % len(called)
        return f"{called[seat]} swapped hands with {called[other]}"
    if action >= Action.COLOUR:
        return f"{called[seat]} named the {text.replace(':', ' ')}"
    return f"{called[seat]} {_SAID[Action(action)]}"


def what_is_next(position: Position, called: Sequence[str], *, seat: int | None = None) -> str:
    """Who is to decide what, or how the round ended.

    Args:
        position: the table.
        called: what each seat is called.
        seat: who is told; another than the one to act is not told what card it has drawn.
    """
    if not position.over:
        told = seat is None or seat == position.turn
        asked = _DECISIONS[position.phase].format(
            drawn=f", {position.drawn}" if told else "",
            player=called[position.on_turn],
            stack=position.stack,
        )
        return f"{called[position.turn]} {asked}"
    if position.winner is None:
        return "the round is blocked"
    end = f"{called[position.winner]} wins the round"
    if gained := ", ".join(
        f"{called[seat]} +{points}" for seat, points in enumerate(position.points) if points
    ):
        end = f"{end} ({gained} points)"
    if champions := [called[seat] for seat in position.game_winners]:
        verb = "wins" if len(champions) == 1 else "win"
        end = f"{end}; {' and '.join(champions)} {verb} the game"
    return end
