"""What a program adds to its profile: profiler_metadata.json."""

import json

from .log import logger

MOST_BYTES = 100 * 1024 * 1024  #: of all keys and values together


class Metadata:
    def __init__(self):
        self._values = {}
        self._bytes = {}

    def add(self, key, value):
        """A text; another one under the same key is replaced, with a warning."""
        if not self._are_strings("add_metadata", key, value):
            return
        self._put(key, value, value)

    def add_json(self, key, value):
        """A text of JSON, which is written as what it says."""
        if not self._are_strings("add_metadata_json", key, value):
            return
        try:
            parsed = json.loads(value)
        except ValueError as error:
            logger.warning(
                "add_metadata_json: the value of %r is not JSON and is left out: %s", key, error
            )
            return
        self._put(key, value, parsed)

    def write(self, path):
        """Writes nothing when there is nothing."""
        if not self._values:
            return
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self._values, file, indent=4)

    @staticmethod
    def _are_strings(method, key, value):
        if isinstance(key, str) and isinstance(value, str):
            return True
        logger.warning("%s takes two strings, not %r and %s", method, key, type(value).__name__)
        return False

    def _put(self, key, text, value):
        size = len(key.encode()) + len(text.encode())
        others = sum(self._bytes.values()) - self._bytes.get(key, 0)
        if others + size > MOST_BYTES:
            logger.warning(
                "metadata of %d bytes would exceed %d; %r is left out",
                others + size,
                MOST_BYTES,
                key,
            )
            return
        if key in self._values:
            logger.warning("metadata: %r is replaced", key)
        self._values[key] = value
        self._bytes[key] = size
