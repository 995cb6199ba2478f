"""Tables in fixed width, for terminals and notebooks."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from memlib.checks import Floats

Column = Sequence[Any] | NDArray[Any]


def text_table(columns: Mapping[str, Column], left: Sequence[str] = ()) -> str:
    """Lay out columns of text that is already rounded; numbers to the right, `left` to the left.

    >>> print(text_table({"rank": [1, 2], "fact": ["Miso", "Sam"]}, left=["fact"]))
    rank fact
       1 Miso
       2 Sam
    """
    words = {name: [str(value) for value in values] for name, values in columns.items()}
    widths = {name: max([len(name), *map(len, words[name])]) for name in words}
    frame = pd.DataFrame(
        {
            name.ljust(widths[name]) if name in left else name: (
                [value.ljust(widths[name]) for value in values] if name in left else values
            )
            for name, values in words.items()
        }
    )
    table = frame.to_string(index=False)
    return "\n".join(line.rstrip() for line in table.splitlines())


def decimals(values: Floats, digits: int) -> list[str]:
    """Round to fixed decimals, without a minus before zero.

    >>> import numpy as np
    >>> decimals(np.array([0.126, -0.0]), 2)
    ['0.13', '0.00']
    """
    zero = f"{0:.{digits}f}"
    return [zero if text == f"-{zero}" else text for text in (f"{x:.{digits}f}" for x in values)]
