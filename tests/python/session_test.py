"""Session: running oms."""

import subprocess
import tempfile
import threading
import unittest
import unittest.mock

import made_models
import numpy

from aoe import Session
from aoe.acl_library import AclError


def feed_of(session, seed=0):
    generator = numpy.random.default_rng(seed)
    return {
        name: (generator.standard_normal(shape) * 0.1).astype(dtype)
        for name, (shape, dtype) in session.inputs.items()
    }


class RunTest(unittest.TestCase):
    def open(self, *arguments, **keywords):
        session = Session(*arguments, **keywords)
        self.addCleanup(session.close)
        return session

    def test_results_are_those_of_aoe_run(self):
        om = made_models.om("mlp-training")
        session = self.open(om)
        feed = feed_of(session)
        with tempfile.TemporaryDirectory() as directory:
            flags = []
            for name, array in feed.items():
                numpy.save(f"{directory}/{name}.npy", array)
                flags.append(f"--input={name}={directory}/{name}.npy")
            subprocess.run(
                [made_models.program("aoe_run"), f"--model={om}", f"--output-dir={directory}/out",
                 "--repeat=1", *flags],
                check=True,
                capture_output=True,
            )  # fmt: skip
            for name, array in zip(session.outputs, session.run(None, feed)):
                numpy.testing.assert_array_equal(numpy.load(f"{directory}/out/{name}.npy"), array)

    def test_a_loop_that_feeds_weights_back_learns(self):
        session = self.open(made_models.om("mlp-training"))
        feed = feed_of(session)
        names = ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"]
        losses = []
        for _ in range(5):
            loss, *new = session.run(["loss"] + [f"{name}.new" for name in names], feed)
            losses.append(float(loss))
            feed.update(zip(names, new))
        self.assertEqual(losses, sorted(set(losses), reverse=True))

    def test_variables_of_other_frameworks(self):
        om = made_models.om("mlp-training")
        with unittest.mock.patch.dict("os.environ", {"ASCEND_DEVICE_ID": "0", "AOE_MODE": "2"}):
            with self.assertWarnsRegex(UserWarning, "aoe --job_type=2 tunes before"):
                self.open(om)
        with unittest.mock.patch.dict("os.environ", {"ASCEND_DEVICE_ID": "1"}):
            self.assertRaises(AclError, Session, om)
            self.open(om, device_id=0)
        with unittest.mock.patch.dict("os.environ", {"ASCEND_DEVICE_ID": "x"}):
            self.assertRaisesRegex(ValueError, "ASCEND_DEVICE_ID=x", Session, om)

    def test_ways_to_name_outputs(self):
        session = self.open(made_models.om("mlp-training"))
        feed = feed_of(session)
        loss = session.run("loss", feed)
        self.assertIsInstance(loss, numpy.ndarray)
        self.assertEqual(session.run(["loss"], feed), [loss])
        everything = session.run(None, feed)
        self.assertEqual(len(everything), len(session.outputs))
        by_name = dict(zip(session.outputs, everything))
        self.assertEqual(by_name["loss"], loss)
        self.assertEqual({n: a.shape for n, a in by_name.items()},
                         {n: shape for n, (shape, _) in session.outputs.items()})  # fmt: skip

    def test_results_belong_to_the_caller(self):
        session = self.open(made_models.om("mlp-training"))
        first = session.run("fc1.weight.new", feed_of(session, 1))
        kept = first.copy()
        session.run("fc1.weight.new", feed_of(session, 2))
        numpy.testing.assert_array_equal(first, kept)

    def test_what_numpy_can_make_fit_does(self):
        session = self.open(made_models.om("mlp-training"))
        feed = feed_of(session)
        wanted = session.run("loss", feed)
        odd = {name: array.astype(numpy.float64) for name, array in feed.items()}
        odd["fc1.weight"] = numpy.asfortranarray(odd["fc1.weight"])
        odd["x"] = odd["x"].tolist()
        self.assertAlmostEqual(float(session.run("loss", odd)), float(wanted), 6)

    def test_bad_feeds_and_names(self):
        session = self.open(made_models.om("mlp-training"))
        feed = feed_of(session)
        for changes, error, message in (
            ({"fc1.wieght": feed["x"]}, ValueError, "no input fc1.wieght; did you mean fc1.wei"),
            ({"x": feed["x"][:, :-1]}, ValueError, r"input x has the shape \(\d+, 6\), not"),
            ({"x": feed["x"].astype(complex)}, TypeError, "input x is float32, not complex128"),
            ({"x": "text"}, TypeError, "input x is float32"),
        ):
            with self.subTest(message), self.assertRaisesRegex(error, message):
                session.run(None, {**feed, **changes})
        del feed["x"]
        with self.assertRaisesRegex(ValueError, "lacks the inputs x of"):
            session.run(None, feed)
        with self.assertRaisesRegex(ValueError, "lacks the inputs"):
            session.run()
        with self.assertRaisesRegex(ValueError, "no output los; did you mean loss?"):
            session.run("los", feed)

    def test_load_close_and_their_order(self):
        session = self.open()
        with self.assertRaisesRegex(RuntimeError, "has no model"):
            session.run()
        self.assertIs(session.load(made_models.om("mlp-training")), session)
        self.assertIn("x", session.inputs)
        session.load(made_models.om("mobilenetv2"))
        self.assertNotIn("x", session.inputs)
        with self.assertRaises(AclError):
            session.load("/nowhere.om")
        self.assertEqual(len(session.run(None, feed_of(session))), 1)  # the one before stays
        session.close()
        session.close()
        with self.assertRaisesRegex(RuntimeError, "is closed"):
            session.run()

    def test_two_sessions(self):
        one = self.open(made_models.om("mlp-training"))
        other = self.open(made_models.om("mobilenetv2"))
        one.close()
        self.assertEqual(len(other.run(None, feed_of(other))), 1)

    def test_gears(self):
        path = made_models.om(
            "mobilenetv2",
            "--dynamic",
            atc_flags=("--input_shape=input:-1,3,32,32", "--dynamic_batch_size=1,3"),
        )
        session = self.open(path)
        (shape, dtype) = session.inputs["input"]
        self.assertEqual(shape[0], -1)
        for batch in (1, 3):
            (result,) = session.run(None, {"input": numpy.ones((batch, *shape[1:]), dtype)})
            self.assertEqual(result.shape[0], batch)
        with self.assertRaisesRegex(AclError, "2 is no gear"):
            session.run(None, {"input": numpy.ones((2, *shape[1:]), dtype)})

    def test_threads(self):
        session = self.open(made_models.om("mlp-training"))
        feeds = [feed_of(session, seed) for seed in range(4)]
        wanted = [float(session.run("loss", feed)) for feed in feeds]
        seen = [[] for _ in feeds]

        def run(index):
            for _ in range(25):
                seen[index].append(float(session.run("loss", feeds[index])))

        threads = [threading.Thread(target=run, args=(i,)) for i in range(len(feeds))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for losses, loss in zip(seen, wanted):
            self.assertEqual(set(losses), {loss})


if __name__ == "__main__":
    unittest.main()
