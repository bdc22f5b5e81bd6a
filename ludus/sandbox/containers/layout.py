"""An archive that holds files of this machine at their own paths, with the folders and links that lead to them."""

import io
import os
import tarfile

__all__ = ["Layout"]


class Layout:
    """Writes an archive; nothing in it belongs to anybody but root, and nothing can take on another user."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._done = {"/"}

    def add(self, path: str) -> None:
        """A file, link or folder of this machine (the folder empty); what is not there is left out."""
        parent, name = os.path.split(path)
        real = os.path.join(os.path.realpath(parent), name)
        if path in self._done or not os.path.lexists(path):
            return
        self._done.add(path)
        self.add(parent)
        if real != path:
            self.add(real)
        elif os.path.islink(path):
            self._link(path, os.readlink(path))
            self.add(os.path.normpath(os.path.join(parent, os.readlink(path))))
        elif os.path.isdir(path):
            self._folder(path, 0o755)
        else:
            self._file(path)

    def folder(self, path: str, mode: int) -> None:
        """An empty folder, which need not be on this machine."""
        if path not in self._done:
            self.folder(os.path.dirname(path), 0o755)
            self._done.add(path)
            self._folder(path, mode)

    def text(self, path: str, text: str) -> None:
        """A file that is not on this machine, or reads otherwise there."""
        self.folder(os.path.dirname(path), 0o755)
        self._done.add(path)
        entry = tarfile.TarInfo(path[1:])
        entry.size = len(text.encode())
        self._archive.addfile(entry, io.BytesIO(text.encode()))

    def _link(self, path: str, target: str) -> None:
        entry = tarfile.TarInfo(path[1:])
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        self._archive.addfile(entry)

    def _folder(self, path: str, mode: int) -> None:
        entry = tarfile.TarInfo(path[1:])
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        self._archive.addfile(entry)

    def _file(self, path: str) -> None:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            entry = tarfile.TarInfo(path[1:])
            entry.size = found.st_size
            entry.mode = 0o755 if found.st_mode & 0o111 else 0o644
            entry.mtime = int(found.st_mtime)  # what was compiled from it is valid for this time only
            self._archive.addfile(entry, file)
