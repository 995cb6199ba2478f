"""Measurements of the course: LoCoMo, the ideas, a live model."""
