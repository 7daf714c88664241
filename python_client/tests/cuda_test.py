"""Sharing in place: what is registered, how often, and when it is let go."""

from __future__ import annotations

import gc

import pytest

import gpuos
from fake_library import FakeLibrary
from fake_torch import UUID, FakeTensor, FakeTorch
from gpuos import _cuda

BLOCK = 2 << 20  # PyTorch's small tensors share allocations of this size.


class CudaLibrary(FakeLibrary):
    """Each 2 MiB of addresses is one allocation."""

    uuid = f"GPU-{UUID}"

    def device_name(self, session: int) -> str:
        return "cuda:0"

    def device_uuid(self, session: int) -> str:
        return self.uuid

    def segment_register_cuda_pointer(self, session: int, pointer: int) -> tuple[int, int, int]:
        self.segments[pointer // BLOCK] = BLOCK
        return pointer // BLOCK, pointer % BLOCK, BLOCK


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> FakeTorch:
    fake = FakeTorch()
    monkeypatch.setattr(_cuda, "_torch", lambda: fake)
    return fake


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> CudaLibrary:
    fake = CudaLibrary()
    monkeypatch.setattr(gpuos._native, "library", lambda: fake)
    return fake


@pytest.fixture
def session(library: CudaLibrary, torch: FakeTorch):
    with gpuos.connect() as opened:
        yield opened


def tensor(torch: FakeTorch, *shape: int) -> FakeTensor:
    made = torch.empty(4096, torch.uint8, "cuda:1")
    return FakeTensor(made.untyped_storage(), made.data_ptr(), shape, 4, 1)


def test_a_tensor_is_shared_where_it_lies(
    session: gpuos.Session, library: CudaLibrary, torch: FakeTorch
) -> None:
    theirs = tensor(torch, 3, 4)
    shared = session.share(theirs)
    assert shared.data_ptr() == theirs.data_ptr()
    assert (shared.shape, shared.strides, shared.dtype) == ((3, 4), (4, 1), gpuos.float32)
    with session.batch() as b:
        b.relu(shared[1], out=shared[2])
    ((_, bindings),) = library.submissions
    segment, offset = divmod(theirs.data_ptr(), BLOCK)
    assert bindings == [(segment, offset + 32), (segment, offset + 16)]


def test_an_allocation_stays_registered_while_a_tensor_in_it_is_used(
    session: gpuos.Session, library: CudaLibrary, torch: FakeTorch
) -> None:
    first, second = session.share(tensor(torch, 8)), session.share(tensor(torch, 8))
    assert len(library.segments) == 1
    view = second[2:]
    del first, second
    gc.collect()
    assert len(library.segments) == 1
    del view
    gc.collect()
    assert not library.segments


def test_memory_is_kept_while_a_batch_may_use_it(
    session: gpuos.Session, library: CudaLibrary, torch: FakeTorch
) -> None:
    theirs = tensor(torch, 8)
    shared = session.share(theirs)
    b = session.batch()
    b.relu(shared, out=shared)
    b.submit()
    alive = _references(theirs)
    del shared, b
    gc.collect()
    assert library.segments and _references(theirs) == alive
    library.done = 1
    session.wait(1)
    assert not library.segments and _references(theirs) == alive - 1


def test_submitting_waits_for_the_current_stream_of_the_right_gpu(
    session: gpuos.Session, torch: FakeTorch
) -> None:
    shared = session.share(tensor(torch, 8))
    assert torch.synchronized == []
    with session.batch() as b:
        b.relu(shared)
    assert torch.synchronized == [1]


def test_torch_views_lie_where_the_tensor_does(session: gpuos.Session, torch: FakeTorch) -> None:
    theirs = tensor(torch, 6, 4)
    view = session.share(theirs)[2:4, 1].torch()
    assert view.view_of == (theirs.untyped_storage(), 9, (2,), (4,))
    own = session.empty((2, 3))
    assert own.torch().view_of[1:] == (0, (2, 3), (3, 1))


def test_an_empty_tensor_needs_no_memory_of_its_own(
    session: gpuos.Session, torch: FakeTorch
) -> None:
    theirs = tensor(torch, 0, 4)
    theirs._pointer = 0  # As PyTorch has it.
    assert session.share(theirs).shape == (0, 4)


def test_a_tensor_of_another_gpu_is_refused(session: gpuos.Session, torch: FakeTorch) -> None:
    theirs = tensor(torch, 8)
    theirs.device.index = 0
    with pytest.raises(gpuos.InvalidArgument, match="cuda:1 of this process"):
        session.share(theirs)


def test_a_gpu_tensor_is_not_for_numpy(session: gpuos.Session) -> None:
    with pytest.raises(gpuos.FailedPrecondition, match=r"tensor\.torch\(\)\.cpu\(\)\.numpy\(\)"):
        session.empty(3).numpy()


def test_memory_files_are_for_hosts(session: gpuos.Session) -> None:
    with pytest.raises(gpuos.InvalidArgument, match="share_file is for host devices"):
        session.share_file(0, (3,))


def test_a_gpu_that_pytorch_does_not_see_is_named(library: CudaLibrary, torch: FakeTorch) -> None:
    library.uuid = "GPU-elsewhere"
    with pytest.raises(gpuos.FailedPrecondition, match="none of the 2 GPUs .* is GPU-elsewhere"):
        gpuos.connect()
    assert library.closed == [1]


def _references(thing: object) -> int:
    return sum(1 for each in gc.get_referrers(thing) if type(each).__name__ == "Block")
