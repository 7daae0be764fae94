"""Sky view and runs, against the command and against what must hold."""

import numpy as np
import pytest

import quern

WEATHER = {"time": np.array(["2006-07-26T12:00", "2006-07-26T13:00"], "datetime64[m]"),
           "ta": [25.0, 26.0], "rh": [60.0, 55.0], "ws": [2.0, 2.0], "global": [700.0, 800.0]}
UMEP = """% year day hour minute
2006 207 12 0 0 0 0 0 0 2 60 25 -999 0 700 0 0 0 0 0 0 -999 -999 0
2006 207 13 0 0 0 0 0 0 2 55 26 -999 0 800 0 0 0 0 0 0 -999 -999 0
"""
SITE = (57.7, 12.0, 1.0)


def test_sky_view_has_the_maps_of_the_command(cpu, command, town, tmp_path):
    np.save(tmp_path / "dsm.npy", town["dsm"])
    np.save(tmp_path / "cdsm.npy", town["cdsm"])
    command(tmp_path, "solweig", "svf", "--dsm", "dsm.npy", "--cdsm", "cdsm.npy", "--pixel-size",
            "2", "--backend", "cpu", "--out", "sky")
    view = quern.solweig.svf(town["dsm"], cdsm=town["cdsm"], pixel_size=2, matrices=True, ctx=cpu)
    found = {path.stem: np.load(path) for path in (tmp_path / "sky").rglob("*.npy")}
    assert {name for name in view.names if name in found} == set(view.names)
    for name in view.names:
        assert np.array_equal(view[name], found[name]), name
    matrices = [found[name] for name in ("shadowmat", "vegshadowmat", "vbshmat") if name in found]
    for mine, theirs in zip(view.matrices, matrices):
        assert np.array_equal(mine, theirs)


def test_sky_view_is_the_same_on_every_device(cpu, ctx, town):
    want = quern.solweig.svf(town["dsm"], ctx=cpu, patches=145)
    got = quern.solweig.svf(town["dsm"], ctx=ctx, patches=145, tile=11)
    assert np.array_equal(got.maps, want.maps)


def test_open_ground_sees_the_whole_sky(cpu):
    view = quern.solweig.svf(np.zeros((8, 9)), ctx=cpu, matrices=True)
    assert np.allclose(view.svf, 1, atol=1e-5)
    assert view.visible().shape == (8, 9, 153) and view.visible().all()
    with pytest.raises(KeyError, match="no map 'svfX'"):
        view["svfX"]


def test_pixels_outside_the_data_are_nan_and_keep_their_place(cpu, town):
    whole = quern.solweig.svf(town["dsm"], ctx=cpu).svf
    framed = np.full((30, 40), np.nan)
    framed[3:27, 5:37] = town["dsm"]
    part = quern.solweig.svf(framed, ctx=cpu).svf
    assert np.array_equal(part[3:27, 5:37], whole)
    assert np.isnan(part[:3]).all() and np.isnan(part[:, 37:]).all()


def test_a_run_has_the_rasters_of_the_command(cpu, command, town, tmp_path):
    (tmp_path / "day.txt").write_text(UMEP)
    np.save(tmp_path / "dsm.npy", town["dsm"])
    command(tmp_path, "solweig", "run", "--dsm", "dsm.npy", "--weather", "day.txt",
            "--lat", SITE[0], "--lon", SITE[1], "--utc", SITE[2], "--outputs", "tmrt,shadow",
            "--no-summary", "--backend", "cpu", "--out", "hot")
    by_rows = quern.solweig.run(town["dsm"], WEATHER, site=SITE, outputs=["tmrt", "shadow"],
                                ctx=cpu)
    by_file = quern.solweig.run(town["dsm"], tmp_path / "day.txt", site=SITE,
                                outputs="tmrt,shadow", ctx=cpu)
    for name in ("tmrt", "shadow"):
        want = [np.load(path) for path in sorted((tmp_path / "hot" / name).glob("*.npy"))]
        assert by_rows[name].shape == (2, 24, 32)
        assert np.array_equal(by_rows[name], want, equal_nan=True)
        assert np.array_equal(by_file[name], want, equal_nan=True)
    assert by_rows.times.tolist() == WEATHER["time"].tolist()
    assert np.allclose(by_rows.steps["tmrt_mean"], np.nanmean(by_rows["tmrt"], axis=(1, 2)))


def test_a_run_in_tiles_on_a_device_is_that_of_the_cpu(cpu, town):
    want = quern.solweig.run(town["dsm"], WEATHER, site=SITE, cdsm=town["cdsm"], ctx=cpu)
    got = quern.solweig.run(town["dsm"], WEATHER, site=SITE, cdsm=town["cdsm"], backend="sim",
                            tile=16)
    assert np.array_equal(got["tmrt"], want["tmrt"], equal_nan=True)


def test_outputs_outlive_the_result_and_rows_can_be_chosen(cpu, town):
    tmrt = quern.solweig.run(town["dsm"], WEATHER, site=SITE, hours="13", ctx=cpu)["tmrt"]
    assert tmrt.shape == (1, 24, 32) and np.isfinite(tmrt).any()
    nothing = quern.solweig.run(town["dsm"], WEATHER, site=SITE, outputs="none", ctx=cpu)
    assert nothing.outputs == {} and len(nothing.steps) == 2
    with pytest.raises(KeyError, match="no output 'tmrt'"):
        nothing["tmrt"]


