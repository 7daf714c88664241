"""A child process that ends with this one."""

from __future__ import annotations

import logging
import os
import pathlib
import shutil
import subprocess
import threading
import weakref
from typing import Sequence

_LOG = logging.getLogger("gpuos")

_STOP_SECONDS = 10.0


class Child:
    """Owns a process, its directory, and the pipe by which it notices that this process is gone.

    The pipe's other end is in this process alone: the kernel closes it even on SIGKILL, and forked
    children close their copy. Thread-safe.
    """

    def __init__(self, command: Sequence[str], directory: pathlib.Path, log: pathlib.Path) -> None:
        """Starts `command` with --parent-fd=N added, its output in `log`."""
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._directory = directory
        theirs, self._life_line = os.pipe()
        try:
            with open(log, "wb") as output:
                self.process = subprocess.Popen(
                    [*command, f"--parent-fd={theirs}"],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(theirs,),
                    # Ctrl-C in a terminal is for this process, which then ends the child.
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._life_line)
            raise
        finally:
            os.close(theirs)
        _CHILDREN.add(self)

    def stop(self) -> None:
        """Ends the process and removes its directory; any number of times."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            if self._life_line < 0:
                return
            self.process.terminate()
            os.close(self._life_line)
            self._life_line = -1
            try:
                self.process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                _LOG.warning("process %d did not stop and was killed", self.process.pid)
                self.process.kill()
                self.process.wait()
            shutil.rmtree(self._directory, ignore_errors=True)
            _LOG.info("process %d stopped", self.process.pid)

    def let_go(self) -> None:
        """In a forked child: must not keep the process alive."""
        if self._life_line >= 0:
            os.close(self._life_line)
            self._life_line = -1


_CHILDREN: weakref.WeakSet[Child] = weakref.WeakSet()


def _after_fork() -> None:
    for child in list(_CHILDREN):
        child.let_go()


os.register_at_fork(after_in_child=_after_fork)
