"""The server: a page, and a small JSON interface behind it.

=========================== ===========================================================
``GET /``                    the page, and what it needs under ``/static`` and ``/cards``
``GET /api/menu``            rules and bots to choose from
``POST /api/tables``         a new table (`asked.NewTable`): its token and what is seen
``GET /api/tables/T``        what is seen of it
``POST /api/tables/T/act``   the person's action (`asked.Act`)
``POST /api/tables/T/step``  let bots decide (`asked.Step`)
``POST /api/tables/T/next``  deal the next round
``POST /api/tables/T/leave`` give the table up and get its record, which tells the seed
``GET /api/tables/T/advice`` what `trained` would do in the place of the seat to act
``POST /api/records``        a record to look at: its token
``GET /api/records/T/N``     its table after N lines, and under ``/advice`` the advice
=========================== ===========================================================

Errors are answered with ``{"error": text}``: 400 for what is not allowed, by this interface or by
the rules, 404 for a token that is not known, 409 where it is not the person's turn or the table has
gone on, 413 and 415 for bodies that are too long or no JSON, 500 for a bot that fails, 503 where
all rooms are taken.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents import known_agents, make_agent
from agents.advice import advise
from agents.table import Table
from agents.web import asked, shown
from agents.web.rooms import BotError, NoRoomError, RecordRoom, Room, Rooms, TableRoom
from uno_env.game.cards import CARDS
from uno_env.game.engine import GameBatch
from uno_env.game.position import Position
from uno_env.game.rules import HOUSE_RULES, MAX_PLAYERS, PRESETS
from uno_env.render import svg

MAX_BODY = 4_096
MAX_RECORD = 2**21
"""Bytes of a request, and of one that brings a record."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The names under which a browser on this machine may ask for the page."""
_STATIC = Path(__file__).with_name("static")
_BACK = "back"
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}

Body = dict[str, Any]


def make_app(bots: Sequence[str] = (), *, hosts: Sequence[str] = LOOPBACK) -> Starlette:
    """The application.

    Args:
        bots: more to choose from than those of `agents`: all that `make_agent` takes.
        hosts: the names under which it may be asked for; others are refused, so that no page of
            another server can reach it under a name of its own.

    Returns:
        The application; its ``state.rooms`` are the `Rooms`.

    Raises:
        TypeError, ValueError, OSError: one of `bots` cannot be made; see `make_agent`.
    """
    server = _Server(bots)
    routes = [
        Route("/", _page),
        Route("/cards/{name}.svg", _card),
        Route("/api/menu", server.menu),
        Route("/api/tables", server.new_table, methods=["POST"]),
        Route("/api/tables/{token}", server.look),
        Route("/api/tables/{token}/act", server.act, methods=["POST"]),
        Route("/api/tables/{token}/step", server.step, methods=["POST"]),
        Route("/api/tables/{token}/next", server.next_round, methods=["POST"]),
        Route("/api/tables/{token}/leave", server.leave, methods=["POST"]),
        Route("/api/tables/{token}/advice", server.advice),
        Route("/api/records", server.new_record, methods=["POST"]),
        Route("/api/records/{token}/{step:int}", server.look_at_record),
        Route("/api/records/{token}/{step:int}/advice", server.advice_on_record),
        Mount("/static", StaticFiles(directory=_STATIC)),
    ]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
            Middleware(_WithHeaders),
        ],
        exception_handlers={HTTPException: _refused, asked.RequestError: _not_allowed},
    )
    app.state.rooms = server.rooms
    return app


