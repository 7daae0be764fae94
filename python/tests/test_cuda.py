"""CUDA arrays used by other libraries, on a mock driver without a GPU, whose memory is the
host's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, numpy as np, quern

with quern.Context("cuda:0") as ctx:
    array = ctx.array(np.arange(6, dtype="f4").reshape(2, 3))
    face = array.__cuda_array_interface__
    assert face["shape"] == (2, 3) and face["typestr"] == "<f4" and face["version"] == 3, face
    address, is_read_only = face["data"]
    assert not is_read_only
    there = (ctypes.c_float * 6).from_address(address)
    assert list(there) == [0, 1, 2, 3, 4, 5]
    there[4] = 40  # as a kernel of another library would
    assert array.numpy().tolist() == [[0, 1, 2], [3, 40, 5]]

    array.write(np.ones((2, 3), "f4"))
    assert array.__cuda_array_interface__["data"][0] == address  # it is pinned
    assert list(there) == [1] * 6
    with array.lend("cuda:0", "read") as again:
        assert again == address
    array.close()
print("all of it is true")
"""


FLOW = """
import ctypes, numpy as np, quern

with quern.Context("cuda:0", fallback="error") as ctx:
    flow = quern.les.Flow(n=32, precision="f64", ic="taylor_green", ctx=ctx)
    field = flow.field("forcing")
    face = field.__cuda_array_interface__
    assert face["shape"] == (32, 32) and face["typestr"] == "<f8", face
    there = np.ctypeslib.as_array((ctypes.c_double * 1024).from_address(face["data"][0]))
    wave = np.cos(2 * np.arange(32) * 2 * np.pi / 32) * np.ones((32, 1))
    there[:] = wave.ravel()  # as a kernel of another library would
    flow.set_forcing(field)  # the first one recreates the flow
    assert np.array_equal(flow.forcing(), wave)
    flow.field("forcing").__cuda_array_interface__
    there[:] = -wave.ravel()
    before = ctx.transfers
    flow.set_forcing(field)
    for way in ("h2d_bytes", "d2h_bytes"):
        assert ctx.transfers[way] == before[way]
    assert np.array_equal(flow.forcing(), -wave)
    flow.set_forcing(wave)
    assert np.array_equal(flow.forcing(), wave)
    flow.set_vorticity(np.zeros((32, 32)))
print("all of it is true")
"""


@pytest.mark.parametrize("program", [PROGRAM, FLOW], ids=["array", "flow"])
def test_a_cuda_array_is_shared_where_it_lies(program):
    mock = Path(os.environ.get("QUERN_BIN", "/nowhere/quern")).parent / "libcuda_mock.so"
    if not mock.is_file():
        pytest.skip(f"no driver to test with: {mock}")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=600, env={**os.environ, "QUERN_CUDA_LIB": str(mock),
                                           "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0 and "all of it is true" in done.stdout, done.stderr