def test_bad_layers_are_refused(cpu, town):
    dsm, svf = town["dsm"], quern.solweig.svf
    with pytest.raises(ValueError, match="rows and columns"):
        svf(np.zeros(5), ctx=cpu)
    with pytest.raises(TypeError, match="layers are numbers"):
        svf(np.full((3, 3), "x"), ctx=cpu)
    with pytest.raises(ValueError, match="cdsm of 3 x 3 pixels on a dsm of 24 x 32"):
        svf(dsm, cdsm=np.zeros((3, 3)), ctx=cpu)
    with pytest.raises(TypeError, match="unknown option 'trees'"):
        svf(dsm, trees=dsm, ctx=cpu)
    with pytest.raises(quern.Error, match="patches: '100' is not one of 145"):
        svf(dsm, patches=100, ctx=cpu)
    with pytest.raises(quern.Error, match="none of its 9 pixels is finite"):
        svf(np.full((3, 3), np.nan), ctx=cpu)
    with pytest.raises(quern.Error, match="pixel_size: -1 is below the least value"):
        svf(dsm, pixel_size=-1, ctx=cpu)
    with pytest.raises(quern.Error, match="trunks without canopies"):
        svf(dsm, tdsm=dsm, ctx=cpu)
    with pytest.raises(quern.Error, match="wall heights and wall aspects together"):
        quern.solweig.run(dsm, WEATHER, site=SITE, wall_height=dsm, ctx=cpu)


def test_options_are_named_as_those_of_the_command(cpu, town):
    shape = town["dsm"].shape
    plain = quern.solweig.run(**town, weather=WEATHER, site=SITE, ctx=cpu)["tmrt"]
    for changed in ({"landcover": np.full(shape, 5)}, {"person": "sitting"}, {"sky": "iso"},
                    {"min_height": 10.0}):
        assert not np.array_equal(
            quern.solweig.run(**town, weather=WEATHER, site=SITE, ctx=cpu, **changed)["tmrt"], plain)
    for wrong in ({"person": "lying"}, {"sky": "blue"}):
        with pytest.raises(quern.Error, match="is not one of"):
            quern.solweig.run(**town, weather=WEATHER, site=SITE, ctx=cpu, **wrong)


def test_a_layer_may_be_a_file(cpu, town, tmp_path):
    want = quern.solweig.run(town["dsm"], WEATHER, site=SITE, ctx=cpu)["tmrt"]
    np.save(tmp_path / "dsm.npy", town["dsm"].astype("f4"))
    got = quern.solweig.run(tmp_path / "dsm.npy", WEATHER, site=SITE, ctx=cpu)["tmrt"]
    assert np.array_equal(got, want, equal_nan=True)
    with pytest.raises(ValueError, match="the dsm must be an array"):
        quern.solweig.svf(tmp_path / "dsm.npy", ctx=cpu)


def test_a_house_has_a_shadow_and_walls(cpu, town):
    shade = quern.solweig.shadow(town["dsm"], azimuth=180, altitude=30, ctx=cpu)
    height, aspect = quern.solweig.walls(town["dsm"], ctx=cpu)
    assert shade.shape == height.shape == aspect.shape == town["dsm"].shape
    assert 0 < shade.mean() < 1 and height.max() > 1
    with pytest.raises(quern.Error, match="where is the sun"):
        quern.solweig.shadow(town["dsm"], ctx=cpu)


def test_an_old_name_of_an_option_still_works(cpu, town):
    want = quern.solweig.run(town["dsm"], WEATHER, site=SITE, corrected=True, ctx=cpu)["tmrt"]
    with pytest.warns(DeprecationWarning, match="fixed is now called corrected"):
        got = quern.solweig.run(town["dsm"], WEATHER, site=SITE, fixed=True, ctx=cpu)["tmrt"]
    assert np.array_equal(got, want, equal_nan=True)


def test_bad_weather_is_refused(cpu, town):
    def run(**changes):
        return quern.solweig.run(town["dsm"], {**WEATHER, **changes}, site=SITE, ctx=cpu)

    with pytest.raises(quern.Error, match=r"weather:2: relative humidity \(%\) of 120"):
        run(rh=[50, 120])
    with pytest.raises(quern.Error, match="is in weather:1 already"):
        run(time=["2006-07-26T12:00"] * 2)
    with pytest.raises(ValueError, match=r"\(3,\) values of ta"):
        run(ta=[1, 2, 3])
    with pytest.raises(ValueError, match="unknown columns"):
        run(snow=[0, 0])
    with pytest.raises(ValueError, match="dates and times"):
        run(time=["NaT", "2006-07-26"])
    with pytest.raises(ValueError, match="has no ta"):
        quern.solweig.run(town["dsm"], {"time": WEATHER["time"]}, ctx=cpu)
    with pytest.raises(ValueError, match=r"site=\(latitude, longitude"):
        quern.solweig.run(town["dsm"], WEATHER, ctx=cpu)
    with pytest.raises(quern.Error, match="'heat' is not an output"):
        quern.solweig.run(town["dsm"], WEATHER, site=SITE, outputs="heat", ctx=cpu)
    with pytest.raises(quern.Error) as caught:
        quern.solweig.run(town["dsm"], "none.epw", ctx=cpu)
    assert caught.value.status == "io"


def test_both_a_context_and_a_backend_are_one_too_many(cpu, town):
    with pytest.raises(ValueError, match="not both"):
        quern.solweig.svf(town["dsm"], ctx=cpu, backend="cpu")
