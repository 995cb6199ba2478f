"""Embedders: where vectors come from."""
