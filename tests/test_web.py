"""The page for people: what it may be asked, what it tells, and a round played by clicking."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import CHROMIUM, Page, served, until
from starlette.testclient import TestClient
from test_observation import other_worlds

from agents.base import Agent
from agents.web.app import MAX_BODY, make_app
from agents.web.rooms import MAX_ENTRIES, NoRoomError, RecordRoom, Rooms, TableRoom
from uno_env import ACTIONS
from uno_env.game.cards import CARDS
from uno_env.game.rules import PRESETS
from uno_env.records import Record, replay

Reply = dict[str, Any]


class Client:
    """Asks the server as the page does."""

    def __init__(self, **settings: Any) -> None:
        self.app = make_app(**settings)
        self.http = TestClient(self.app, base_url="http://127.0.0.1")

    def get(self, path: str, status: int = 200) -> Reply:
        response = self.http.get(f"/api/{path}")
        assert response.status_code == status, response.text
        return response.json()

    def post(self, path: str, body: object, status: int = 200) -> Reply:
        response = self.http.post(f"/api/{path}", json=body)
        assert response.status_code == status, response.text
        return response.json()

    def table(self, *seats: str, rules: str = "angry_birds", seed: int = 3) -> tuple[str, Reply]:
        answer = self.post("tables", {"rules": rules, "seats": list(seats), "seed": seed})
        return answer["token"], answer["table"]

    def room(self, token: str) -> TableRoom:
        room = self.app.state.rooms.find(token)
        assert isinstance(room, TableRoom)
        return room


@pytest.fixture
def client() -> Client:
    return Client()


def actions_of(table: Reply) -> list[int]:
    """What the person may do, as the page offers it."""
    plays = [action for card in table["hand"] for action in card["plays"]]
    return sorted({*plays, *(choice["action"] for choice in table["choices"])})


def play_round(client: Client, token: str, rng: np.random.Generator) -> Iterator[Reply]:
    """Play a round by chance, and yield what is seen on the way."""
    table = client.get(f"tables/{token}")
    while not table["over"]:
        yield table
        if table["mine"]:
            action = int(rng.choice(actions_of(table)))
            body = {"action": action, "decisions": table["decisions"]}
            table = client.post(f"tables/{token}/act", body)
        else:
            table = client.post(f"tables/{token}/step", {"count": 1})
    yield table


# ---------------------------------------------------------------------- tables


@pytest.mark.parametrize("preset", PRESETS)
def test_a_game_is_played_and_its_record_plays_again(client: Client, preset: str) -> None:
    token, table = client.table("greedy", "you", "keen", rules=f"{preset} target=60")
    rng = np.random.default_rng(0)
    while True:
        for table in play_round(client, token, rng):
            offered = actions_of(table) if table["mine"] else []
            assert offered == (client.room(token).table.legal if table["mine"] else [])
        if table["game_over"]:
            break
        table = client.post(f"tables/{token}/next", {})
    record = Record.parse(client.post(f"tables/{token}/leave", {})["record"])
    *_, last = replay(record)
    assert max(last.scores[0]) >= 60
    assert record.seats == ("greedy", "you", "keen")
    assert client.get(f"tables/{token}", 404)["error"].startswith("this table is no longer open")


@pytest.mark.parametrize(
    "rules",
    ["angry_birds", "official", "official stacking=True seven_zero=True jump_in=True"],
)
def test_what_is_hidden_never_reaches_the_browser(client: Client, rules: str) -> None:
    """Whatever the others hold and however the pile lies, the answer is the same, byte for byte."""
    rng = np.random.default_rng(5)
    compared = 0
    for seed in range(3):
        token, _ = client.table("expert", "you", "keen", "greedy", rules=rules, seed=seed)
        room = client.room(token)
        for _ in play_round(client, token, rng):
            position = room.table.position
            before = client.http.get(f"/api/tables/{token}").content
            for other, _ in other_worlds(position, 1, rng):
                room.table.batch.load(0, other)
                compared += other != position
                assert client.http.get(f"/api/tables/{token}").content == before
            room.table.batch.load(0, position)
    assert compared > 100


def test_the_check_of_what_is_hidden_can_fail(client: Client) -> None:
    token, _ = client.table("greedy", "keen", rules="classic")
    room = client.room(token)
    before = client.get(f"tables/{token}")
    position = room.table.position
    [(other, _)] = other_worlds(position, position.turn, np.random.default_rng(1))
    room.table.batch.load(0, other)
    assert client.get(f"tables/{token}") != before


def test_who_watches_sees_all_hands(client: Client) -> None:
    token, table = client.table("greedy", "keen")
    hands = client.room(token).table.position.hands
    assert [tuple(seat["hand"]) for seat in table["seats"]] == list(hands)
    assert not table["mine"]
    assert table["hand"] == []
    while not table["over"]:
        table = client.post(f"tables/{token}/step", {"count": 100})
    assert table["seats"][client.room(token).table.position.winner or 0]["winner"]


def test_bots_stop_where_the_person_is_to_decide(client: Client) -> None:
    token, table = client.table("greedy", "you", "greedy")
    while not table["mine"]:
        table = client.post(f"tables/{token}/step", {"count": 100})
    again = client.post(f"tables/{token}/step", {"count": 100})
    assert again == table


def test_a_card_that_may_not_be_played_says_why(client: Client) -> None:
    token, _ = client.table("you", "keen")
    seen = 0
    for table in play_round(client, token, np.random.default_rng(2)):
        for card in table["hand"]:
            assert (card["why"] is None) == bool(card["plays"] or not table["mine"])
            seen += card["why"] is not None
    assert seen > 10


def test_advice_is_on_each_legal_action_of_the_person(client: Client) -> None:
    token, table = client.table("you", "keen")
    while not table["mine"]:
        client.get(f"tables/{token}/advice", 409)
        table = client.post(f"tables/{token}/step", {"count": 1})
    advice = client.get(f"tables/{token}/advice")["advice"]
    assert sorted(each["action"] for each in advice) == actions_of(table)
    assert sum(each["probability"] for each in advice) == pytest.approx(1)
    assert all(0 <= each["value"] <= 1 for each in advice)


def test_tables_stand_apart(client: Client) -> None:
    one, first = client.table("you", "keen", seed=1)
    other, second = client.table("you", "keen", seed=2)
    assert one != other
    assert first["hand"] != second["hand"]
    for _ in play_round(client, one, np.random.default_rng(0)):
        pass
    assert client.get(f"tables/{other}") == second


# ---------------------------------------------------------------------- records


@pytest.fixture
def record(client: Client) -> str:
    token, _ = client.table("greedy", "keen", "you", seed=8)
    for _ in play_round(client, token, np.random.default_rng(3)):
        pass
    return client.post(f"tables/{token}/leave", {})["record"]


def test_a_record_is_stepped_through_forwards_and_back(client: Client, record: str) -> None:
    token = client.post("records", {"record": record})["token"]
    parsed = Record.parse(record)
    tables = [batch.position(0) for batch in replay(parsed)]
    for step in [*range(len(tables)), *reversed(range(len(tables)))]:
        table = client.get(f"records/{token}/{step}")
        shown = [tuple(seat["hand"]) for seat in table["seats"]]
        assert shown == list(tables[step].hands)
        assert table["decided"] == min(step, len(parsed.entries) - 1)
        assert len(table["log"]) == min(table["decided"], 60)
        assert table["steps"] == len(parsed.entries)
    first = client.get(f"records/{token}/0")
    assert first["chosen"] == parsed.entries[0].action  # type: ignore[union-attr]
    advice = client.get(f"records/{token}/0/advice")["advice"]
    assert first["chosen"] in [each["action"] for each in advice]
    client.get(f"records/{token}/{len(tables) - 1}/advice", 409)
    client.get(f"records/{token}/{len(tables)}", 404)
    client.get(f"tables/{token}", 404)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda text: text[:-20], "is cut off"),
        (lambda text: text.replace('"action": "', '"action": "x', 1), "line 2"),
        (lambda text: "hello\n", "line 1"),
        (lambda text: "", "line 1: the record is empty"),
    ],
)
def test_a_record_that_does_not_fit_is_refused(
    client: Client, record: str, spoil: Callable[[str], str], says: str
) -> None:
    assert says in client.post("records", {"record": spoil(record)}, 400)["error"]
    assert len(client.app.state.rooms) == 0


def test_a_record_has_an_end(record: str) -> None:
    head, line, *_ = record.splitlines(keepends=True)
    with pytest.raises(ValueError, match="is one too many"):
        RecordRoom.of(head + line * (MAX_ENTRIES + 1))


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"rules": "angry_birds"}, "missing: seats"),
        ({"rules": "angry_birds", "seats": ["keen", "keen"], "x": 1}, "unknown: 'x'"),
        ({"rules": "angry_birds", "seats": ["keen"]}, "seats: allowed is a list of 2 to 10"),
        ({"rules": "angry_birds", "seats": ["keen"] * 11}, "seats: allowed is a list of 2 to 10"),
        ({"rules": "angry_birds", "seats": "keen"}, "seats: allowed is a list"),
        ({"rules": "angry_birds", "seats": ["keen", "alice"]}, "'alice' is unknown: known are you"),
        ({"rules": "angry_birds", "seats": ["keen", "os:system"]}, "'os:system' is unknown"),
        ({"rules": "angry_birds", "seats": ["keen", "/etc/x.safetensors"]}, "is unknown"),
        ({"rules": "angry_birds", "seats": ["keen", "human"]}, "'human' is unknown"),
        ({"rules": "angry_birds", "seats": ["keen", ["keen"]]}, "is unknown"),
        ({"rules": "angry_birds", "seats": ["you", "you"]}, "'you' may have one seat"),
        ({"rules": "chess", "seats": ["you", "keen"]}, "chess"),
        ({"rules": "x" * 301, "seats": ["you", "keen"]}, "at most 300 characters"),
        ({"rules": 5, "seats": ["you", "keen"]}, "rules: allowed is a text"),
        ({"rules": "classic partners=True", "seats": ["you", "keen"]}, "partners=True"),
        ({"rules": "classic", "seats": ["you", "keen"], "seed": -1}, "seed: -1: allowed is"),
        ({"rules": "classic", "seats": ["you", "keen"], "seed": True}, "seed: True: allowed is"),
        ([], "no JSON object"),
    ],
)
def test_a_table_that_cannot_be_is_refused(client: Client, body: object, says: str) -> None:
    assert says in client.post("tables", body, 400)["error"]
    assert len(client.app.state.rooms) == 0


def test_what_the_table_does_not_wait_for_is_refused(client: Client) -> None:
    token, table = client.table("keen", "you")
    path = f"tables/{token}/act"
    if table["mine"]:
        for table in play_round(client, token, np.random.default_rng(1)):
            if not table["mine"]:
                break
    decisions = table["decisions"]
    refused = client.post(path, {"action": 64, "decisions": decisions}, 409)
    assert refused["error"] == "it is not your turn"
    while not table["mine"]:
        table = client.post(f"tables/{token}/step", {"count": 1})
    decisions = table["decisions"]
    refused = client.post(path, {"action": 64, "decisions": decisions - 1}, 409)
    assert "gone on" in refused["error"]
    illegal = next(a for a in range(len(ACTIONS)) if a not in actions_of(table))
    refused = client.post(path, {"action": illegal, "decisions": decisions}, 400)
    assert ACTIONS[illegal] in refused["error"]
    assert "no further round" in client.post(f"tables/{token}/next", {}, 400)["error"]
    for action in (-1, len(ACTIONS), 1.5, "64", None, True):
        body = {"action": action, "decisions": decisions}
        assert "action: " in client.post(path, body, 400)["error"]
    for count in (0, 101, "1"):
        body = {"count": count}
        assert "count: " in client.post(f"tables/{token}/step", body, 400)["error"]
    assert client.get(f"tables/{token}") == table


def test_nobody_acts_at_a_table_that_is_watched(client: Client) -> None:
    token, table = client.table("keen", "keen")
    body = {"action": 64, "decisions": table["decisions"]}
    assert client.post(f"tables/{token}/act", body, 409)["error"] == "it is not your turn"


@pytest.mark.parametrize(
    "path", ["tables/x", "tables/x/advice", "records/x/0", "records/x/0/advice"]
)
def test_an_unknown_token_is_refused(client: Client, path: str) -> None:
    assert "no longer open" in client.get(path, 404)["error"]


def test_a_request_has_an_end_and_is_json(client: Client) -> None:
    url = "/api/tables"
    json_type = {"content-type": "application/json"}
    too_long = client.http.post(url, content=b" " * (MAX_BODY + 1), headers=json_type)
    assert too_long.status_code == 413
    form = client.http.post(url, data={"rules": "classic"})
    assert form.status_code == 415
    for text in (b"{", b"\xff", b"[" * 4_000, b""):
        broken = client.http.post(url, content=text, headers=json_type)
        assert broken.status_code == 400
        assert broken.json()["error"] == "the request is no JSON"


def test_other_names_of_this_machine_are_refused(client: Client) -> None:
    """Else a page of another server could reach this one under a name of its own."""
    assert client.http.get("/api/menu", headers={"host": "evil.example"}).status_code == 400
    assert client.http.get("/api/menu", headers={"host": "localhost:8000"}).status_code == 200
    own = client.http.get("/")
    assert "default-src 'none'" in own.headers["content-security-policy"]


def test_rooms_have_an_end_and_those_long_unused_are_given_away() -> None:
    now = 0.0
    rooms = Rooms(most=2, idle=10, clock=lambda: now)
    room = RecordRoom.of(str(Record.parse(_SHORT)))
    old, used = rooms.add(room), rooms.add(room)
    with pytest.raises(NoRoomError, match="all 2 tables are taken"):
        rooms.add(room)
    now = 8.0
    rooms.find(used)
    now = 11.0
    new = rooms.add(room)
    assert rooms.find(used) is rooms.find(new) is room
    with pytest.raises(NoRoomError, match="no longer open"):
        rooms.find(old)
    rooms.close(used)
    assert len(rooms) == 1


_SHORT = (
    '{"format": "uno_env record", "version": 1, "rules": "classic", "seed": 7, '
    '"seats": ["a", "b"]}\n'
)


class Clumsy(Agent):
    """Fails."""

    name = "clumsy"

    def act(self, observation: Any, mask: Any, rng: Any) -> Any:
        raise RuntimeError("I tripped")


def test_bots_of_ones_own_may_be_chosen_and_are_named_when_they_fail() -> None:
    client = Client(bots=["test_web:Clumsy", "forgetful:bot=greedy"])
    assert client.get("menu")["bots"][-2:] == ["test_web:Clumsy", "forgetful:bot=greedy"]
    token, _ = client.table("test_web:Clumsy", "forgetful:bot=greedy")
    while client.room(token).table.turn != 0:
        client.post(f"tables/{token}/step", {"count": 1})
    failed = client.post(f"tables/{token}/step", {"count": 1}, 500)
    assert failed["error"] == "clumsy fails: RuntimeError: I tripped"
    with pytest.raises(ValueError, match="unknown agent 'alice'"):
        make_app(["alice"])


def test_cards_are_drawn_and_others_are_not(client: Client) -> None:
    for card in [*CARDS, "back"]:
        answer = client.http.get(f"/cards/{card}.svg")
        assert answer.headers["content-type"].startswith("image/svg+xml")
        assert answer.text.startswith("<svg ")
    assert client.http.get("/cards/R10.svg").status_code == 404


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--bots", "alice"], "unknown agent 'alice'"),
        (["--port", "70000"], "--port 70000: allowed is 0 to 65535"),
    ],
)
def test_the_command_refuses_what_it_cannot_serve(options: list[str], says: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "agents.web", *options],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 2
    assert says in run.stderr
    assert "Traceback" not in run.stderr


# ---------------------------------------------------------------------- in a browser

SIZES = {"desktop": (1200, 900), "phone": (390, 844)}
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture(params=SIZES)
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    with (
        served(make_app()) as url,
        Page(tmp_path / "profile", SIZES[request.param]) as opened,
    ):
        opened.open(url)
        yield opened
        assert opened.errors == []
        assert all(asked.startswith((url, "blob:", "about:")) for asked in opened.requests)
        assert opened.run("document.documentElement.scrollWidth <= window.innerWidth")


def shows(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})?.checkVisibility() === true"


def set_speed(page: Page) -> None:
    page.run(
        "(() => { const e = document.querySelector('#speed'); e.value = 8;"
        "e.dispatchEvent(new Event('input')); })()"
    )


@in_a_browser
def test_a_round_is_played_by_clicking_and_looked_at_again(page: Page) -> None:
    page.click("#sit")
    page.wait(shows("#game"))
    set_speed(page)
    over = shows("#next")
    mine = f"{shows('#choices button')} || {shows('#hand .plays')}"
    refused = 0
    while True:
        page.wait(f"{over} || {mine}")
        if page.run(over):
            break
        if not refused and page.run(shows("#hand button:not(.plays)")):
            page.click("#hand button:not(.plays)")
            page.wait(shows("#error"))
            refused += 1
        log = "document.querySelector('#log').start"
        before = page.run(log)
        card = page.run(shows("#hand .plays"))
        page.click("#hand .plays" if card else "#choices button")
        if page.run("document.querySelector('#colours').open"):
            page.click("#colour-buttons button")
        page.wait(f"{log} !== {before} || {over}")
    assert refused
    page.click("#leave")
    page.wait(shows("#ended"))
    page.click("#see")
    page.wait(shows("#replay"))
    page.wait(shows("#advice"))
    page.press("ArrowRight")
    page.wait("document.querySelector('#place').textContent.startsWith('1 of ')")
    page.press("ArrowLeft")
    page.wait("document.querySelector('#place').textContent.startsWith('0 of ')")
    page.click("#last")
    page.wait("document.querySelector('#last').disabled")
    assert page.run("document.querySelectorAll('#table-seats .winner').length") == 1


@in_a_browser
def test_a_round_is_watched_and_a_reload_goes_on(page: Page) -> None:
    page.run(
        "(() => { const e = document.querySelector('#seat-0'); e.value = 'expert';"
        "e.dispatchEvent(new Event('change')); })()"
    )
    assert page.run("document.querySelector('#sit').textContent") == "Watch"
    page.click("#sit")
    page.wait(shows("#game"))
    page.press(" ")
    page.wait("document.querySelector('#pause').textContent === 'Go on'")
    number = "document.querySelector('#log').start"
    before = page.run(number)
    page.click("#one")
    page.wait(f"{number} === {before + 1}")
    page.press("h")
    page.wait(shows("#advice"))
    page.open(page.run("location.href"))
    page.wait(shows("#game"))
    assert page.run(number) >= before + 1
    set_speed(page)
    page.wait("/wins the round|blocked/.test(document.querySelector('#status').textContent)")


@in_a_browser
def test_what_can_be_pressed_is_large_enough_for_a_finger(page: Page) -> None:
    small = (
        "[...document.querySelectorAll('button, select, summary, .button')]"
        ".filter((e) => e.checkVisibility())"
        ".filter((e) => e.offsetWidth < 44 || e.offsetHeight < 44)"
        ".map((e) => e.outerHTML)"
    )
    assert page.run(small) == []
    page.click("#sit")
    page.wait(shows("#game"))
    until(lambda: page.run(shows("#hand button")))
    assert page.run(small) == []
