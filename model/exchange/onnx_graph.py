"""ONNX graphs written operation by operation, over weights that several graphs share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

OPSET = 18
IR_VERSION = 9  # of the file format; what engines of the years around this opset read
ALIGNMENT = 64  # bytes, so that an engine may map the file into memory


class WeightFile:
    """Tensors one after the other in a file beside the graphs; each tensor once, whatever graphs name it."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, path.open("wb")
        self._places: dict[int, tuple[Tensor, list[tuple[str, str]]]] = {}

    def __enter__(self) -> WeightFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def refer(self, name: str, tensor: Tensor) -> Any:
        """An initializer of that name whose numbers are in the file, as float32."""
        if id(tensor) not in self._places:
            self._places[id(tensor)] = (tensor, self._append(tensor))  # held, so that no other gets its id
        proto = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=tensor.shape)
        proto.data_location = TensorProto.EXTERNAL
        for key, value in self._places[id(tensor)][1]:
            proto.external_data.add(key=key, value=value)
        return proto

    def _append(self, tensor: Tensor) -> list[tuple[str, str]]:
        self._file.write(bytes(-self._file.tell() % ALIGNMENT))
        content = np.ascontiguousarray(tensor.detach().float().numpy(), dtype="<f4").tobytes()
        place = [
            ("location", self._path.name),
            ("offset", str(self._file.tell())),
            ("length", str(len(content))),
        ]
        self._file.write(content)
        return place


class Graph:
    """A graph that grows: every method adds operations and gives back the name of their result."""

    def __init__(self, name: str, weights: WeightFile) -> None:
        self.name, self._weights = name, weights
        self._nodes: list[Any] = []
        self._initializers: dict[str, Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, kind: int, shape: Sequence[str | int]) -> str:
        """`shape` has names for what may be of any size."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, value: str, kind: int, shape: Sequence[str | int]) -> None:
        """Give a result to the outside."""
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """An operation with one result."""
        return self.ops(kind, 1, *inputs, **attributes)[0]

    def ops(self, kind: str, results: int, *inputs: str, **attributes: Any) -> list[str]:
        """An operation with several results."""
        names = [f"{kind}_{len(self._nodes)}_{i}" for i in range(results)]
        self._nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names

    def weight(self, name: str, tensor: Tensor) -> str:
        """Numbers that were learnt, or a table."""
        if name not in self._initializers:
            self._initializers[name] = self._weights.refer(name, tensor)
        return name

    def integers(self, *values: int) -> str:
        """A constant vector, as shapes and axes are."""
        return self._constant(np.array(values, dtype=np.int64), "i" + "_".join(map(str, values)))

    def number(self, value: float) -> str:
        """A constant scalar."""
        return self._constant(np.array(value, dtype=np.float32), f"f{value!r}")

    def reshape(self, value: str, *shape: int) -> str:
        """Of a size 0 the size stays as it is; -1 is what is left."""
        return self.op("Reshape", value, self.integers(*shape))

    def linear(self, value: str, module: Any, name: str) -> str:
        """xWᵀ + b over the last axis. The matrix is stored the other way round: it has no second use."""
        matrix = self.weight(f"{name}.weight", module.weight.detach().T)
        return self.op("Add", self.op("MatMul", value, matrix), self.weight(f"{name}.bias", module.bias))

    def save(self, path: Path) -> None:
        """Write the graph; ValueError if it is none."""
        graph = helper.make_graph(
            self._nodes, self.name, self._inputs, self._outputs, list(self._initializers.values())
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="dragoman",
        )
        path.write_bytes(model.SerializeToString())
        onnx.checker.check_model(str(path), full_check=True)

    def _constant(self, value: np.ndarray[Any, Any], name: str) -> str:
        self._initializers.setdefault(name, numpy_helper.from_array(value, name))
        return name
