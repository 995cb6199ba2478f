"""memlib: rank, keep and forget an agent's memories, one topic a module.

Importing it loads no model and opens no connection; `choose` and the first `embed` do.
"""

from memlib.bm25 import BM25
from memlib.cards import CardError, load_cards, load_questions
from memlib.embedders.choose import choose
from memlib.embedders.protocol import Embedder, EmbedderUnavailable
from memlib.evaluation import evidence_recall, paired_bootstrap
from memlib.forgetting import ForgetWeights, RetentionPolicy, ReviewWeights
from memlib.fusion import reciprocal_rank_fusion, weighted_sum
from memlib.librarian import Librarian, Settings
from memlib.normalization import min_max
from memlib.ranking import rank_order, three_part_score
from memlib.recency import recency_by_half_life
from memlib.retrieval import PRESETS, Ranking, rank
from memlib.store.database import StoreError
from memlib.store.sqlite import Store

__version__ = "0.2.0"
__all__ = [
    "BM25",
    "PRESETS",
    "CardError",
    "Embedder",
    "EmbedderUnavailable",
    "ForgetWeights",
    "Librarian",
    "Ranking",
    "RetentionPolicy",
    "ReviewWeights",
    "Settings",
    "Store",
    "StoreError",
    "choose",
    "evidence_recall",
    "load_cards",
    "load_questions",
    "min_max",
    "paired_bootstrap",
    "rank",
    "rank_order",
    "recency_by_half_life",
    "reciprocal_rank_fusion",
    "three_part_score",
    "weighted_sum",
]
