"""Hostile code in the cage: each attack works outside and is refused inside."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cage has walls on Linux only")
NOBODY = 65534


def stopped_by(layers, needs):
    """Whether one of the needed layers is there; "landlock4" means this ABI or a later one."""
    abi = max((int(name[8:]) for name in layers if name.startswith("landlock")), default=0)
    for need in needs:
        if need.startswith("landlock"):
            if abi >= int(need[8:] or 1):
                return True
        elif need in layers:
            return True
    return False


def check_refused(all_attacks, attack, needs, user):
    """Refused in the cage, and not for another reason than the cage."""
    caged, free = all_attacks[user, True], all_attacks[user, False]
    assert caged.code == 0, caged.errors
    assert free.code == 0, free.errors
    if needs == ("capabilities",) and (user or os.geteuid()) != 0:
        # A power that only root has: nothing to take away, and it must be refused all the same.
        assert caged.outcomes[attack].startswith("refused"), caged.outcomes[attack]
        return
    if not stopped_by(caged.layers, needs):
        pytest.skip(f"needs one of {needs}, active are {caged.layers}")
    outcome = caged.outcomes[attack]
    assert outcome.startswith("refused"), outcome
    if free.outcomes[attack] != "worked":
        pytest.skip(f"does not work here without the cage either: {free.outcomes[attack]}")


def test_attack_is_refused(all_attacks, attack, needs):
    check_refused(all_attacks, attack, needs, None)


def test_attack_is_refused_to_a_plain_user(all_attacks, attack, needs):
    if os.geteuid() != 0:
        pytest.skip("is what the other test tried: these tests do not run as root")
    check_refused(all_attacks, attack, needs, NOBODY)


def skip_unless(answer, *needs):
    """Skip where none of the layers is there that a test is about."""
    assert answer.layers is not None, answer.errors
    if not stopped_by(answer.layers, needs):
        pytest.skip(f"needs one of {needs}, active are {answer.layers}")


@pytest.mark.parametrize("call", ["os.execv('/bin/true', ['true'])", "ctypes.CDLL(None).vfork()"])
def test_becoming_another_program_is_refused(child, call):
    answer = child(f"import ctypes, os\nif {call} == -1: raise OSError(ctypes.get_errno(), 'no')")
    skip_unless(answer, "seccomp")
    assert answer.outcomes.startswith("refused")


def test_second_table_of_system_calls_is_closed(child):
    answer = child(
        "import ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.syscall(ctypes.c_long(0x40000000 | 39)) == -1:\n"
        "    raise OSError(ctypes.get_errno(), 'no')"
    )
    skip_unless(answer, "seccomp")
    assert answer.outcomes.startswith("refused: [Errno 1]")


def test_busy_loop_is_ended_by_its_cpu_limit(child):
    answer = child("while True: pass", cpu_seconds=1)
    assert answer.code in (-signal.SIGXCPU, -signal.SIGKILL), answer


def test_memory_beyond_the_limit_is_a_memory_error(child):
    answer = child("bytearray(1 << 30)", memory_bytes=512 << 20)
    skip_unless(answer, "rlimits")
    assert "MemoryError" in answer.outcomes
    assert child("bytearray(1 << 30)", memory_bytes=2 << 30).outcomes == "worked"


def test_threads_of_before_make_it_refuse(child):
    """They would stay free, and student code shares their memory."""
    free = textwrap.dedent(
        """
        import threading, time
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        import sandbox
        try:
            sandbox.confine(world.scratch, [], None)
        except RuntimeError as error:
            assert "too late" in str(error)
        else:
            raise AssertionError("confined one thread only")
        """
    )
    assert child(free, caged=False).outcomes == "worked"


def test_child_dies_with_its_parent(tmp_path):
    """A grader that was killed leaves nobody behind."""
    package = os.path.join(os.path.dirname(__file__), "../../../tito/grading")
    source = textwrap.dedent(
        f"""
        import subprocess, sys
        code = '''
        import sys, time
        sys.path.append({package!r})
        import sandbox
        sandbox.confine({str(tmp_path)!r}, sandbox.readable_paths(), None)
        print("ready", flush=True)
        time.sleep(60)
        '''
        import textwrap
        command = [sys.executable, "-c", textwrap.dedent(code)]
        child = subprocess.Popen(command, stdout=-1, stderr=-3)
        child.stdout.readline()
        print(child.pid)
        """
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    pid = int(done.stdout)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if gone(pid):
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the child outlived its parent")


def gone(pid):
    """Whether the process has ended (a zombie that nobody waits for counts)."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True
