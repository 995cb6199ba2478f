"""The embedder of a name."""

from collections.abc import Callable, Mapping

from memlib.embedders.minilm import Bundled
from memlib.embedders.ollama import Ollama
from memlib.embedders.protocol import Embedder

Makers = Mapping[str, Callable[[], Embedder]]
MAKERS: Makers = {"bundled": Bundled, "ollama": Ollama}


def choose(name: str, makers: Makers = MAKERS) -> Embedder:
    """Return the embedder called bundled, ollama or ollama:MODEL, or what else `makers` has.

    Raises ValueError for another name. A missing model or server shows at the first `embed`.

    >>> choose("ollama:all-minilm").id
    'ollama:all-minilm'
    """
    if name in makers:
        return makers[name]()
    server, _, model = str(name).partition(":")
    if server == "ollama" and model.strip():
        return Ollama(model.strip())
    raise ValueError(f"name is {name!r}: must be {', '.join(makers)} or ollama:MODEL")
