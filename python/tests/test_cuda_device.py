"""CUDA arrays shared with CuPy and PyTorch, on a device; skipped if there is none."""

import numpy as np
import pytest

import quern

SCALE = "MAP(scale, VAL(float, k), INOUT(float, x)) { x[gx] = k * x[gx]; }"


@pytest.fixture
def cuda():
    with quern.Context("cuda:0", fallback="error") as ctx:
        yield ctx


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return torch


def ramp():
    return np.arange(12, dtype="f4").reshape(3, 4)


def test_cupy_reads_and_writes_an_array_where_it_lies(cuda, cupy):
    array = cuda.array(ramp())
    shared = cupy.asarray(array)
    assert shared.data.ptr == array.__cuda_array_interface__["data"][0]
    assert np.array_equal(cupy.asnumpy(shared), ramp())
    shared += 1
    cupy.cuda.Device().synchronize()
    assert np.array_equal(array.numpy(), ramp() + 1)


def test_torch_reads_and_writes_an_array_where_it_lies(cuda, torch):
    array = cuda.array(ramp())
    shared = torch.as_tensor(array, device="cuda")
    assert shared.data_ptr() == array.__cuda_array_interface__["data"][0]
    shared.mul_(3)
    torch.cuda.synchronize()
    assert np.array_equal(array.numpy(), 3 * ramp())


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1"])
def test_dtypes_are_the_same_on_both_sides(cuda, cupy, dtype):
    array = cuda.array(ramp().astype(dtype))
    shared = cupy.asarray(array)
    assert shared.dtype == np.dtype(dtype) and shared.shape == (3, 4)
    assert np.array_equal(cupy.asnumpy(shared), ramp().astype(dtype))


def test_stages_and_another_library_take_turns(cuda, cupy):
    kernels = cuda.kernels(SCALE)
    array = cuda.array(ramp())
    for _ in range(3):
        cuda.run(kernels.scale, 2.0, array)
        shared = cupy.asarray(array)
        shared += 1
        cupy.cuda.Device().synchronize()
    assert np.array_equal(array.numpy(), 8 * ramp() + 7)
    assert array.transfers["h2d_count"] == 1  # it stayed there


def test_data_of_a_gpu_library_goes_in_without_the_host(cuda, cupy, torch):
    array = cuda.zeros((3, 4))
    for data in (cupy.asarray(ramp()), torch.from_numpy(ramp()).cuda()):
        with pytest.raises(TypeError, match="on a GPU"):
            cuda.array(data)
        cupy.asarray(array)[...] = cupy.asarray(data)
        cupy.cuda.Device().synchronize()
        assert np.array_equal(array.numpy(), ramp())


def test_dlpack_gives_and_takes_on_the_host(cuda, torch):
    kernels = cuda.kernels(SCALE)
    array = cuda.array(torch.from_numpy(ramp()))
    cuda.run(kernels.scale, 2.0, array)
    tensor = torch.from_dlpack(array)
    assert tensor.device.type == "cpu"
    assert np.array_equal(tensor.numpy(), 2 * ramp())


def test_a_lent_array_comes_back_as_the_other_library_left_it(cuda, cupy):
    array = cuda.array(ramp())
    with array.lend("cuda:0") as address:
        memory = cupy.cuda.UnownedMemory(address, array.nbytes, array)
        cupy.ndarray((3, 4), "f4", cupy.cuda.MemoryPointer(memory, 0))[1] = 9
        cupy.cuda.Device().synchronize()
    assert array.numpy()[1].tolist() == [9, 9, 9, 9]
    assert array.numpy()[2].tolist() == ramp()[2].tolist()


def test_results_of_the_tools_are_those_of_the_cpu(cuda, cpu, town):
    there = quern.solweig.svf(**town, ctx=cuda)
    assert np.array_equal(there.maps, quern.solweig.svf(**town, ctx=cpu).maps)
    with quern.les.Flow(n=32, seed=1, precision="f64", ctx=cuda) as flow:
        flow.step(20)
        with quern.les.Flow(n=32, seed=1, precision="f64", ctx=cpu) as other:
            other.step(20)
            assert np.allclose(flow.vorticity(), other.vorticity(), rtol=0, atol=1e-10)
