"""Models that the backend test data lacks: every field of the schema, every data type, external data."""
import random

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

# Field 2000 as varint, 2001 as bytes, 2002 as fixed32, 2003 as fixed64: in no version of the schema.
UNKNOWN = bytes.fromhex("807d2a8a7d036162639d7d01020304a17d0102030405060708")

SCALARS = {
    "int": lambda r: r.choice([0, 1, -1, 127, 128, 2**31 - 1, -(2**31)]),
    "float": lambda r: r.choice([0.0, -0.0, 1.5, -3.25, float("inf")]),
    "str": lambda r: r.choice(["", "a", "name/with:0", "ü", "x" * r.choice([100, 200, 5000])]),
    "bytes": lambda r: r.choice([b"", b"\0\xff", b"y" * r.choice([127, 128, 5000])]),
}


def scalar(field, r):
    kind = field.cpp_type
    if kind == field.CPPTYPE_ENUM:
        return r.choice(field.enum_type.values).number
    if kind == field.CPPTYPE_STRING:
        return SCALARS["bytes" if field.type == field.TYPE_BYTES else "str"](r)
    if kind in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return SCALARS["float"](r)
    if kind == field.CPPTYPE_UINT64:
        return r.choice([0, 1, 2**64 - 1])
    value = SCALARS["int"](r)
    return r.choice([value, 2**63 - 1, -(2**63)]) if kind == field.CPPTYPE_INT64 else value


def fill(message, r, chance, path=()):
    """Sets every field (each with `chance`); a type inside itself is seldom filled, so this ends."""
    kind = message.DESCRIPTOR.full_name
    for field in message.DESCRIPTOR.fields:
        if r.random() > chance:
            continue
        if field.message_type is None:
            if field.is_repeated:
                getattr(message, field.name).extend(scalar(field, r) for _ in range(r.randint(1, 3)))
            elif field.containing_oneof is None or r.random() < 0.5:
                setattr(message, field.name, scalar(field, r))
        elif field.message_type.full_name not in (*path, kind) or (len(path) < 10 and r.random() < 0.1):
            for _ in range(r.randint(1, 2) if field.is_repeated else 1):
                part = getattr(message, field.name).add() if field.is_repeated else getattr(message, field.name)
                part.SetInParent()
                fill(part, r, chance, (*path, kind))
    if r.random() < 0.1:
        message.MergeFromString(UNKNOWN)


def filled(seed, chance, kind=onnx.ModelProto):
    message = kind()
    fill(message, random.Random(seed), chance)
    return message


def every_dtype():
    """Name and tensor: each data type in raw_data and in its typed field, with and without elements."""
    values = [0, 1, 1, 0, 1, 1, 0, 1, 1]
    for name, code in TensorProto.DataType.items():
        if code == TensorProto.UNDEFINED:
            continue
        for shape in ((9,), (3, 3), (0, 4), (1,), (2, 1), ()):
            count = int(numpy.prod(shape))
            if code == TensorProto.STRING:
                yield f"{name}{shape}", helper.make_tensor("t", code, shape, ([b"a\0b", b"", b"c"] * 3)[:count])
                continue
            array = numpy.array(values[:count]).reshape(shape).astype(helper.tensor_dtype_to_np_dtype(code))
            yield f"{name}{shape} raw", numpy_helper.from_array(array, "t")
            yield f"{name}{shape} typed", helper.make_tensor("t", code, shape, array.flatten())


def small_model(initializers, extra=()):
    node = helper.make_node("Identity", [initializers[0].name], ["y"])
    info = helper.make_tensor_value_info("y", initializers[0].data_type, list(initializers[0].dims))
    graph = helper.make_graph([node, *extra], "g", [], [info], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def external_tensor(name, array, location, offset=None, length=None):
    tensor = numpy_helper.from_array(array, name)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return tensor
