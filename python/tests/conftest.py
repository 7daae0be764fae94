"""Shared by the tests: devices to run on, the command to compare with."""

import os
import shutil
import subprocess

import numpy as np
import pytest

import quern

_found = {device.id.split(":")[0] for device in quern.devices()}
BACKENDS = ["cpu", "sim"] + [name for name in ("opencl", "cuda") if name in _found]
collect_ignore = [] if "cuda" in _found else ["test_cuda_device.py"]


@pytest.fixture(params=BACKENDS)
def backend(request):
    return request.param


@pytest.fixture
def ctx(backend):
    with quern.Context(backend) as context:
        yield context


@pytest.fixture(scope="session")
def cpu():
    with quern.Context("cpu") as context:
        yield context


@pytest.fixture(scope="session")
def command():
    """Runs the command `quern`; files are .npy, since GDAL is hidden from it."""
    program = os.environ.get("QUERN_BIN") or shutil.which("quern")
    if not program:
        pytest.skip("no command to compare with: set QUERN_BIN")

    def call(folder, *words):
        environment = {**os.environ, "QUERN_GDAL_LIB": "/nowhere/libgdal.so"}
        subprocess.run([program, *map(str, words), "--quiet"], cwd=folder, env=environment,
                       check=True, capture_output=True, text=True, timeout=600)

    return call


@pytest.fixture(scope="session")
def town():
    """Two houses and a tree on a slope."""
    dsm = np.add.outer(np.linspace(0, 1, 24), np.zeros(32)).astype("f4")
    dsm[4:10, 5:12] += 9
    dsm[14:20, 18:28] += 14
    cdsm = np.zeros_like(dsm)
    cdsm[11:14, 8:11] = 6
    return {"dsm": dsm, "cdsm": cdsm}
