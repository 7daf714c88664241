"""Tensors over a session's memory."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gpuos
from fake_library import FakeLibrary
from gpuos._memory import SLAB_BYTES


def test_share_copies_once_and_numpy_looks_at_the_copy(session: gpuos.Session) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    tensor = session.share(array)
    view = tensor.numpy()
    np.testing.assert_array_equal(view, array)
    array[0, 0] = 99
    assert view[0, 0] == 0
    view[1, 1] = 7
    assert tensor[1, 1].numpy() == 7
    assert view.ctypes.data == tensor.data_ptr()


def test_views_of_a_tensor_are_views_of_its_array(session: gpuos.Session) -> None:
    tensor = session.share(np.arange(24, dtype=np.int64).reshape(2, 3, 4))
    array = tensor.numpy()
    for ours, theirs in [
        (tensor.T, array.T),
        (tensor[1, ::2], array[1, ::2]),
        (tensor.transpose(0, -1), array.swapaxes(0, -1)),
        (tensor.permute(2, 0, 1), array.transpose(2, 0, 1)),
        (tensor.reshape(6, -1), array.reshape(6, -1)),
        (tensor.reshape((4, 6)), array.reshape(4, 6)),
        (tensor[:, :1].expand(2, 3, 4), np.broadcast_to(array[:, :1], (2, 3, 4))),
        (tensor.broadcast_to((5, 2, 3, 4)), np.broadcast_to(array, (5, 2, 3, 4))),
    ]:
        np.testing.assert_array_equal(ours.numpy(), theirs)
        assert np.shares_memory(ours.numpy(), array)
    assert len(tensor) == 2 and [row.shape for row in tensor] == [(3, 4), (3, 4)]
    np.testing.assert_array_equal(np.asarray(tensor, dtype=np.float32), array)


def test_torch_looks_at_the_same_memory(session: gpuos.Session) -> None:
    torch = pytest.importorskip("torch")
    source = torch.arange(6, dtype=torch.float32, requires_grad=True).reshape(2, 3)
    tensor = session.share(source)
    view = tensor.T.torch()
    assert torch.equal(view, source.detach().T)
    view[0, 1] = -5.0
    assert tensor.numpy()[1, 0] == -5.0


@pytest.mark.parametrize("dtype", list(gpuos.DType))
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,) * 8])
def test_every_shape_has_memory(
    session: gpuos.Session, dtype: gpuos.DType, shape: tuple[int, ...]
) -> None:
    tensor = session.empty(shape, dtype)
    assert tensor.numpy().shape == shape
    assert tensor.numpy().dtype == dtype.numpy
    assert tensor.data_ptr()
    with pytest.raises(TypeError) if not shape else _nothing():
        len(tensor)


def test_small_tensors_share_a_slab_and_large_ones_do_not(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    small = [session.empty(10) for _ in range(100)]
    assert len(fake.segments) == 1
    large = session.empty(SLAB_BYTES // 4)
    assert len(fake.segments) == 2
    assert len({t.data_ptr() for t in (*small, large)}) == 101


def test_memory_is_used_again_when_the_last_view_is_gone(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    tensor = session.empty(10)
    address = tensor.data_ptr()
    view = tensor[2:].numpy()
    del tensor
    gc.collect()
    assert session.empty(10).data_ptr() != address
    del view
    gc.collect()
    assert session.empty(10).data_ptr() == address


def test_large_segments_are_released_with_their_last_view(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    tensor = session.empty(SLAB_BYTES)
    row = tensor[:5].numpy()
    assert len(fake.segments) == 1 and len(fake.mapped) == 1
    del tensor
    assert len(fake.segments) == 1
    del row
    assert not fake.segments and not fake.mapped


def test_all_empty_slabs_but_one_are_released(session: gpuos.Session, fake: FakeLibrary) -> None:
    tensors = [session.empty(SLAB_BYTES // 16) for _ in range(12)]
    assert len(fake.segments) == 3
    tensors.clear()
    assert len(fake.segments) == 1


def test_arrays_outlive_their_session(session: gpuos.Session, fake: FakeLibrary) -> None:
    array = session.share(np.arange(4, dtype=np.float32)).numpy()
    session.close()
    assert fake.closed == [1]
    np.testing.assert_array_equal(array, [0, 1, 2, 3])
    del array
    gc.collect()
    assert not fake.mapped


def test_a_gpuos_tensor_is_not_shared_again(session: gpuos.Session) -> None:
    with pytest.raises(gpuos.InvalidArgument, match="already"):
        session.share(session.empty(3))


def test_dtypes_and_shapes_beyond_gpuosd_are_refused(session: gpuos.Session) -> None:
    with pytest.raises(gpuos.InvalidArgument, match="dtype is float64"):
        session.share(np.zeros(3))
    with pytest.raises(gpuos.InvalidArgument, match="9 dimensions"):
        session.share(np.zeros((1,) * 9, dtype=np.float32))
    with pytest.raises(gpuos.InvalidArgument, match=r"shape\[1\] is -2"):
        session.empty((3, -2))


def test_a_tensor_prints_what_it_is(session: gpuos.Session) -> None:
    assert (
        repr(session.empty((2, 3)))
        == "gpuos.Tensor(shape=(2, 3), dtype=gpuos.float32, device='host:0')"
    )


class _nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...
