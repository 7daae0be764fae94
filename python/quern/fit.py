"""Nonlinear least squares: programs of `quern fit`, solved from arrays (docs/fit.md)."""

from __future__ import annotations

import contextlib
import ctypes as c
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Mapping, Union

import numpy as np

from . import _structs as s
from ._lib import address_of, check_err, encode, lib
from ._options import OptionTable
from .context import Context, context_for

if TYPE_CHECKING:
    import numpy.typing as npt

    FileLike = Union[str, bytes, np.ndarray, Mapping[str, npt.ArrayLike]]

_OPTIONS = OptionTable("qn_fit")
_TYPES = {"f8": 0, "f4": 1, "i8": 2}  # qn_fit_column_type


@dataclass
class Solution:
    """The result of a solve. Values are floats for parameters of one number, otherwise arrays
    (blocks,) or (blocks, numbers)."""

    values: dict[str, Any]
    start: dict[str, Any]
    deviations: dict[str, Any]  # empty if the residuals do not determine them
    converged: bool
    report: dict[str, Any]  # the JSON of `quern fit run --report`

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def cost(self) -> float:
        """Half the sum of squares, and all energies."""
        return float(self.report["final_cost"])


@dataclass
class Progress:
    """The state of a solve after an iteration."""

    solver: str
    solve: int  # 0 for the first solve of the program
    iteration: int  # of this solve, from 1
    max_iterations: int
    accepted: bool  # False: lm rejected the step and stays where it was
    linear_iterations: int
    cost: float
    gradient_max: float
    step_norm: float
    seconds: float  # since the solve began


class _Watcher:
    """Hands the library's progress to a Python function, and its exceptions back to the caller."""

    def __init__(self, function: Callable[[Progress], Any]):
        self._function = function
        self.error: BaseException | None = None
        self.struct = s.FitCallback(s.FitCall(self._call), None)

    def _call(self, _user: Any, progress: Any) -> int:
        p = progress.contents
        try:
            return bool(self._function(Progress(
                p.solver.decode(), p.solve, p.iteration, p.max_iterations, bool(p.is_accepted),
                p.linear_iterations, p.cost, p.gradient_max, p.step_norm, p.seconds)))
        except StopIteration:
            return 1
        except BaseException as error:  # also KeyboardInterrupt
            self.error = error
            return 1


def _column(file: str, name: str, values: Any, keep: list[Any]) -> s.FitColumn:
    """A column that the library reads in place; other types than f8, f4, i8 become f8."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{file}: column {name} has {array.ndim} dimensions, not 1")
    if array.dtype.str[1:] not in _TYPES or not array.dtype.isnative or not array.strides[0]:
        array = np.ascontiguousarray(array, "f8")
    keep.append(array)
    return s.FitColumn(encode(file), encode(name), array.ctypes.data, array.size,
                       array.strides[0], _TYPES[array.dtype.str[1:]])


def _columns_of(file: str, content: Any, keep: list[Any]) -> list[s.FitColumn]:
    if not isinstance(content, Mapping):
        array = np.asarray(content)
        if not array.dtype.names:
            raise TypeError(f"{file}: data is text, bytes, a mapping of columns or a structured "
                            "array")
        content = {field: array[field] for field in array.dtype.names}
    if not content:
        raise ValueError(f"{file}: a table has at least one column")
    columns = [_column(file, name, values, keep) for name, values in content.items()]
    if any(column.count != columns[0].count for column in columns):
        raise ValueError(f"{file}: a table has columns of one length")
    return columns


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
        set: Mapping[str, float] | None = None,
        callback: Callable[[Progress], Any] | None = None, ctx: Context | None = None,
        backend: str | None = None, **options: Any) -> Solution:
    """Solves a program.

    `data` holds the files that the program names: text or bytes, or for csv("points.csv") a mapping
    of columns, {"points.csv": {"x": x, "y": y}}, or a structured array. Columns are read in place.
    `set` gives constants other values, or parameters of one number other start values. `callback`
    is called with a Progress after each iteration; if it returns true or raises StopIteration, the
    solution is the point reached so far, and its report has the status "user_stop". Other keywords
    are the options of `quern fit run` and of <quern/fit.h>: `folder` (of further data files),
    `name` (in messages), `precision`, `covariance`, `threads`, `report`, ... A solve that does not
    converge raises no exception: look at `converged`. A wrong program is an Error, whose `faults`
    lists all of them with their lines.
    """
    keep: list[Any] = []
    files, columns = [], []
    for file, content in (data or {}).items():
        if isinstance(content, str):
            content = content.encode()
        if isinstance(content, bytes):
            files.append(s.FitFile(encode(file), content, len(content)))
        else:
            columns += _columns_of(file, content, keep)
    watchers = [_Watcher(callback)] if callback else []
    settings = [f"{name}={float(value)!r}" for name, value in (set or {}).items()]
    chosen = _OPTIONS.make({**options, "files": files, "columns": columns, "set": settings,
                            "callbacks": [watcher.struct for watcher in watchers]})
    handle, faults, err = c.c_void_p(), c.c_void_p(), s.Err()
    with context_for(ctx, backend) as used, contextlib.ExitStack() as stack:
        with used._lock:
            status = lib.qn_fit_solve_program(used.handle, encode(text), c.byref(chosen),
                                              c.byref(handle), c.byref(faults), c.byref(err))
            if handle:
                stack.callback(lib.qn_fit_solution_free, handle.value)
            if faults:
                stack.callback(lib.qn_fit_faults_free, faults.value)
            for watcher in watchers:
                if watcher.error:
                    raise watcher.error
            check_err(status, err,
                      c.string_at(address_of(faults)).decode(errors="replace") if faults else None)
            used._warn_of_fallbacks()
            return _solution_of(address_of(handle))
