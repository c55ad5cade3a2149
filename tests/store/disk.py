"""A disk that can lose its power, fill up, or fail: a layer between SQLite and the file system.

It is an SQLite VFS of our own, registered through ctypes in the library that Python has loaded. It
hands every call on, and keeps beside each file what of it was synced: what a power cut would leave.
"""

import _sqlite3
import contextlib
import ctypes
import shutil
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path

import pytest

SQLITE_OK = 0
SQLITE_FULL = 13
SQLITE_IOERR_FSYNC = 10 | (4 << 8)
SQLITE_IOERR_SHMSIZE = 10 | (19 << 8)

Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
Sync = CFUNCTYPE(c_int, c_void_p, c_int)
ShmMap = CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int, c_void_p)
# SQLite keeps the pointer to a name, so names are handed on as they came.
Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)

Delete = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)


class Methods(Structure):
    _fields_ = (
        ("iVersion", c_int),
        ("xClose", c_void_p),
        ("xRead", c_void_p),
        ("xWrite", Write),
        ("xTruncate", c_void_p),
        ("xSync", Sync),
        ("xFileSize", c_void_p),
        ("xLock", c_void_p),
        ("xUnlock", c_void_p),
        ("xCheckReservedLock", c_void_p),
        ("xFileControl", c_void_p),
        ("xSectorSize", c_void_p),
        ("xDeviceCharacteristics", c_void_p),
        ("xShmMap", ShmMap),
        ("xShmLock", c_void_p),
        ("xShmBarrier", c_void_p),
        ("xShmUnmap", c_void_p),
        ("xFetch", c_void_p),
        ("xUnfetch", c_void_p),
    )


class File(Structure):
    _fields_ = (("pMethods", POINTER(Methods)),)


class Vfs(Structure):
    _fields_ = (
        ("iVersion", c_int),
        ("szOsFile", c_int),
        ("mxPathname", c_int),
        ("pNext", c_void_p),
        ("zName", c_char_p),
        ("pAppData", c_void_p),
        ("xOpen", Open),
        ("xDelete", Delete),
        *((f"method{number}", c_void_p) for number in range(14)),
    )


class Disk:
    """What SQLite's files go through while it is plugged in."""

    def __init__(self, durable: Path) -> None:
        self.durable = durable
        self.is_full = False
        self.syncs_fail = False
        self._methods: dict[int, tuple[Methods, Methods]] = {}

    def survivors(self, folder: Path) -> Path:
        """A copy, in `folder`, of what a power cut would leave now."""
        return shutil.copytree(self.durable, folder)

    @contextlib.contextmanager
    def plugged_in(self) -> Iterator[None]:
        library = _library()
        real = library.sqlite3_vfs_find(None).contents
        ours = Vfs.from_buffer_copy(real)
        ours.zName = b"disk-of-the-tests"
        ours.xOpen = Open(self._opener(real.xOpen))
        ours.xDelete = Delete(self._deleter(real.xDelete))
        library.sqlite3_vfs_register(ctypes.byref(ours), 1)
        try:
            yield
        finally:
            library.sqlite3_vfs_unregister(ctypes.byref(ours))

    def _opener(self, real_open: Callable[..., int]) -> Callable[..., int]:
        def opened(vfs: int, name: int | None, file: int, flags: int, out: int) -> int:
            result = real_open(vfs, name, file, flags, out)
            if result == SQLITE_OK and name:
                self._wrap(file, _path(name))
            return result

        return opened

    def _deleter(self, real_delete: Callable[..., int]) -> Callable[..., int]:
        def delete(vfs: int, name: int, sync: int) -> int:
            result = real_delete(vfs, name, sync)
            if result == SQLITE_OK and sync:
                (self.durable / _path(name).name).unlink(missing_ok=True)
            return result

        return delete

    def _wrap(self, address: int, path: Path) -> None:
        """Put our methods before those of an open file. SQLite reuses addresses, so always anew."""
        file = File.from_address(address)
        real = Methods.from_buffer_copy(file.pMethods.contents)
        ours = Methods.from_buffer_copy(real)
        ours.xWrite = Write(self._write(real))
        ours.xSync = Sync(self._sync(real, path))
        if real.iVersion >= 2:
            ours.xShmMap = ShmMap(self._map(real))
        self._methods[address] = (real, ours)
        file.pMethods = ctypes.pointer(ours)

    def _write(self, real: Methods) -> Callable[..., int]:
        def write(file: int, data: int, size: int, offset: int) -> int:
            return SQLITE_FULL if self.is_full else real.xWrite(file, data, size, offset)

        return write

    def _sync(self, real: Methods, path: Path) -> Callable[..., int]:
        def sync(file: int, flags: int) -> int:
            if self.syncs_fail:
                return SQLITE_IOERR_FSYNC
            result = real.xSync(file, flags)
            if result == SQLITE_OK:
                shutil.copyfile(path, self.durable / path.name)
            return result

        return sync

    def _map(self, real: Methods) -> Callable[..., int]:
        def shm_map(file: int, region: int, size: int, extend: int, out: int) -> int:
            if self.is_full and extend and region > 0:
                return SQLITE_IOERR_SHMSIZE
            return real.xShmMap(file, region, size, extend, out)

        return shm_map


def _path(name: int) -> Path:
    return Path(ctypes.string_at(name).decode())


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
    try:
        library.sqlite3_vfs_find.restype = POINTER(Vfs)
    except AttributeError:
        pytest.skip("this Python hides the SQLite that it was built with")
    return library
