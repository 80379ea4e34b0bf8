"""What is logged, as ONNX Runtime's programs choose it: warnings of atc, by the logger `aoe`.

Severities are 0 (verbose) to 4 (fatal).
"""

import logging

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
LOGGER = logging.getLogger("aoe")
_handler = None


def set_default_logger_severity(severity):
    LOGGER.setLevel(_level(severity))


def set_default_logger_verbosity(_level):
    """Accepted: there is one."""


def set_default_logger_callback(callback, severity=2):
    """callback(severity, category, logid, code location, message) instead of handlers of `logging`;
    None: as before."""
    global _handler  # pylint: disable=global-statement
    if callback is not None and not callable(callback):
        raise RuntimeError(f"a callback is called; {callback!r} cannot be")
    level = _level(severity)
    if _handler is not None:
        LOGGER.removeHandler(_handler)
        _handler, LOGGER.propagate = None, True
    if callback is not None:
        _handler, LOGGER.propagate = _Callback(callback), False
        LOGGER.addHandler(_handler)
        LOGGER.setLevel(level)


def _level(severity):
    if severity not in range(len(_LEVELS)):
        raise RuntimeError(f"a severity is 0 to {len(_LEVELS) - 1}, not {severity}")
    return _LEVELS[severity]


class _Callback(logging.Handler):
    def __init__(self, callback):
        super().__init__()
        self._callback = callback

    def emit(self, record):
        severity = min(record.levelno // 10 - 1, len(_LEVELS) - 1)
        where = f"{record.filename}:{record.lineno} {record.funcName}"
        try:
            self._callback(max(severity, 0), "aoe", "", where, record.getMessage())
        except Exception:  # pylint: disable=broad-except; as other handlers of `logging`
            self.handleError(record)
