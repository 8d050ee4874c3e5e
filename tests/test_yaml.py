"""YAML in which every value knows its place."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, StrictBool

from memwalk.simcore.errors import UserError
from memwalk.simcore.validation import StrictModel, validate
from memwalk.simcore.yaml_source import Place, Sourced, load, lookup, parse

TEXT = """\
name: small
caches:
  - {name: L1, ways: 4}
  - name: L2
    ways: 8
deep: {a: {b: 1.5}}
"""


def test_values_are_those_of_yaml_1_2() -> None:
    text = "a: 1e6\nb: [1, 2.5, yes, 250cycles, 2020-01-01, ~, 1_000, true, 0o17]\n1: x\n"
    data = parse(text, "f").data
    assert data == {"a": 1e6, "b": [1, 2.5, "yes", "250cycles", "2020-01-01", None, 1000, True, 15], "1": "x"}


def test_an_empty_value_stands_at_its_key() -> None:
    """YAML has it begin where the next value does, which may be lines behind."""
    sourced = parse("core:\n  width:\n\n  kind: x\nlast:\n", "f")
    assert sourced.data == {"core": {"width": None, "kind": "x"}, "last": None}
    assert str(sourced.spot(("core", "width")).value) == "f:2:3"
    assert str(sourced.spot(("last",)).value) == "f:5:1"


@pytest.mark.parametrize(
    ("route", "key", "value"),
    [
        (("name",), (1, 1), (1, 7)),
        (("caches", 0), (3, 5), (3, 5)),
        (("caches", 0, "ways"), (3, 16), (3, 22)),
        (("caches", 1, "ways"), (5, 5), (5, 11)),
        (("deep", "a", "b"), (6, 12), (6, 15)),
        (("deep", "a", "nothing"), (6, 8), (6, 11)),  # the nearest value around it
    ],
)
def test_every_value_and_key_knows_its_place(route: Any, key: tuple[int, int], value: tuple[int, int]) -> None:
    spot = parse(TEXT, "m.yaml").spot(route)
    assert (spot.key, spot.value) == (Place("m.yaml", *key), Place("m.yaml", *value))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a: 1\nb: 2\na: 3\n", "f:3:1: `a` is given twice in the same map (first on line 1)"),
        ("a:\n\tb: 1\n", "f:2:1: a tab where YAML needs spaces"),
        ("a: b: c\n", "f:1:5: a second `:` on the line"),
        ("a: [1\n", "f:2:1: not YAML"),
        ("a: 1\n---\nb: 2\n", "f:2:1: not YAML: but found another document"),
        ("", "f:1:1: the file is empty"),
        ("a: !!python/object:os.system 1\n", "f:1:4: the tag"),
        ("a: &x {b: *x}\n", "f:1:4: the anchor `&x` contains itself"),
        ("? [1]\n: 2\n", "f:1:3: a key must be plain text"),
        ("a: \x01\n", "f: not YAML"),
        ("a: " + "[" * 5000, "f: nested too deeply"),
        ("a: !!int big\n", "f:1:4: `big` is not a value of its tag"),
    ],
)
def test_what_hides_a_mistake_is_refused(text: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        parse(text, "f")
    assert str(error.value).startswith(answer)


def test_aliases_of_aliases_do_not_multiply_without_end() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    with pytest.raises(UserError, match="more than 200000 values"):
        parse("\n".join(lines), "f")


@pytest.mark.parametrize(("content", "answer"), [(b"\xff\xfe", "not a text file"), (None, "No such file")])
def test_unreadable_files(tmp_path: Path, content: bytes | None, answer: str) -> None:
    path = tmp_path / "f.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=answer):
        load(path)
    with pytest.raises(UserError, match="is a folder"):
        load(tmp_path)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab: -#'\"1", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc1", min_size=1, max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_yaml_is_a_superset_of_json(value: Any) -> None:
    assert parse(json.dumps({"value": value}), "f").data == {"value": value}


def test_replacing_keeps_the_rest_and_moves_the_place() -> None:
    new = Sourced.uniform({"x": 2}, Place("--set y"))
    source = parse(TEXT, "m.yaml").replaced(("caches", "L2", "ways"), new).replaced(("fresh", "map"), new)
    assert source.data["caches"] == [{"name": "L1", "ways": 4}, {"name": "L2", "ways": {"x": 2}}]
    assert source.data["fresh"] == {"map": {"x": 2}}
    assert source.spot(("caches", 1, "ways", "x")).value == Place("--set y")
    assert source.spot(("caches", 1, "name")).value.line == 4


@pytest.mark.parametrize(
    ("route", "answer"),
    [
        (("caches", "L4", "ways"), "caches has no item L4; it has 0 to 1 or L1, L2"),
        (("caches", "2", "ways"), "caches has no item 2"),
        (("name", "x"), "name is 'small', which has no `x` in it"),
    ],
)
def test_replacing_where_nothing_can_stand(route: Any, answer: str) -> None:
    with pytest.raises(UserError) as error:
        parse(TEXT, "m.yaml").replaced(route, Sourced.uniform(1, Place("--set")))
    assert answer in str(error.value)


def test_merging_goes_key_by_key_and_replaces_lists() -> None:
    child = parse("caches: [{name: L1}]\ndeep: {a: {c: 2}}\n", "child.yaml")
    merged = parse(TEXT, "m.yaml").merged(child)
    assert merged.data == {"name": "small", "caches": [{"name": "L1"}], "deep": {"a": {"b": 1.5, "c": 2}}}
    assert merged.spot(("deep", "a", "b")).value.file == "m.yaml"
    assert merged.spot(("caches", 0, "name")).value.file == "child.yaml"


@pytest.mark.parametrize(("path", "value"), [("caches.1.ways", 8), ("caches.L1.ways", 4), ("caches.L9.ways", None), ("no.a", None)])
def test_lookup(path: str, value: Any) -> None:
    assert lookup(parse(TEXT, "m.yaml").data, path) == value


class Cat(StrictModel):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=1, le=9)]


class Dog(StrictModel):
    kind: Literal["dog"]
    tricks: tuple[str, ...] = ()


class Home(StrictModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    size: float = 1.0
    garden: StrictBool = False
    street: str = ""


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("pet: {kind: cat, lifes: 9}\n", "f:1:18: unknown key `lifes`; did you mean `lives`?"),
        ("pet: {kind: cat}\n", "f:1:1: `pet.lives` is missing"),
        ("pet: {kind: cat, lives: 0}\n", "f:1:25: pet.lives: `0` is too small; the least is 1"),
        ("pet: {kind: cat, lives: 10}\n", "f:1:25: pet.lives: `10` is too large; the most is 9"),
        ("pet: {kind: cow}\n", "f:1:13: pet: kind `cow` is not one of cat, dog"),
        ("pet: {kind: }\n", "f:1:12: pet: kind `null` is not one of cat, dog"),
        ("pet: {kind: 7}\n", "f:1:13: pet: kind `7` is not one of cat, dog"),
        ("pet: {lives: 3}\n", "f:1:6: pet: `kind` is missing"),
        ("pet: [1]\n", "f:1:6: pet: a list stands where a map of `key: value` belongs"),
        ("pet: {kind: dog, tricks: sit}\n", "f:1:26: pet.tricks: text stands where a list belongs"),
        ("pet: {kind: dog, tricks: [1]}\n", "f:1:27: pet.tricks.0: a number stands where text belongs"),
        ("pet: {kind: dog}\nsize: big\n", "f:2:7: size: `big` is not a number"),
        ("pet: {kind: dog}\nsize: .inf\n", "f:2:7: size: `inf` is not a number"),
        ("pet: {kind: dog}\ngarden: 1\n", "f:2:9: garden: `1` is neither true nor false"),
        ("[1]\n", "f:1:1: a list stands where a map of `key: value` belongs"),
    ],
)
def test_every_mistake_is_one_line_with_its_place(text: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        validate(Home, parse(text, "f"))
    assert str(error.value).startswith(answer)
    assert "\n" not in str(error.value)


def test_two_mistakes_are_two_lines() -> None:
    with pytest.raises(UserError) as error:
        validate(Home, parse("pet: {kind: dog}\nsize: big\ngarden: 1\n", "f"))
    assert len(str(error.value).splitlines()) == 2


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    for value in (1, 2, 1):
        file.write_text(f"a: {value}\n")
        assert load(file).data == {"a": value}
    # A text of two files stands in each.
    other = tmp_path / "b.yaml"
    other.write_text("a: 1\n")
    assert load(other).spot(("a",)).value.file == str(other)
