"""Sky view and heat stress of a city: NumPy arrays in, NumPy arrays out (docs/solweig.md)."""

from __future__ import annotations

import contextlib
import ctypes as c
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Union

import numpy as np

from . import _structs as s
from ._lib import address_of, encode, lib
from .context import Context, context_for

if TYPE_CHECKING:
    import numpy.typing as npt

    WeatherLike = Union[str, os.PathLike[str], Iterable[Union[str, os.PathLike[str]]],
                        Mapping[str, npt.ArrayLike]]

_SIDES = ("", "N", "E", "S", "W")
MAP_NAMES = tuple(f"svf{side}{kind}" for kind in ("", "veg", "aveg") for side in _SIDES)
MATRIX_NAMES = ("buildings", "vegetation", "vegetation_before_buildings")
OUTPUTS = ("tmrt", "utci", "pet", "shadow", "kdown", "kup", "ldown", "lup")
_PATCHES = {0: 153, 145: 145, 153: 153, 305: 305, 609: 609}

_LAYERS = ("dsm", "dem", "cdsm", "tdsm", "landcover", "wall_height", "wall_aspect", "albedo",
           "emissivity")
_HEIGHTS = ("dsm_relative", "cdsm_absolute", "tdsm_absolute", "keep_quantised", "trunk_ratio",
            "min_height")
_FIELDS = {"landcover": "land_cover", "min_height": "min_object_height"}  # of the struct


# Layers.


class _Layers:
    """Arrays of one shape as C has them; they live as long as this does."""

    def __init__(self, dsm: npt.ArrayLike, pixel_size: float, options: dict[str, Any]):
        unknown = set(options) - set(_LAYERS) - set(_HEIGHTS)
        if unknown:
            raise TypeError(f"unknown option {sorted(unknown)[0]!r}; layers are "
                            f"{', '.join(_LAYERS)}, other options {', '.join(_HEIGHTS)}")
        self.arrays = {"dsm": self._grid("dsm", dsm)}
        self.shape = self.arrays["dsm"].shape
        for name in _LAYERS[1:]:
            if options.get(name) is not None:
                self.arrays[name] = self._grid(name, options[name])
        self.struct = s.SolweigLayers(rows=self.shape[0], cols=self.shape[1],
                                      pixel_size=pixel_size)
        for name, array in self.arrays.items():
            if array.shape != self.shape:
                raise ValueError(f"{name} of {array.shape[0]} x {array.shape[1]} pixels on a dsm "
                                 f"of {self.shape[0]} x {self.shape[1]}")
            setattr(self.struct, _FIELDS.get(name, name), array.ctypes.data_as(s.floats))
        for name in _HEIGHTS:
            if options.get(name) is not None:
                setattr(self.struct, _FIELDS.get(name, name), options[name])

    @staticmethod
    def _grid(name: str, layer: npt.ArrayLike) -> np.ndarray:
        array = np.asarray(layer)
        if array.ndim != 2 or array.size == 0:
            raise ValueError(f"{name} has shape {array.shape}; a layer has rows and columns")
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{name} is of dtype {array.dtype}; layers are numbers")
        return np.ascontiguousarray(array, "f4")


# Sky view.


@dataclass
class SkyView:
    """Sky view factors. `view["svfN"]` is a map of `names`; `svf` is the whole sky's."""

    maps: np.ndarray  # (15, rows, cols), in the order of MAP_NAMES
    patches: int
    matrices: np.ndarray | None  # (3, rows, cols, bytes), in the order of MATRIX_NAMES

    names = MAP_NAMES

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in MAP_NAMES:
            raise KeyError(f"no map {name!r}; there are {', '.join(MAP_NAMES)}")
        return np.asarray(self.maps[MAP_NAMES.index(name)])

    @property
    def svf(self) -> np.ndarray:
        """Share of the sky that each pixel sees past buildings, 0 to 1."""
        return np.asarray(self.maps[0])

    def visible(self, matrix: str = "buildings") -> np.ndarray:
        """Which patches each pixel sees, as booleans (rows, cols, patches)."""
        if self.matrices is None:
            raise ValueError("ask svf(..., matrices=True) for them")
        bits = self.matrices[MATRIX_NAMES.index(matrix)]
        return np.unpackbits(bits, axis=2, count=self.patches, bitorder="little").astype(bool)


