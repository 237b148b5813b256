"""Tables as pictures: SVG, pixels and the window, and what environments do with them."""

import copy
import dataclasses
import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from met import HOUSE, tables_by_phase
from test_observation import other_worlds

import uno_env
from agents import make_agent
from uno_env import GameBatch, Position, Rules
from uno_env.envs.single_agent import UnoEnv
from uno_env.envs.vector import UnoVectorEnv
from uno_env.game.actions import ACTIONS
from uno_env.game.cards import NUM_FACES
from uno_env.render import ansi, cards, svg
from uno_env.render.picture import HEIGHT, WIDTH, picture
from uno_env.render.raster import Painter
from uno_env.render.shapes import Box, Disc, Group, Shape, Text

SVG = "{http://www.w3.org/2000/svg}"
README_PICTURE = Path(__file__).parents[1] / "notebooks" / "table.svg"
FACES = sorted({text.split(":")[0] for text in ACTIONS[:NUM_FACES]})


@pytest.fixture(autouse=True)
def _without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def reached(rules: str, players: int, decisions: int, games: int = 8) -> Iterator[Position]:
    """Positions of random play."""
    batch = GameBatch(Rules.make(rules, num_players=players), games, seed=4)
    rng = np.random.default_rng(4)
    for _ in range(decisions):
        batch.step(np.where(batch.legal, rng.random(batch.legal.shape), -1).argmax(axis=1))
    for game in range(games):
        yield batch.position(game)


def texts(image: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in image.iter(f"{SVG}text")]


def flat(shapes: tuple[Shape | Group, ...]) -> Iterator[Shape]:
    for shape in shapes:
        yield from shape.shapes if isinstance(shape, Group) else (shape,)


# ---------------------------------------------------------------------- what is drawn


@pytest.mark.parametrize("rules", ["angry_birds", "official", HOUSE])
@pytest.mark.parametrize("players", [2, 4, 10])
def test_every_phase_is_drawn_and_said(rules: str, players: int) -> None:
    for position in tables_by_phase(rules, players).values():
        image = ElementTree.fromstring(svg.render(position))
        title = image.find(f"{SVG}title")
        assert title is not None
        assert title.text is not None
        assert title.text.endswith(ansi.render(position, colour=False).splitlines()[-1])
        shown = texts(image)
        for seat, hand in enumerate(position.hands):
            assert f"player_{seat}" in shown
            assert str(len(hand)) in shown
        hand = [group.get("data-card") for group in image.iter(f"{SVG}g")]
        assert hand == list(position.hands[position.turn])
        assert str(len(position.draw)) in shown
        if position.colour:
            assert position.colour in shown


def test_the_direction_is_drawn() -> None:
    position = next(reached("classic", 4, 3))
    turned = dataclasses.replace(position, direction=-position.direction)
    assert svg.render(position) != svg.render(turned)


@pytest.mark.parametrize("rules", ["angry_birds", "official"])
def test_what_a_seat_cannot_know_is_not_in_its_picture(rules: str) -> None:
    """Others' hands and the pile, dealt anew, leave the picture of a seat as it is."""
    rng = np.random.default_rng(0)
    changed: Counter[str] = Counter()
    for position in tables_by_phase(rules, 4).values():
        if position.over:
            continue
        for seat in range(4):
            for other, _ in other_worlds(position, seat, rng):
                changed[position.phase] += other.hands != position.hands
                assert svg.render(other, seat=seat) == svg.render(position, seat=seat)
    assert min(changed[phase] for phase in ("turn", "drawn", "colour")) > 0


def test_after_the_round_all_hands_are_open() -> None:
    position = tables_by_phase("classic", 3)["over"]
    for seat, hand in enumerate(position.hands):
        drawn = list(flat(picture(position, seat=position.winner).shapes))
        shown = [shape.text for shape in drawn if isinstance(shape, Text) and shape.bold]
        for text in hand if seat != position.winner else ():
            if text[1:].isdigit():
                assert text[1:] in shown


def test_names_are_text_and_long_ones_are_cut() -> None:
    position = next(reached("classic", 2, 3))
    image = ElementTree.fromstring(svg.render(position, names=["<b>&", "a very long name indeed"]))
    shown = texts(image)
    assert "<b>&" in shown
    assert "a very long name indeed" not in shown
    assert any(text.startswith("a very") and text.endswith("…") for text in shown)


