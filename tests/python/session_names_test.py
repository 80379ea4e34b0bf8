"""What programs written for ONNX Runtime find under its names, beside InferenceSession's calls."""

import pathlib
import sys
import unittest
import warnings

import numpy
from session_case import SessionTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

import aoe as ort
from aoe.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidProtobuf, NoSuchFile


class ErrorsTest(SessionTest):
    def test_the_kinds_of_objects_are_where_programs_import_them(self):
        from aoe.capi.onnxruntime_inference_collection import NodeArg, OrtDevice, Session

        session = self.open(self.model())
        self.assertIsInstance(session, Session)
        self.assertIsInstance(session.get_inputs()[0], NodeArg)
        self.assertIs(OrtDevice, ort.OrtDevice)

    def test_the_exceptions_are_where_programs_import_them(self):
        from aoe.capi import _pybind_state
        from aoe.capi._pybind_state import RuntimeException, get_available_providers
        from aoe.capi.onnxruntime_inference_collection import InferenceSession, IOBinding, OrtValue

        self.assertIs(ort.capi.onnxruntime_pybind11_state.Fail, Fail)
        self.assertIs(_pybind_state.Fail, Fail)
        self.assertEqual(get_available_providers(), ort.get_available_providers())
        self.assertTrue(issubclass(RuntimeException, RuntimeError))
        for module in (_pybind_state, ort.capi.onnxruntime_pybind11_state):
            self.assertIs(module.SessionOptions, ort.SessionOptions)
            self.assertIs(module.OrtMemoryInfo, ort.OrtMemoryInfo)
            with self.assertRaises(AttributeError):
                module.no_such_name
        self.assertEqual(
            (InferenceSession, IOBinding, OrtValue),
            (ort.InferenceSession, ort.IOBinding, ort.OrtValue),
        )

    def test_packages_that_are_not_there_say_what_is(self):
        with self.assertRaisesRegex(ImportError, "aoe_quantize makes int8 of a model"):
            from aoe.quantization import quantize_dynamic
        with self.assertRaisesRegex(ImportError, "is fused when a model is compiled"):
            from aoe.transformers.optimizer import optimize_model
        with self.assertRaisesRegex(ImportError, "shapes are inferred"):
            from aoe.tools.symbolic_shape_infer import SymbolicShapeInference
        with self.assertRaisesRegex(ImportError, "trains none"):
            from aoe.training import artifacts
        self.assertFalse(hasattr(ort, "quantization"))

    def test_runs_that_do_not_fit_are_invalid_arguments(self):
        session = self.open(self.model(shape=(2, 3)))
        x = numpy.ones((2, 3), numpy.float32)
        for names, feed, own in (
            (["misspelled"], {"x": x}, ValueError),
            (None, {"x": x, "misspelled": x}, ValueError),
            (None, {"x": x[:1]}, ValueError),
            (None, {"x": x.astype(float)}, TypeError),
        ):
            for kind in (InvalidArgument, own):
                with self.subTest(names=names, kind=kind), self.assertRaises(kind):
                    session.run(names, feed)
        with self.assertRaises(ValueError):
            session.run(None, {})

    def test_models_that_cannot_be_opened(self):
        damaged = self.folder / "damaged.onnx"
        damaged.write_bytes(pathlib.Path(self.model()).read_bytes()[:-5])
        unknown = self.model("unknown", "NoSuchOperator", (2, 3))
        for kind, path in (
            (NoSuchFile, "nowhere.onnx"),
            (InvalidProtobuf, str(damaged)),
            (Fail, unknown),
        ):
            with self.subTest(path), self.assertRaises(kind):
                self.open(path)

    def test_files_of_other_kinds_are_named(self):
        for begin, what in (
            (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
            (b"\x20\0\0\0ORTM", "ONNX Runtime's own format"),
            (b"\x20\0\0\0TFL3", "tf2onnx"),
            (b"PK\3\4", "torch.onnx.export"),
            (b"\x40\0\0\0\0\0\0\0{\"w\":", "weights"),
            (b"<!DOCTYPE html>", "download"),
        ):
            path = self.folder / "other.onnx"
            path.write_bytes(begin + b"\7" * 100)
            for given in (str(path), path.read_bytes()):
                with self.subTest(what), self.assertRaisesRegex(InvalidProtobuf, what):
                    self.open(given)


class ProvidersTest(SessionTest):
    def test_providers_are_those_asked_for(self):
        path = self.model()
        self.assertEqual(self.open(path).get_providers(), ort.get_available_providers())
        session = self.open(path, providers=["CPUExecutionProvider"])
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])
        self.assertEqual(session.get_provider_options(), {"CPUExecutionProvider": {}})
        session.set_providers([("AoeExecutionProvider", {"threads": 1})])
        self.assertEqual(
            session.get_providers(), ["AoeExecutionProvider", "CPUExecutionProvider"]
        )
        with self.assertWarnsRegex(UserWarning, "'CUDAExecutionProvider' is not in available"):
            session.set_providers(["CUDAExecutionProvider"])
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])
        with self.assertRaisesRegex(RuntimeError, "Unknown Provider Type: InvalidProvider"):
            with self.assertWarns(UserWarning):
                session.set_providers(["InvalidProvider"])

    def test_what_are_no_providers(self):
        path = self.model()
        for providers, options in (
            ("CPUExecutionProvider", None),
            (3, None),
            ([3], None),
            (["CPUExecutionProvider"], {}),
            (["CPUExecutionProvider"], [{}, {}]),
            (["CPUExecutionProvider"], ["no dict"]),
        ):
            with self.subTest(providers=providers), self.assertRaises(ValueError):
                self.open(path, providers=providers, provider_options=options)

    def test_a_device_is_chosen(self):
        devices = ort.get_ep_devices()
        self.assertEqual([each.ep_name for each in devices], ort.get_available_providers())
        device = next(each for each in devices if each.ep_name == "AoeExecutionProvider")
        self.assertEqual(device.device.type, ort.OrtHardwareDeviceType.CPU)
        options = ort.SessionOptions()
        self.assertFalse(options.has_providers())
        options.add_provider_for_devices([device], {"precision_mode": "force_fp16"})
        options.set_provider_selection_policy(ort.OrtExecutionProviderDevicePolicy.PREFER_CPU)
        self.assertTrue(options.has_providers())
        session = self.open(self.model(), options)
        self.assertEqual(
            session.get_provider_options()["AoeExecutionProvider"],
            {"precision_mode": "force_fp16"},
        )
        self.assertEqual(session.get_input_epdevices(), [device])
        with self.assertRaisesRegex(Fail, "libother.so cannot be loaded"):
            ort.register_execution_provider_library("Other", "libother.so")


