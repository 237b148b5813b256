"""What a policy network is given: numbers about a situation, and about each legal action in it.

A network that scores actions one at a time needs far less to learn than one that maps observations
to all actions at once: what it finds out about a play holds for all plays alike, of every colour
and symbol. So an action is described by what it does (`uno_env.features`, its symbol, what is known
of the colour that it leaves), a situation by what is common to all actions. Numbers are about their
size from 0 to 1; the four colours are treated alike. A change raises `INPUTS_VERSION`, and older
policy files are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uno_env.features import FEATURES, features, features_of_keeping
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import NUM_COLOURED_SYMBOLS, NUM_COLOURS, NUM_SYMBOLS, Symbol
from uno_env.game.observation import DIGIT, LAYOUT, SCALE
from uno_env.game.rules import MIN_PLAYERS
from uno_env.game.state import LACK_CAP, Phase
from uno_env.legal_actions import LegalActions
from uno_env.sight import NEXT_PLACE, Floats, Sight

INPUTS_VERSION = 2

SITUATION = {
    "phase": "the kind of decision, in the order of `Phase`",
    "said": "whether UNO has been said",
    "size": "own cards / 8",
    "size_is": "whether they are 1, 2, 3, 4",
    "wilds": "wilds in hand / 2",
    "next": "cards of the next seat / 8, whether they are 1, 2, 3",
    "last": "the same of the seat that comes last",
    "lowest": "the same of the opponent with the fewest cards",
    "second": "the same of the one with the fewest after it, or of the same if there is no other",
    "mean": "the opponents' cards / 8, on average",
    "players": "whether they are 2, 3, 4",
    "even": "1 / players",
    "unseen": "unseen cards / 64",
    "pile": "cards in the draw pile / 64",
    "colours": "cards in hand of each colour / 4, most first",
    "numbers": "number cards in hand / 8",
    "symbols": "cards in hand by symbol from Skip to King Pig / 2",
    "unseen_symbols": "unseen cards by symbol from Skip to King Pig / 4",
    "active": "cards in hand of the active colour / 4",
    "active_share": "4 x the share of the active colour among the unseen cards",
    "scores": "own score, and the highest of another, as shares of the target",
    "rules": "the switches of the rules that change play, as in the observation",
}
"""What is common to all actions, by name."""

ACTION = {
    "features": "of plays and of keeping: " + ", ".join(FEATURES),
    "symbol": "the symbol that is played, 0 to King Pig",
    "kind": "whether it is draw, keep, uno, catch, let-go, challenge, accept, colour, swap",
    "held": "cards in hand of the colour that is left active / 4",
    "share": "4 x its share of the unseen cards",
    "holds_next": "how likely who acts next holds it",
    "holds_last": "how likely the seat that comes last holds it",
    "holds_most": "how likely the opponent most likely to hold it does",
    "holds_lowest": "how likely the opponent with the fewest cards holds it",
    "lacks": "how fresh the memory is that who acts next lacks it",
    "copies": "cards like the one played in hand / 2",
    "same_symbol": "cards of its symbol in hand / 4",
    "size_next": "cards of who acts next / 8, whether they are 1, 2",
    "again": "whether its player goes on",
    "guilt": "of a challenge: how likely its player held the colour that was active before",
    "swap": "of a swap: cards of the other hand / 8",
}
"""What is known of an action, by name; zeros where it does not apply."""


def _places(names: Mapping[str, str], widths: Mapping[str, int]) -> dict[str, slice]:
    """Where each part stands, one number wide unless `widths` says more."""
    stops = np.cumsum([widths.get(name, 1) for name in names]).tolist()
    return {
        name: slice(stop - widths.get(name, 1), stop)
        for name, stop in zip(names, stops, strict=True)
    }


_NUM_KINDS = 9
_KINDS = np.zeros(NUM_ACTIONS, np.intp)
_KINDS[Action.DRAW : Action.COLOUR] = np.arange(1, 8)
_KINDS[Action.COLOUR : Action.SWAP] = 8
_KINDS[Action.SWAP :] = _NUM_KINDS
"""The kind of each action, by id: 0 for plays, else one more than its place in `kind`."""
_KIND_ROWS = np.eye(_NUM_KINDS + 1, dtype=np.float32)[:, 1:]
SITUATION_PLACES: dict[str, slice] = _places(
    SITUATION,
    {
        "phase": len(Phase),
        "size_is": 4,
        "players": 3,
        "colours": NUM_COLOURS,
        "scores": 2,
        **dict.fromkeys(("next", "last", "lowest", "second"), 4),
        **dict.fromkeys(("symbols", "unseen_symbols"), NUM_SYMBOLS - Symbol.SKIP),
        "rules": LAYOUT["rules"].stop - LAYOUT["rules"].start,
    },
)
"""Where the parts of `SITUATION` stand, by name."""
SITUATION_SIZE: int = SITUATION_PLACES["rules"].stop
ACTION_PLACES: dict[str, slice] = _places(
    ACTION,
    {"features": len(FEATURES), "symbol": NUM_SYMBOLS, "kind": _NUM_KINDS, "size_next": 3},
)
"""Where the parts of `ACTION` stand, by name."""
ACTION_SIZE: int = ACTION_PLACES["swap"].stop
_OF_COLOUR = slice(ACTION_PLACES["held"].start, ACTION_PLACES["lacks"].stop)
_OF_PLAY = slice(ACTION_PLACES["copies"].start, ACTION_PLACES["again"].stop)
_RULES_SCALE = SCALE[LAYOUT["rules"]]


def kind_place(action: int) -> int:
    """The place among the numbers of an action that says its kind; of an action but a play."""
    return ACTION_PLACES["kind"].start + int(_KINDS[action]) - 1


def inputs(observation: NDArray[np.uint8], legal: LegalActions) -> tuple[Floats, Floats]:
    """What a network is given of B choices.

    Args:
        observation: (B, F) uint8, of any rules and numbers of players.
        legal: the legal actions of each row, L in all.

    Returns:
        (B, S) float32, the situations, and (L, K) float32, the actions.
    """
    situation = np.empty((len(observation), SITUATION_SIZE), np.float32)
    action = np.empty((len(legal.rows), ACTION_SIZE), np.float32)
    for rows, sight in _sights(observation):
        situation[rows] = _situations(sight)
        if len(sight.observation) == len(observation):
            return situation, _actions(sight, legal)
        belongs = np.zeros(len(observation), np.bool_)
        belongs[rows] = True
        where = np.flatnonzero(belongs[legal.rows])
        action[where] = _actions(sight, legal.of_rows(rows, where))
    return situation, action


def situations(observation: NDArray[np.uint8]) -> Floats:
    """The situations alone: (B, F) uint8 -> (B, S) float32."""
    out = np.empty((len(observation), SITUATION_SIZE), np.float32)
    for rows, sight in _sights(observation):
        out[rows] = _situations(sight)
    return out


def _sights(observation: NDArray[np.uint8]) -> Iterator[tuple[NDArray[np.intp], Sight]]:
    """The rows of each size of table, and what these tell."""
    players = observation[:, LAYOUT["num_players"]].argmax(axis=1) + MIN_PLAYERS
    for number in np.flatnonzero(np.bincount(players)).tolist():
        rows = np.flatnonzero(players == number)
        yield rows, Sight(observation if len(rows) == len(players) else observation[rows], number)


def _columns(parts: list[Any], number: int) -> Floats:
    """Parts (n,) and (n, k) side by side, as float32."""
    widths = [1 if part.ndim == 1 else part.shape[1] for part in parts]
    out = np.empty((number, sum(widths)), np.float32)
    at = 0
    for part, width in zip(parts, widths, strict=True):
        out[:, at : at + width] = part[:, None] if part.ndim == 1 else part
        at += width
    return out


def _of_hand(sizes: NDArray[np.uint8]) -> list[Any]:
    """The size of an opponent's hand, in the way that `next` is given."""
    return [sizes / np.float32(8), sizes == 1, sizes == 2, sizes == 3]


