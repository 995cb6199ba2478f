"""LoCoMo: the published file, and its split."""

import hashlib
import json
from pathlib import Path

import pytest

from course.data import locomo
from course.data.fetch import DataUnavailable, Source, cache_folder
from course.data.locomo import DEVELOPMENT, SOURCE, load_locomo


def talk(name: str) -> dict[str, object]:
    turn = {"dia_id": "D1:1", "speaker": "Ida", "text": f"This is {name}."}
    people = {"speaker_a": "Ida", "speaker_b": "Max"}
    return {"sample_id": name, "conversation": people | {"session_1": [turn]}, "qa": []}


NAMES = ("conv-26", "conv-30", "conv-41", "conv-42", "conv-50")
CONTENT = json.dumps([talk(name) for name in NAMES]).encode()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, no LOCOMO_PATH, and the hash of CONTENT."""
    monkeypatch.setenv("MEMLIB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LOCOMO_PATH", raising=False)
    hashes = (hashlib.sha256(CONTENT).hexdigest(),)
    own = Source(SOURCE.name, SOURCE.variable, SOURCE.address, {"locomo10.json": hashes})
    monkeypatch.setattr(locomo, "SOURCE", own)


def test_what_is_measured_is_the_published_file() -> None:
    assert SOURCE.files == {
        "locomo10.json": ("79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",)
    }
    assert SOURCE.address.startswith("https://") and SOURCE.variable == "LOCOMO_PATH"
    assert NAMES[:3] == DEVELOPMENT


def test_the_first_three_are_for_development_the_others_held_out() -> None:
    (cache_folder() / "locomo10.json").write_bytes(CONTENT)
    development, held_out = load_locomo(download=False)
    assert tuple(c.id for c in development) == NAMES[:3]
    assert tuple(c.id for c in held_out) == NAMES[3:]


def test_what_cannot_be_had_cannot_be_loaded() -> None:
    with pytest.raises(DataUnavailable, match=r"^LoCoMo is not here"):
        load_locomo(download=False)
