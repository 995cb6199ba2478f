"""A server that speaks the Ollama API: whether one answers, and one line for all that it refuses.

Every connection is made here, so that nothing waits longer for a server than these limits.
"""

import math
import os
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollama import Client

DEFAULT_HOST = "127.0.0.1:11434"
WAIT_SECONDS = 2.0  # for a sign of life, a packet lost on the way included; models load longer
START = "run `ollama serve` or set OLLAMA_HOST"  # when nobody answers
INSTALL = "run `pip install ollama`"


def address(host: str | None = None) -> str:
    """Return `host`, else OLLAMA_HOST, else 127.0.0.1:11434.

    >>> address("192.0.2.7:11434")
    '192.0.2.7:11434'
    """
    return host or os.environ.get("OLLAMA_HOST") or DEFAULT_HOST


def check_request(model: object, timeout: object) -> None:
    """Refuse what no server can be asked for, before it is asked: ValueError.

    model    name of a model: a str, not empty, without outer whitespace
    timeout  seconds, above 0 and finite; True is no number

    >>> check_request(" ", 30)
    Traceback (most recent call last):
    ValueError: model is ' ': must be the name of a model, without spaces around it
    """
    if not isinstance(model, str) or not model or model != model.strip():
        said = "must be the name of a model, without spaces around it"
        raise ValueError(f"model is {model!r}: {said}")
    number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
    if not number or not 0 < timeout < math.inf:  # type: ignore[operator]
        raise ValueError(f"timeout is {timeout!r}: must be a positive number of seconds")


def client(host: str, timeout: float) -> "Client":
    """Return a client that waits `timeout` seconds for an answer, for a connection two at most.

    The time is counted between two packets: a server that trickles its answer takes longer.
    Close it, or use it in a `with`. Raises ImportError without the package ollama, and whatever
    the client raises for an impossible address.

    >>> with client("127.0.0.1", 30) as opened:
    ...     type(opened).__name__
    'Client'
    """
    import ollama
    from httpx import Timeout

    return ollama.Client(host=host, timeout=Timeout(timeout, connect=min(timeout, WAIT_SECONDS)))


def silence(host: str, seconds: float = WAIT_SECONDS) -> tuple[str, str] | None:
    """Return None if a server answers, else what is wrong and what to do.

    seconds  how long to wait, above 0; more than WAIT_SECONDS counts as these
    returns  None after the list of models came; never later than `seconds`, even where looking up
             the host's name takes longer, or where it has many addresses

    >>> silence("127.0.0.1:1")
    ('no answer', 'run `ollama serve` or set OLLAMA_HOST')
    """
    seconds, got = min(seconds, WAIT_SECONDS), list[Exception | None]()

    def ask() -> None:
        try:
            with client(host, seconds) as asked:
                asked.list()
            got.append(None)
        except Exception as error:  # whatever a network can do; told below
            got.append(error)

    with suppress(ImportError):  # the package is read before the clock starts
        import ollama  # noqa: F401
    asking = Thread(target=ask, daemon=True)  # it may be stuck where no time-out reaches
    asking.start()
    asking.join(seconds)
    error = got[0] if got else TimeoutError()
    if error is None:
        return None
    if _is(error, "ConnectionError", "ConnectError"):
        return "no answer", START
    if _is(error, "TimeoutError", "TimeoutException"):
        return f"no answer within {seconds:g} s", START
    if isinstance(error, ImportError):
        return str(error), INSTALL
    said = str(error) or type(error).__name__
    return f"no Ollama is there: {said.strip()}", "set OLLAMA_HOST to the address of one"


def refusal(error: Exception, model: str, timeout: float) -> tuple[str, str]:
    """Return what went wrong in a request, and what to do.

    error  what the client raised: ConnectionError, httpx.ConnectError when streaming, a time-out,
           ResponseError with its status_code, a broken connection, a reply that is no JSON

    >>> refusal(ConnectionError("Failed to connect to Ollama. …"), "nomic-embed-text", 30)
    ('no answer', 'run `ollama serve` or set OLLAMA_HOST')
    """
    if isinstance(error, ImportError):
        return str(error), INSTALL
    if _is(error, "ConnectionError", "ConnectError", "ConnectTimeout"):
        return "no answer", START
    if _is(error, "TimeoutException"):
        todo = "try again when the model is loaded, or give a longer `timeout`"
        return f"no answer within {timeout:g} s", todo
    if getattr(error, "status_code", None) == 404:
        return f"no model {model!r}", f"run `ollama pull {model}`"
    return str(error) or type(error).__name__, "read the log of `ollama serve`"


def _is(error: Exception, *names: str) -> bool:
    """Whether an error is of a class of one of these names: httpx may be missing."""
    return any(kind.__name__ in names for kind in type(error).__mro__)
