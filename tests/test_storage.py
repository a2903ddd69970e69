from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from covertour import InputError, Instance, write
from covertour.formats import check_output
from covertour.storage import HOLDER, hold

PLACES = Instance.from_coordinates([[0, 0], [1, 1]], radius=1)


def test_a_file_is_replaced_at_once_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    write(path, PLACES)
    assert path.read_text().startswith('{"name"')
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(InputError, match="cannot be written as UTF-8"):
        write(path, PLACES.with_changes(labels=["fine", "\ud800"]))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write(tmp_path / "link.json", PLACES)
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() != "old"


def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    write(tmp_path / "a.json", PLACES)
    (tmp_path / "b").touch()
    assert (tmp_path / "a.json").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_directory_that_is_missing_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for where in ("nowhere", "file"):
        path = tmp_path / where / "a.json"
        with pytest.raises(InputError, match=f"the directory .*{where} does not exist"):
            write(path, PLACES)
        with pytest.raises(InputError, match=f"the directory .*{where} does not exist"):
            check_output(path)


def test_a_directory_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(InputError, match="is a directory, expected a file name"):
        write(tmp_path / "a.json", PLACES)


def test_a_directory_that_is_not_writable(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.access(closed, os.W_OK):  # the superuser may write anywhere, but not there
        closed = Path("/proc")
    for attempt in (lambda path: write(path, PLACES), check_output):
        with pytest.raises(InputError, match=f"the directory {closed} is not writable"):
            attempt(closed / "a.json")


def test_a_check_leaves_nothing_behind(tmp_path: Path) -> None:
    check_output(tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


def test_an_overwritten_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.touch()
    path.chmod(0o640)
    write(path, PLACES)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_write_protected_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    path.chmod(0o400)
    if os.access(path, os.W_OK):  # the superuser may write anywhere
        monkeypatch.setattr(os, "access", lambda *_: False)
    for attempt in (lambda path: write(path, PLACES), check_output):
        with pytest.raises(InputError, match="is write-protected"):
            attempt(path)
    assert path.read_text() == "old"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    os.mkfifo(path)
    check_output(path)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(path.read_text)
        write(path, PLACES)
        assert read.result().startswith('{"name"')
    assert path.is_fifo()


def test_a_device_is_written_to_and_stays_a_device(tmp_path: Path) -> None:
    for name, device in (("null.json", "/dev/null"), ("full.json", "/dev/full")):
        (tmp_path / name).symlink_to(device)
    write(tmp_path / "null.json", PLACES)
    with pytest.raises(InputError, match=r"full\.json: cannot be written: No space left"):
        write(tmp_path / "full.json", PLACES)
    assert Path("/dev/null").is_char_device()
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("name", ["a\0b.json", "a\ud800b.json"])
def test_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    for attempt in (lambda path: write(path, PLACES), check_output):
        with pytest.raises(InputError, match="cannot be written: not a file name"):
            attempt(tmp_path / name)


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from pathlib import Path
from covertour import storage
os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
storage.write_text(Path(sys.argv[1]), "never seen")
"""
    path = tmp_path / "a.json"
    died = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / ".other.tmp").touch()
    write(path, PLACES)
    assert {file.name for file in tmp_path.iterdir()} == {"a.json", ".other.tmp"}


def test_what_a_living_writer_is_writing_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another write to the same directory, just before the first one renames its file."""
    rename = os.replace

    def write_another_first(temporary: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", rename)
        write(tmp_path / "b.json", PLACES)
        rename(temporary, target)

    monkeypatch.setattr(os, "replace", write_another_first)
    write(tmp_path / "a.json", PLACES)
    assert {file.name for file in tmp_path.iterdir()} == {"a.json", "b.json"}


HOLDING = """
import sys
from pathlib import Path
from covertour.storage import hold
with hold(Path(sys.argv[1]), "a training"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_directory_has_one_holder_until_that_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(InputError) as refused, hold(tmp_path, "another"):
        pass
    assert str(refused.value) == (
        f"{tmp_path}: a training, process {holder.pid}, is at work here; wait for its end, "
        "or give another directory"
    )
    holder.kill()
    holder.communicate()
    assert (tmp_path / HOLDER).exists()  # nobody was left to remove it, and nobody holds it
    with hold(tmp_path, "another"):
        assert (tmp_path / HOLDER).read_text() == f"another, process {os.getpid()},"
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_free_again_after_an_error(tmp_path: Path) -> None:
    def fails() -> None:
        with hold(tmp_path, "one"):
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011  # raised right here
        fails()
    with (
        hold(tmp_path, "one"),
        pytest.raises(InputError, match="one, process"),
        hold(tmp_path, "two"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_of_many_who_come_and_go_one_holds_at_a_time(tmp_path: Path) -> None:
    inside = 0
    most = 0

    def try_often(name: str) -> int:
        nonlocal inside, most
        held = 0
        while held < 100:
            with suppress(InputError), hold(tmp_path, name):
                inside += 1
                most = max(most, inside)
                os.listdir(tmp_path)
                inside -= 1
                held += 1
        return held

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(try_often, "abcd")) == 400
    assert most == 1


def test_a_directory_that_is_not_there_cannot_be_held(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"), hold(tmp_path / "nowhere", "one"):
        pass
