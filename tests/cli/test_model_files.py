"""The committed model files of tests/compat, read without Mercer: the safetensors layout, the checksum, and predictions that follow
from the tensors by the formulas of the book."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import io
import json
import pathlib
import struct
import zlib

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "compat" / "v1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4"}
ROWS = np.array([[0, 1, 0, 0, -2, 0.5], [0, 0, 0, 0, 0, 0], [3, 0, 0.125, 0, 0, 1]])


def read(name):
    data = (FOLDER / f"{name}.mercer").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__")
    body = data[8 + length :]
    tensors = {}
    for key, value in header.items():
        begin, end = value["data_offsets"]
        tensors[key] = np.frombuffer(body[begin:end], DTYPES[value["dtype"]]).reshape(value["shape"])
    return data, metadata, tensors


def squared_distances(A, B):
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(-1)


@pytest.mark.parametrize("name", EXPECTED)
def test_layout_and_checksum(name):
    data, metadata, tensors = read(name)
    (length,) = struct.unpack("<Q", data[:8])
    assert length % 8 == 0
    assert all(isinstance(v, str) for v in metadata.values())
    assert metadata["format"] == "mercer" and metadata["format_version"] == "1" and metadata["kind"] == EXPECTED[name]["kind"]
    for key in {"options", "summary", "encoder", "samples"} & set(metadata):
        assert isinstance(json.loads(metadata[key]), dict)
    assert sum(t.nbytes for t in tensors.values()) == len(data) - 8 - length
    given = metadata["checksum"].encode()
    zeroed = data.replace(given, b"crc32:00000000", 1)
    assert given == b"crc32:%08x" % zlib.crc32(zeroed)


def test_dense_classifier_with_encoder():
    _, metadata, tensors = read("krr_dense_f64")
    encoder = json.loads(metadata["encoder"])
    assert encoder["classes"] == ["a", "b"] and encoder["target"] == "kind" and encoder["scaling"] == "standard"
    rows = []
    for row in csv.DictReader(io.StringIO(EXPECTED["krr_dense_f64"]["table"])):
        cells = []
        for feature in encoder["features"]:
            value = row[feature["name"]]
            cells += [float(value == c) for c in feature["categories"]] if "categories" in feature else [float(value)]
        rows.append(cells)
    Z = (np.array(rows) - tensors["scaler.shift"]) / tensors["scaler.scale"]
    assert metadata["kernel"] == "gaussian(1.5)"
    K = np.exp(-squared_distances(Z, tensors["samples"]) / (2 * 1.5**2))
    np.testing.assert_allclose(K @ tensors["dual_coef"] + tensors["intercept"], EXPECTED["krr_dense_f64"]["predictions"], atol=1e-12)


def test_sparse_float32():
    _, metadata, tensors = read("krr_csr_f32")
    about = json.loads(metadata["samples"])
    X = np.zeros((about["rows"], about["width"]))
    offsets = tensors["samples.offsets"]
    for i in range(about["rows"]):
        part = slice(offsets[i], offsets[i + 1])
        X[i, tensors["samples.columns"][part]] = tensors["samples.values"][part]
    assert metadata["kernel"] == "gaussian(2) + 0.5*linear" and tensors["samples.values"].dtype == "<f4"
    K = np.exp(-squared_distances(ROWS, X) / 8) + 0.5 * ROWS @ X.T
    np.testing.assert_allclose(K @ tensors["dual_coef"], EXPECTED["krr_csr_f32"]["predictions"], atol=1e-5)


def test_ridge_of_degree_2():
    _, metadata, tensors = read("ridge_degree2")
    a, b = ROWS[:, 0], ROWS[:, 1]
    F = np.stack([a, b, a * a, a * b, b * b], axis=1)
    assert json.loads(metadata["options"]) == {"degree": 2, "n_features": 2}
    np.testing.assert_allclose(F @ tensors["coef"].T + tensors["intercept"], EXPECTED["ridge_degree2"]["predictions"], atol=1e-12)