def svf(dsm: npt.ArrayLike, *, pixel_size: float = 1.0, patches: int = 153, tile: int = 0,
        matrices: bool = False, ctx: Context | None = None, backend: str | None = None,
        **layers: Any) -> SkyView:
    """Sky view factors of a surface.

    `dsm` is heights of ground and buildings in metres, row 0 in the north, NaN where there are no
    data. Further layers: dem, cdsm, tdsm (ground, canopy top and bottom), and how they are meant:
    dsm_relative, cdsm_absolute, tdsm_absolute, keep_quantised, trunk_ratio, min_height.
    """
    if patches not in _PATCHES:
        raise ValueError(f"patches={patches}; there are 145, 153, 305 and 609")
    given = _Layers(dsm, pixel_size, layers)
    patches = _PATCHES[patches]
    maps = np.empty((len(MAP_NAMES), *given.shape), "f4")
    bits = np.empty((3, *given.shape, (patches + 7) // 8), "u1") if matrices else None
    options = s.SvfOptions(patches=patches, tile=tile)
    with context_for(ctx, backend) as used:
        used._call(lib.qn_solweig_svf, used.handle, c.byref(given.struct), c.byref(options),
                       maps.ctypes.data, None if bits is None else bits.ctypes.data)
    return SkyView(maps, patches, bits)


# Runs.


class _Handle:
    """A result of the library, freed with the last array that looks at it."""

    def __init__(self, handle: int):
        self.handle = handle

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            lib.qn_solweig_free(self.handle)


class _Plane:
    """Memory of a result as NumPy takes it; arrays over it keep this, and this keeps the result."""

    def __init__(self, owner: _Handle, pointer: Any, shape: tuple[int, ...]):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": "<f4",
                                    "data": (c.addressof(pointer.contents), False)}


@dataclass
class Result:
    """A run: `result["tmrt"]` is (times, rows, cols); `rows` has what each time came to."""

    times: np.ndarray  # datetime64[m], local
    rows: np.ndarray  # records: sun_altitude, tmrt_mean, utci_mean, sun_fraction, ...
    outputs: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.outputs:
            raise KeyError(f"no output {name!r}; asked for: {', '.join(self.outputs) or 'none'}")
        return self.outputs[name]


_WEATHER = {"ta": np.nan, "rh": np.nan, "ws": 1.0, "pressure": np.nan, "global": np.nan,
            "direct": np.nan, "diffuse": np.nan}


def _weather_rows(weather: Mapping[str, Any]) -> np.ndarray:
    """Columns as rows of the C struct."""
    unknown = set(weather) - set(_WEATHER) - {"time"}
    missing = [name for name in ("time", "ta", "rh", "global") if name not in weather]
    if unknown or missing:
        raise ValueError(f"weather has {'no ' + missing[0] if missing else 'unknown columns'}; "
                         f"columns are time, {', '.join(_WEATHER)}")
    time = np.atleast_1d(np.asarray(weather["time"], "datetime64[m]"))
    rows = np.empty(time.shape, np.dtype(s.Weather))
    if time.ndim != 1 or np.isnat(time).any():
        raise ValueError("weather: time is a column of dates and times")
    rows["minutes"] = time.astype("i8")
    for name, default in _WEATHER.items():
        column = np.atleast_1d(np.asarray(weather.get(name, default), "f8"))
        if column.shape not in (time.shape, (1,)):
            raise ValueError(f"weather: {column.shape} values of {name} for {time.shape} times")
        rows["pressure_hpa" if name == "pressure" else name] = column
    return rows


def _set_weather(options: s.SolweigOptions, weather: WeatherLike) -> list[Any]:
    """Fills in rows or files; what is returned must live until the call."""
    if isinstance(weather, Mapping):
        rows = _weather_rows(weather)
        options.weather = rows.ctypes.data_as(c.POINTER(s.Weather))
        options.n_weather = len(rows)
        return [rows]
    names = [weather] if isinstance(weather, (str, os.PathLike)) else list(weather)
    files = (c.c_char_p * len(names))(*[encode(name) for name in names])
    options.weather_files = c.cast(files, c.POINTER(c.c_char_p))
    options.n_weather_files = len(names)
    return [files]


def run(dsm: npt.ArrayLike, weather: WeatherLike, *, pixel_size: float = 1.0,
        outputs: str | Iterable[str] = "tmrt",
        site: tuple[float, float, float] | tuple[float, float, float, float] | None = None,
        start: str | None = None, end: str | None = None, hours: str | None = None,
        out: str | os.PathLike[str] | None = None,
        svf: str | os.PathLike[str] | None = None,
        params: str | os.PathLike[str] | None = None, wall_material: str | None = None,
        person: str = "standing", conifer: bool = False, sky: str = "aniso",
        pet_table: bool = False, ignore_split: bool = False, fix_pressure: bool = False,
        fixed: bool = False, patches: int = 153, max_distance: float = 0, tile: int = 0,
        ctx: Context | None = None, backend: str | None = None, **layers: Any) -> Result:
    """How hot it feels across a city, for every row of the weather.

    `weather` is a mapping of columns - time (local, the end of each interval), ta in degrees C, rh
    in %, global in W/m2, and where known ws, pressure (hPa), direct, diffuse - or the name of an
    .epw file, or names of UMEP text files. `site` is (latitude, longitude, hours ahead of UTC[,
    metres above the sea]); an .epw file knows it. `outputs` are names of OUTPUTS. Layers are those
    of svf(), and landcover, wall_height with wall_aspect, albedo, emissivity. `start` and `end` are
    the command's --from and --to; the rest is named as its options are. With `out`, the files of
    `quern solweig run` are written there too.
    """
    if person not in ("standing", "sitting"):
        raise ValueError(f"person={person!r}; it is 'standing' or 'sitting'")
    if sky not in ("aniso", "iso"):
        raise ValueError(f"sky={sky!r}; it is 'aniso' or 'iso'")
    names = outputs.split(",") if isinstance(outputs, str) else list(outputs)
    names = [] if names == ["none"] else names
    given = _Layers(dsm, pixel_size, layers)
    options = s.SolweigOptions(
        to=encode(end), hours=encode(hours), outputs=encode(",".join(names) or "none"),
        out=encode(out), svf=encode(svf), params=encode(params),
        wall_material=encode(wall_material), is_sitting=person == "sitting", is_conifer=conifer,
        is_isotropic=sky == "iso", has_pet_table=pet_table, ignore_split=ignore_split,
        fix_pressure=fix_pressure, fixed=fixed, patches=patches, max_distance_m=max_distance,
        tile=tile)
    setattr(options, "from", encode(start))
    if site is not None:
        options.has_site = 1
        options.latitude, options.longitude, options.utc_offset = site[:3]
        options.altitude = site[3] if len(site) > 3 else 0
    alive = _set_weather(options, weather)
    if site is None and isinstance(weather, Mapping):
        raise ValueError("columns do not say where they are from: "
                         "site=(latitude, longitude, hours ahead of UTC)")
    made = c.c_void_p()
    with context_for(ctx, backend) as used:
        used._call(lib.qn_solweig_run, used.handle, c.byref(given.struct), c.byref(options),
                       c.byref(made))
    del alive
    return _result_of(_Handle(address_of(made)), names, given.shape)


def _result_of(owner: _Handle, names: list[str], shape: tuple[int, int]) -> Result:
    n = lib.qn_solweig_n_rows(owner.handle)
    table = c.string_at(lib.qn_solweig_rows(owner.handle), n * c.sizeof(s.SolweigRow))
    rows = np.frombuffer(table, np.dtype(s.SolweigRow))
    planes = {name: np.asarray(_Plane(owner, lib.qn_solweig_plane(owner.handle, encode(name)),
                                      (n, *shape)))
              for name in names}
    return Result(rows["minutes"].astype("datetime64[m]"), rows, planes)
