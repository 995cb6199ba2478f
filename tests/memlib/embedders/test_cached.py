"""Vectors kept in a file: embedded once, over-long texts named, damage set aside."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memlib.embedders.cached import Cached, cache_folder
from memlib.embedders.protocol import Role, TooLong, Vectors


class Counting:
    """An embedder that notes what reaches it and finds texts over nine letters too long."""

    def __init__(self, id: str = "counting") -> None:
        self.id, self.seen, self.dim = id, list[tuple[Role, str]](), 2

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        self.seen += [(role, text) for text in texts]
        rows = {row: np.float32([len(t), 1]) for row, t in enumerate(texts) if len(t) < 10}
        if len(rows) < len(texts):
            long = {row: text for row, text in enumerate(texts) if len(text) >= 10}
            raise TooLong("too long", long, rows)
        return np.array([*rows.values()], np.float32).reshape(-1, 2)


def test_each_text_is_embedded_once_in_each_role_and_in_later_runs(tmp_path: Path) -> None:
    model = Counting()
    first = Cached(model, tmp_path / "new").embed(["a", "bb", "a"])
    assert first.tolist() == [[1, 1], [2, 1], [1, 1]] and first.dtype == np.float32
    again = Cached(model, tmp_path / "new")
    assert again.embed(["ccc", "bb"]).tolist() == [[3, 1], [2, 1]]
    assert again.embed(["a"], "query").tolist() == [[1, 1]] and again.embed([]).shape == (0, 2)
    seen = [("document", "a"), ("document", "bb"), ("document", "ccc"), ("query", "a")]
    assert model.seen == seen


def test_another_embedder_has_another_file(tmp_path: Path) -> None:
    other = Counting("other")
    Cached(Counting(), tmp_path).embed(["a"])
    Cached(other, tmp_path).embed(["a"])
    assert other.seen == [("document", "a")] and len(list(tmp_path.iterdir())) == 2


def test_what_is_too_long_is_named_by_its_row_and_all_others_are_kept(tmp_path: Path) -> None:
    model = Counting()
    texts = ["a", "0123456789", "bb"]
    for _ in range(2):
        with pytest.raises(TooLong, match=r"^too long: shorten texts\[1\] ") as error:
            Cached(model, tmp_path).embed(texts)
        assert {row: v.tolist() for row, v in error.value.vectors.items()} == {
            0: [1, 1],
            2: [2, 1],
        }
    assert [text for _, text in model.seen] == [*texts, "0123456789"]


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut"])
def test_a_damaged_file_is_set_aside(tmp_path: Path, content: bytes) -> None:
    model = Counting()
    Cached(model, tmp_path).embed(["a"])
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert Cached(model, tmp_path).embed(["a"]).tolist() == [[1, 1]]
    assert file.with_suffix(".damaged").read_bytes() == content
    assert Cached(model, tmp_path).embed(["a"]).tolist() == [[1, 1]] and len(model.seen) == 2


def test_arrays_that_do_not_belong_together_are_damage_too(tmp_path: Path) -> None:
    model = Counting()
    Cached(model, tmp_path).embed(["a"])
    (file,) = tmp_path.iterdir()
    np.savez(file, keys=np.array(["x", "y"]), vectors=np.zeros((1, 2), np.float32))
    assert Cached(model, tmp_path).embed(["a"]).tolist() == [[1, 1]] and len(model.seen) == 2


def test_a_folder_that_cannot_be_made_keeps_nothing_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    model = Counting()
    for _ in range(2):
        assert Cached(model, tmp_path / "file").embed(["a"]).shape == (1, 2)
    assert len(model.seen) == 2


def test_the_folder_is_that_of_the_variable_or_of_this_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMLIB_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("MEMLIB_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "memlib"
