"""Feedback: what a learner reads, whatever a learner's function does."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from course.show.feedback import close, feedback, plain, refuses

CHECKS = [
    ("twice nothing is nothing", lambda f: close(f(0), 0.0)),
    ("twice 0.1 is 0.2", lambda f: close(f(0.1), 0.2)),
    ("a list is doubled one by one", lambda f: close(f([1, 2]), [2, 4])),
]


def double(x: Any) -> Any:
    return [2 * part for part in x] if isinstance(x, list) else 2 * x


def test_a_right_answer_holds_in_every_idea() -> None:
    told = feedback(double, CHECKS)
    assert told.passed == (True, True, True)
    assert repr(told).splitlines() == [
        "double: 3 of 3 ideas hold; a grader tries more, so think of edges",
        "  [ok] twice nothing is nothing",
        "  [ok] twice 0.1 is 0.2",
        "  [ok] a list is doubled one by one",
    ]


def test_a_wrong_answer_reads_which_idea_to_look_at_again_and_no_solution() -> None:
    def forgets_lists(x: Any) -> Any:
        return 2 * x

    told = feedback(forgets_lists, CHECKS)
    assert told.passed == (True, True, False)
    assert told.lines[0] == "2 of 3 ideas hold; go on with the first that does not"
    assert told.lines[3] == "[look again] a list is doubled one by one"


def test_not_attempted_yet_is_no_error() -> None:
    def stub(x: Any) -> Any:
        raise NotImplementedError

    told = feedback(stub, CHECKS)
    assert told == ("stub", (False, False, False), ("not attempted yet",))
    assert repr(told) == "stub: not attempted yet"


def test_a_half_attempt_reads_which_part_is_not_written_yet() -> None:
    def half(x: Any) -> Any:
        if isinstance(x, list):
            raise NotImplementedError("lists come later")
        return 2 * x

    told = feedback(half, CHECKS)
    assert told.passed == (True, True, False)
    assert told.lines[0] == "2 of 3 ideas hold; go on with the first that does not"
    assert told.lines[3] == (
        "[look again] a list is doubled one by one (this part is not written yet)"
    )


def test_a_stub_further_up_is_named() -> None:
    def twice(x: Any) -> Any:
        raise NotImplementedError

    def of_lists(x: Any) -> Any:
        return twice(x) if isinstance(x, list) else 2 * x

    assert feedback(lambda x: twice(x), CHECKS).lines == (
        "not attempted yet, nor is twice, which it calls",
    )
    assert feedback(of_lists, CHECKS).lines[3].endswith("one by one (twice is not written yet)")


def test_where_nothing_holds_the_example_is_the_place_to_begin() -> None:
    assert feedback(lambda x: 7, CHECKS).lines[0] == "0 of 3 ideas hold; begin with the example"


def test_no_checks_are_no_stub() -> None:
    def stub(x: Any) -> Any:
        raise NotImplementedError

    assert feedback(stub, []).lines[0].startswith("0 of 0 ideas hold")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        *(
            ({1, 2}, "a set"),
            (range(2), "a range"),
            (map(abs, [1]), "a map"),
            (CHECKS[0][1], "a f"),
        ),
        *((iter([1]), "a list_iterator"), (np.array(1.0), "a ndarray"), (b"1", "a bytes")),
        (pd.DataFrame({"a": [1]}), "a DataFrame"),
    ],
)
def test_what_no_task_asks_for_is_named_and_passes_nothing(answer: Any, said: str) -> None:
    told = feedback(lambda x: answer, [("anything will do", lambda f: f(1) is not None)])
    assert told.passed == (False,)
    assert told.lines[1].startswith(f"[look again] anything will do (it returned {said}")
    assert told.lines[1].endswith(": no task asks for one)")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        *(((1, (2, 3)), [1, [2, 3]]), (np.float32(0.5), 0.5), (np.int64(3), 3), ("a", "a")),
        *((np.array([[1, 2]]), [[1, 2]]), (pd.Series(["a", "b"]), ["a", "b"]), (None, None)),
        *((pd.Index([1, 2]), [1, 2]), ({"a": np.int64(1)}, {"a": 1}), (True, True), ([], [])),
        *(({("a", 1): (1,)}, {("a", 1): [1]}), ([np.float64(1), (2,)], [1.0, [2]])),
    ],
)
def test_plain_gives_pythons_own_types(answer: Any, expected: Any) -> None:
    got = plain(answer)
    assert got == expected and type(got) is type(expected)


def test_checks_see_plain_answers() -> None:
    told = feedback(
        lambda x: (np.int64(2), x),
        [("a list", lambda f: f(1) == [2, 1]), ("an int", lambda f: type(f(1)[0]) is int)],
    )
    assert told.passed == (True, True)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("division by zero"), "it raised ZeroDivisionError: division by zero"),
        (KeyError("sam"), "it raised KeyError: 'sam'"),
        (RecursionError("too deep"), "it raised RecursionError: too deep"),
        (AssertionError(), "it raised AssertionError: "),
    ],
)
def test_what_the_function_raises_is_told_and_the_next_idea_is_tried(
    error: Exception, said: str
) -> None:
    def fails_on_nothing(x: Any) -> Any:
        if x == 0:
            raise error
        return double(x)

    told = feedback(fails_on_nothing, CHECKS)
    assert told.passed == (False, True, True)
    assert told.lines[1] == f"[look again] twice nothing is nothing ({said})"


@pytest.mark.parametrize(
    "answer",
    [
        *(None, float("nan"), float("inf"), -float("inf"), "many", [], [None], True, object()),
        *(np.nan, np.array([np.nan, np.inf]), pd.Series([1.0]), {"a": 1}, print),
    ],
)
def test_no_answer_breaks_the_feedback_or_passes(answer: Any) -> None:
    told = feedback(lambda x: answer, [("3 plus 1", lambda f: close(f(3), 4.0)), *CHECKS[2:]])
    assert told.passed == (False, False)
    assert told.lines[0] == "0 of 2 ideas hold; begin with the example"
    assert all(line.startswith("[look again] ") for line in told.lines[1:])


def test_a_check_may_answer_with_a_numpy_bool() -> None:
    told = feedback(np.mean, [("mean", lambda f: np.isclose(f([1, 3]), 2))])
    assert told.passed == (True,) and type(told.passed[0]) is bool


def test_what_has_no_name_is_your_function() -> None:
    class Named:
        def __call__(self, x: Any) -> Any:
            return double(x)

    assert repr(feedback(Named(), CHECKS)).startswith("your function: 3 of 3")
    assert repr(feedback(None, CHECKS[:1])).startswith("your function: 0 of 1")  # type: ignore[arg-type]


def test_a_print_in_place_of_a_return_is_told_and_no_error_hides_it() -> None:
    told = feedback(
        lambda x: None,
        [
            ("twice nothing is nothing", lambda f: close(f(0), 0.0)),
            ("more for more", lambda f: f(1) < f(2)),
            ("two values", lambda f: len(f([1, 2])) == 2),
            ("nothing comes of nothing", lambda f: f(None) is None),
        ],
    )
    assert told.passed == (False, False, False, True)
    assert told.lines[1:] == (
        "[look again] twice nothing is nothing (it returned None)",
        "[look again] more for more (it returned None)",
        "[look again] two values (it returned None)",
        "[ok] nothing comes of nothing",
    )


def test_a_right_none_is_not_blamed_for_another_call() -> None:
    def half_right(x: Any) -> Any:
        if x == "bad":
            raise KeyError(x)
        return None if x is None else 7

    told = feedback(
        half_right,
        [
            ("a wrong number after a right None", lambda f: f(None) is None and f(1) == 1),
            ("an error after a right None", lambda f: f(None) is None and f("bad") == 1),
            ("no call at all", lambda f: False),
            ("not None for a number", lambda f: f(1) is None),
        ],
    )
    assert [line.partition("(")[2] for line in told.lines[1:]] == [
        *("", "it raised KeyError: 'bad')", "", "")
    ]


def test_refuses_is_about_value_errors_alone() -> None:
    def picky(x: Any) -> Any:
        if x < 0:
            raise ValueError("below 0")
        return 1 / x

    assert refuses(picky, -1)
    assert not refuses(picky, 1)
    with pytest.raises(ZeroDivisionError):
        refuses(picky, 0)
    silent = feedback(lambda x: None, [("below 0 is refused", lambda f: refuses(f, -1))])
    assert silent.lines[1] == "[look again] below 0 is refused (it returned None)"


def test_the_function_is_asked_once_an_idea() -> None:
    asked = []

    def counted(x: Any) -> Any:
        asked.append(x)
        return double(x)

    feedback(counted, CHECKS)
    assert asked == [0, 0.1, [1, 2]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((0.1 + 0.2, 0.3), (1e9 + 0.5, 1e9), (np.float64(2), 2), (np.int64(2), 2.0), (0, -0.0)),
        *(([0.1 + 0.2], [0.3]), ((1, 2), [1, 2]), (np.array([1, 2]), [1.0, 2.0]), ([], [])),
        *((pd.Series([1.0, 2.0]), [1, 2]), ([[1, 2], [3]], [[1, 2], [3]]), ([0, 1], (0, 1))),
        (1, np.float64(1)),
    ],
)
def test_close_forgives_rounding_and_the_kind_of_list(value: Any, expected: Any) -> None:
    assert close(value, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((0.3001, 0.3), (1e-8, 0.0), (None, 0), (True, 1), (False, 0.0), (float("nan"), 0.0)),
        *((float("inf"), 1e300), (float("nan"), float("nan")), ([1, 2], [1, 2, 3]), ([], [0])),
        *(([1, 2], [2, 1]), ([None], [0]), ([float("nan")], [0]), ([1, float("inf")], [1, 2])),
        *((None, [1.0]), (1.0, [1.0]), (range(2), [0, 1]), ({0, 1}, [0, 1]), (iter([1]), [1])),
        *(({0: 1}, [0]), ("12", [1, 2]), (1.0, "1")),
    ],
)
def test_close_refuses_what_is_not_the_number(value: Any, expected: Any) -> None:
    assert not close(value, expected)


def test_close_takes_a_tolerance_that_grows_with_large_numbers() -> None:
    assert close(0.34, 0.3360, tolerance=0.005)
    assert not close(0.35, 0.3360, tolerance=0.005)
    assert close(1340, 1336, tolerance=0.005)


def test_close_takes_no_text_for_a_number_and_knows_infinity() -> None:
    assert not close("1", 1)
    assert not close(True, 1)
    assert close(float("inf"), float("inf"))
    assert close(np.int64(3), 3)
