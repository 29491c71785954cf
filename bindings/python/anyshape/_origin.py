"""Where a session comes from: what is pickled of it, and the sessions a process has unpickled."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pickle
import threading
from collections import OrderedDict
from typing import Any, Union

_KEPT = 8
_sessions: OrderedDict[bytes, Any] = OrderedDict()
_lock = threading.Lock()


def _new_lock() -> None:
    global _lock
    _lock = threading.Lock()


# Another thread of the parent may hold it.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


@dataclasses.dataclass(frozen=True)
class Origin:
    """The absolute path or the bytes of a model, and the options it was loaded with."""

    source: Union[str, bytes]
    options: Any

    @classmethod
    def of(cls, source: Any, options: Any) -> Origin | None:
        """None where the source is an object that its owner may change."""
        if not isinstance(source, (bytes, str, os.PathLike)):
            return None
        kept = source if isinstance(source, bytes) else os.path.abspath(os.fsdecode(source))
        return cls(kept, options)

    def key(self) -> bytes:
        """Changes with the file."""
        made = hashlib.blake2b(pickle.dumps(self.options))
        if isinstance(self.source, bytes):
            made.update(self.source)
        else:
            about = os.stat(self.source)
            made.update(f"{self.source}\0{about.st_mtime_ns}\0{about.st_size}".encode(errors="surrogateescape"))
        return made.digest()


def restored(kind: Any, origin: Origin) -> Any:
    """The session, loaded unless this process has unpickled it before; the last few are kept."""
    if isinstance(origin.source, str) and not os.path.exists(origin.source):
        return kind(origin.source, origin.options)
    key = origin.key() + kind.__qualname__.encode() + kind.__module__.encode()
    with _lock:
        if key not in _sessions:
            _sessions[key] = kind(origin.source, origin.options)
            if len(_sessions) > _KEPT:
                _sessions.popitem(last=False)
        _sessions.move_to_end(key)
        return _sessions[key]
