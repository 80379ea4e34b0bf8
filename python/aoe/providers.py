"""Execution providers, as ONNX Runtime's programs name them: there is one way to run a model."""

import warnings

PROVIDER = "AoeExecutionProvider"
KNOWN = (PROVIDER, "CPUExecutionProvider")


def get_available_providers():
    return list(KNOWN)


def get_all_providers():
    return list(KNOWN)


def get_device():
    return "CPU"


def options_of(providers, provider_options):
    """The options of our provider; a warning names providers that are not there."""
    options = {}
    for index, each in enumerate(providers or ()):
        name, own = each if isinstance(each, (tuple, list)) else (each, {})
        if provider_options and index < len(provider_options):
            own = {**own, **(provider_options[index] or {})}
        if name not in KNOWN:
            warnings.warn(
                (
                    f"Specified provider '{name}' is not in available provider names."
                    f" Available providers: '{', '.join(KNOWN)}'"
                ),
                stacklevel=3,
            )
        elif name == PROVIDER:
            options.update(own)
    if not providers and provider_options:
        for own in provider_options:
            options.update(own)
    return options
