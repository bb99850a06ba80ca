# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files are written whole or not at all, and never through what somebody else put there."""
import os
import re
import stat

import pytest

from malleable.files import Failure, beside, input_file, printable, write_files


def broken():
    yield "half"
    raise Failure("it broke")


BEGIN = re.compile(rb"old|new")
STRANGER = 65534


def write(path, directory=None, parts=lambda: ["new"]):
    write_files([(str(path), BEGIN, parts)], "page", directory)


def test_what_was_there_stays_until_all_is_written(tmp_path):
    path = tmp_path / "page"
    path.write_text("old")
    path.chmod(0o640)
    with pytest.raises(Failure, match="it broke"):
        write(path, parts=broken)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["page"]
    write(path)
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["page"]


def test_several_files_are_written_together(tmp_path):
    (tmp_path / "one").write_text("old")
    with pytest.raises(Failure, match="it broke"):
        write_files([(str(tmp_path / "one"), BEGIN, lambda: ["new"]),
                     (str(tmp_path / "two"), BEGIN, broken)], "trace")
    assert os.listdir(tmp_path) == ["one"] and (tmp_path / "one").read_text() == "old"


def test_no_input_is_written_over(tmp_path):
    """By its name, another spelling of it, a link, or a second name."""
    trace = tmp_path / "trace"
    trace.write_text("recorded")
    (tmp_path / "link").symlink_to(trace)
    os.link(trace, tmp_path / "second")
    (tmp_path / "folder").mkdir()
    with input_file(str(trace)) as file:
        read = [os.fstat(file.fileno())]
    for name in "trace", "link", "second", "folder/../trace":
        with pytest.raises(Failure, match="^cannot write the page to .*: it is the input; name "
                                          "another file$") as failed:
            write_files([(str(tmp_path / "other"), BEGIN, lambda: ["new"]),
                         (f"{tmp_path}/{name}", BEGIN, lambda: ["new"])], "page", read=read)
        assert failed.value.status == 2
    assert trace.read_text() == "recorded" and trace.samefile(tmp_path / "second")
    assert sorted(os.listdir(tmp_path)) == ["folder", "link", "second", "trace"]


def derived(tmp_path):
    with beside(str(tmp_path / "trace"), "page") as directory:
        write(tmp_path / "page", directory)


