"""Descriptors that are no tensor memory, and memory that its client tries to take away."""

from __future__ import annotations

import errno
import fcntl
import os
import pathlib
import re
from typing import Callable

import numpy as np
import pytest

import gpuos
import support

pytestmark = pytest.mark.usefixtures("bystander")


def pipe() -> int:
    read, write = os.pipe()
    os.close(write)
    return read


def directory() -> int:
    return os.open("/", os.O_RDONLY | os.O_DIRECTORY)


def regular_file() -> int:
    descriptor = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
    os.ftruncate(descriptor, 4096)
    return descriptor


def memory_file(size: int, seals: int, flags: int = os.MFD_ALLOW_SEALING) -> int:
    descriptor = os.memfd_create("test", flags)
    os.ftruncate(descriptor, size)
    if seals:
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(pipe, id="a pipe"),
        pytest.param(directory, id="a directory"),
        pytest.param(regular_file, id="a file on disk"),
        pytest.param(lambda: os.open("/dev/null", os.O_RDWR), id="a character device"),
        pytest.param(lambda: memory_file(4096, 0), id="an unsealed memory file"),
        pytest.param(lambda: memory_file(4096, fcntl.F_SEAL_GROW), id="sealed against growing"),
        pytest.param(lambda: memory_file(0, fcntl.F_SEAL_SHRINK), id="an empty memory file"),
    ],
)
def test_descriptors_that_are_no_sealed_memory_are_refused(
    session: gpuos.Session, make: Callable[[], int]
) -> None:
    descriptor = make()
    try:
        with pytest.raises(gpuos.InvalidArgument):
            session._core.handle.segment_register_fd(descriptor)
    finally:
        os.close(descriptor)
    support.run_job(session)


def test_a_closed_descriptor_is_refused(session: gpuos.Session) -> None:
    with pytest.raises(gpuos.GpuosError):
        session._core.handle.segment_register_fd(99_999)
    support.run_job(session)


def test_a_memory_file_that_may_not_be_written_is_refused(session: gpuos.Session) -> None:
    descriptor = memory_file(4096, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_WRITE)
    try:
        with pytest.raises(gpuos.GpuosError):
            session._core.handle.segment_register_fd(descriptor)
    finally:
        os.close(descriptor)
    support.run_job(session)


def reopened(tensor: gpuos.Tensor) -> int:
    """A fresh descriptor of the memory file behind a tensor, as a hostile client would get one."""
    address = tensor.data_ptr()
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
        if found and int(found[1], 16) <= address < int(found[2], 16):
            return os.open(f"/proc/self/map_files/{found[1]}-{found[2]}", os.O_RDWR)
    raise AssertionError("the tensor is not mapped")


@pytest.mark.skipif(os.geteuid() != 0, reason="reopening a mapping needs root")
@pytest.mark.parametrize("size", [0, 1 << 30])
def test_a_client_cannot_resize_its_segment(session: gpuos.Session, size: int) -> None:
    x = session.share(np.ones(8, dtype=np.float32))
    descriptor = reopened(x)
    try:
        with pytest.raises(OSError) as refused:
            os.ftruncate(descriptor, size)
        assert refused.value.errno == errno.EPERM
        with pytest.raises(OSError) as refused:
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        assert refused.value.errno in (errno.EPERM, errno.EBUSY)
    finally:
        os.close(descriptor)
    with session.batch() as b:
        y = b.add(x, x)
    assert y.numpy().tolist() == [2.0] * 8


def test_a_client_that_grows_and_drops_its_own_file_harms_nobody(session: gpuos.Session) -> None:
    descriptor = memory_file(4096, fcntl.F_SEAL_SHRINK)
    tensor = session.share_file(descriptor, (1024,))
    os.ftruncate(descriptor, 1 << 20)
    with pytest.raises(OSError):
        os.ftruncate(descriptor, 1024)
    os.close(descriptor)
    with session.batch() as b:
        b.fill(tensor, 3.0)
    assert tensor.numpy().tolist() == [3.0] * 1024
