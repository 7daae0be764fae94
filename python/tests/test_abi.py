"""The loaded library is the one that these files were written for."""

import ctypes
import types

import pytest

from quern import _lib, _structs


def test_structs_are_laid_out_as_the_library_has_them():
    table = _lib.abi_table(_lib.lib)
    assert len({kind for kind, _ in table}) == len(_structs.ALL) == 21
    assert _lib.abi_differences(table) == []


def test_a_moved_member_is_noticed():
    table = _lib.abi_table(_lib.lib)
    offset, size = table["qn_arg", "offset"]
    table["qn_arg", "offset"] = (offset + 4, size)
    assert _lib.abi_differences(table) == ["qn_arg.offset: (8, 8) here, (12, 8) in the library"]


def test_a_new_member_and_a_missing_struct_are_noticed():
    table = _lib.abi_table(_lib.lib)
    table["qn_err", "colour"] = (484, 4)
    del table["qn_range", ""]
    assert [line.split(":")[0] for line in _lib.abi_differences(table)] == \
        ["qn_err.colour", "qn_range.(size)"]


def test_another_version_is_refused():
    old = types.SimpleNamespace(qn_version=types.SimpleNamespace())

    class Version:
        restype = None

        def __call__(self):
            return b"0.0.9"

    old.qn_version = Version()
    with pytest.raises(ImportError, match="is quern 0.0.9; this package is for 0.1.0"):
        _lib._check_version(old, "libquern.so")


def test_a_library_of_somebody_else_is_refused():
    with pytest.raises(ImportError, match="is not libquern"):
        _lib._check_version(ctypes.CDLL(None), "libc")
