"""Models with texts at their border: InferenceSession takes and gives arrays of str."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer
from onnx_writer import FLOAT, INT64, STRING

import aoe as ort
from aoe import Session

_ML = "ai.onnx.ml"
_MS = "com.microsoft"


def _texts(*texts, dtype=object):
    return numpy.array(texts, dtype=dtype)


class TextsTest(unittest.TestCase):
    """`self.folder` is fresh, and has the cache and the (empty) bank."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        variables = {"HOME": temporary.name, "AOE_CACHE_DIR": str(self.folder / "cache")}
        patch = unittest.mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def open(self, model):
        session = ort.InferenceSession(model)
        self.addCleanup(session.close)
        return session

    def write(self, nodes, inputs, outputs, name="m"):
        path = str(self.folder / f"{name}.onnx")
        onnx_writer.write(path, nodes, inputs, outputs, domains=[_ML, _MS], opset=19)
        return path

    def encoder(self, rows=-1):
        """Numbers for texts, and the texts again behind a text in front of them."""
        keys = {"domain": _ML, "keys_strings": ["red", "", "grün"], "values_int64s": [3, 2, 1]}
        return self.write(
            [
                onnx_writer.node("LabelEncoder", ["x"], ["y"], "encoder", **keys),
                onnx_writer.node("Constant", [], ["first"], "first", value_strings=["front"]),
                onnx_writer.node("Concat", ["first", "x"], ["z"], "concat", axis=0),
            ],
            [onnx_writer.value("x", rows, element_type=STRING)],
            [
                onnx_writer.value("y", rows, element_type=INT64),
                onnx_writer.value("z", -1, element_type=STRING),
            ],
        )

    def test_every_kind_of_array_of_texts(self):
        session = self.open(self.encoder())
        self.assertEqual(session.get_inputs()[0].type, "tensor(string)")
        self.assertEqual(session.get_outputs()[1].type, "tensor(string)")
        for given in (
            _texts("grün", "", "blue"),
            _texts("grün", "", "blue", dtype=str),
            _texts(*(each.encode() for each in ("grün", "", "blue"))),
            ["grün", "", "blue"],
        ):
            y, z = session.run(None, {"x": given})
            self.assertEqual(y.tolist(), [1, 2, -1])
            self.assertEqual(z.tolist(), ["front", "grün", "", "blue"])
            self.assertEqual((y.dtype, z.dtype), (numpy.int64, object))
        (z,) = session.run(["z"], {"x": numpy.array([None, 1.5], dtype=object)})
        self.assertEqual(z.tolist(), ["front", "None", "1.5"])

    def test_wrong_types_and_shapes_are_named(self):
        session = self.open(self.encoder(rows=2))
        for error, words, given in (
            (TypeError, r"it is tensor\(int64\), expected tensor\(string\)", numpy.array([1, 2])),
            (TypeError, r"it is tensor\(double\), expected tensor\(string\)", [1.5, 2.5]),
            (ValueError, r"input x: \[1\], expected \[2\]", ["red"]),
        ):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                session.run(None, {"x": given})

    def test_unknown_texts_are_told_apart(self):
        path = self.write(
            [
                onnx_writer.node("Equal", ["a", "b"], ["same"], "equal"),
                onnx_writer.node("Where", ["same", "a", "b"], ["c"], "where"),
            ],
            [onnx_writer.value(name, -1, element_type=STRING) for name in "ab"],
            [
                onnx_writer.value("same", -1, element_type=onnx_writer.BOOL),
                onnx_writer.value("c", -1, element_type=STRING),
            ],
        )
        session = self.open(path)
        same, c = session.run(None, {"a": ["p", "q", ""], "b": ["p", "r", ""]})
        self.assertEqual(same.tolist(), [True, False, True])
        self.assertEqual(c.tolist(), ["p", "r", ""])

    def test_no_dimensions_and_no_elements(self):
        path = self.write(
            [onnx_writer.node("Identity", ["x"], ["y"], "identity")],
            [onnx_writer.value("x", element_type=STRING)],
            [onnx_writer.value("y", element_type=STRING)],
        )
        (y,) = self.open(path).run(None, {"x": numpy.array("alone", dtype=object)})
        self.assertEqual((y.shape, y.item()), ((), "alone"))
        y, z = self.open(self.encoder()).run(None, {"x": numpy.array([], dtype=object)})
        self.assertEqual((y.shape, z.tolist()), ((0,), ["front"]))

    def test_an_om_has_its_texts(self):
        om = str(self.folder / "m")
        said = subprocess.run(
            ["atc", "--framework=5", f"--model={self.encoder(rows=2)}", f"--output={om}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
        ).stdout  # fmt: skip
        self.assertIn("input 'x', output 'z'", said)
        (written,) = self.folder.glob("m*.om")
        session = self.open(str(written))
        self.assertEqual(session.get_inputs()[0].type, "tensor(string)")
        y, z = session.run(None, {"x": ["blue", "red"]})
        self.assertEqual((y.tolist(), z.tolist()), ([-1, 3], ["front", "blue", "red"]))
        listing = self.folder / "m.json"
        subprocess.run(["atc", "--mode=1", f"--om={written}", f"--json={listing}"], check=True)
        texts = json.loads(listing.read_text())["texts"]
        self.assertEqual((texts["inputs"], texts["outputs"]), (["x"], ["z"]))
        places = [texts["list"].index(each) for each in ("grün", "front")]
        with Session(str(written)) as plain:
            y, z = plain.run(None, {"x": numpy.array(places)})
        self.assertEqual((y.tolist(), z.tolist()), ([1, -1], [places[1], *places]))

    def test_bound_memory(self):
        session = self.open(self.encoder(rows=1))
        binding = session.io_binding()
        binding.bind_cpu_input("x", _texts("red"))
        binding.bind_output("y")
        place = ort.OrtValue.ortvalue_from_numpy(_texts("old", "older"))
        binding.bind_ortvalue_output("z", place)
        session.run_with_iobinding(binding)
        self.assertEqual(binding.copy_outputs_to_cpu()[0].tolist(), [3])
        self.assertEqual(place.numpy().tolist(), ["front", "red"])
        self.assertEqual(place.data_type(), "tensor(string)")

    def vectorizer(self):
        """As scikit-learn's CountVectorizer is exported: counts of known words in lines of text."""
        words = {"domain": _MS, "mark": 0, "mincharnum": 1, "separators": [" "]}
        counts = {
            "max_gram_length": 1, "min_gram_length": 1, "max_skip_count": 0,
            "ngram_counts": [0], "ngram_indexes": [0, 1, 2], "pool_strings": ["grün", "red", "#"],
        }  # fmt: skip
        return self.write(
            [
                onnx_writer.node("StringNormalizer", ["x"], ["l"], "l", case_change_action="LOWER"),
                onnx_writer.node("Tokenizer", ["l"], ["words"], "w", pad_value="#", **words),
                onnx_writer.node("TfIdfVectorizer", ["words"], ["y"], "t", mode="TF", **counts),
            ],
            [onnx_writer.value("x", -1, element_type=STRING)],
            [
                onnx_writer.value("y", -1, 3),
                onnx_writer.value("words", -1, -1, element_type=STRING),
            ],
            name="vectorizer",
        )

    def test_computed_texts(self):
        session = self.open(self.vectorizer())
        for _ in range(2):
            y, words = session.run(None, {"x": ["Red GRÜN red", "Unheard", "red"]})
            self.assertEqual(y.tolist(), [[1, 2, 0], [0, 0, 2], [0, 1, 2]])
            self.assertEqual(words[0].tolist(), ["red", "grün", "red"])
            self.assertEqual(words[1].tolist(), ["unheard", "#", "#"])

    def test_computed_texts_of_several_threads(self):
        session = self.open(self.vectorizer())
        results = {}

        def work(number):
            for _ in range(20):
                results[number] = session.run(["words"], {"x": [f"Word{number} red", f"{number}"]})[0]

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number, words in results.items():
            self.assertEqual(words.tolist(), [[f"word{number}", "red"], [f"{number}", "#"]])

    def test_a_classifier_of_columns_of_texts(self):
        """As scikit-learn's pipelines are exported: columns of texts beside one of numbers."""
        columns = {"sex": ["female", "male"], "port": ["C", "Q", "S"]}
        nodes, parts = [], ["age"]
        for name, categories in columns.items():
            hot = {"domain": _ML, "cats_strings": categories, "zeros": 1}
            nodes += [
                onnx_writer.node("OneHotEncoder", [name], [f"{name}_hot"], name, **hot),
                onnx_writer.node("Flatten", [f"{name}_hot"], [f"{name}_row"], f"{name}_row", axis=1),
            ]
            parts.append(f"{name}_row")
        weights = [0.5, 1.0, -1.0, 0.25, 0.0, -0.25]
        linear = {
            "domain": _ML,
            "coefficients": [-each for each in weights] + weights,
            "intercepts": [0.0, 0.0],
            "classlabels_strings": ["lost", "saved"],
        }
        nodes += [
            onnx_writer.node("Concat", parts, ["features"], "features", axis=1),
            onnx_writer.node("LinearClassifier", ["features"], ["label", "p"], "linear", **linear),
        ]
        path = self.write(
            nodes,
            [onnx_writer.value("age", -1, 1)]
            + [onnx_writer.value(name, -1, 1, element_type=STRING) for name in columns],
            [
                onnx_writer.value("label", -1, element_type=STRING),
                onnx_writer.value("p", -1, 2, element_type=FLOAT),
            ],
        )
        feed = {
            "age": numpy.array([[0], [0], [0]], numpy.float32),
            "sex": _texts("female", "male", "unknown").reshape(3, 1),
            "port": _texts("S", "C", "S").reshape(3, 1),
        }
        label, p = self.open(path).run(None, feed)
        self.assertEqual(label.tolist(), ["saved", "lost", "lost"])
        self.assertEqual(p[:, 1].tolist(), [0.75, -0.75, -0.25])


if __name__ == "__main__":
    unittest.main()
