"""The game of life (docs/life.md)."""

from __future__ import annotations

import ctypes as c

import numpy as np

from ._lib import lib
from ._options import OptionTable
from .context import Context, context_for

_OPTIONS = OptionTable("qn_life")
lib.qn_life.restype = c.c_int


def run(cells: np.ndarray, steps: int = 1, *, ctx: Context | None = None,
        backend: str | None = None) -> np.ndarray:
    """The board `cells`, an array of 0 and 1, after so many generations."""
    board = np.ascontiguousarray(cells, "u1")
    out = np.empty_like(board)
    options = _OPTIONS.make({"rows": board.shape[0], "cols": board.shape[1], "steps": steps,
                             "cells": board})
    with context_for(ctx, backend) as used:
        used._call(lib.qn_life, c.c_void_p(used.handle), c.byref(options), out.ctypes.data_as(c.c_void_p))
    return out
