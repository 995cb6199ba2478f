"""memlib: scoring an agent's memories beyond similarity, one topic a module."""

__version__ = "0.1.0"
