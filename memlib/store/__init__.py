"""Stores: where an owner's cards are kept."""
