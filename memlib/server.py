"""A server that speaks the Ollama API: whether one answers, and one line for all that it refuses.

Every connection is made here, so that nothing waits longer for a server than these limits.
"""

import math
import os
import re
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ollama import Client

DEFAULT_HOST = "127.0.0.1:11434"
WAIT_SECONDS = 2.0  # for a sign of life, a packet lost on the way included; models load longer
START = "run `ollama serve` or set OLLAMA_HOST"  # when nobody answers
INSTALL = "run `pip install ollama`"
LOG = "read the log of `ollama serve`"
NO_ADDRESS = "no address of a server"
_TOO_LONG = re.compile(r"context (length|size|window)|too large to process", re.IGNORECASE)


class BadAddress(ValueError):
    """A host that is no address of a server, or an OLLAMA_HOST; the message names it."""


def address(host: str | None = None) -> str:
    """Return `host`, else OLLAMA_HOST, else 127.0.0.1:11434.

    White space and a pair of quotation marks around it are taken off; blank is as good as None.
    What is no address is refused by `client`. Raises ValueError for a host that is no str.

    >>> address(" '192.0.2.7:11434' ")
    '192.0.2.7:11434'
    """
    if not isinstance(host, str | None):
        raise ValueError(f"host is {host!r}: must be an address such as {DEFAULT_HOST}")
    return _bare(host) or _bare(os.environ.get("OLLAMA_HOST")) or DEFAULT_HOST


def canonical(id: str) -> str:
    """Return the one id of an embedder that has two spellings: MODEL:latest is MODEL.

    >>> canonical("ollama:all-minilm:latest+prefixes"), canonical("ollama:all-minilm:22m")
    ('ollama:all-minilm+prefixes', 'ollama:all-minilm:22m')
    """
    return re.sub(r"^(ollama:.+):latest(\+prefixes)?$", r"\1\2", id)


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
    Close it, or use it in a `with`. Raises ImportError without the package ollama, BadAddress for
    a host that is no address.

    >>> client("127.0.0.1:99999", 30)
    Traceback (most recent call last):
    memlib.server.BadAddress: host is '127.0.0.1:99999', no address of a server \
(Port out of range 0-65535)
    """
    ollama = _package()
    from httpx import Timeout

    _check(host)
    limits = Timeout(timeout, connect=min(timeout, WAIT_SECONDS))
    opened: Client = ollama.Client(host=host, timeout=limits)
    return opened


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

    with suppress(Exception):  # the package is read before the clock starts
        _package()
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
    if isinstance(error, ImportError | BadAddress) or getattr(error, "status_code", 0) >= 500:
        return refusal(error, "", seconds)
    return f"no Ollama is there: {_told(error)}", "set OLLAMA_HOST to the address of one"


def refusal(error: Exception, model: str, timeout: float) -> tuple[str, str]:
    """Return what went wrong in a request, and what to do.

    error  what the client raised: ConnectionError, httpx.ConnectError when streaming, a time-out,
           ResponseError with its status_code, a broken connection, a reply that is no JSON,
           BadAddress
    What a server answers is told in its own words: it is there, and only its log says more.

    >>> refusal(ConnectionError("Failed to connect to Ollama. …"), "nomic-embed-text", 30)
    ('no answer', 'run `ollama serve` or set OLLAMA_HOST')
    """
    if isinstance(error, ImportError):
        return str(error), INSTALL
    if isinstance(error, BadAddress):
        variable = str(error).startswith("OLLAMA_HOST")
        set_it = ("set it to", "unset it") if variable else ("give", "leave it out")
        return str(error), f"{set_it[0]} one such as {DEFAULT_HOST}, or {set_it[1]}"
    if _is(error, "ConnectionError", "ConnectError", "ConnectTimeout"):
        return "no answer", START
    if _is(error, "TimeoutException"):
        todo = "try again when the model is loaded, or give a longer `timeout`"
        return f"no answer within {timeout:g} s", todo
    told = _told(error)
    if getattr(error, "status_code", None) == 404 and "model" in told:
        return f"no model {model!r}", f"run `ollama pull {model}`"
    return told, LOG


def too_long(error: Exception) -> bool:
    """Whether a server refused a request because a text in it is longer than its model reads.

    Ollama and llama.cpp say so in several wordings, under the status codes 400, 413 and 500.

    >>> too_long(ValueError("input is larger than the max context size. skipping"))
    True
    """
    return bool(_TOO_LONG.search(_told(error)))


def _package() -> Any:
    """The package ollama: its import makes a client for OLLAMA_HOST, whatever stands there."""
    try:
        import ollama
    except ImportError:
        raise
    except Exception:
        kept = os.environ.pop("OLLAMA_HOST", None)
        try:
            import ollama
        finally:
            os.environ |= {"OLLAMA_HOST": kept} if kept is not None else {}
    return ollama


def _bare(host: str | None) -> str:
    """Without what a shell or an .env file leaves around a value."""
    text = (host or "").strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1].strip() if quoted else text


def _check(host: str) -> None:
    from httpx import URL, InvalidURL

    scheme, _, rest = host.rpartition("://")
    why = "" if scheme in ("", "http", "https") else f"{scheme}:// instead of http://"
    if re.search(r"[\s\"'<>`]", host):
        why = "a space or a quotation mark is in it"
    try:
        _ = urlsplit(f"http://{rest}").port, URL(f"http://{rest}")
    except (ValueError, InvalidURL) as error:
        why = why or str(error)
    if why:
        variable = os.environ.get("OLLAMA_HOST")
        given = f"OLLAMA_HOST is {variable!r}" if host == _bare(variable) else f"host is {host!r}"
        raise BadAddress(f"{given}, {NO_ADDRESS} ({why})")


def _told(error: Exception) -> str:
    """What an error says; of an answer like llama.cpp's, {"code", "message"}, the message."""
    answer = getattr(error, "error", None)
    if isinstance(answer, dict) and "message" in answer:
        return f"{answer['message']} (status code: {getattr(error, 'status_code', '?')})"
    return str(error).strip() or type(error).__name__


def _is(error: Exception, *names: str) -> bool:
    """Whether an error is of a class of one of these names: httpx may be missing."""
    return any(kind.__name__ in names for kind in type(error).__mro__)
