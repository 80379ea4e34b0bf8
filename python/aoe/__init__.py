"""aoe: models of this engine from Python: run, compiled, tuned, profiled.

    import aoe as ort
    session = ort.InferenceSession("model.onnx")   with ONNX Runtime's calls; also of oms
    aoe.compile, aoe.tune, aoe.profile, aoe.Bank   what the programs do, with results as objects
    aoe.Session                                    runs an om
    aoe.profiler.Profiler                          profiles the program

What a name needs is imported when it is asked for: a report needs no numpy.
"""

import importlib

_HOMES = {
    "ModelCompiler": "model_compiler",
    "OrtCompileApiFlags": "model_compiler",
    "Session": "session",
    "InferenceSession": "inference_session",
    "ModelMetadata": "inference_session",
    "NodeArg": "inference_session",
    "get_all_providers": "providers",
    "get_available_providers": "providers",
    "get_device": "providers",
    "IOBinding": "io_binding",
    "OrtValue": "io_binding",
    "copy_tensors": "io_binding",
    "OrtAllocatorType": "devices",
    "OrtArenaCfg": "devices",
    "OrtDevice": "devices",
    "OrtDeviceMemoryType": "devices",
    "OrtEpDevice": "devices",
    "OrtExecutionProviderDevicePolicy": "devices",
    "OrtHardwareDevice": "devices",
    "OrtHardwareDeviceType": "devices",
    "OrtMemType": "devices",
    "OrtMemoryInfo": "devices",
    "OrtMemoryInfoDeviceType": "devices",
    "create_and_register_allocator": "devices",
    "create_and_register_allocator_v2": "devices",
    "get_ep_devices": "devices",
    "register_execution_provider_library": "devices",
    "unregister_execution_provider_library": "devices",
    "ExecutionMode": "session_options",
    "ExecutionOrder": "session_options",
    "GraphOptimizationLevel": "session_options",
    "RunOptions": "session_options",
    "SessionOptions": "session_options",
    "set_default_logger_callback": "logs",
    "set_default_logger_severity": "logs",
    "set_default_logger_verbosity": "logs",
    "ProgramError": "programs",
    "compile": "tuning",
    "profile": "tuning",
    "tune": "tuning",
    "CompiledModel": "tuning",
    "TuneProgress": "tuning",
    "Bank": "bank",
    "BankTask": "results",
    "ProfileResult": "results",
    "TuneResult": "results",
}
_MODULES = ("backend", "capi", "datasets")
__all__ = list(_HOMES)


def preload_dlls(*_libraries, **_where):
    """Accepted: what the runtime needs is loaded with it."""


def disable_telemetry_events():
    """Accepted: there are none."""


def enable_telemetry_events():
    """Accepted, without effect: there are none."""


def get_version_string():
    return __getattr__("__version__")


def get_build_info():
    return f"aoe Build Info: version={get_version_string()}"


def has_collective_ops():
    return False


def set_global_thread_pool_sizes(_intra_op_num_threads, _inter_op_num_threads):
    """Accepted: a session's threads are SessionOptions.intra_op_num_threads."""


def __getattr__(name):
    if name in _HOMES:
        value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    elif name == "__version__":
        value = _version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOMES, *_MODULES, "__version__"})


def _version():
    """Of the package as it is installed; of a build tree, of its programs."""
    import importlib.metadata

    try:
        return importlib.metadata.version("aoe")
    except importlib.metadata.PackageNotFoundError:
        from . import programs

        return programs.versions("msprof")["engine"].removeprefix("aoe ")
