"""The stored outputs are those of a machine without a server: one that runs here is not asked."""

import os

os.environ["OLLAMA_HOST"] = "127.0.0.1:9"  # the port "discard": nobody answers
