"""Compiled models on disk, found again by content, hardware, engine, state of the bank, options.

Models are compiled by the program atc, in a process of its own: this one stays small, needs no LLVM
of a certain version beside those that other packages bring, and survives whatever a model does to
the compiler; what comes out is the same om that a build makes.

    path = OmCache().om(source, flags)      compiled if it is not there
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import tempfile
import threading
import time
import warnings

from . import bank_places, onnx_border, programs
from .exit_codes import ExitCode
from .logs import LOGGER

_LIMIT_MB = 10240
_SCRATCH = ".aoe_compile_"
_ABANDONED_S = 24 * 3600
_OF_OMS = "texts in the model are here their places"  # a session gives the texts


class Source:
    """A model to compile: a file, or the bytes of one; `folder` has the files of its weights."""

    def __init__(self, path_or_bytes, folder=None):
        self.content = path_or_bytes if isinstance(path_or_bytes, bytes) else None
        self.path = None if self.content is not None else pathlib.Path(path_or_bytes)
        self._folder = self.path.parent if self.path else folder
        if self.content is not None:
            self.border = onnx_border.read(self.content)
        else:
            self.border = onnx_border.read_file(self.path)
        self._digest = None

    @property
    def name(self):
        """What the om is called; a graph may have any name."""
        if self.path:
            return self.path.stem
        return re.sub(r"[^\w.-]", "_", self.border.graph_name)[:64] or "model"

    @property
    def digest(self):
        """Of the model and of the files that its weights lie in."""
        if self._digest is None:
            digest = hashlib.blake2b(digest_size=16)
            if self.content is not None:
                digest.update(self.content)
            else:
                _add_file(digest, self.path)
            for name in self._files():
                digest.update(name.encode())
                _add_file(digest, self._folder / name)
            self._digest = digest.hexdigest()
        return self._digest

    def _files(self):
        """Of its weights; where bytes came from nobody knows, and atc says what it lacks."""
        return sorted(self.border.external_files) if self._folder else []

    def copy_to(self, path):
        """As it is, with the files that its weights lie in."""
        path = pathlib.Path(path)
        if self.content is not None:
            path.write_bytes(self.content)
        else:
            _copy(self.path, path)
        for name in self._files():
            _copy(self._folder / name, path.parent / name)

    @contextlib.contextmanager
    def file(self, directory):
        """A path that atc can read; bytes are written into the directory for it."""
        if self.path:
            yield self.path
            return
        path = pathlib.Path(directory) / "model.onnx"
        path.write_bytes(self.content)
        for name in self._files():
            _copy(self._folder / name, path.parent / name)
        yield path
        path.unlink()


class OmCache:
    """`directory`: None: AOE_CACHE_DIR, else below XDG_CACHE_HOME; "": keep nothing.

    Any number of processes may share it. Where it cannot be written models are compiled all the
    same, and a warning says so once. `is_quiet`: atc's warnings are not logged; else each once, though it
    comes with every shape.
    """

    def __init__(self, directory=None, is_quiet=False):
        self._is_quiet = is_quiet
        self._logged = set()
        if directory is None:
            directory = os.environ.get("AOE_CACHE_DIR", _default_directory())
        self.directory = pathlib.Path(directory) if directory else None

    @contextlib.contextmanager
    def om(self, source, flags):
        """The path of the om, good inside of the with. ProgramError: the compiler's."""
        if self.directory is None:
            with self._compiled_in(None, source, flags) as path:
                yield path
            return
        path = self.directory / f"{_key(source, flags)}.om"
        with self._lock(path):
            if path.is_file():
                with contextlib.suppress(OSError):
                    os.utime(path)  # the least recently used goes first
                yield path
                return
            with self._compiled(source, flags) as made:
                yield self._kept(made, path)

    def forget(self, path):
        """Of an om that turned out to be damaged."""
        with contextlib.suppress(OSError):
            pathlib.Path(path).unlink()

    def _make_directory(self):
        """OSError. Not a home: users of services have one that is not there, and is not to be."""
        home = bank_places.home()
        if not os.path.isdir(home) and self.directory.is_relative_to(home):
            raise FileNotFoundError(errno.ENOENT, "there is no home directory", home)
        self.directory.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def _compiled(self, source, flags):
        """In the cache's own directory, so that it is kept by a rename; elsewhere if that fails."""
        compiled = contextlib.ExitStack()
        try:
            self._make_directory()
            path = compiled.enter_context(self._compiled_in(self.directory, source, flags))
        except (OSError, programs.ProgramError) as error:
            if isinstance(error, programs.ProgramError) and error.exit_code != ExitCode.OUTPUT:
                raise
            _warn_once(self.directory, error)
            path = compiled.enter_context(self._compiled_in(None, source, flags))
        with compiled:
            yield path

    @contextlib.contextmanager
    def _compiled_in(self, parent, source, flags):
        """The om, in a directory that is gone afterwards. OSError, ProgramError."""
        directory = tempfile.mkdtemp(prefix=_SCRATCH, dir=parent)
        try:
            with source.file(directory) as model:
                output = os.path.join(directory, source.name)
                _, said = programs.run(
                    "atc", "--framework=5", f"--model={model}", f"--output={output}", *flags
                )
            if not self._is_quiet:
                self._log(said.replace(f"{directory}{os.sep}", ""))
            (om,) = pathlib.Path(directory).glob("*.om")
            yield om
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def _log(self, said):
        """Such as operators that run slowly."""
        for line in said.splitlines():
            words = programs.without_stamp(line)
            if words not in self._logged and not words.startswith(_OF_OMS):
                self._logged.add(words)
                LOGGER.warning("%s", words)

    def _kept(self, made, path):
        if made.parent.parent != self.directory:  # which was said
            return made
        os.replace(made, path)
        self._prune(path)
        return path

    def _prune(self, newest):
        """Removes what was used least recently, until the rest fits, and what the killed left."""
        for path in self.directory.glob(f"{_SCRATCH}*"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED_S:
                    shutil.rmtree(path, ignore_errors=True)
        limit = int(os.environ.get("AOE_CACHE_LIMIT_MB", _LIMIT_MB)) << 20
        oms = []
        for path in self.directory.glob("*.om"):
            with contextlib.suppress(OSError):
                stat = path.stat()
                oms.append((stat.st_mtime_ns, stat.st_size, path))
        total = sum(size for _, size, _ in oms)
        for _, size, path in sorted(oms):
            if total <= limit:
                return
            if path != newest:
                self.forget(path)
                total -= size

    @contextlib.contextmanager
    def _lock(self, path):
        """Others that want the same om wait until it is there. Without a place for locks two may
        compile the same, which harms nobody."""
        try:
            self._make_directory()
            file = open(path.with_suffix(".lock"), "w", encoding="utf-8")
        except OSError:
            yield
            return
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:  # whoever waits has it open, and will find the om
                with contextlib.suppress(OSError):
                    os.unlink(file.name)


def check_flags(flags):
    """ProgramError: what atc says of them, before there is a shape to compile a model for."""
    if not flags:
        return
    nowhere = os.path.join(tempfile.gettempdir(), _SCRATCH)
    try:
        programs.run("atc", "--framework=5", f"--model={os.devnull}", f"--output={nowhere}", *flags)
    except programs.ProgramError as error:
        if error.exit_code == ExitCode.USAGE:
            raise


def _key(source, flags):
    versions = programs.versions("atc")
    facts = {
        "content": source.digest,
        "versions": versions,
        "bank": bank_places.state(versions.get("soc", "")),
        "flags": sorted(flags),
    }
    text = json.dumps(facts, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _copy(source, target):
    if source.resolve() == target.resolve():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _add_file(digest, path):
    with open(path, "rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)


def _default_directory():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(bank_places.home(), ".cache")
    return os.path.join(base, "aoe")


_warned = set()
_warned_lock = threading.Lock()


def _warn_once(directory, error):
    with _warned_lock:
        if directory in _warned:
            return
        _warned.add(directory)
    warnings.warn(
        (
            f"compiled models cannot be kept in {directory} ({error}), so that they are compiled"
            " again by the next program; AOE_CACHE_DIR names another directory"
        ),
        RuntimeWarning,
        stacklevel=2,
    )
