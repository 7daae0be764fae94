"""Nonlinear least squares: programs of `quern fit`, solved from memory (docs/fit.md)."""

from __future__ import annotations

import contextlib
import ctypes as c
import io
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Union

import numpy as np

from . import _structs as s
from ._lib import address_of, check_err, encode, lib
from .context import Context, context_for

if TYPE_CHECKING:
    import numpy.typing as npt

    FileLike = Union[str, bytes, np.ndarray, Mapping[str, npt.ArrayLike]]


@dataclass
class Solution:
    """What a solve found. Values are floats for parameters that are one number, else arrays
    (blocks,) or (blocks, numbers)."""

    values: dict[str, Any]
    start: dict[str, Any]
    deviations: dict[str, Any]  # empty where the residuals do not determine them
    converged: bool
    report: dict[str, Any]  # the JSON of `quern fit run --report`

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def cost(self) -> float:
        """Half the sum of squares, and all energies."""
        return float(self.report["final_cost"])


def _csv(columns: Mapping[str, Any]) -> bytes:
    """Columns as text with all their digits."""
    names = list(columns)
    arrays = [np.asarray(columns[name], "f8") for name in names]
    if not names or any(array.ndim != 1 or array.shape != arrays[0].shape for array in arrays):
        raise ValueError("a table has columns of one length")
    text = io.StringIO()
    text.write(",".join(names) + "\n")
    for row in zip(*(array.tolist() for array in arrays)):
        text.write(",".join(map(repr, row)) + "\n")
    return text.getvalue().encode()


def _bytes_of(name: str, content: FileLike) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, Mapping):
        return _csv(content)
    array = np.asarray(content)
    if array.dtype.names:
        return _csv({field: array[field] for field in array.dtype.names})
    raise TypeError(f"{name}: data is text, bytes, a mapping of columns or a structured array")


def _shaped(pointer: Any, parameter: s.FitParameter) -> Any:
    array = np.ctypeslib.as_array(pointer, (parameter.count, parameter.dim)).copy()
    if parameter.dim == 1:
        array = array[:, 0]
    return float(array[0]) if parameter.count == 1 and parameter.dim == 1 else array


def _solution_of(handle: int) -> Solution:
    values, start, deviations = {}, {}, {}
    parameter = s.FitParameter()
    for i in range(lib.qn_fit_solution_n_parameters(handle)):
        lib.qn_fit_solution_parameter(handle, i, c.byref(parameter))
        name = parameter.name.decode()
        values[name] = _shaped(parameter.values, parameter)
        start[name] = _shaped(parameter.start, parameter)
        if parameter.deviations:
            deviations[name] = _shaped(parameter.deviations, parameter)
    return Solution(values, start, deviations, bool(lib.qn_fit_solution_is_converged(handle)),
                    json.loads(lib.qn_fit_solution_report(handle)))


def run(text: str, data: Mapping[str, FileLike] | None = None, *,
        set: Mapping[str, float] | None = None, folder: str | os.PathLike[str] | None = None,
        precision: str = "f64", covariance: bool = False, threads: int = 0, name: str = "program",
        ctx: Context | None = None, backend: str | None = None) -> Solution:
    """Solves a program.

    `data` are the files that the program names: text, bytes, or for csv("points.csv") a mapping of
    columns, {"points.csv": {"x": x, "y": y}}. Files that are not there are looked for in `folder`.
    `set` gives constants other values, or parameters of one number other starts. A solve that did
    not converge is no exception: look at `converged`. A wrong program is an Error, whose `faults`
    has all of them with their lines.
    """
    if precision not in ("f32", "f64"):
        raise ValueError(f"precision={precision!r}; it is 'f32' or 'f64'")
    contents = {file: _bytes_of(file, content) for file, content in (data or {}).items()}
    settings = dict(set or {})
    files = (s.FitFile * (len(contents) + 1))(
        *[s.FitFile(encode(file), content, len(content)) for file, content in contents.items()])
    values = (s.FitSetting * (len(settings) + 1))(
        *[s.FitSetting(encode(key), float(value)) for key, value in settings.items()])
    options = s.FitOptions(name=encode(name), files=files, n_files=len(contents),
                           folder=encode(folder), settings=values, n_settings=len(settings),
                           is_f32=precision == "f32", is_covariance=covariance, threads=threads)
    handle, faults, err = c.c_void_p(), c.c_void_p(), s.Err()
    with context_for(ctx, backend) as used, contextlib.ExitStack() as stack:
        with used._lock:
            status = lib.qn_fit_solve_program(used.handle, encode(text), c.byref(options),
                                              c.byref(handle), c.byref(faults), c.byref(err))
            if handle:
                stack.callback(lib.qn_fit_solution_free, handle.value)
            if faults:
                stack.callback(lib.qn_fit_faults_free, faults.value)
            check_err(status, err,
                      c.string_at(address_of(faults)).decode(errors="replace") if faults else None)
            used._tell_fallbacks()
            return _solution_of(address_of(handle))
