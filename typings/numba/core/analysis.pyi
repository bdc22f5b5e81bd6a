from collections.abc import Mapping

from numba.core.controlflow import CFGraph
from numba.core.ir import Block

def compute_cfg_from_blocks(blocks: Mapping[int, Block]) -> CFGraph: ...
