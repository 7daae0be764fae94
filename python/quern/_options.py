"""Option structs of the tools, built from the tables in the library (<quern/options.h>)."""

from __future__ import annotations

import ctypes as c
import difflib
import math
import os
from typing import Any

import numpy as np

from . import _structs as s
from ._lib import encode, lib
from .errors import Error

CHOICE, PRESET, INT, INT64, FLAG, REAL, SEED, BYTES, TEXT, FILE, TEXTS, ARRAY = range(12)

_NUMBERS = {CHOICE: c.c_int, PRESET: c.c_int, INT: c.c_int, INT64: c.c_int64, FLAG: c.c_int,
            REAL: c.c_double, SEED: c.c_uint64, BYTES: c.c_size_t}
_ELEMENTS = {"float": c.c_float, "double": c.c_double, "uint8_t": c.c_uint8, "int32_t": c.c_int32}
_RECORDS = {struct.c_name: struct for struct in s.ALL}


class Row(c.Structure):
    _fields_ = [("name", s.text), ("flag", s.text), ("kind", c.c_int), ("offset", s.size_t),
                ("size", s.size_t), ("count_offset", s.size_t), ("element", s.text),
                ("value", s.text), ("min", c.c_double), ("max", c.c_double),
                ("fallback", s.text), ("help", s.text)]


class Table(c.Structure):
    _fields_ = [("type", s.text), ("size", s.size_t), ("rows", c.POINTER(Row)),
                ("preset", c.CFUNCTYPE(None, c.c_void_p, c.c_int))]


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


def _fields(row: Row) -> list[tuple[str, Any]]:
    name = row.name.decode()
    if row.kind in _NUMBERS:
        return [(name, _NUMBERS[row.kind])]
    if row.kind in (TEXT, FILE):
        return [(name, s.text)]
    if row.kind == TEXTS:
        return [(name, c.POINTER(s.text)), (f"n_{name}", s.size_t)]
    element = row.element.decode()
    kind = _ELEMENTS.get(element) or _RECORDS[element]
    return [(name, c.POINTER(kind)), (f"n_{name}", s.size_t)]


class OptionTable:
    """The options of one struct: its layout, and how to make one from keyword arguments."""

    def __init__(self, prefix: str):
        """`prefix` is that of <prefix>_option_table and <prefix>_options_init."""
        find = getattr(lib, f"{prefix}_option_table")
        find.restype = c.POINTER(Table)
        self._table = find().contents
        self._init = getattr(lib, f"{prefix}_options_init")
        self._init.restype, self._init.argtypes = None, [c.c_void_p, c.c_size_t]
        self.rows: dict[str, Row] = {}
        i = 0
        while self._table.rows[i].name:
            row = self._table.rows[i]
            self.rows[row.name.decode()] = row
            i += 1
        self._names = {_plain(row.flag.decode()): name for name, row in self.rows.items()
                       if row.flag}
        self._names.update({_plain(name): name for name in self.rows})
        fields = [("size", s.size_t)]
        for row in self.rows.values():
            fields += _fields(row)
        self.struct = type(self._table.type.decode(), (c.Structure,), {"_fields_": fields})
        self._check_layout()

    def _check_layout(self) -> None:
        moved = [name for name, row in self.rows.items()
                 if getattr(self.struct, name).offset != row.offset]
        if moved or c.sizeof(self.struct) != self._table.size:
            raise ImportError(f"{self._table.type.decode()}: the library lays it out in another "
                              f"way, from {moved[0] if moved else 'its end'} on")

    def make(self, keywords: dict[str, Any]) -> Any:
        """The struct with its defaults and these values. It keeps alive everything it points to."""
        options = self.struct()
        options._keep = []
        self._init(c.byref(options), c.sizeof(options))
        given = {self._name_of(keyword): value for keyword, value in keywords.items()}
        for is_preset in (True, False):
            for name, value in given.items():
                if (self.rows[name].kind == PRESET) is is_preset:
                    self._set(options, name, value)
        return options

    def _name_of(self, keyword: str) -> str:
        name = self._names.get(_plain(keyword))
        if name is None:
            close = difflib.get_close_matches(_plain(keyword), self._names, 1)
            raise Error("usage", f"{keyword} is unknown"
                        + (f"; did you mean {close[0]}?" if close else ""))
        return name

    def _set(self, options: Any, name: str, value: Any) -> None:
        row = self.rows[name]
        if isinstance(value, np.ndarray) and value.ndim and row.kind != ARRAY:
            raise TypeError(f"{name} does not take an array")
        if row.kind in (CHOICE, PRESET):
            setattr(options, name, _choice(row, value))
            if row.kind == PRESET:
                self._table.preset(c.addressof(options), getattr(options, name))
        elif row.kind in _NUMBERS:
            setattr(options, name, _number(row, value))
        elif row.kind in (TEXT, FILE):
            setattr(options, name, encode(str(value) if not isinstance(value, bytes) else value))
        else:
            self._set_many(options, row, value)

    def _set_many(self, options: Any, row: Row, value: Any) -> None:
        name = row.name.decode()
        if row.kind == TEXTS:
            items = [value] if isinstance(value, (str, bytes, os.PathLike)) else list(value)
            data: Any = (s.text * len(items))(*[encode(os.fspath(item)) for item in items])
            count = len(items)
        else:
            kind = _ELEMENTS.get(row.element.decode())
            if kind is not None:
                array = np.ascontiguousarray(value, np.dtype(kind))
                options._keep.append(array)
                data, count = array.ctypes.data_as(c.POINTER(kind)), array.size
            else:
                items = list(value)
                data, count = (_RECORDS[row.element.decode()] * len(items))(*items), len(items)
        options._keep.append(data)
        setattr(options, name, c.cast(data, dict(options._fields_)[name]))
        setattr(options, f"n_{name}", count)


def _refused(row: Row, value: Any, what: str) -> Error:
    return Error("usage", f"{row.name.decode()}: {str(value)!r} is not {what}")


def _choice(row: Row, value: Any) -> int:
    words = row.value.decode().split("|")
    if value not in words:
        raise _refused(row, value, f"one of {', '.join(words)}")
    return words.index(value)


def _number(row: Row, value: Any) -> int | float:
    try:
        if row.kind == REAL:
            text = str(value) if isinstance(value, str) else ""
            if text.endswith("pi"):
                return float(text[:-2].rstrip("*") or 1) * math.pi
            return float(value)
        number = int(value)
        if isinstance(value, float) and number != value:
            raise ValueError
    except (TypeError, ValueError):
        raise _refused(row, value, "a number" if row.kind == REAL else "a whole number") from None
    bits = 8 * c.sizeof(_NUMBERS[row.kind])
    low = 0 if row.kind in (SEED, BYTES) else -(1 << (bits - 1))
    high = 1 << (bits if row.kind in (SEED, BYTES) else bits - 1)
    if not low <= number < high:
        raise _refused(row, value, f"a whole number from {low} to {high - 1}")
    return number
