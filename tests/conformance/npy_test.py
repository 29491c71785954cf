#!/usr/bin/env python3
"""npy_test.py PROGRAM FOLDER: what NumPy saves, anyshape reads and writes, and NumPy loads again unchanged."""

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

PROGRAM, FOLDER = sys.argv[1], Path(sys.argv[2])
KINDS = "? i1 u1 <i2 >i2 <u2 <i4 >i4 <u4 <i8 <u8 >u8 <f2 >f2 <f4 >f4 <f8 >f8 <c8 >c8 <c16 >c16 <U3 >U3 S3".split()
SHAPES = [(), (1,), (7,), (0, 3), (2, 3), (3, 2, 4), (1, 5, 1)]
# What ml_dtypes adds, and what it comes back as.
ADDED = {
    "bfloat16": "f4", "float8_e4m3fn": "f4", "float8_e4m3fnuz": "f4", "float8_e5m2": "f4", "float8_e5m2fnuz": "f4",
    "float8_e8m0fnu": "f4", "float4_e2m1fn": "f4", "int4": "i1", "uint4": "u1", "int2": "i1", "uint2": "u1",
}
failures = []


def expect(what, condition):
    if not condition:
        failures.append(what)


def rewritten(source, *arguments):
    target = FOLDER / ("out" + source.suffix)
    target.unlink(missing_ok=True)
    run = subprocess.run([PROGRAM, source, target, *arguments], capture_output=True, text=True)
    if run.returncode != 0:
        return None, run.stderr
    return np.load(target, allow_pickle=False), run.stdout


def drawn(rng, kind, shape):
    if np.dtype(kind).kind in "US":
        words = ["", "a", "bc", "xyz"] + (["ü€😀"] if np.dtype(kind).kind == "U" else [])
        return np.array(rng.choice(words, size=shape), dtype=kind)
    if np.dtype(kind).kind == "?" or kind == "?":
        return rng.integers(0, 2, size=shape).astype(bool)
    return (rng.standard_normal(shape) * 50 + (1j if np.dtype(kind).kind == "c" else 0)).astype(kind)


def same(got, want):
    want = np.asarray(want)
    # A text array is as wide as its longest text needs, so only the kind can be compared.
    types = got.dtype.kind == want.dtype.kind if want.dtype.kind in "US" else got.dtype == want.dtype.newbyteorder("<")
    return got.shape == want.shape and (types or want.dtype.kind == "S") and np.array_equal(
        got.astype(str) if want.dtype.kind == "S" else got, want.astype(str) if want.dtype.kind == "S" else want)


def plain_arrays(rng):
    everything = {}
    for kind in KINDS:
        for shape in SHAPES:
            for order in "CF" if len(shape) > 1 else "C":
                array = np.array(drawn(rng, kind, shape), order=order)
                path = FOLDER / "in.npy"
                np.save(path, array)
                got, said = rewritten(path)
                expect(f"{kind} {shape} {order}: {said}", got is not None and same(got, array))
                everything[f"{kind} {shape} {order}"] = array
    for save in np.savez, np.savez_compressed:
        save(FOLDER / "in.npz", **everything)
        got, said = rewritten(FOLDER / "in.npz")
        expect(f"{save.__name__}: {said}", got is not None and set(got.files) == set(everything))
        for name, array in everything.items():
            expect(f"{save.__name__} {name}", got is not None and same(got[name], array))


def added_arrays():
    for name, kept in ADDED.items():
        dtype = getattr(ml_dtypes, name)
        info = ml_dtypes.iinfo(dtype) if "int" in name else None
        if info:
            array = np.arange(info.min, info.max + 1).astype(dtype)
        elif name == "float4_e2m1fn":
            array = np.arange(16, dtype=np.uint8).view(dtype)
        else:
            array = np.arange(256 if name != "bfloat16" else 65536).astype(f"u{np.dtype(dtype).itemsize}").view(dtype)
        np.save(FOLDER / "raw.npy", array)
        got, said = rewritten(FOLDER / "raw.npy", name)
        wide = array.astype(kept)
        expect(f"{name}: {said}", got is not None and got.dtype == kept)
        if got is None:
            continue
        expect(f"{name}: values", np.array_equal(got, wide, equal_nan=wide.dtype.kind == "f"))
        # The widened file again, and numbers in between for the floats.
        finite = wide[np.isfinite(wide)]
        halves = finite[:-1] / 2 + finite[1:] / 2
        between = wide if info else np.unique(np.concatenate([finite[:2000], halves[:2000]]).astype("f4"))
        if name == "float8_e8m0fnu":
            between = between[between > 0]
        np.save(FOLDER / "wide.npy", between)
        got, said = rewritten(FOLDER / "wide.npy", name)
        want = between.astype(dtype).astype(kept)
        wrong = None if got is None else [(b, g, w) for b, g, w in zip(between, got, want) if g != w]
        expect(f"{name} from {kept}: {said} {wrong and wrong[:3]}", got is not None and not wrong)


def refusals():
    for name, array, code in [
        ("objects", np.array([{}, None], dtype=object), "npy.dtype"),
        ("records", np.zeros(2, [("a", "f4"), ("b", "i2")]), "npy.dtype"),
        ("dates", np.zeros(2, "M8[s]"), "npy.dtype"),
        ("long doubles", np.zeros(2, np.longdouble), "npy.dtype"),
    ]:
        np.save(FOLDER / "bad.npy", array, allow_pickle=True)
        got, said = rewritten(FOLDER / "bad.npy")
        expect(f"{name}: {said}", got is None and f"error[{code}]" in said)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    plain_arrays(np.random.default_rng(1))
    added_arrays()
    refusals()
    print("\n".join(failures[:40]))
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
