"""An image with a server in it, made of this interpreter and the packages that a server needs; no registry."""

import importlib.util
import json
import os
import sys
import tarfile
from pathlib import Path

import ludus
from ludus.sandbox.containers import images
from ludus.sandbox.containers.layout import Layout

PACKAGES = (
    "anyio", "click", "h11", "httptools", "idna", "msgspec", "numpy", "starlette", "typing_extensions", "uvicorn",
    "uvloop", "websockets", "zstandard",
)  # fmt: skip
LEFT_OUT = {"tests", "testing", "node_modules"}
LABEL = "ludus.test"


def build(api, name, program):
    """An image that runs a program of Python."""
    entry = json.dumps([sys.executable, "-B", "-c", f"import sys; sys.path.insert(0, {ROOT!r})\n{program}"])
    api.import_image(name, write, changes=f"ENTRYPOINT {entry}")


ROOT = str(Path(ludus.__file__).parents[1])


def write(file):
    with tarfile.open(fileobj=file, mode="w|", bufsize=1 << 20, format=tarfile.PAX_FORMAT) as archive:
        layout = Layout(archive)
        for path, mode in images.FOLDERS.items():
            layout.folder(path, mode)
        sources = images._sources()
        compiled = list(packages())
        loaded = images._loaded([one for one in compiled if ".so" in one])
        for path in (*images.LINKS, *sources, *images._libraries(sources), *sorted(loaded), *compiled):
            layout.add(os.path.normpath(path))
        for path in (sys.executable, f"{sys.prefix}/pyvenv.cfg", images.LOADER):
            layout.add(path)


def packages():
    """The files of the packages, and of Ludus itself."""
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        for place in [*(found.submodule_search_locations or [])] or [found.origin]:
            yield from files(place)
            libraries = f"{place}.libs"
            yield from files(libraries)
    yield from files(str(Path(ludus.__file__).parent))


def files(place):
    if os.path.isfile(place):
        yield place
    for folder, folders, names in os.walk(place):
        folders[:] = [one for one in folders if one not in LEFT_OUT or folder.startswith(ROOT + "/ludus")]
        yield from (os.path.join(folder, one) for one in names if not one.endswith((".nbi", ".nbc")))
