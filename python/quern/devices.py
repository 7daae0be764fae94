"""The devices that quern can compute on."""

from __future__ import annotations

from dataclasses import dataclass

from ._lib import lib

_KINDS = ("cpu", "integrated", "discrete", "sim")


@dataclass(frozen=True)
class Device:
    """A device of a context; `id` is what `backend=` and `device=` take ("cuda:0")."""

    id: str
    name: str
    vendor: str
    driver: str
    arch: str
    kind: str
    mem_total: int
    mem_free: int
    units: int
    has_f64: bool
    unified_memory: bool


def list_devices(handle: int) -> list[Device]:
    """The devices of an open context; the CPU is always the first."""
    found = []
    for i in range(lib.qn_device_count(handle)):
        info = lib.qn_device_get(handle, i).contents
        name, vendor, driver, arch = (text.decode(errors="replace") for text in
                                      (info.name, info.vendor, info.driver, info.arch))
        found.append(Device(
            id=lib.qn_device_id(handle, i).decode(), name=name, vendor=vendor, driver=driver,
            arch=arch, kind=_KINDS[info.kind], mem_total=info.mem_total, mem_free=info.mem_free,
            units=info.units, has_f64=bool(info.has_f64),
            unified_memory=bool(info.unified_memory)))
    return found


def devices(backend: str = "auto") -> list[Device]:
    """The devices that a context with this backend would have."""
    from .context import Context

    with Context(backend) as ctx:
        return ctx.devices
