"""Argument checks that every formula shares: each error names the argument, the row, the value."""

from collections.abc import Sequence, Sized

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def _refuse(name: str, values: Floats, bad: NDArray[np.bool_], rule: str) -> None:
    if not bad.any():
        return
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    where = f"{name}[{', '.join(map(str, at))}]" if at else name
    raise ValueError(f"{where} is {float(values[at])!r}: {rule}")


def _within(array: Floats, low: float, high: float) -> bool:
    return (low == -np.inf or array.min() >= low) and (high == np.inf or array.max() <= high)


def _same_index(name: str, values: object, like: object) -> None:
    """Refuse a pandas column whose rows are not those of `like`, or not in its order, or repeat."""
    index, wanted = (getattr(x, "index", x) for x in (values, like))
    if not isinstance(index, pd.Index) or not isinstance(wanted, pd.Index):
        return
    if index.equals(wanted):
        if not index.is_unique:
            row = int(np.argmax(index.duplicated()))
            said = f"{name}[{row}] is of row {index[row]!r}, as one before it is"
            raise ValueError(f"{said}: a label may occur only once, or pass .to_numpy()")
        return
    for row, (here, there) in enumerate(zip(index, wanted, strict=False)):
        if here != there:
            said = f"{name}[{row}] is of row {here!r}, the argument before it has {there!r} there"
            raise ValueError(f"{said}: bring both into one order, or pass .to_numpy()")


def unmasked(name: str, values: object) -> None:
    """Refuse a numpy array of which something is masked: what lies below would count.

    >>> unmasked("hours", np.ma.array([0, 26], mask=[False, True]))
    Traceback (most recent call last):
    ValueError: hours[1] is masked, with 26 below: leave such rows out, or fill them
    """
    if isinstance(values, np.ma.MaskedArray):
        for at in np.argwhere(np.ma.getmaskarray(values)).tolist():
            said = f"{name}{at or ''} is masked, with {values.data.item(*at)!r} below"
            raise ValueError(f"{said}: leave such rows out, or fill them")
    elif isinstance(values, list | tuple):
        for row, value in enumerate(values):
            if isinstance(value, np.ma.MaskedArray):
                unmasked(f"{name}[{row}]", value)


def numbers(
    name: str,
    values: ArrayLike,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    ndim: int | None = None,
    missing: bool = False,
    infinite: bool = False,
    absent: bool = False,
    like: object = None,
) -> Floats:
    """Return `values` as float64, or raise ValueError with the argument, row and value at fault.

    low, high  inclusive bounds; ndim  wanted number of dimensions; missing  lets NaN through;
    infinite  lets plus infinity through, absent  minus infinity, the score of what was not found;
    like  the argument that `values` goes with row by row: if both are pandas, their indexes must
    be the same, each label once.

    >>> numbers("hours", [0, 26], low=0)
    array([ 0., 26.])
    >>> numbers("hours", [0, -1], low=0)
    Traceback (most recent call last):
    ValueError: hours[1] is -1.0: must be at least 0
    """
    unmasked(name, values)
    try:
        raw = np.asarray(values)
        words = raw.dtype.kind == "O" and any(isinstance(value, str) for value in raw.flat)
        if words or raw.dtype.kind in "cmMSU":  # numpy would cast "4", a date or 1j in silence
            raise TypeError(f"found {'words' if words else raw.dtype}")
        array = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    _same_index(name, values, like)
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} has shape {array.shape}: must have {ndim} dimension(s)")
    if array.size == 0 or (np.isfinite(array).all() and _within(array, low, high)):
        return array
    if not missing:
        _refuse(name, array, np.isnan(array), "must be a number")
    let = (infinite & (array == np.inf)) | (absent & (array == -np.inf))
    _refuse(name, array, np.isinf(array) & ~let, "must be finite")
    _refuse(name, array, array < low, f"must be at least {low:g}")
    _refuse(name, array, array > high, f"must be at most {high:g}")
    return array


def same_length(**arguments: Sized) -> int:
    """Return the common length of the named arguments, or raise ValueError with all lengths.

    Columns of pandas must have the same index too, each label once: rows are matched by place.

    >>> same_length(relevance=[1, 2], recency=[3, 4])
    2
    """
    lengths = {name: len(values) for name, values in arguments.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"lengths differ: {told}")
    first = next(iter(arguments.values()))
    for name, values in arguments.items():
        _same_index(name, values, first)
    return len(first)


def finite_fields(name: str, fields: object) -> None:
    """Refuse a dataclass of coefficients of which one is not a finite number.

    >>> from types import SimpleNamespace
    >>> finite_fields("weights", SimpleNamespace(recency=float("nan")))
    Traceback (most recent call last):
    ValueError: weights.recency is nan: must be a number
    """
    for field, value in vars(fields).items():
        numbers(f"{name}.{field}", value, ndim=0)


def card_ids(ids: Sequence[str] | pd.Index) -> pd.Index:
    """Return `ids` as an Index of distinct strings, or raise ValueError (4 is not "4").

    >>> list(card_ids(["miso", "sam"]))
    ['miso', 'sam']
    """
    index = ids if isinstance(ids, pd.Index) else pd.Index(list(ids), dtype=object)
    if index.inferred_type not in ("string", "empty") or index.hasnans:
        for row, value in enumerate(index):
            if not isinstance(value, str):
                raise ValueError(f"ids[{row}] is {value!r}: an id must be a str")
    if not index.is_unique:
        row = int(np.argmax(index.duplicated()))
        raise ValueError(f"ids[{row}] is {index[row]!r}: an id may occur only once")
    return index
