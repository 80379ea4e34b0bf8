"""Execution providers, as ONNX Runtime's programs name them: there is one way to run a model."""

import warnings

PROVIDER = "AoeExecutionProvider"
CPU = "CPUExecutionProvider"
KNOWN = (PROVIDER, CPU)


def get_available_providers():
    return list(KNOWN)


def get_all_providers():
    return list(KNOWN)


def get_device():
    return "CPU"


def chosen(providers, provider_options):
    """{name: options} of those that are there, with the processor's own at the end, and of all for
    none; a warning names the others. ValueError: they are no names, or no dicts beside them."""
    rows = list(_rows(providers, provider_options))
    found = {}
    for name, options in rows:
        if name in KNOWN:
            found.setdefault(name, {}).update(options)
        else:
            warnings.warn(
                (
                    f"Specified provider '{name}' is not in available provider names."
                    f" Available providers: '{', '.join(KNOWN)}'"
                ),
                stacklevel=3,
            )
    return {**found, CPU: found.get(CPU, {})} if rows else dict.fromkeys(KNOWN, {})


def _rows(providers, provider_options):
    for what, given in (("providers", providers), ("provider_options", provider_options)):
        if given is not None and not isinstance(given, (list, tuple)):
            raise ValueError(f"{what} is a list: [{given!r}]")
    beside = list(provider_options or ())
    given = list(providers if providers else [PROVIDER] * len(beside))
    if beside and len(beside) != len(given):
        raise ValueError(f"{len(given)} providers have {len(beside)} provider_options")
    for each, own in zip(given, beside or [{}] * len(given)):
        name, options = each if isinstance(each, (tuple, list)) else (each, {})
        if not isinstance(name, str):
            raise ValueError(f"providers are names, or (name, options); {each!r} is neither")
        if not isinstance(own or {}, dict) or not isinstance(options, dict):
            raise ValueError(f"the options of {name} are no dict")
        yield name, {**options, **(own or {})}
