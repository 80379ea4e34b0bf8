"""ONNX's backend API over InferenceSession, with ONNX Runtime's calls.

    import aoe.backend as backend
    outputs = backend.prepare(model, "CPU").run([x])
"""

from .inference_session import InferenceSession
from .session_options import RunOptions, SessionOptions


class BackendRep:
    """A model that is ready to run."""

    def __init__(self, session):
        self._session = session

    def run(self, inputs, **options):
        """A list of outputs. `inputs`: an array for each input of the model, a dict of them by
        name, or the only one; `options`: attributes of RunOptions."""
        names = [each.name for each in self._session.get_inputs()]
        if isinstance(inputs, (list, tuple)):
            if len(inputs) != len(names):
                raise ValueError(f"the model has {len(names)} inputs, {len(inputs)} are given")
            inputs = dict(zip(names, inputs))
        elif not isinstance(inputs, dict):
            if len(names) != 1:
                raise ValueError(f"the model has {len(names)} inputs: a list or a dict of arrays")
            inputs = {names[0]: inputs}
        return self._session.run(None, inputs, _with(RunOptions(), options))


def prepare(model, device=None, **options):
    """`model`: a path, bytes, onnx.ModelProto or an InferenceSession; `options`: attributes of
    SessionOptions, and `providers`."""
    if isinstance(model, (BackendRep, InferenceSession)):
        return model if isinstance(model, BackendRep) else BackendRep(model)
    if device is not None and not supports_device(device):
        raise RuntimeError(f"device {device}: there is one, CPU")
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    providers = options.pop("providers", None)
    return BackendRep(InferenceSession(model, _with(SessionOptions(), options), providers))


def run_model(model, inputs, device=None, **options):
    return prepare(model, device, **options).run(inputs)


def is_compatible(_model, device=None, **_options):
    """Of the device; what is wrong with a model prepare() says."""
    return device is None or supports_device(device)


def supports_device(device):
    return device.partition(":")[0].upper() == "CPU"


def _with(target, options):
    for name, value in options.items():
        setattr(target, name, value)
    return target
