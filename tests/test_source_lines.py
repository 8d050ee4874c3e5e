"""Lines of a program's source: what addr2line says, and what it cannot mean."""

from pathlib import Path

import pytest

from memwalk.analysis.explain import source_lines


def test_a_line_that_the_source_does_not_have_is_told_of_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.cpp"
    source.write_text("int a;\nint b;\n")
    told = [f"{source}:2", f"{source}:367", f"{tmp_path}/gone.cpp:367"]
    monkeypatch.setattr(source_lines, "told_by", lambda *_asked, **_more: told)
    found = source_lines.source_lines(tmp_path / "a.out", ["0x10", "0x20", "0x30"])
    assert found == {"0x10": "a.cpp:2: int b;", "0x30": "gone.cpp:367"}
