"""How graders and programs are spoken to: a sandboxed process behind one socket."""

from ludus.sandbox.framed_process import FramedProcess, Late

__all__ = ["FramedProcess", "Late"]
