"""The examples of the README run, and print what it says."""

import doctest
import os
import re
from pathlib import Path

import pytest

import tansu

README = Path(__file__).parent.parent / "README.md"


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", str(README), 0)
    assert len(examples.examples) > 20
    failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(examples)
    assert failed == 0


def test_example_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = README.parents[3] / "README.md"
    if not page.exists():
        pytest.skip("a source distribution does not have it")
    monkeypatch.chdir(tmp_path)
    with tansu.open("people.tansu") as db:
        db.people.insert_one({"_id": 1, "age": 12})
    (block,) = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(block, {})
    assert capsys.readouterr().out == "{'_id': 1, 'age': 12}\n"


def test_docstrings() -> None:
    assert doctest.testmod(tansu).failed == 0


def test_every_call_is_documented() -> None:
    for kind in (tansu.Database, tansu.Collection, tansu.Cursor, tansu.ChangeStream, tansu.Transaction):
        for name, member in vars(kind).items():
            if not name.startswith("_"):
                assert member.__doc__, f"{kind.__name__}.{name}"
    for name in tansu.__all__:
        assert name.isupper() or name == "Progress" or getattr(tansu, name).__doc__, name
    assert os.path.exists(Path(tansu.__file__).parent / "py.typed")
