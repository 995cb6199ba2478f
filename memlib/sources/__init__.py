"""Where things come from: cards, embeddings, extractions."""
