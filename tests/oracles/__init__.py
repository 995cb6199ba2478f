"""Slow versions of the formulas, from the standard library alone: a second opinion for tests."""
