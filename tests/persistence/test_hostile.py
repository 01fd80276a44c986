"""Models made by an enemy, with hashes that match: refused, and nothing of theirs is run."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import setlearn
from setlearn import SetClassifier
from setlearn.errors import ModelError, UntrustedModelError
from setlearn.networks import Transformer
from setlearn.persistence.classes import place_of
from setlearn.persistence.manifest import FORMAT, MANIFEST_NAME
from setlearn.rules import TopK
from tests.persistence.forged_files import dicts, unzipped, zipped
from tests.persistence.hostile_nodes import hostile_nodes, json_node
from tests.persistence.small_models import (
    label_case,
    saved_files,
    sequence_case,
    with_matching_manifest,
    written,
)

TRANSFORMER = place_of(Transformer())
SKOPS, WEIGHTS, CONFIG = "sklearn.skops", "weights.safetensors", "config.json"


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    return saved_files(label_case().fit(), tmp_path_factory.mktemp("labels") / "model")


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    return saved_files(sequence_case().fit(), tmp_path_factory.mktemp("sequences") / "model")


@pytest.fixture
def canary(tmp_path):
    """A file that hostile models try to make; none may succeed."""
    yield tmp_path / "canary"
    assert not (tmp_path / "canary").exists()


def refused(files, folder, *, error=ModelError, match="."):
    with pytest.raises(error, match=match) as caught:
        setlearn.load(written(files, folder / "hostile"))
    return str(caught.value)


def edited(files, name, edit):
    """The files with JSON that was changed in one of them."""
    document = json.loads(files[name])
    edit(document)
    return with_matching_manifest({**files, name: json.dumps(document).encode()})


def with_schema(files, edit):
    """The files with the schema of their scikit-learn parts changed."""
    members = unzipped(files[SKOPS])
    schema = json.loads(members["schema.json"])
    edit(schema)
    members["schema.json"] = json.dumps(schema).encode()
    return with_matching_manifest({**files, SKOPS: zipped(members, zipfile.ZIP_STORED)})


class Payload:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("name", ["model.pkl", "extra.json", "extra.skops", WEIGHTS, SKOPS, CONFIG])
@pytest.mark.parametrize("listed", [True, False])
def test_a_pickle(name, listed, labels, canary, tmp_path):
    files = {**labels, name: pickle.dumps(Payload(canary))}
    if listed:
        files = with_matching_manifest(files)
    refused(files, tmp_path)


@pytest.mark.parametrize("name", hostile_nodes(""))
def test_a_schema_that_names_code(name, labels, canary, tmp_path):
    node = hostile_nodes(canary)[name]
    files = with_schema(labels, lambda schema: schema["content"].append(node))
    message = refused(files, tmp_path)
    assert "not known to be safe" in message or "would be built by" in message


def test_a_message_names_the_types(labels, canary, tmp_path):
    node = hostile_nodes(canary)["os.system"]
    files = with_schema(labels, lambda schema: schema["content"].append(node))
    refused(files, tmp_path, error=UntrustedModelError, match=r"trusted=\['os\.system'\]")


def test_two_objects_with_one_number(labels, tmp_path):
    def twice(schema):
        number = schema["content"][0]["__id__"]
        schema["content"].append(json_node("other", number))

    refused(with_schema(labels, twice), tmp_path, match="the same number")


@pytest.mark.parametrize(
    "name",
    ["../x.json", "/etc/passwd", "a/b.json", "..", "", ".x.json", "x.pkl", "x.json\0", "C:x"],
)
def test_names_that_lead_elsewhere(name, labels, tmp_path):
    (tmp_path / "x.json").write_text("{}")

    def add(manifest):
        manifest["files"][name] = {"size": 2, "sha256": "0" * 64}

    manifest = json.loads(labels[MANIFEST_NAME])
    add(manifest)
    refused(
        {**labels, MANIFEST_NAME: json.dumps(manifest).encode()}, tmp_path, match="no model has"
    )


@pytest.mark.parametrize("name", [CONFIG, MANIFEST_NAME])
def test_a_link_in_place_of_a_file(name, labels, tmp_path):
    folder = written(labels, tmp_path / "model")
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match=r"cannot be read|not a regular file"):
        setlearn.load(folder)


def test_a_folder_or_a_link_to_one_inside(labels, tmp_path):
    for number, make in enumerate((lambda path: path.mkdir(), lambda path: path.symlink_to("/"))):
        folder = written(labels, tmp_path / str(number))
        make(folder / "more")
        with pytest.raises(ModelError, match="also holds 'more'"):
            setlearn.load(folder)
        (folder / "more").rename(tmp_path / f"gone{number}")
        (folder / CONFIG).unlink()
        make(folder / CONFIG)
        with pytest.raises(ModelError):
            setlearn.load(folder)


@pytest.mark.parametrize("name", [CONFIG, MANIFEST_NAME])
def test_a_pipe_does_not_make_it_wait(name, labels, tmp_path):
    folder = written(labels, tmp_path / "model")
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(ModelError, match="not a regular file"):
        setlearn.load(folder)


@pytest.mark.parametrize("size", [10**9, 10**12, 10**30])
@pytest.mark.parametrize("attribute", ["embedding", "encoder_units", "decoder_units"])
def test_giant_sizes_of_networks(size, attribute, sequences, tmp_path):
    def enlarge(config):
        config["model"]["scorer_"]["recipe"][attribute] = size

    refused(edited(sequences, CONFIG, enlarge), tmp_path)


@pytest.mark.parametrize("attribute", ["encoder_layers", "decoder_layers", "heads", "width"])
def test_giant_transformers(attribute, sequences, tmp_path):
    def enlarge(config):
        config["model"]["scorer_"]["recipe"] = {"!object": TRANSFORMER, attribute: 10**9}

    refused(edited(sequences, CONFIG, enlarge), tmp_path)


def test_sizes_that_only_the_manifest_has(labels, tmp_path):
    manifest = json.loads(labels[MANIFEST_NAME])
    manifest["files"][CONFIG]["size"] = 10**15
    refused(
        {**labels, MANIFEST_NAME: json.dumps(manifest).encode()}, tmp_path, match="not as it was"
    )


def test_giant_tensors(sequences, tmp_path):
    content = sequences[WEIGHTS]
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    name = next(iter(header))
    header[name]["shape"] = [10**6, 10**6]
    header[name]["data_offsets"] = [0, 8 * 10**12]
    header_bytes = json.dumps(header).encode()
    for length in (len(header_bytes), 2**62, 2**64 - 1):
        forged = length.to_bytes(8, "little") + header_bytes + content[8 + size :]
        refused(with_matching_manifest({**sequences, WEIGHTS: forged}), tmp_path / str(length))


def array_members(files):
    members = unzipped(files[SKOPS])
    return members, [name for name in sorted(members) if name.endswith(".npy")]


def with_members(files, members):
    return with_matching_manifest({**files, SKOPS: zipped(members, zipfile.ZIP_STORED)})


@pytest.mark.parametrize("shape", [(10**6, 10**6), (10**30,), (2**63, 2)])
def test_giant_arrays(shape, labels, tmp_path):
    members, arrays = array_members(labels)
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    members[arrays[0]] = file.getvalue() + b"\0" * 16
    refused(with_members(labels, members), tmp_path, match="as large as it says|cannot be read")


def test_arrays_of_nothing_that_are_endless(labels, tmp_path):
    members, arrays = array_members(labels)
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": "|V0", "fortran_order": False, "shape": (10**12,)}
    )
    members[arrays[0]] = file.getvalue()
    refused(with_members(labels, members), tmp_path, match="as large as it says")


def test_a_compressed_archive(labels, tmp_path):
    members = unzipped(labels[SKOPS])
    content = zipped(members, zipfile.ZIP_DEFLATED)
    files = with_matching_manifest({**labels, SKOPS: content})
    refused(files, tmp_path, match="compressed")


def test_a_bomb(labels, tmp_path):
    """A sparse matrix of 100 MB of zeros in 100 KB."""
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(100 << 20, dtype=np.int8))
    bomb = zipped({"data.npy": zeros.getvalue()}, zipfile.ZIP_DEFLATED)

    def add(schema):
        schema["content"].append(
            {
                "__class__": "csr_matrix",
                "__module__": "scipy.sparse._csr",
                "__id__": 77,
                "__loader__": "SparseMatrixNode",
                "type": "scipy",
                "file": "77.npz",
            }
        )

    members = unzipped(with_schema(labels, add)[SKOPS])
    refused(with_members(labels, {**members, "77.npz": bomb}), tmp_path, match="too large")


def with_nan_weights(files):
    """The files with NaN as the first number of their first tensor of floats."""
    content = files[WEIGHTS]
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    start = 8 + size + min(t["data_offsets"][0] for t in header.values() if t["dtype"] == "F64")
    nan = np.array(np.nan).tobytes()
    return with_matching_manifest({**files, WEIGHTS: content[:start] + nan + content[start + 8 :]})


def test_weights_that_are_no_numbers(sequences, labels, tmp_path):
    refused(with_nan_weights(sequences), tmp_path / "sequences", match="NaN")
    refused(with_nan_weights(labels), tmp_path / "labels", match="NaN")


def test_coefficients_that_are_no_numbers(labels, tmp_path):
    members, arrays = array_members(labels)
    floats = [name for name in arrays if np.load(io.BytesIO(members[name])).dtype == float]
    assert len(floats) >= 2
    for name in floats:
        content = members[name][:-8] + np.array(np.nan).tobytes()
        refused(with_members(labels, {**members, name: content}), tmp_path / name, match="NaN")


@pytest.mark.parametrize("number", [FORMAT + 1, 10**9])
def test_a_format_of_the_future(number, labels, tmp_path):
    manifest = {**json.loads(labels[MANIFEST_NAME]), "format": number, "setlearn": "9.9"}
    files = {**labels, MANIFEST_NAME: json.dumps(manifest).encode()}
    refused(files, tmp_path, match=r"install the version that wrote it \('9\.9'\) or a later one")


@pytest.mark.parametrize("number", [0, -1, True, "1", 1.0, None, [1], {}])
def test_what_is_no_format(number, labels, tmp_path):
    manifest = {**json.loads(labels[MANIFEST_NAME]), "format": number}
    refused({**labels, MANIFEST_NAME: json.dumps(manifest).encode()}, tmp_path, match="format")


@pytest.mark.parametrize("name", [MANIFEST_NAME, CONFIG, "vocabulary.json"])
@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 900 + b"]" * 900])
def test_brackets_without_end(name, deep, labels, tmp_path):
    files = {**labels, name: deep}
    files = files if name == MANIFEST_NAME else with_matching_manifest(files)
    refused(files, tmp_path)


@pytest.mark.parametrize("text", [b"1e999", b"-1e999", b"NaN", b"Infinity", b"9" * 5000])
def test_numbers_that_are_none(text, labels, tmp_path):
    content = labels[CONFIG].replace(b'"model": {', b'"model": {"extra_": %s,' % text, 1)
    refused(with_matching_manifest({**labels, CONFIG: content}), tmp_path, match="is damaged")


@pytest.mark.parametrize(
    "name",
    [
        *("os.system", "os:system", "system", "Popen", "__class__", "", None, 1, ["SetClassifier"]),
        *("SetClassifier", "sklearn.pipeline:Pipeline", "subprocess:Popen", "setlearn:load"),
        "sklearn.linear_model._logistic:LogisticRegression",
        "setlearn.rules:Margin",  # imported there, but not its own
        "setlearn.rules.margin:Rule",
        "setlearn.rules.margin:np",
        "setlearn.rules.margin:__name__",
        "setlearn.rules..margin:Margin",
        "setlearn.rules/margin:Margin",
        ".rules.margin:Margin",
        "setlearn.__main__:app",
        "setlearn.cli.app:app",
        "setlearn.persistence.models:SavedModel",
        "setlearn.server.app:app",
        "tests.persistence.own_learner:OwnLearner",
    ],
)
def test_classes_that_no_model_is(name, labels, tmp_path):
    def rename(config):
        config["model"] = {**config["model"], "!object": name}

    refused(edited(labels, CONFIG, rename), tmp_path)
    other = edited(
        labels, CONFIG, lambda config: config["model"]["rule_"].update({"!object": name})
    )
    refused(other, tmp_path / "rule")


@pytest.mark.parametrize(
    "name", ["__class__", "__dict__", "__init__", "predict", "_x", "a b_", "_"]
)
def test_attributes_that_no_model_has(name, labels, tmp_path):
    def add(config):
        config["model"][name] = 1

    refused(edited(labels, CONFIG, add), tmp_path, match="do not fit")


def test_tags_that_nobody_knows(labels, tmp_path):
    for number, tag in enumerate(("!eval", "!decode", "!check_all_used", "!network", "!")):
        files = edited(labels, CONFIG, lambda config, tag=tag: config["model"].update(cv={tag: 1}))
        refused(files, tmp_path / str(number))


@pytest.mark.parametrize(("name", "number"), [("node_count", 1), ("max_depth", 0)])
def test_trees_that_claim_what_they_are_not(name, number, tmp_path):
    """Refused before compiled code reads or writes behind the end of an array."""
    forest = SetClassifier(RandomForestClassifier(2, random_state=0), TopK(1))
    model = forest.fit([[0.0], [1.0], [2.0], [3.0]], [{1}, {1, 2}, {2}, {1}])

    def claim(schema):
        for tree in (node for node in dicts(schema) if node.get("__loader__") == "TreeNode"):
            tree["content"]["content"][name] = json_node(number, 5)

    files = saved_files(model, tmp_path / "model")
    refused(with_schema(files, claim), tmp_path, match="a decision tree has")
