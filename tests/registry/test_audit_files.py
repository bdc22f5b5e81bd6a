"""Audits of files: whatever differs from what was installed is found."""

import compileall
import os
import py_compile
from importlib.metadata import distribution

import pytest

from ludus.errors import InvalidArgument
from ludus.registry.audit import audit
from ludus.registry.audit.distribution import chosen, licence, needed
from ludus.registry.audit.record import verify

MAZE = "class Maze:\n    size = 3\n"


@pytest.fixture
def mazes(site):
    """An installed package, as its installer left it."""
    site.install("mazes", "", {"mazes/__init__.py": "", "mazes/maze.py": MAZE, "mazes/data/map.txt": "##\n"})
    site.write("mazes-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: mazes\nVersion: 1.0\nLicense: MIT\n\nx")
    site.record("mazes")
    return site


def problems(**options):
    return verify(distribution("mazes"), **options).problems


def test_what_was_installed_is_as_recorded(mazes):
    record = verify(distribution("mazes"))
    assert (record.problems, record.compared, record.modules) == ([], 5, ["mazes"])


@pytest.mark.parametrize(
    ("path", "content", "problem"),
    [
        ("mazes/maze.py", MAZE + "import os\n", "mazes/maze.py is not what was installed"),
        ("mazes/data/map.txt", "#!\n", "mazes/data/map.txt is not what was installed"),
        ("mazes/backdoor.py", "x = 1\n", "mazes/backdoor.py was added after the installation"),
        ("mazes/data/new.bin", "", "mazes/data/new.bin was added after the installation"),
        ("mazes/gone.pyc", "", "mazes/gone.pyc was added after the installation"),
        ("mazes/__pycache__/gone.cpython-311.pyc", "", "mazes/__pycache__/gone.cpython-311.pyc was added after the"),
        ("mazes-1.0.dist-info/more.txt", "", "mazes-1.0.dist-info/more.txt was added after the installation"),
        (
            "mazes-1.0.dist-info/entry_points.txt",
            "[x]",
            "mazes-1.0.dist-info/entry_points.txt is not what was installed",
        ),
    ],
)
def test_a_changed_or_added_file_is_found(mazes, path, content, problem):
    mazes.write(path, content)
    [found] = problems()
    assert found.startswith(problem)


def test_a_missing_file_is_found(mazes):
    (mazes.folder / "mazes/maze.py").unlink()
    assert problems() == ["mazes/maze.py is missing"]


def test_a_file_without_a_hash_is_found(mazes):
    mazes.record("mazes", unhashed=("mazes/maze.py",))
    assert problems() == ["mazes/maze.py has no recorded hash"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("mazes/data/map.txt,md5=abc,3", "mazes/data/map.txt is recorded by md5, which proves nothing"),
        ("../../../../../../../../etc/passwd,sha256=abc,3", "is recorded, outside of the installation"),
        ("/dev/zero,sha256=abc,3", "/dev/zero is recorded, outside of the installation"),
        ("mazes/data,sha256=abc,3", "mazes/data is recorded, and no file"),
    ],
)
def test_a_record_that_proves_nothing_or_leads_astray_is_found(mazes, line, problem):
    file = mazes.folder / "mazes-1.0.dist-info/RECORD"
    rest = [one for one in file.read_text().splitlines() if not one.startswith(line.partition(",")[0])]
    file.write_text("\n".join([*rest, line]) + "\n")
    assert any(problem in one for one in problems())


def test_the_digest_is_of_contents_and_names_only(mazes, site):
    before = verify(distribution("mazes")).digest
    mazes.write("mazes-1.0.dist-info/INSTALLER", "another\n")
    mazes.record("mazes")
    os.utime(mazes.folder / "mazes/maze.py", (0, 0))
    assert verify(distribution("mazes")).digest == before
    mazes.write("mazes/maze.py", MAZE + "\n")
    assert verify(distribution("mazes")).digest != before


def test_files_of_another_package_in_the_same_folder_are_its_own(mazes):
    mazes.install("mazes-more", "", {"mazes/more.py": ""})
    nothing = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
    mazes.write("mazes_more-1.0.dist-info/RECORD", f"mazes/more.py,{nothing},0\n")
    mazes.write("mazes/__pycache__/more.cpython-311.pyc", "")
    assert problems() == []


def test_without_a_record_nothing_is_called_good(mazes):
    (mazes.folder / "mazes-1.0.dist-info/RECORD").unlink()
    report = audit(["mazes"], run=False)
    assert ("files", "its installer left no RECORD") in [(one.kind, one.reason) for one in report.unchecked]
    assert report.packages[0].digest == ""
    assert (report.clean(), report.clean(strict=True)) == (True, False)


def test_of_an_editable_package_no_file_is_called_good():
    report = audit(["ludus-rl"], run=False)
    assert "ludus-rl: its code is being worked on" in [f"{one.package}: {one.reason}"[:37] for one in report.unchecked]


# --- compiled files: no hash of theirs is recorded ---


@pytest.mark.no_cover
def test_a_compiled_file_that_says_something_else_is_found(mazes):
    source = mazes.folder / "mazes/maze.py"
    compileall.compile_dir(mazes.folder / "mazes", quiet=1)
    assert audit(["mazes"], run=False).findings == ()
    known, forged = source.stat(), mazes.folder / "forged.py"
    forged.write_text(MAZE.replace("3", "4"))
    os.utime(forged, (known.st_mtime, known.st_mtime))
    cache = py_compile.compile(str(forged), cfile=str(source.parent / "__pycache__/maze.cpython-311.pyc"))
    forged.unlink()
    [finding] = audit(["mazes"], run=False).findings
    assert (finding.kind, finding.message) == ("files", f"{cache} is not what its source says")
    with open(cache, "r+b") as file:
        file.truncate(30)
    assert len(audit(["mazes"], run=False).findings) == 1
    source.write_text(MAZE)  # later than the compiled file: Python would not run it
    os.utime(source, (known.st_mtime + 9, known.st_mtime + 9))
    assert audit(["mazes"], run=False).findings == ()


# --- metadata ---


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("License-Expression: MIT OR Apache-2.0\nLicense: old\n", "MIT OR Apache-2.0"),
        ("License: UNKNOWN\nClassifier: License :: OSI Approved :: MIT License\n", "MIT License"),
        ("License: BSD\x1b[31m\n", "BSD\ufffd[31m"),
        ("", ""),
    ],
)
def test_the_licence_is_what_the_metadata_state(mazes, lines, found):
    mazes.write("mazes-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: mazes\nVersion: 1.0\n{lines}\n")
    assert licence(distribution("mazes")) == found


def test_a_package_without_a_licence_is_a_finding(mazes):
    mazes.write("mazes-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: mazes\nVersion: 1.0\n")
    mazes.record("mazes")
    assert [one.message for one in audit(["mazes"], run=False).findings] == ["it states no licence"]


def test_packages_are_chosen_by_name_or_by_what_they_announce(mazes):
    assert [one.metadata["Name"] for one in chosen(("LUDUS_RL", "mazes"))] == ["ludus-rl", "mazes"]
    assert [one.metadata["Name"] for one in chosen(())] == ["mazes", "ludus-rl"]
    with pytest.raises(InvalidArgument, match="audit: expected installed packages, got 'lakes'"):
        audit(["mazes", "lakes"])


def test_what_a_package_needs_is_looked_up_too():
    found = [one.metadata["Name"] for one in needed(chosen(("ludus-rl",)))]
    assert {"ludus-rl", "numpy", "msgspec", "llvmlite"} <= set(found)
    assert "gymnasium" not in found
