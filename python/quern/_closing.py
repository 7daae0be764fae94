"""Objects that are closed at the end of a `with` block, or when nothing refers to them."""

from __future__ import annotations

import contextlib
from typing import TypeVar

_T = TypeVar("_T", bound="Closing")


class Closing:
    """A class with close(), which may be called more than once."""

    def close(self) -> None:
        """Frees what the object holds."""
        raise NotImplementedError

    def __enter__(self: _T) -> _T:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()
