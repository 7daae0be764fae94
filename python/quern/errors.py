"""The error of a failed call, and the warning of a fallback."""

from __future__ import annotations


class Error(RuntimeError):
    """A call of libquern failed.

    `status` is the name of the status ("usage", "nomem", "device_lost", ...) and `text` the
    library's message. Where a program text has several faults, `faults` lists them with their
    lines.
    """

    def __init__(self, status: str, text: str, faults: str | None = None):
        super().__init__(f"{text} ({status})")
        self.status = status
        self.text = text
        self.faults = faults


class FallbackWarning(RuntimeWarning):
    """A device failed and the CPU did its work. The result is right; the time is not."""