def test_derived_names_follow_no_link(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for link in os.symlink, os.link:
        link(precious, tmp_path / "page")
        with pytest.raises(Failure, match="page: a link, or others can write it; name another "
                                          "file$"):
            derived(tmp_path)
        (tmp_path / "page").unlink()
    os.mkfifo(tmp_path / "page")
    with pytest.raises(Failure, match="name another file$"):
        derived(tmp_path)
    (tmp_path / "page").unlink()
    derived(tmp_path)
    derived(tmp_path)
    assert (tmp_path / "page").read_text() == "new" and precious.read_text() == "precious"
    (tmp_path / "page").write_text("precious")
    with pytest.raises(Failure, match="malleable did not write the file there; name another$"):
        derived(tmp_path)


def test_files_beside_stay_where_they_were(tmp_path):
    """The directory is exchanged for a link to another one after the file was named."""
    for name in "mine", "other":
        (tmp_path / name).mkdir()
        (tmp_path / name / "trace").write_text(name)
    (tmp_path / "other" / "page").write_text("old and precious")
    with beside(str(tmp_path / "mine" / "trace"), "page") as directory:
        (tmp_path / "mine").rename(tmp_path / "moved")
        (tmp_path / "mine").symlink_to("other")
        with input_file(str(tmp_path / "mine" / "trace"), directory) as file:
            assert file.read() == b"mine"
        write(tmp_path / "mine" / "page", directory)
    assert (tmp_path / "other" / "page").read_text() == "old and precious"
    assert (tmp_path / "moved" / "page").read_text() == "new"


def test_link_that_was_named_is_followed(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "real").write_text("old")
    (tmp_path / "page").symlink_to(tmp_path / "other" / "real")
    write(tmp_path / "page")
    assert (tmp_path / "page").is_symlink()
    assert (tmp_path / "other" / "real").read_text() == "new"


def test_only_what_is_ours_is_written_over(tmp_path):
    """A program, say, that a user named by mistake. An empty file loses nothing."""
    path = tmp_path / "page"
    path.write_text("precious")
    with pytest.raises(Failure, match="^cannot write the page to .*: malleable did not write the "
                       "file there; name another$"):
        write(path)
    assert path.read_text() == "precious" and os.listdir(tmp_path) == ["page"]
    path.write_text("")
    write(path)
    assert path.read_text() == "new"


@pytest.fixture(name="shared")
def shared_directory(tmp_path):
    """Such as /tmp, when root writes there."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    tmp_path.chmod(0o1777)
    return tmp_path


def test_no_mode_of_a_stranger_is_taken(shared):
    """He made a file of that name, whose set-user-ID bit root's file would have."""
    path = shared / "page"
    path.write_text("")
    for owner, before, after in (STRANGER, 0o6777, 0o644), (0, 0o6755, 0o755), (0, 0o600, 0o600):
        os.chown(path, owner, owner)
        path.chmod(before)
        write(path)
        assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (0, after)
    os.link(path, shared / "second")
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_nobody_else_reads_a_file_before_it_is_whole(tmp_path):
    def parts():
        assert all(name.stat().st_mode & 0o7777 == 0o600 for name in tmp_path.iterdir())
        yield "new"

    write(tmp_path / "page", parts=parts)
    assert stat.S_IMODE((tmp_path / "page").stat().st_mode) == 0o644


def test_root_follows_no_link_of_a_stranger(shared):
    (shared / "etc").mkdir()
    for link, target, page, name in (("page", "etc/new", "page", "new"),
                                     ("way", "etc", "way/page", "page")):
        (shared / link).symlink_to(shared / target)
        os.chown(shared / link, STRANGER, STRANGER, follow_symlinks=False)
        with pytest.raises(Failure, match="page: the path has another user's link; name its "
                                          "target$"):
            write(shared / page)
        assert not (shared / "etc" / name).exists()
        os.chown(shared / link, 0, 0, follow_symlinks=False)
        write(shared / page)
        (shared / link).unlink()
    assert sorted(os.listdir(shared / "etc")) == ["new", "page"]


def test_paths_lead_where_they_lead(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "up").symlink_to("b/../../a/b/.")
    (tmp_path / "round").symlink_to("round")
    monkeypatch.chdir(tmp_path / "a")
    for path in "one", "./two", "../a/up/../b//three", str(tmp_path / "a/up/four"):
        write(path)
    assert sorted(os.listdir(tmp_path / "a")) == ["b", "one", "two", "up"]
    assert sorted(os.listdir(tmp_path / "a/b")) == ["four", "three"]
    for path, why in (("one/two", "Not a directory"), ("new/", "No such file or directory"),
                      ("../round/x", "Too many levels"), ("..", "not a file or device"),
                      ("", "not a file or device")):
        with pytest.raises(Failure, match=f"^cannot write the page to {re.escape(path)}: {why}"):
            write(path)


def test_no_pipe_is_waited_for(tmp_path):
    os.mkfifo(tmp_path / "page")
    with pytest.raises(Failure, match="^cannot write the page to .*: not a file or device$"):
        write(tmp_path / "page")


def test_device_that_was_exchanged_is_not_written_to(tmp_path, monkeypatch):
    """Whose directory it is may put something else there once we looked."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "precious").write_text("precious")
    device = os.stat("/dev/null")
    monkeypatch.setattr(os, "stat", lambda *arguments, **more: device)
    for name in "fifo", "precious":
        reader = os.open(tmp_path / name, os.O_RDONLY | os.O_NONBLOCK)
        with pytest.raises(Failure, match="not a file or device"):
            write(tmp_path / name)
        assert os.read(reader, 9) == (b"" if name == "fifo" else b"precious")
        os.close(reader)


def test_devices_are_written_to(tmp_path):
    write("/dev/null")
    with pytest.raises(Failure, match="^cannot write the page to /dev/full: No space left"):
        write("/dev/full")
    with pytest.raises(Failure, match="^cannot write the page to .*: No such file or directory$"):
        write(tmp_path / "absent" / "page")


def test_files_in_directories_of_others_are_named(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    os.chown(tmp_path, 65534, -1)
    with pytest.raises(Failure, match="^name the page with -o: .* is in a directory of others$"):
        derived(tmp_path)


def test_nothing_moves_a_terminals_cursor():
    assert printable("a\x1b[2J\n\u00e9\udc9b") == "a?[2J??????"
