"""Types of arrays, by the type of their elements."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Int8s: TypeAlias = NDArray[np.int8]
Int16s: TypeAlias = NDArray[np.int16]
Int32s: TypeAlias = NDArray[np.int32]
Int64s: TypeAlias = NDArray[np.int64]
UInt8s: TypeAlias = NDArray[np.uint8]
UInt16s: TypeAlias = NDArray[np.uint16]
UInt32s: TypeAlias = NDArray[np.uint32]
UInt64s: TypeAlias = NDArray[np.uint64]
Float32s: TypeAlias = NDArray[np.float32]
Float64s: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
