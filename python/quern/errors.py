"""How calls fail, and how fallbacks are told."""

from __future__ import annotations


class Error(RuntimeError):
    """A call on libquern failed.

    `status` is the name of the status ("usage", "nomem", "device_lost", ...), `text` the
    library's sentence. `faults` has all faults of a program text with their lines, where there
    are several.
    """

    def __init__(self, status: str, text: str, faults: str | None = None):
        super().__init__(f"{text} ({status})")
        self.status = status
        self.text = text
        self.faults = faults


class FallbackWarning(RuntimeWarning):
    """A device failed and the CPU did its work. The result is right; the time is not."""
