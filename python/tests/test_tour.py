"""The tour of README.md and the example run unchanged."""

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1]


READMES = [path for path in (FOLDER / "README.md", FOLDER.parent / "README.md") if path.is_file()]


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.parent.name)
def test_the_code_of_a_readme_runs_and_prints_what_it_says(path, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QUERN_BACKEND", "cpu")
    scope = {}
    blocks = re.findall(r"```python\n(.*?)```(?:\n+```\n(.*?)```)?", path.read_text(), re.S)
    assert blocks
    for code, printed in blocks:
        exec(compile(code, str(path), "exec"), scope)
        out = capsys.readouterr().out
        if printed:
            assert out.split() == printed.split()


def test_the_example_runs(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QUERN_BACKEND", "cpu")
    runpy.run_path(str(FOLDER / "examples" / "tour.py"))
    assert "the fit found" in capsys.readouterr().out


@pytest.fixture(autouse=True)
def fresh_default_context():
    import quern.context as context
    yield
    if context._default is not None:
        context._default.close()
