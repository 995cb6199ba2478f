"""Evidence recall by sorting all turns, method after method; the weightings counted in tenths."""

from collections.abc import Sequence
from fractions import Fraction


def weightings() -> set[tuple[Fraction, Fraction, Fraction]]:
    """Every way to share ten tenths among three signals."""
    tenths = range(11)
    return {
        (Fraction(dense, 10), Fraction(bm25, 10), Fraction(entity, 10))
        for dense in tenths
        for bm25 in tenths
        for entity in tenths
        if dense + bm25 + entity == 10
    }


def order(scores: Sequence[float]) -> list[int]:
    """Rows from best to worst; sorting is stable, so equal scores stay in turn order."""
    return sorted(range(len(scores)), key=lambda row: -scores[row])


def evidence_ranks(scores: Sequence[float], evidence: Sequence[int]) -> list[int]:
    places = order(scores)
    return [1 + places.index(row) for row in evidence]


def recall(scores: Sequence[float], evidence: Sequence[int], top_k: int) -> float:
    """In percent."""
    first = order(scores)[:top_k]
    return 100 * sum(row in first for row in evidence) / len(evidence)
