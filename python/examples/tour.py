"""A walk through quern, in cells: an editor that knows `# %%` runs them one by one."""

# %% Devices
import numpy as np

import quern

for device in quern.devices():
    print(f"{device.id:10} {device.name} ({device.arch}), {device.mem_total / 2**30:.0f} GiB")

ctx = quern.Context()

# %% Heat in a plate: two arrays that take turns
HEAT = """
typedef struct { float keep, spread; i32 cols, rows; } heat_par;

FN float at(GLOBAL const float *g, heat_par p, i32 x, i32 y)
{
    x = x < 0 ? 0 : x < p.cols ? x : p.cols - 1;
    y = y < 0 ? 0 : y < p.rows ? y : p.rows - 1;
    return g[(i64)y * p.cols + x];
}

MAP(heat, VAL(heat_par, p), IN(float, from), OUT(float, to))
{
    to[(i64)gy * p.cols + gx] = p.keep * at(from, p, gx, gy)
        + p.spread * (at(from, p, gx - 1, gy) + at(from, p, gx + 1, gy)
                      + at(from, p, gx, gy - 1) + at(from, p, gx, gy + 1));
}
"""
rows, cols = 64, 96
plate = np.zeros((rows, cols), "f4")
plate[20:40, 30:60] = 100
par = np.array((0.6, 0.1, cols, rows),
               [("keep", "f4"), ("spread", "f4"), ("cols", "i4"), ("rows", "i4")])

kernels = ctx.kernels(HEAT, name="heat")
even, odd = ctx.array(plate, name="even"), ctx.zeros((rows, cols), name="odd")
graph = ctx.graph("heat")
graph.stage(kernels.heat, par, even, odd, over=(cols, rows))
graph.stage(kernels.heat, par, odd, even, over=(cols, rows))
graph.run(100)
print(f"200 steps: {plate.max():.0f} degrees became {even.numpy().max():.1f}, "
      f"{graph.stats['replays']} replays, {ctx.transfers['h2d_count']} uploads")
assert np.isclose(even.numpy().sum(), plate.sum(), rtol=1e-3)  # nothing leaves the plate

# %% A court between houses: sky view, and a day in July
court = np.zeros((48, 48), "f4")
court[8:40, 8:40] = 15
court[14:34, 14:34] = 0
sky = quern.solweig.svf(court, ctx=ctx)
print(f"the court sees {sky.svf[24, 24]:.0%} of the sky")

hours = np.arange("2006-07-26T10:00", "2006-07-26T15:00", 60, dtype="datetime64[m]")
day = quern.solweig.run(
    court, {"time": hours, "ta": [22, 24, 25, 26, 26], "rh": 55, "ws": 2,
            "global": [600, 700, 780, 800, 760]},
    site=(57.7, 12.0, 1.0), outputs=["tmrt", "shadow"], ctx=ctx)
for time, row, tmrt in zip(day.times, day.steps, day["tmrt"]):
    print(f"{time}: sun at {row['sun_altitude']:.0f} degrees, "
          f"{np.nanmean(tmrt[14:34, 14:34]):.1f} degrees in the court")

# %% A vortex that decays, watched while it stays on the device
with quern.les.Flow(n=32, ic="taylor_green", nu0=0.01, ctx=ctx) as flow:
    for _ in range(3):
        flow.step(20)
        now = flow.inspect()
        print(f"time {now['time']:.2f}: energy {now['energy']:.5f}")

# %% A search: which pair of turns solves the task?
TURNS = ("rot90", "rot180", "vmirror", "hmirror")
with quern.arc.Session(ctx=ctx) as session:
    grid = np.array([[1, 2, 3], [4, 5, 6]])
    session.add_tasks({"turn": {"train": [{"input": grid, "output": np.rot90(grid)}]}})
    session.add_programs({f"{a} {b}": f"def solve(I):\n    return {a}({b}(I))\n"
                          for a in TURNS for b in TURNS})
    scores = session.run(match="all", pairs="train")["scores"]
    print("solved by", ", ".join(name for name, score in scores.items() if score["solved"]))

# %% A fit with its deviations
rng = np.random.default_rng(0)
t = np.linspace(0, 5, 80)
solution = quern.fit.run("""
fit 1;
table T = csv("swing.csv", header=1);
param a = 1;
param w = 2.2;
param d = 0.1;
residual r over i in T { yield i.y - a*exp(-d*i.t)*cos(w*i.t); }
solve lm { max_iterations = 100; }
""", {"swing.csv": {"t": t, "y": 2*np.exp(-0.3*t)*np.cos(2*t) + 0.02*rng.standard_normal(80)}},
    ctx=ctx)
print("the fit found", ", ".join(f"{name} = {solution[name]:.3f} +- {solution.deviations[name]:.3f}"
                                 for name in solution.values))

# %%
ctx.close()
