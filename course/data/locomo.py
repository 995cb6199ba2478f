"""LoCoMo: ten long conversations written by a model; never stored in the project (CC BY-NC 4.0)."""

from course.data.dialogue import Conversation, load_dialogue
from course.data.fetch import Source, fetch

SOURCE = Source(
    "LoCoMo",
    "LOCOMO_PATH",
    "https://raw.githubusercontent.com/snap-research/LoCoMo/main/data",
    {"locomo10.json": ("79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",)},
)
DEVELOPMENT = ("conv-26", "conv-30", "conv-41")  # the first three in file order


def load_locomo(
    download: bool = True,
) -> tuple[tuple[Conversation, ...], tuple[Conversation, ...]]:
    """Development (the first three conversations) and held-out (the other seven).

    Raises DataUnavailable as `fetch` does.
    Source: Maharana et al. 2024; the split is that of *Scoring beyond similarity*: 385 development
    questions.
    """
    conversations = load_dialogue(fetch(SOURCE, download)[0])
    development = tuple(c for c in conversations if c.id in DEVELOPMENT)
    return development, tuple(c for c in conversations if c.id not in DEVELOPMENT)
