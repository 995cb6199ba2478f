"""Extraction: from a conversation to the fields of a card."""