class _Server:
    """The rooms, and what is done in them."""

    def __init__(self, bots: Sequence[str]) -> None:
        for bot in bots:
            make_agent(bot)
        known = known_agents()
        names = sorted(name for name, kind in known.items() if not kind.interactive)
        self.bots = ("trained", *(name for name in names if name != "trained"), *bots)
        self.rooms = Rooms()

    async def menu(self, request: Request) -> Response:
        return _answer(
            {
                "presets": list(PRESETS),
                "house_rules": list(HOUSE_RULES),
                "bots": list(self.bots),
                "person": asked.PERSON,
                "most_players": MAX_PLAYERS,
                "most_steps": asked.MAX_STEPS,
            }
        )

    async def new_table(self, request: Request) -> Response:
        body = await _json_of(request)
        return await _run(lambda: self._new_table(asked.NewTable.of(body, self.bots)))

    def _new_table(self, new: asked.NewTable) -> Body:
        person = asked.PERSON
        seats = [None if name == person else make_agent(name) for name in new.seats]
        seed = secrets.randbits(32) if new.seed is None else new.seed
        seat = new.seats.index(person) if person in new.seats else None
        room = TableRoom(Table(new.rules, seats, person=person, seed=seed), seat)
        return {"token": self.rooms.add(room), "table": shown.table(room)}

    async def look(self, request: Request) -> Response:
        return await self._in_table(request, lambda _: None)

    async def act(self, request: Request) -> Response:
        wanted = asked.Act.of(await _json_of(request))

        def act(room: TableRoom) -> None:
            if wanted.decisions != room.table.decisions:
                raise HTTPException(409, "the table has gone on since: look again")
            if room.seat is None or room.table.turn != room.seat:
                raise HTTPException(409, "it is not your turn")
            room.play(wanted.action)

        return await self._in_table(request, act)

    async def step(self, request: Request) -> Response:
        body = await _json_of(request)
        count = asked.Step.of(body).count
        return await self._in_table(request, lambda room: room.ask_bots(count))

    async def next_round(self, request: Request) -> Response:
        asked.nothing(await _json_of(request))
        return await self._in_table(request, lambda room: room.next_round())

    async def leave(self, request: Request) -> Response:
        asked.nothing(await _json_of(request))
        token = request.path_params["token"]

        def leave() -> Body:
            room = self._table(token)
            with room.lock:
                self.rooms.close(token)
                return {"record": str(room.table.record)}

        return await _run(leave)

    async def advice(self, request: Request) -> Response:
        def advice() -> Body:
            room = self._table(request.path_params["token"])
            with room.lock:
                at = room.table
                if at.over or room.seat not in (None, at.turn):
                    raise HTTPException(409, "there is advice when it is your turn")
                position, batch = at.position, at.batch.copy()
            return _advice(position, batch, at.names)

        return await _run(advice)

    async def new_record(self, request: Request) -> Response:
        text = asked.record_text(await _json_of(request, MAX_RECORD))

        def new_record() -> Body:
            room = RecordRoom.of(text)
            return {"token": self.rooms.add(room), "table": shown.record(room, 0)}

        return await _run(new_record)

    async def look_at_record(self, request: Request) -> Response:
        return await _run(lambda: shown.record(*self._record(request)))

    async def advice_on_record(self, request: Request) -> Response:
        def advice() -> Body:
            room, step = self._record(request)
            position = room.position(step)
            if position.over:
                raise HTTPException(409, "the round is over: there is nothing to advise")
            batch = GameBatch(position.rules)
            batch.load(0, position)
            return _advice(position, batch, room.record.seats)

        return await _run(advice)

    async def _in_table(self, request: Request, do: Callable[[TableRoom], None]) -> Response:
        """Do something at a table, and say what is then seen of it."""

        def at_table() -> Body:
            room = self._table(request.path_params["token"])
            with room.lock:
                do(room)
                return shown.table(room)

        return await _run(at_table)

    def _table(self, token: str) -> TableRoom:
        room = self._find(token)
        if not isinstance(room, TableRoom):
            raise HTTPException(404, "this is a record, not a table")
        return room

    def _record(self, request: Request) -> tuple[RecordRoom, int]:
        room = self._find(request.path_params["token"])
        if not isinstance(room, RecordRoom):
            raise HTTPException(404, "this is a table, not a record")
        step: int = request.path_params["step"]
        last = len(room.tables) - 1
        if step > last:
            raise HTTPException(404, f"line {step}: the record has lines 0 to {last}")
        return room, step

    def _find(self, token: str) -> Room:
        try:
            return self.rooms.find(token)
        except NoRoomError as error:
            raise HTTPException(404, str(error)) from None


def _advice(position: Position, batch: GameBatch, names: Sequence[str]) -> Body:
    given = advise(batch.observe()[0], batch.legal[0], np.random.default_rng())
    return {"advice": shown.advice(position, names, given)}


# ---------------------------------------------------------------------- requests and answers


async def _json_of(request: Request, most: int = MAX_BODY) -> Body:
    """The JSON object in a request.

    A page of another server can send a form but no JSON, unless this one were to allow it.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":
        raise HTTPException(415, f"content-type {kind[:80]!r}: allowed is application/json")
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise HTTPException(413, f"the request is too long: allowed are {most:,} bytes")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the request is no JSON") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "the request is no JSON object")
    return body


async def _run(do: Callable[[], Body]) -> Response:
    """Do something that takes time while others are answered."""
    try:
        return _answer(await run_in_threadpool(do))
    except NoRoomError as error:
        raise HTTPException(503, str(error)) from None
    except BotError as error:
        raise HTTPException(500, str(error)) from error
    except ValueError as error:
        raise HTTPException(400, str(error)) from None


def _answer(body: Body, status: int = 200) -> Response:
    return JSONResponse(body, status, {"cache-control": "no-store"})


async def _refused(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return _answer({"error": error.detail}, error.status_code)


async def _not_allowed(_: Request, error: Exception) -> Response:
    return _answer({"error": str(error)}, 400)


async def _page(_: Request) -> Response:
    return FileResponse(_STATIC / "index.html")


async def _card(request: Request) -> Response:
    name = request.path_params["name"]
    if name != _BACK and name not in CARDS:
        raise HTTPException(404, f"no such card: allowed are {_BACK}, {', '.join(CARDS)}")
    picture = svg.card(None if name == _BACK else name)
    caching = {"cache-control": "max-age=3600"}
    return Response(str(picture), media_type="image/svg+xml", headers=caching)


class _WithHeaders:
    """Sends `_HEADERS` with every answer: nothing is loaded but from this server."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        sender: Callable[[Message], Awaitable[None]] = with_headers
        await self.app(scope, receive, sender)