class DevicesTest(SessionTest):
    def test_memory_and_allocators(self):
        info = ort.OrtMemoryInfo(
            "Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT
        )
        self.assertEqual((info.name, info.device_id, info.device_vendor_id), ("Cpu", 0, 0))
        self.assertEqual(info.device_mem_type, ort.OrtDeviceMemoryType.DEFAULT)
        settings = ort.OrtArenaCfg({"max_mem": 8, "arena_extend_strategy": 1})
        self.assertEqual(
            (settings.max_mem, settings.arena_extend_strategy, settings.initial_chunk_size_bytes),
            (8, 1, -1),
        )
        self.assertEqual(ort.OrtArenaCfg(8, 0, 4, 2).max_dead_bytes_per_chunk, 2)
        with self.assertRaisesRegex(InvalidArgument, "OrtArenaCfg option: most"):
            ort.OrtArenaCfg({"most": 8})
        ort.create_and_register_allocator(info, settings)
        session = self.open(self.model())
        self.assertEqual(session.get_input_memory_infos(), [ort.OrtMemoryInfo()])

    def test_there_is_one_device(self):
        self.assertEqual(ort.OrtDevice.make("cpu", 0).device_type(), 0)
        with self.assertRaisesRegex(InvalidArgument, "device cuda:0: there is one, cpu:0"):
            ort.OrtDevice.make("cuda", 0)

    def test_tensors_are_copied(self):
        source = ort.OrtValue.ortvalue_from_numpy(numpy.arange(3.0), "cpu", 0)
        target = ort.OrtValue.ortvalue_from_shape_and_type([3], numpy.float64)
        ort.copy_tensors([source], [target])
        self.assertEqual(target.numpy().tolist(), [0, 1, 2])

    def test_what_the_package_says_of_itself(self):
        self.assertIn(f"Build Info: version={ort.__version__}", ort.get_build_info())
        self.assertFalse(ort.has_collective_ops())
        ort.set_global_thread_pool_sizes(1, 1)


