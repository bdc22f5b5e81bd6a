"""llvmlite, which builds LLVM's language and links it: as much of it as Ludus uses."""

__version__: str
