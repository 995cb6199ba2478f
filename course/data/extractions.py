"""Extractions and bad replies that were written by hand for chapter 03."""

import json
from typing import Any

from course.data.files import data_path


def recorded() -> dict[str, Any]:
    """The course's own extractions and bad replies: written and rated by hand, no model's.

    returns  "extractions": each an id, a conversation, a reply; "bad_replies": each a kind, the
             id of its conversation (`of`), a reply and the beginning of its problem

    >>> len(recorded()["extractions"])
    12
    """
    found: dict[str, Any] = json.loads(data_path("extractions.json").read_text(encoding="utf-8"))
    for row in found["extractions"]:
        row["conversation"] = "\n".join(row["conversation"])
        row["reply"] = json.dumps(row["reply"], ensure_ascii=False)
    return found