def _situations(sight: Sight) -> Floats:
    """The situations of B rows at tables of one size: (B, S) float32."""
    seen, players, number = sight.observation, sight.players, len(sight.observation)
    own, others = sight.sizes[:, 0], sight.sizes[:, 1:]
    ascending = np.sort(others, axis=1)
    every = np.arange(number)
    held = sight.held_symbols
    parts = [
        seen[:, LAYOUT["phase"]],
        seen[:, LAYOUT["said"]],
        own / np.float32(8),
        own[:, None] == np.arange(1, 5),
        sight.wilds / np.float32(2),
        *_of_hand(others[:, 0]),
        *_of_hand(others[:, -1]),
        *_of_hand(ascending[:, 0]),
        *_of_hand(ascending[:, min(1, players - 2)]),
        others.mean(axis=1, dtype=np.float32) / 8,
        np.broadcast_to(players == np.arange(2, 5), (number, 3)),
        np.full(number, 1 / players, np.float32),
        sight.unseen / np.float32(64),
        seen[:, LAYOUT["pile"]] / np.float32(64),
        np.sort(sight.held_colours, axis=1)[:, ::-1] / np.float32(4),
        held[:, : Symbol.SKIP].sum(axis=1, dtype=np.uint8) / np.float32(8),
        held[:, Symbol.SKIP :] / np.float32(2),
        sight.unseen_symbols[:, Symbol.SKIP :] / np.float32(4),
        sight.held_colours[every, sight.colour] / np.float32(4),
        sight.colour_shares[every, sight.colour] * np.float32(4),
        _scores(seen, players),
        seen[:, LAYOUT["rules"]] * _RULES_SCALE,
    ]
    return _columns(parts, number)


