"""Migration files: sections, names, parents, order and checksums."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core.errors import SchemaCoreError
from schema_core.migration import MigrationDirectory, MigrationFile

HERE = Path("migrations")


def directory(*files: str | tuple[str, str]) -> MigrationDirectory:
    """Return the directory of files; a pair has a name and its parents."""
    result = []
    for file in files:
        name, parents = (file, None) if isinstance(file, str) else file
        head = "" if parents is None else f"-- parents: {parents}\n"
        result.append(MigrationFile.parse(name, f"{head}-- up\n"))
    return MigrationDirectory.of(HERE, result)


def names(found: MigrationDirectory) -> list[str]:
    return [migration.name for migration in found.migrations]


def test_sections_keep_the_lines_of_the_file() -> None:
    file = MigrationFile.parse(
        "0001_a", "-- a note\n\n-- up\nUSE a;\n  -- Down  \n\nUSE b;\n-- not up\n"
    )

    assert "\n\n\nUSE a;" == file.script("up")
    assert "\n\n\n\n\n\nUSE b;\n-- not up\n" == file.script("down")
    assert file.has_down


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("1_a", "-- up"),
        ("0001", "-- up"),
        ("0001_A", "-- up"),
        ("0001_a", ""),
        ("0001_a", "USE a;\n-- up\n"),
        ("0001_a", "-- up\n-- up\n"),
        ("0001_a", "-- down\n"),
        ("0001_a", "-- parents: x, x\n-- up\n"),
        ("0001_a", "-- parents: x\n-- parents: y\n-- up\n"),
        ("0001_a", "-- up\n" + "x" * 10_000_001),
    ],
)
def test_what_is_not_a_migration_is_refused(name: str, text: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        MigrationFile.parse(name, text)

    assert "invalid-migration-file" == caught.value.code


def test_checksums_ignore_line_ends_only() -> None:
    result = [
        MigrationFile.parse("0001_a", text).checksum
        for text in ("-- up\nUSE a;\n", "-- up\r\nUSE a;\r\n", "-- up\nUSE a; \n")
    ]

    assert result[0] == result[1] != result[2]


def test_variables_are_replaced_or_required() -> None:
    file = MigrationFile.parse("0001_a", "-- up\nUSE ${db};\n")

    assert "\nUSE shop;\n" == file.script("up", {"db": "shop"})
    assert "\nUSE ${db};\n" == file.script("up")
    with pytest.raises(SchemaCoreError) as caught:
        file.script("up", {})
    assert "variable-not-found" == caught.value.code


def test_values_are_quoted_in_literals_and_text_is_escaped() -> None:
    file = MigrationFile.parse("0001_a", "-- up\nSET 'k' = '${v}'; USE ${v}; SET 'a' = '$${v}';")

    assert "\nSET 'k' = 'o''b'; USE o'b; SET 'a' = '${v}';" == file.script("up", {"v": "o'b"})


def test_parents_are_only_read_before_the_first_section() -> None:
    text = "-- up\nCREATE TABLE t (a INT COMMENT '\n-- parents: p\n');"
    file = MigrationFile.parse("0001_a", text)

    assert file.declared_parents is None


def test_migrations_follow_the_one_with_the_next_lower_number() -> None:
    result = directory("0010_c", "0001_a", "0002_b")

    assert ["0001_a", "0002_b", "0010_c"] == names(result)
    assert ("0002_b",) == result.parents["0010_c"]
    assert ("0010_c",) == result.heads


def test_branches_are_detected_and_merged() -> None:
    branches = directory("0001_a", "0002_b", ("0002_c", "0001_a"))
    with pytest.raises(SchemaCoreError) as caught:
        branches.require_single_head()
    assert "migration-branches" == caught.value.code
    assert "0002_b, 0002_c" in caught.value.problem

    merged = directory("0001_a", "0002_b", "0002_c", ("0003_m", "0002_b, 0002_c"))
    assert "0003_m" == merged.require_single_head()
    assert {"0001_a", "0002_c"} == merged.closure("0002_c")


def test_parents_come_first_whatever_their_numbers_are() -> None:
    result = directory(("0001_a", "0005_e"), ("0005_e", ""), ("0003_c", "0005_e"))

    assert ["0005_e", "0001_a", "0003_c"] == names(result)


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ((("0001_a", "0009_x"),), "invalid-migration-file"),
        ((("0001_a", "0002_b"), ("0002_b", "0001_a")), "invalid-migration-file"),
        ((("0001_a", "0001_a"),), "invalid-migration-file"),
        (("0001_a", "0002_b", "0002_c", "0003_d"), "migration-branches"),
    ],
)
def test_wrong_parents_are_refused(files: tuple[str | tuple[str, str], ...], code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        directory(*files)

    assert code == caught.value.code


def test_targets_are_names_or_numbers() -> None:
    result = directory("0001_a", "0002_b", "0002_c")

    assert (
        "0001_a" == result.find("1").name == result.find("0001").name == result.find("0001_a").name
    )
    for target in ("0003", "0002", "a", "", "\N{ARABIC-INDIC DIGIT ONE}"):
        with pytest.raises(SchemaCoreError) as caught:
            result.find(target)
        assert "migration-not-found" == caught.value.code


def test_a_new_file_takes_the_next_number_and_follows_the_head(tmp_path: Path) -> None:
    empty = MigrationDirectory.of(tmp_path / "m", ())
    first = empty.create("create_t", "-- up\nUSE a;\n")
    second = MigrationDirectory.read(tmp_path / "m").create("add_x", "-- up\n")

    assert ["0001_create_t.sql", "0002_add_x.sql"] == [first.name, second.name]
    assert "-- parents: 0001_create_t\n-- up\n" == second.read_text()
    with pytest.raises(SchemaCoreError) as caught:
        empty.create("create_t", "-- up\n")
    assert "migration-exists" == caught.value.code


def test_no_file_of_a_directory_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_bytes(b"\xef\xbb\xbf-- up\r\n")
    (tmp_path / "setup.sql").write_text("USE a")
    (tmp_path / ".gitkeep").write_text("")
    assert ["0001_a"] == names(MigrationDirectory.read(tmp_path))

    (tmp_path / "README.md").write_text("about")
    with pytest.raises(SchemaCoreError) as caught:
        MigrationDirectory.read(tmp_path)
    assert "invalid-migration-file" == caught.value.code

    (tmp_path / "README.md").unlink()
    (tmp_path / "0002_b.sql").write_bytes(b"-- up\n\xff")
    with pytest.raises(SchemaCoreError) as caught:
        MigrationDirectory.read(tmp_path)
    assert "file-system-failed" == caught.value.code
