"""Programs over colour grids, for search loops (docs/arc.md)."""

from __future__ import annotations

import ctypes as c
import json
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence, Union

import numpy as np

from ._lib import address_of, encode, lib
from ._options import OptionTable
from .context import TOOLS, Context, Tool, context_for
from .errors import Error

_OPTIONS = OptionTable("qn_arc")

Grid = Union[np.ndarray, Sequence[Sequence[int]]]


def _cells(grid: Grid) -> list[list[int]]:
    array = np.asarray(grid)
    if array.ndim != 2 or array.dtype.kind not in "biu":
        raise TypeError(f"a grid has rows and columns of whole numbers, not {array.dtype} "
                        f"of shape {array.shape}")
    return [[int(cell) for cell in row] for row in array.tolist()]


def _task(task: Mapping[str, Any]) -> dict[str, Any]:
    """A task with its grids as lists."""
    return {part: [{side: _cells(pair[side]) for side in ("input", "output") if side in pair}
                   for pair in task.get(part, [])]
            for part in ("train", "test")}


def _value(value: Any) -> Any:
    """A value of an answer: grids become arrays; tuples and sets become Python's."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    (kind, content), = value.items()
    if kind == "g":
        return np.array([[int(cell) for cell in row] for row in content], "i1")
    if kind == "t":
        return tuple(_value(item) for item in content)
    if kind in ("s", "x", "o"):
        plain = [_value(item) for item in content]
        return [tuple(item) if isinstance(item, list) else item for item in plain]
    return value


class Session(Tool):
    """Programs and tasks that stay on a device, with the requests of `quern arc serve`.

        session = quern.arc.Session()
        session.add_tasks({"turn": {"train": [{"input": [[1, 2]], "output": [[2, 1]]}]}})
        session.add_programs({"turn": "def solve(I):\\n    return vmirror(I)\\n"})
        session.run()["scores"]

    Settings are the options of `quern arc run`: frames=128, max_steps=100000, no_share=True.
    """

    def __init__(self, *, ctx: Context | None = None, backend: str | None = None,
                 **settings: Any):
        super().__init__(ctx, backend)
        options = _OPTIONS.make(settings)
        handle = c.c_void_p()
        self.ctx._call(lib.qn_arc_new, self.ctx.handle, c.byref(options), c.byref(handle))
        self._handle = self.ctx._adopt(TOOLS, address_of(handle), lib.qn_arc_free)

    def ask(self, **request: Any) -> dict[str, Any]:
        """One request, one answer; docs/arc.md lists them. A refused request raises an Error."""
        with self.ctx._lock:
            self.ctx.handle
            if self._handle is None:
                raise ValueError("the session is closed")
            line = lib.qn_arc_ask(self._handle, encode(json.dumps(request)))
            if line is None:
                raise Error("nomem", "no memory for an answer")
            answer: dict[str, Any] = json.loads(line)
            self.ctx._warn_of_fallbacks()
        if not answer.pop("ok"):
            raise Error(answer.get("status", "failed"), answer.get("error", "refused"))
        return answer

    def add_programs(self, programs: Mapping[str, str]) -> None:
        """Adds programs by id. Those that do not compile raise an Error with all their faults; the
        others are added."""
        refused = self.ask(programs=dict(programs)).get("refused")
        if refused:
            first = next(iter(refused))
            raise Error("input", f"program {first}: {str(refused[first]).splitlines()[0]}",
                        "\n".join(f"{name}: {text}" for name, text in refused.items()))

    def add_tasks(self, tasks: Mapping[str, Mapping[str, Any]]) -> None:
        """Adds tasks by id: {"train": [{"input": grid, "output": grid}, ...], "test": [...]}."""
        self.ask(tasks={name: _task(task) for name, task in tasks.items()})

    def run(self, *, match: str = "id", pairs: str = "all", want: str = "scores",
            programs: Iterable[str] | None = None,
            tasks: Iterable[str] | None = None) -> dict[str, Any]:
        """Runs programs on the tasks of their ids, or on all (match="all")."""
        order: dict[str, Any] = {"match": match, "pairs": pairs, "want": want}
        if programs is not None:
            order["programs"] = list(programs)
        if tasks is not None:
            order["tasks"] = list(tasks)
        return self.ask(run=order)


@dataclass
class Run:
    """One program on one grid."""

    program: str
    task: str
    part: str
    pair: int
    status: str  # "ok", "error", "limit"
    output: Any  # a grid as int8 array, or another value; None when there is none
    equal: bool | None  # to the expected output; None when there is none
    steps: int
    error: str | None


def _run_of(line: dict[str, Any]) -> Run:
    return Run(program=line["program"], task=line["task"], part=line["part"], pair=line["pair"],
               status=line["status"], output=_value(line.get("output")), equal=line.get("equal"),
               steps=line["steps"], error=line.get("error"))


def run(programs: str | Mapping[str, str], grids: Mapping[str, Any] | Sequence[Grid], *,
        pairs: str = "all", match: str | None = None, ctx: Context | None = None,
        backend: str | None = None) -> list[Run]:
    """Runs programs and returns a Run for each program and grid.

    `programs` is the text of one, or texts by id. `grids` is a list of grids, on each of which
    every program runs, or tasks by id; then a program runs on the task of its id, or with
    match="all" on all.
    """
    if isinstance(programs, str):
        programs = {"program": programs}
    if not isinstance(grids, Mapping):
        grids = {"grids": {"train": [], "test": [{"input": grid} for grid in grids]}}
        match = match or "all"
    with context_for(ctx, backend) as used, Session(ctx=used) as session:
        session.add_programs(programs)
        session.add_tasks(grids)
        answer = session.run(match=match or "id", pairs=pairs, want="outputs")
    return [_run_of(line) for line in answer.get("results", [])]