class OptionsTest(SessionTest):
    def test_sizes_by_what_dimensions_denote(self):
        path = self.model(shape=(("rows", "DATA_BATCH"), ("columns", "DATA_CHANNEL"), 5))
        options = ort.SessionOptions()
        options.add_free_dimension_override_by_denotation("DATA_BATCH", 3)
        self.assertEqual(self.open(path, options).get_inputs()[0].shape, [3, "columns", 5])
        options.add_free_dimension_override_by_denotation("DATA_CHANNEL", 4)
        options.add_free_dimension_override_by_name("rows", 2)
        session = self.open(path, options)
        self.assertEqual(session.get_inputs()[0].shape, [2, 4, 5])
        (y,) = session.run(None, {"x": numpy.ones((2, 4, 5), numpy.float32)})
        self.assertEqual(y.shape, (2, 4, 5))

    def test_an_optimised_model_is_written(self):
        (self.folder / "elsewhere").mkdir()
        numpy.array([1, 2], numpy.float32).tofile(self.folder / "w.bin")
        path = self.folder / "external.onnx"
        onnx_writer.write(
            path,
            [onnx_writer.node("Add", ["x", "w"], ["y"], "n")],
            [onnx_writer.value("x", 2)],
            [onnx_writer.value("y", 2)],
            [onnx_writer.external("w", [2], "w.bin")],
        )
        options = ort.SessionOptions()
        options.optimized_model_filepath = str(self.folder / "elsewhere" / "optimised.onnx")
        self.open(str(path), options)
        path.unlink()
        (self.folder / "w.bin").unlink()
        session = self.open(options.optimized_model_filepath)
        (y,) = session.run(None, {"x": numpy.zeros(2, numpy.float32)})
        self.assertEqual(y.tolist(), [1, 2])

    def test_bytes_whose_graph_has_any_name(self):
        path = self.folder / "named.onnx"
        for name in ("a/b: c", "../../x", "", "n" * 300):
            onnx_writer.write(
                path,
                [onnx_writer.node("Relu", ["x"], ["y"], "n")],
                [onnx_writer.value("x", 2)],
                [onnx_writer.value("y", 2)],
                name=name,
            )
            session = self.open(path.read_bytes())
            self.assertEqual(session.get_modelmeta().graph_name, name)
            (y,) = session.run(None, {"x": numpy.array([-1, 2], numpy.float32)})
            self.assertEqual(y.tolist(), [0, 2])

    def test_operators_of_a_library(self):
        for kind in (NotImplementedError, ort.capi.onnxruntime_pybind11_state.NotImplemented):
            with self.assertRaisesRegex(kind, "libmine.so cannot be compiled"):
                ort.SessionOptions().register_custom_ops_library("libmine.so")

    def test_loading_is_cancelled(self):
        options = ort.SessionOptions()
        options.set_load_cancellation_flag(True)
        with self.assertRaises(ort.capi.onnxruntime_pybind11_state.ModelLoadCanceled):
            self.open(self.model(), options)
        options.set_load_cancellation_flag(False)
        self.open(self.model(), options)
        options.set_provider_selection_policy_delegate(lambda *_: [])

    def test_entries(self):
        options = ort.SessionOptions()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.assertEqual(options.get_session_config_entry("session.intra_op.allow_spinning"), "0")
        with self.assertRaisesRegex(RuntimeError, "does not have configuration with key: other"):
            options.get_session_config_entry("other")


class LogsTest(SessionTest):
    """Of a slow model, which atc warns of."""

    def setUp(self):
        super().setUp()
        self.path = self.slow_model()
        self.addCleanup(ort.set_default_logger_severity, 2)
        self.addCleanup(ort.set_default_logger_callback, None)

    def open_anew(self, options=None):
        """With nothing of the cache."""
        providers = [("AoeExecutionProvider", {"cache_dir": ""})]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return self.open(self.path, options, providers)

    def test_errors_alone(self):
        quiet = ort.SessionOptions()
        quiet.log_severity_level = 3
        with self.assertNoLogs("aoe"):
            self.open_anew(quiet)
        with self.assertLogs("aoe", "WARNING"):
            self.open_anew()
        heard = []
        ort.set_default_logger_callback(lambda *record: heard.append(record), severity=3)
        self.open_anew()
        self.assertEqual(heard, [])

    def test_a_callback_hears_what_is_logged(self):
        heard = []
        ort.set_default_logger_callback(lambda *record: heard.append(record), severity=2)
        self.open_anew()
        ((severity, category, _, where, message),) = heard
        self.assertEqual((severity, category), (2, "aoe"))
        self.assertIn("om_cache.py", where)
        self.assertIn("LRN", message)
        ort.set_default_logger_callback(None)
        self.open_anew()
        self.assertEqual(len(heard), 1)
        for callback, severity in (("no callable", 2), (print, 5), (print, -1)):
            with self.assertRaises(RuntimeError):
                ort.set_default_logger_callback(callback, severity)


if __name__ == "__main__":
    unittest.main()