@pytest.mark.parametrize("seat", [-1, 4])
def test_an_unknown_seat_is_refused(seat: int) -> None:
    with pytest.raises(ValueError, match=re.escape(f"seat={seat}: allowed is a whole number")):
        svg.render(next(reached("classic", 4, 3)), seat=seat)
    with pytest.raises(TypeError, match=r"seat=1\.5"):
        svg.render(next(reached("classic", 4, 3)), seat=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("players", [2, 5, 10])
def test_all_is_within_the_picture(players: int) -> None:
    """Also a hand of nearly all there is."""
    position = next(reached("angry_birds", players, 0))
    hands = list(position.hands)
    hands[position.turn] += position.draw[:-1]
    big = dataclasses.replace(position, hands=tuple(hands), draw=position.draw[-1:])
    image = picture(big)
    assert (image.width, image.height) == (WIDTH, HEIGHT)
    for shape in flat(image.shapes):
        if isinstance(shape, Box):
            assert shape.x >= 0
            assert shape.x + shape.width <= WIDTH
            assert shape.y >= 0
            assert shape.y + shape.height <= HEIGHT
        elif isinstance(shape, Text):
            half = shape.size / 2
            assert half <= shape.y <= HEIGHT - half


# ---------------------------------------------------------------------- cards


def test_no_two_cards_look_alike() -> None:
    drawn = {face: cards.card(face, 0, 0, 60) for face in FACES}
    assert len(drawn) == 55
    for one, other in combinations(drawn, 2):
        assert drawn[one] != drawn[other], f"{one} looks as {other}"


def test_colours_are_told_apart_without_colour() -> None:
    """What is drawn differs in shape, not in fill alone."""

    def uncoloured(face: str) -> list[Shape]:
        shapes = cards.card(face, 0, 0, 60)
        return [
            dataclasses.replace(shape, **({"fill": "#000000"} if hasattr(shape, "fill") else {}))
            for shape in shapes
        ]

    for one, other in combinations(["R5", "Y5", "G5", "B5"], 2):
        assert uncoloured(one) != uncoloured(other)


def contrast(one: str, other: str) -> float:
    """Of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("face", ["R5", "Y5", "G5", "B5"])
def test_cards_can_be_read(face: str) -> None:
    paper, *rest = cards.card(face, 0, 0, 60)
    assert isinstance(paper, Box)
    for shape in rest:
        assert isinstance(shape, Text | Disc) or hasattr(shape, "fill")
        assert contrast(paper.fill, shape.fill) >= 3.0  # type: ignore[union-attr]


# ---------------------------------------------------------------------- pixels


def test_pixels_show_the_cards_where_they_lie() -> None:
    position = Position.from_case({"hands": ["R5", "G1 G2"], "discard": "G7", "draw": "B1 B2"})
    pixels = Painter().pixels(position, seat=0)
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    assert pixels.dtype == np.uint8
    place = next(s for s in picture(position, seat=0).shapes if isinstance(s, Group)).shapes[0]
    assert isinstance(place, Box)
    inside = pixels[round(place.y + 0.5 * place.height), round(place.x + 0.12 * place.width)]
    assert "#" + "".join(f"{part:02x}" for part in inside) == cards.COLOURS["R"]
    np.testing.assert_array_equal(Painter().pixels(position, seat=0), pixels)
    assert (Painter().pixels(position, seat=1) != pixels).any()


@pytest.mark.parametrize("rules", ["angry_birds", HOUSE])
def test_every_phase_is_painted(rules: str) -> None:
    painter = Painter()
    tables = tables_by_phase(rules, 4)
    painted = {painter.pixels(position).tobytes() for position in tables.values()}
    assert len(painted) == len(tables)


# ---------------------------------------------------------------------- environments


def test_the_aec_environment_renders_in_each_mode() -> None:
    for mode in uno_env.raw_env.metadata["render_modes"]:
        env = uno_env.env("classic", num_players=3, render_mode=mode)
        env.reset(seed=1)
        before = env.render()
        seat = env.possible_agents.index(env.agent_selection)
        action = int(env.infos[env.agent_selection]["action_mask"].argmax())
        env.step(action)
        after = env.render()
        last = (seat, action)
        match mode:
            case "human":
                assert before is None
                assert after is None
            case "ansi":
                assert after == ansi.render(env.position, last=last)
            case "svg":
                assert after == svg.render(env.position, last=last)
                assert after._repr_svg_() == after
            case "rgb_array":
                np.testing.assert_array_equal(after, Painter().pixels(env.position, last=last))
                assert (before != after).any()
        env.close()
        env.close()


def test_the_window_shows_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(Painter, "show", lambda self, position, **_: shown.append(position))
    env = uno_env.env("classic", render_mode="human")
    env.reset(seed=1)
    assert shown == [env.position]
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
    assert shown[1:] == [env.position]
    single = gymnasium.make("UnoClassic-v0", render_mode="human")
    single.reset(seed=1)
    _, info = single.reset(seed=1)
    assert len(shown) == 4
    single.step(int(info["action_mask"].argmax()))
    assert len(shown) == 5


def test_the_window_opens_and_closes() -> None:
    pygame = pytest.importorskip("pygame")
    env = uno_env.env("classic", render_mode="human")
    env.reset(seed=1)
    assert pygame.display.get_surface().get_size() == (WIDTH, HEIGHT)
    env.close()
    assert not pygame.display.get_init()
    env.render()
    assert pygame.display.get_init()
    env.close()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_environments_with_a_window_can_be_copied(copied) -> None:
    env = uno_env.env("classic", render_mode="human")
    env.reset(seed=1)
    other = copied(env)
    assert other.position == env.position
    env.close()
    other.render()
    other.close()


def test_the_learner_sees_its_own_hand() -> None:
    env = UnoEnv("classic", num_players=3, opponents="random", seat=2, render_mode="svg")
    _, info = env.reset(seed=1)
    for _ in range(3):
        position = env._tables.batch.position(0)
        image = ElementTree.fromstring(env.render())
        assert [g.get("data-card") for g in image.iter(f"{SVG}g")] == list(position.hands[2])
        _, _, terminated, _, info = env.step(int(info["action_mask"].argmax()))
        if terminated:
            break


@pytest.mark.parametrize("mode", UnoVectorEnv.metadata["render_modes"])
def test_a_vector_renders_each_table(mode: str) -> None:
    envs = UnoVectorEnv(3, "classic", render_mode=mode)
    envs.reset(seed=1)
    frames = envs.render()
    assert frames is not None
    assert len(frames) == 3
    assert len({bytes(memoryview(f)) if mode == "rgb_array" else f for f in frames}) == 3
    envs.close()


def test_a_vector_has_no_window() -> None:
    with pytest.raises(ValueError, match=r"render_mode='human': allowed is None or 'ansi'"):
        UnoVectorEnv(3, "classic", render_mode="human")


@pytest.mark.parametrize("make", [uno_env.env, UnoEnv, UnoVectorEnv])
def test_what_is_missing_is_named(make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match=r"pip install 'uno-env\[render\]'"):
        make(render_mode="rgb_array")


def test_pygame_is_imported_only_when_asked() -> None:
    code = """if True:
        import sys, uno_env
        env = uno_env.env(render_mode="svg"); env.reset(); env.render()
        assert "pygame" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------------- the README


def test_the_picture_in_the_readme_is_what_is_drawn() -> None:
    """Written anew by ``python tests/test_pictures.py``."""
    assert README_PICTURE.read_text() == readme_picture()


def readme_picture() -> str:
    """A table of four in the middle of a round of `greedy`."""
    batch = GameBatch(Rules.preset("angry_birds", num_players=4), 1, seed=12)
    greedy, rng = make_agent("greedy"), np.random.default_rng(0)
    for _ in range(14):
        last = int(batch.player[0]), int(greedy.act(batch.observe(), batch.legal, rng)[0])
        batch.step([last[1]])
    return svg.render(batch.position(0), last=last, names=["ann", "ben", "cem", "dee"])


if __name__ == "__main__":
    README_PICTURE.write_text(readme_picture())
