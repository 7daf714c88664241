"""gpuos: small tensor operations, batched, on the persistent kernel that gpuosd keeps running.

import gpuos

with gpuos.connect() as session:
    x = session.share(array)
    with session.batch() as b:
        y = b.softmax(b.matmul(x, w))
    print(y.numpy())
"""

from gpuos.admin import clients, devices, operator, operators, status
from gpuos.batch import Batch
from gpuos.dtypes import DType, bool_, float32, int64
from gpuos.errors import (
    Aborted,
    AlreadyExists,
    Cancelled,
    DataLoss,
    DeadlineExceeded,
    FailedPrecondition,
    GpuosError,
    Internal,
    InvalidArgument,
    NotFound,
    OutOfRange,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
    Unimplemented,
    Unknown,
)
from gpuos._local import LocalDaemon, local
from gpuos.program import Program
from gpuos.session import Session, connect
from gpuos.tensor import Tensor

__version__ = "0.1.0"

__all__ = [
    "Aborted",
    "AlreadyExists",
    "Batch",
    "Cancelled",
    "DType",
    "DataLoss",
    "DeadlineExceeded",
    "FailedPrecondition",
    "GpuosError",
    "Internal",
    "InvalidArgument",
    "LocalDaemon",
    "NotFound",
    "OutOfRange",
    "PermissionDenied",
    "Program",
    "ResourceExhausted",
    "Session",
    "Tensor",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
    "Unknown",
    "bool_",
    "clients",
    "connect",
    "devices",
    "float32",
    "int64",
    "local",
    "operator",
    "operators",
    "status",
]
