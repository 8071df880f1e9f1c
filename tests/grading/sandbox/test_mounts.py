"""The scratch folder of limited size: what lay in it stays, nobody else sees what comes."""

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mounts are Linux's here")


def skip_without_tmpfs(answer):
    assert answer.layers is not None, answer.errors
    if "tmpfs" not in answer.layers:
        pytest.skip("this machine lets nobody mount")


def test_files_of_before_are_there(child):
    (child.scratch / "data").mkdir()
    (child.scratch / "data" / "x.csv").write_text("1,2")
    (child.scratch / "link").symlink_to("data")
    answer = child("assert open('data/x.csv').read() == open('link/x.csv').read() == '1,2'")
    assert answer.outcomes == "worked", answer.outcomes
    skip_without_tmpfs(answer)


def test_nothing_of_it_stays_on_disk(child):
    answer = child("open('left', 'w').write('x')")
    skip_without_tmpfs(answer)
    assert answer.outcomes == "worked"
    assert list(child.scratch.iterdir()) == []


def test_data_files_do_not_use_up_the_room(child):
    (child.scratch / "big").write_bytes(bytes(3 << 20))
    answer = child(
        "for i in range(3): open(f'file{i}', 'wb').write(bytes(900_000))", file_bytes=2 << 20
    )
    assert answer.outcomes == "worked", answer.outcomes
    skip_without_tmpfs(answer)


def test_a_folder_that_cannot_be_filled_stays_as_it_was(child):
    (child.scratch / "data.csv").write_text("1,2")
    source = """
import sandbox.mounts, sandbox.namespaces
assert "mount namespace" in sandbox.namespaces.enter()
def fail(*_):
    raise PermissionError(1, "no copying here")
sandbox.mounts._copy = fail
assert sandbox.mounts.private_scratch(__import__("pathlib").Path(world.scratch), 1 << 20) is None
assert open(world.scratch + "/data.csv").read() == "1,2"
"""
    skip_without_tmpfs(child("pass"))
    assert child(source, caged=False).outcomes == "worked"
