"""Masks of WebSocket frames, by the compiled function of the `websockets` library where it has one."""

try:
    from websockets.speedups import apply_mask
except ImportError:  # a build without compiled code
    from websockets.utils import apply_mask

__all__ = ["apply_mask"]
