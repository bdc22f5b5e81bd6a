"""Found as `gymnasium` by processes whose search path begins with this folder: puts Ludus in its place."""

import sys

from ludus.interop.as_gymnasium.finder import virtual_module
from ludus.interop.as_gymnasium.installation import install

__ludus__ = True

if __name__ == "gymnasium":  # and not when a tool that walks through the package imports it by its path
    install()
    sys.modules[__name__] = virtual_module(__name__)
