"""Puts libquern.so into the package, so that `pip install ./python` is all it takes.

The library is the first of these that exists:

- the file that QUERN_LIBRARY names,
- what the build folder of this source tree makes: QUERN_BUILD_DIR, else ../build where it is
  configured, else ../build-python, which is configured here, without tests.

If the build folder is up to date, only its files are checked.
"""

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70
    from wheel.bdist_wheel import bdist_wheel

SOURCE = Path(__file__).resolve().parent.parent


def run(*command):
    print("quern:", *command)
    subprocess.run([str(word) for word in command], check=True)


def is_plain(cache):
    """Whether a configured folder makes a library that Python can load."""
    return not any(line.startswith("QN_SANITIZE:") and line.split("=", 1)[1].strip()
                   for line in cache.read_text().splitlines())


def build_folder():
    """A configured build folder of the source tree."""
    given = os.environ.get("QUERN_BUILD_DIR")
    usual = Path(given) if given else SOURCE / "build"
    cache = usual / "CMakeCache.txt"
    if cache.is_file() and is_plain(cache):
        return usual
    own = usual if given else SOURCE / "build-python"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    if not (own / "CMakeCache.txt").is_file():
        run("cmake", "-S", SOURCE, "-B", own, "-DQN_TESTS=OFF", *generator)
    return own


def find_library():
    """The path of libquern.so, built first if needed."""
    given = os.environ.get("QUERN_LIBRARY")
    if given:
        if not Path(given).is_file():
            raise SystemExit(f"QUERN_LIBRARY: there is no file {given}")
        return Path(given)
    if not (SOURCE / "CMakeLists.txt").is_file():
        raise SystemExit("quern: the source tree is not beside this folder; "
                         "set QUERN_LIBRARY to an installed libquern.so")
    folder = build_folder()
    run("cmake", "--build", folder, "--target", "quern_shared", "--parallel",
        os.cpu_count() or 1)
    return folder / "libquern.so"


class BuildWithLibrary(build_py):
    """Copies the files of the package and the library."""

    def run(self):
        super().run()
        target = Path(self.build_lib) / "quern" / "libquern.so"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copyfile(find_library(), target)
        if shutil.which("strip"):
            run("strip", "--strip-debug", target)


class PlatformWheel(bdist_wheel):
    """A wheel for every Python 3 of this platform: the library does not use Python's headers."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=BinaryDistribution,
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
