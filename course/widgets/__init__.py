"""Widgets, one module a chapter: each a pure render(values) -> str and the controls around it."""
