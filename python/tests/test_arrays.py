"""Arrays: content, shapes, lifetimes, other libraries."""

import ctypes
import gc

import numpy as np
import pytest

import quern


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u1", "i2", "i4", "u4", "i8", "u8", "?"])
def test_content_comes_back_as_it_went_in(cpu, dtype):
    data = np.arange(60).reshape(3, 4, 5).astype(dtype)
    array = cpu.array(data)
    assert (array.shape, array.dtype, array.size, array.nbytes, array.ndim, len(array)) == \
        ((3, 4, 5), data.dtype, 60, data.nbytes, 3, 3)
    assert np.array_equal(array.numpy(), data)
    assert np.array_equal(array[1, 2], data[1, 2])


def test_strided_and_fortran_arrays_are_copied_in_order(cpu):
    data = np.arange(24.0).reshape(4, 6)
    for view in (data[::2, ::-1], np.asfortranarray(data), data.T):
        assert np.array_equal(cpu.array(view).numpy(), view)


def test_zeros_are_zero_and_written_by_spreading(ctx):
    array = ctx.zeros((2, 3), "f8")
    assert not array.numpy().any()
    array.write([1, 2, 3])
    assert array.numpy().tolist() == [[1, 2, 3], [1, 2, 3]]


def test_bad_content_is_refused(cpu):
    array = cpu.zeros((2, 3), "i4")
    with pytest.raises(TypeError, match="float64 for an array of int32"):
        array.write(np.zeros((2, 3)))
    with pytest.raises(ValueError):
        array.write(np.zeros(4, "i4"))
    with pytest.raises(TypeError, match="plain numbers"):
        cpu.array(np.array([object()]))
    with pytest.raises(TypeError, match="plain numbers"):
        cpu.array(np.zeros(3, ">f4"))
    with pytest.raises(ValueError, match="no elements"):
        cpu.zeros((3, 0))


def test_an_array_without_a_copy_uses_the_memory_it_was_given(ctx):
    data = np.arange(8, dtype="f4")
    array = ctx.array(data, copy=False)
    kernels = ctx.kernels("MAP(twice, INOUT(float, x)) { x[gx] = 2.0f * x[gx]; }")
    ctx.run(kernels.twice, array)
    assert array.numpy() is data
    assert data.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    for other in (data[::2], [1, 2], np.asfortranarray(np.zeros((2, 2), "f4"))[::-1]):
        with pytest.raises(TypeError, match="C order"):
            ctx.array(other, copy=False)
    data.flags.writeable = False
    with pytest.raises(TypeError, match="writeable"):
        ctx.array(data, copy=False)


def test_numpy_and_dlpack_take_arrays_and_give_them(cpu):
    class Foreign:
        def __init__(self, data):
            self.data = data

        def __dlpack__(self, **options):
            return self.data.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.data.__dlpack_device__()

    data = np.arange(5, dtype="f4")
    array = cpu.array(Foreign(data))
    assert array.numpy().tolist() == data.tolist()
    assert np.from_dlpack(array).tolist() == data.tolist()
    assert np.asarray(array, "f8").dtype == "f8"
    assert array.__dlpack_device__() == (1, 0)


def test_a_lent_array_is_written_where_it_lies(cpu):
    array = cpu.array(np.zeros(4, "f4"))
    with array.lend("cpu") as address:
        (ctypes.c_float * 4).from_address(address)[2] = 7
    assert array.numpy().tolist() == [0, 0, 7, 0]
    with pytest.raises(ValueError, match="no device 'cuda'"):
        with array.lend("cuda"):
            pass
    with pytest.raises(AttributeError, match="no CUDA device"):
        array.__cuda_array_interface__
    assert not hasattr(array, "__cuda_array_interface__")


def test_devices_without_addresses_say_so():
    with quern.Context("sim") as ctx:
        array = ctx.zeros(4)
        with pytest.raises(quern.Error, match="has no address to lend") as caught:
            with array.lend("sim:0"):
                pass
        assert caught.value.status == "unsupported"


def test_a_closed_context_is_refused_and_frees_what_was_made():
    ctx = quern.Context("cpu")
    array, graph = ctx.zeros(4), ctx.graph()
    ctx.close()
    ctx.close()
    for use in (array.numpy, graph.run, lambda: ctx.zeros(3), lambda: ctx.devices):
        with pytest.raises(quern.Error, match="the context is closed"):
            use()
    array.close()
    graph.close()


def test_things_may_be_dropped_in_any_order():
    for order in range(3):
        ctx = quern.Context("cpu")
        data = np.ones(1000, "f4")
        array = ctx.array(data, copy=False)
        graph = ctx.graph()
        graph.stage(ctx.kernels("MAP(one, OUT(float, x)) { x[gx] = 1.0f; }").one, array)
        graph.run()
        graph.me = graph  # only the collector of cycles finds it
        if order == 1:
            array.close()
            del data
        if order == 2:
            ctx.close()
        del ctx, array, graph
        gc.collect()


def test_an_unknown_backend_has_the_librarys_sentence():
    with pytest.raises(quern.Error) as caught:
        quern.Context("toaster")
    assert caught.value.status in ("init", "usage")
    assert "toaster" in caught.value.text
    with pytest.raises(ValueError, match="fallback='never'"):
        quern.Context("cpu", fallback="never")


class OnGpu:
    """Looks like a tensor of another library that is not on the host."""

    def __dlpack__(self, **_options):
        raise AssertionError("it was asked for")

    def __dlpack_device__(self):
        return 2, 0


def test_data_that_is_on_a_gpu_is_refused_with_the_way_to_take_it(cpu):
    with pytest.raises(TypeError, match=r"on a GPU: .*ctx\.zeros\(\)"):
        cpu.array(OnGpu())
