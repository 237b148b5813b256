"""The table as text."""

import re

import pytest
from met import HOUSE, tables_by_phase

from uno_env import Position, env
from uno_env.game.actions import ACTIONS, parse_action
from uno_env.render.ansi import render

CHALLENGE = Position.from_case(
    {
        "rules": "official",
        "hands": ["R1 R2", "R3 BS W", "G7"],
        "discard": "R5 W+4",
        "colour": "B",
        "draw": "R6 R7",
        "turn": 1,
        "on_turn": 0,
        "phase": "challenge",
        "scores": [120, 0, 45],
    }
)


def test_what_a_table_looks_like():
    text = render(CHALLENGE, last=(0, parse_action("W+4:B")), colour=False)
    assert text.splitlines() == [
        "UNO  official num_players=3",
        "top W+4   colour B   clockwise   pile 2   discards 2",
        "",
        "  player_0    2 cards    120   [] []",
        "> player_1    3 cards      0   R3 BS W",
        "  player_2    1 card      45   []  dealer",
        "",
        "player_0 played W+4:B; player_1 may challenge the Wild Draw 4 of player_0",
    ]


def test_names_may_be_given():
    text = render(CHALLENGE, names=["ann", "bo", "christine"], colour=False)
    assert "> bo           3 cards" in text
    assert text.endswith("bo may challenge the Wild Draw 4 of ann")


def test_colours_only_add_to_the_text():
    plain, coloured = (render(CHALLENGE, last=(0, 0), colour=colour) for colour in (False, True))
    assert "\x1b" not in plain
    assert "\x1b[97;41mR3\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_the_other_hands_stay_hidden_until_the_round_is_over():
    assert "R1" not in render(CHALLENGE)
    over = Position.from_case(
        {
            "hands": ["", "R9 W", "KP Y0"],
            "discard": "B3",
            "phase": "over",
            "winner": 0,
            "points": [109, 0, 0],
            "scores": [509, 0, 0],
        }
    )
    text = render(over, colour=False)
    assert "R9 W" in text
    assert "Y0 KP" in text
    assert ">" not in text
    assert text.endswith("player_0 wins the round (player_0 +109 points); player_0 wins the game")


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"direction": -1}, "   counterclockwise   "),
        ({"said": True}, "R1 R2  UNO said\n"),
        ({"phase": "drawn", "drawn": "R2"}, "player_0 may play the card just drawn, R2"),
        (
            {"hands": ["R1", "R3 R4"], "phase": "catch", "turn": 1, "on_turn": 0},
            "player_1 may catch player_0, who did not",
        ),
        ({"phase": "over"}, "the round is blocked"),
        ({"phase": "colour", "discard": "KP"}, "top KP   colour ?   "),
        ({"discard": "", "opening": "W"}, "top W   colour ?   "),
    ],
)
def test_what_is_to_be_decided_is_said(changes, shown):
    case = {"hands": ["R1 R2", "R3 R4"], "discard": "R5", **changes}
    if not case["discard"]:
        del case["discard"]
    assert shown in render(Position.from_case(case), colour=False)


def test_winners_of_a_game_are_told_together():
    tied = Position.from_case(
        {
            "rules": {"scoring": "lowest", "target": 60},
            "hands": ["", "R0", "W"],
            "discard": "R5",
            "phase": "over",
            "winner": 0,
            "points": [0, 0, 50],
            "scores": [10, 10, 60],
        }
    )
    assert render(tied, colour=False).endswith(
        "player_0 wins the round (player_2 +50 points); player_0 and player_1 win the game"
    )


def test_every_action_can_be_told():
    for action, text in enumerate(ACTIONS):
        line = render(CHALLENGE, last=(2, action), colour=False).splitlines()[-1]
        assert line.startswith("player_2 ")
        if action < 64:
            assert f"played {text};" in line


@pytest.mark.parametrize("last", [(3, 0), (-1, 0), (0, 84), (0, -1)])
def test_an_unknown_seat_or_action_is_refused(last):
    with pytest.raises(ValueError, match=re.escape(f"last={last}: allowed is a seat, 0 to 2")):
        render(CHALLENGE, last=last)


def test_each_seat_needs_a_name():
    with pytest.raises(ValueError, match="one for each of the 3 players"):
        render(CHALLENGE, names=["ann"])


def test_the_environment_returns_the_table():
    ansi = env("classic", num_players=4, render_mode="ansi")
    ansi.reset(seed=0)
    before = ansi.render()
    assert before == render(ansi.position)
    action = int(ansi.infos[ansi.agent_selection]["action_mask"].argmax())
    seat = ansi.possible_agents.index(ansi.agent_selection)
    ansi.step(action)
    assert ansi.render() == render(ansi.position, last=(seat, action))
    assert ansi.render() != before


def test_without_a_render_mode_there_is_a_hint():
    silent = env()
    silent.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.render() is None


@pytest.mark.parametrize("rules", ["angry_birds", "official", HOUSE])
def test_every_phase_is_put_into_words(rules):
    """With house rules, too: the seat to act and what it is asked stand in the last line."""
    met = tables_by_phase(rules, 4)
    wanted = {"turn", "drawn", "colour"} | (
        {"swap", "jump_in", "stack"} if rules == HOUSE else set()
    )
    assert wanted <= set(met)
    asked = {
        phase: render(position, colour=False).splitlines()[-1].split(" ", 1)[1]
        for phase, position in met.items()
        if not position.over
    }
    assert len({text.split(",")[0] for text in asked.values()}) == len(asked)


def test_a_swap_names_the_other():
    text = render(CHALLENGE, last=(2, parse_action("swap:2")), colour=False)
    assert "player_2 swapped hands with player_1" in text