def _scores(seen: NDArray[np.uint8], players: int) -> Floats:
    """The own score and the highest of another, as shares of the target: (B, 2)."""
    high = seen[:, LAYOUT["scores_high"]][:, :players].astype(np.float32)
    scores = high * DIGIT + seen[:, LAYOUT["scores_low"]][:, :players]
    target = seen[:, LAYOUT["target"]].astype(np.float32) @ np.array([DIGIT, 1], np.float32)
    shares = scores / np.maximum(target, 1)[:, None]
    return np.stack([shares[:, 0], shares[:, 1:].max(axis=1)], axis=1)


def _actions(sight: Sight, legal: LegalActions) -> Floats:
    """The legal actions of rows at tables of one size: (L, K) float32."""
    rows, actions = legal.rows, legal.actions
    kinds = _KINDS[actions]
    plays, keeps, challenges, named, swaps = (
        np.flatnonzero(kinds == kind)
        for kind in (0, *_KINDS[[Action.KEEP, Action.CHALLENGE, Action.COLOUR, Action.SWAP]])
    )
    out = np.zeros((len(rows), ACTION_SIZE), np.float32)
    faces = actions[plays]
    symbol = faces % NUM_SYMBOLS
    out[plays, ACTION_PLACES["features"]] = features(sight, rows[plays], faces).T
    out[keeps, ACTION_PLACES["features"]] = features_of_keeping(sight, rows[keeps]).T
    out[plays, ACTION_PLACES["symbol"].start + symbol] = 1
    out[:, ACTION_PLACES["kind"]] = _KIND_ROWS[kinds]

    next_place = NEXT_PLACE[sight.players][symbol]
    out[plays, _OF_COLOUR] = _of_colour(sight, rows[plays], faces // NUM_SYMBOLS, next_place)
    out[plays, _OF_PLAY] = _of_play(sight, rows[plays], faces, next_place)
    colours = actions[named] - Action.COLOUR
    out[named, _OF_COLOUR] = _of_colour(sight, rows[named], colours, np.ones_like(colours))
    if challenges.size:
        out[challenges, ACTION_PLACES["guilt"]] = sight.guilt[rows[challenges], None]
    if swaps.size:
        # Places are counted in the direction of play, swaps clockwise.
        steps = actions[swaps] - Action.SWAP + 1
        clockwise = sight.observation[rows[swaps], LAYOUT["clockwise"].start] > 0
        places = np.where(clockwise, steps, -steps) % sight.players
        out[swaps, ACTION_PLACES["swap"]] = sight.sizes[rows[swaps], places, None] / np.float32(8)
    return out


def _of_colour(
    sight: Sight, rows: NDArray[np.intp], colour: NDArray[np.intp], place: NDArray[np.intp]
) -> Floats:
    """`ACTION` from `held` to `lacks`: (n, 7).

    Args:
        sight: what B observations tell.
        rows: (n,) which of them.
        colour: (n,) the colour that is left active.
        place: (n,) who acts next; where that is the player itself, the next seat counts.
    """
    holds = sight.holds
    following = np.maximum(place, 1) - 1
    lowest = sight.sizes[:, 1:].argmin(axis=1)[rows]
    in_colour = NUM_COLOURS * rows + colour
    return _columns(
        [
            sight.held_colours.ravel()[in_colour] / np.float32(4),
            sight.colour_shares.ravel()[in_colour] * np.float32(4),
            holds[rows, following, colour],
            holds[:, -1].ravel()[in_colour],
            holds.max(axis=1).ravel()[in_colour],
            holds[rows, lowest, colour],
            sight.lacks[rows, following, colour] / np.float32(LACK_CAP),
        ],
        len(rows),
    )


def _of_play(
    sight: Sight, rows: NDArray[np.intp], faces: NDArray[np.intp], place: NDArray[np.intp]
) -> Floats:
    """`ACTION` from `copies` to `again`: (n, 6); the arguments as for `_of_colour`."""
    size = sight.sizes[rows, place]
    symbol = faces % NUM_SYMBOLS
    alike = sight.held_symbols[rows, symbol]
    # The places of wilds count one copy each.
    copies = np.where(symbol < NUM_COLOURED_SYMBOLS, sight.hand[rows, faces], alike)
    return _columns(
        [
            copies / np.float32(2),
            alike / np.float32(4),
            size / np.float32(8),
            size == 1,
            size == 2,
            place == 0,
        ],
        len(rows),
    )
