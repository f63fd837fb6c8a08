"""Processes of a test: how they are started, watched, and never left behind."""

import ctypes
import os
import pwd
import signal
import subprocess
import threading
import time

_PR_SET_CHILD_SUBREAPER = 36

# The reaper must not collect a child whose Popen has not been registered yet.
_lock = threading.Lock()
_owned = set()
_reaper = None


def stat_of(pid):
    """(state, parent) of a process as /proc tells it, or None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], int(fields[1])
    except (OSError, IndexError, ValueError):
        return None


def is_alive(pid):
    """Whether a process can still do something. A zombie cannot."""
    found = stat_of(pid)
    return found is not None and found[0] not in "ZX"


def is_stopped(pid):
    found = stat_of(pid)
    return found is not None and found[0] == "T"


def _all():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def descendants(root):
    """Every process below `root`, also those that run in sessions of their own."""
    children = {}
    for pid in _all():
        found = stat_of(pid)
        if found:
            children.setdefault(found[1], []).append(pid)
    below, todo = [], [root]
    while todo:
        for pid in children.get(todo.pop(), []):
            below.append(pid)
            todo.append(pid)
    return below


def _reap_orphans():
    me = os.getpid()
    with _lock:
        for pid in _all():
            found = stat_of(pid)
            if found and found[1] == me and found[0] == "Z" and pid not in _owned:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    pass


def adopt_orphans():
    """Makes this process the parent of orphans below it, and collects them when they end.

    Runners outlive their agent on purpose. As our own children they can be found and killed at
    the end, whatever happened to what started them.
    """
    global _reaper
    if _reaper is not None:
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become a subreaper")

    def loop():
        while True:
            _reap_orphans()
            time.sleep(0.05)

    _reaper = threading.Thread(target=loop, daemon=True)
    _reaper.start()


def spawn(command, **options):
    """Popen that the reaper knows of."""
    with _lock:
        process = subprocess.Popen(command, **options)
        _owned.add(process.pid)
    return process


def call_as(user, function):
    """Runs function() in a forked process of another user; answers with the bytes it returned.

    A fork and not a new interpreter: that user may not be allowed to execute ours.
    """
    account = pwd.getpwnam(user)
    inward, outward = os.pipe()
    with _lock:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.setgroups([])
                os.setgid(account.pw_gid)
                os.setuid(account.pw_uid)
                with os.fdopen(outward, "wb") as pipe:
                    pipe.write(function())
                status = 0
            except BaseException as problem:  # nothing may return into the copy of the test
                os.write(2, f"as {user}: {problem!r}\n".encode())
            finally:
                os._exit(status)
        _owned.add(pid)
    os.close(outward)
    with os.fdopen(inward, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError(f"what was done as {user} failed")
    return answer


def kill_descendants():
    """Kills everything below this process; what stops a moment later is killed again."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        alive = [pid for pid in descendants(os.getpid()) if is_alive(pid)]
        if not alive:
            return
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    raise RuntimeError(f"processes survive SIGKILL: {alive}")


def run(command, text_in=None, check=False, timeout=120, **options):
    """subprocess.run for tests; output and errors are captured as text."""
    process = spawn(command, stdin=subprocess.PIPE if text_in is not None else subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    try:
        out, err = process.communicate(text_in, timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    if check and process.returncode != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}: {err}")
    return subprocess.CompletedProcess(command, process.returncode, out, err)
