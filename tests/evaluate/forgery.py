"""Results taken apart, changed and written again, with every checksum and digest of the file made right."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ludus.evaluate.result_file import RESULT, SIGNATURE, _Hashed
from ludus.trajectory.archive import Archive
from ludus.trajectory.block import StoredReset
from ludus.trajectory.chunk import write_chunk
from ludus.trajectory.run import Run


class Forgery:
    """A result whose header, columns, resets and claims may be changed before it is saved."""

    def __init__(self, path: Path) -> None:
        archive = Archive(path)
        run = Run(archive)
        self.header: dict[str, Any] = msgspec.json.decode(archive.read("run.json"))
        chunks = run.chunks
        numbers = range(len(chunks.heads))
        names = chunks.heads[0].columns
        self.arrays = {name: np.concatenate([chunks.array(one, name) for one in numbers]) for name in names}
        self.objects = {
            name: [row for one in numbers for row in chunks.objects(one, name)] for name in chunks.heads[0].objects
        }
        self.resets: list[StoredReset] = chunks.resets()
        self.events = list(chunks.events())
        self.digests = [digest for head in chunks.heads for digest in head.digests]
        self.claims: dict[str, Any] = msgspec.json.decode(archive.read(RESULT))
        self.signature = archive.read(SIGNATURE) if SIGNATURE in archive else None

    @property
    def declaration(self) -> dict[str, Any]:
        return self.header["metadata"]["evaluation"]

    @property
    def spec(self) -> dict[str, Any]:
        return self.header["spec"]

    def column(self, name: str) -> Any:
        """A column that may be written to."""
        self.arrays[name] = self.arrays[name].copy()
        return self.arrays[name]

    def rows(self, episode: int) -> slice:
        """The rows of an episode, its reset included."""
        starts = [*(one.row for one in self.resets), len(self.arrays["steps/op"])]
        return slice(starts[episode], starts[episode + 1])

    def save(self, path: Path, *, right_digest: bool = True) -> Path:
        """Write it as a new file, as whole as an honest one."""
        path.unlink(missing_ok=True)
        archive = _Hashed(path)
        archive.add("run.json", msgspec.json.encode(self.header))
        objects = {name: msgspec.msgpack.encode(rows) for name, rows in self.objects.items()}
        beside: Any = {"events": self.events, "resets": self.resets, "digests": self.digests}
        write_chunk(archive, 0, 0, len(self.arrays["steps/op"]), self.arrays, objects, **beside)
        if right_digest:
            self.claims["digest"] = archive.digest.hexdigest()
        archive.add(RESULT, msgspec.json.encode(self.claims))
        if self.signature is not None:
            archive.add(SIGNATURE, self.signature)
        archive.close()
        return path
