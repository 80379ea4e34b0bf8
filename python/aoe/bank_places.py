"""Where the knowledge banks of a machine lie, as bank/location.cpp decides, and their state."""

import os
import pathlib
import pwd


def home():
    """HOME, else the user's home in the password file; "/nonexistent" without either."""
    if os.environ.get("HOME"):
        return os.environ["HOME"]
    try:
        return pwd.getpwuid(os.getuid()).pw_dir or "/nonexistent"
    except KeyError:
        return "/nonexistent"


def root():
    """What has op/ and graph/: TUNE_BANK_PATH, else below ASCEND_CACHE_PATH or the home."""
    if os.environ.get("TUNE_BANK_PATH"):
        return pathlib.Path(os.environ["TUNE_BANK_PATH"])
    if os.environ.get("ASCEND_CACHE_PATH"):
        return pathlib.Path(os.environ["ASCEND_CACHE_PATH"]) / "aoe_data"
    return pathlib.Path(home()) / "Ascend/latest/data/aoe/custom"


def state(soc):
    """Text that a commit to a bank of this soc_version changes."""
    if os.environ.get("CANN_KNOWLEDGE_BANK_PROCESS_NUM") == "0":
        return "not asked"
    return " ".join(_newest(root() / kind / soc) for kind in ("op", "graph"))


def _newest(directory):
    """The newest snapshot's name, with the time of its seal: a bank may be made anew."""
    try:
        names = [each for each in os.listdir(directory) if each.startswith("snapshot-")]
    except OSError:
        return "none"
    numbers = [int(each[9:]) for each in names if each[9:].isdecimal()]
    if not numbers:
        return "none"
    try:
        stamp = (directory / f"snapshot-{max(numbers)}" / "SEAL").stat().st_mtime_ns
    except OSError:
        stamp = 0
    return f"{max(numbers)}@{stamp}"
