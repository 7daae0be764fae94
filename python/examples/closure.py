"""Your own closure in a flow, in cells: an editor that knows `# %%` runs them one by one.

A learned closure is a function from the resolved vorticity to what the missing scales do to it.
Here it is a formula, so that nothing has to be trained: a high power of the wavenumber that takes
energy from the smallest waves. A network goes to the same place.
"""

# %% A flow without a closure of its own
import numpy as np

import quern

N, STEPS, EVERY = 64, 200, 5
ctx = quern.Context()
settings = dict(n=N, seed=2, nu0=1e-5, cs=0.0, dt=0.01, ctx=ctx)

# %% The closure: from vorticity to forcing, both (n, n)
wave = np.fft.fftfreq(N, 1 / N)
k2 = wave[:, None]**2 + wave[None, : N // 2 + 1]**2
damping = 4.0 * (np.sqrt(k2) / (N / 3))**4


def closure(omega):
    return np.fft.irfft2(-damping * np.fft.rfft2(omega), s=omega.shape)


# %% By copies: simple, and the same on every device
bare = quern.les.Flow(**settings)
closed = quern.les.Flow(**settings)


def drive(flow):
    flow.set_forcing(closure(flow.vorticity()))


drive(closed)
bare.run(STEPS)
closed.run(STEPS, drive, every=EVERY)
for name, flow in (("without", bare), ("with", closed)):
    state = flow.inspect()
    print(f"{name:8} energy {state['energy']:.4f}  enstrophy {state['enstrophy']:.3f}")

# %% Without copies: the arrays of the flow in the hands of another library
# field() is an array that stays where it lies. On CUDA, cupy.asarray(field) and
# torch.as_tensor(field) are its memory on the GPU; on the CPU, np.from_dlpack(field),
# torch.from_dlpack(field) and field.view() are its memory on the host. With fallback="error" in the
# context, no copy of the state is kept either, and nothing crosses the bus between the steps.
shared = quern.les.Flow(**settings)
on_gpu = any(device.id.startswith("cuda:") for device in ctx.devices)
try:
    import cupy
except ImportError:
    cupy = None


def drive_in_place(flow):
    omega, forcing = flow.field("vorticity"), flow.field("forcing")
    if on_gpu and cupy is not None:
        there = cupy.asarray(forcing)
        h = cupy.fft.rfft2(cupy.asarray(omega))
        there[...] = cupy.fft.irfft2(-cupy.asarray(damping) * h, s=there.shape)
        cupy.cuda.Device().synchronize()
    else:
        forcing.view("update")[...] = closure(omega.view())
    flow.set_forcing(forcing)


drive_in_place(shared)
shared.run(STEPS, drive_in_place, every=EVERY)
difference = np.abs(shared.vorticity() - closed.vorticity()).max()
print(f"shared   differs by {difference:.1e}")
if not (on_gpu and cupy is not None):
    assert difference < 1e-3 * np.abs(closed.vorticity()).max()

# %% What the closure did: less at the smallest waves, the same at the largest
with_it, without = closed.spectrum(), bare.spectrum()
print(f"energy of k=4: {with_it[4] / without[4]:.2f} of that without; of k={N // 3}: "
      f"{with_it[N // 3] / without[N // 3]:.2f}")
assert with_it[N // 3] < 0.5 * without[N // 3] and abs(with_it[4] / without[4] - 1) < 0.05

# %% The state, for a notebook and for later
closed.save("closed.flow")
try:
    print(closed.to_xarray().mean())
except ImportError:
    print("xarray is not installed")
