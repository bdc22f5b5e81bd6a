"""Numba's compiler with passes of our own: names are replaced, variables and types judged, and checks lowered."""

from __future__ import annotations

from typing import ClassVar

from numba.core.compiler import CompilerBase, DefaultPassBuilder, StateDict
from numba.core.compiler_machinery import AnalysisPass, FunctionPass, PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NopythonTypeInference
from numba.core.untyped_passes import InlineClosureLikes, IRProcessing

from ludus.kernels.exact.bound import judge_bound, judge_inner_calls
from ludus.kernels.exact.checked import RuleLowering
from ludus.kernels.exact.names import replace_names
from ludus.kernels.exact.operands import judge_rule
from ludus.kernels.exact.overlap import judge_overlaps
from ludus.kernels.exact.program import RuleProgram
from ludus.kernels.exact.promotion import judge_promotions
from ludus.kernels.exact.unification import judge_unification
from ludus.kernels.numba_types import CompilerOptions

__all__ = ["RuleCompiler", "program_of"]

LOOP = "run_lanes"
"""What the text of a batch calls the function that calls all others."""


@register_pass(mutates_CFG=False, analysis_only=True)
class JudgeVariables(AnalysisPass):
    """What reads variables without a value, or leaves out arguments, is refused before functions become one."""

    _name = "ludus_variables"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Refuse what compiled code would take for something else."""
        judge_inner_calls(state.func_ir)
        judge_bound(state.func_ir)
        return False


@register_pass(mutates_CFG=False, analysis_only=False)
class ReplaceNames(FunctionPass):
    """Whatever a rule names becomes what compiled rules use, or is refused."""

    _name = "ludus_names"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Change the function's loads."""
        return replace_names(state.func_ir, _program(state))


@register_pass(mutates_CFG=False, analysis_only=True)
class JudgeOperands(AnalysisPass):
    """Whatever depends on types is judged once they are known."""

    _name = "ludus_operands"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Refuse what is not exact."""
        program = _program(state)
        judge_rule(state.func_ir, state.typemap, state.calltypes, program)
        judge_overlaps(state.func_ir, state.typemap)
        if not program.inexact:
            judge_unification(state.func_ir, state.typemap, state.calltypes, state.return_type)
        program.note(state, rule=True)
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class JudgeProgram(AnalysisPass):
    """Whatever depends on all rules together is judged once the loop, which calls them, has its types."""

    _name = "ludus_program"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Refuse what is not exact."""
        program = _program(state)
        program.note(state, rule=False)
        if state.func_id.func_name == LOOP and not program.inexact:
            judge_promotions(program.typed)
        return False


def _program(state: StateDict) -> RuleProgram:
    """The program that a function belongs to: what `RuleCompiler` left for its passes."""
    program: RuleProgram = state.ludus_program
    return program


class RuleCompiler(CompilerBase):
    """The pipeline of rules, and of the loop that calls them."""

    program: ClassVar[RuleProgram]
    rule: ClassVar[bool]

    def define_pipelines(self) -> list[PassManager]:
        """Numba's passes, and ours among them."""
        self.state.ludus_program = self.program
        self.state.metadata |= {"ludus_checks": self.program.checks, "ludus_rule": self.rule}
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        if self.rule:
            passes.add_pass_after(JudgeVariables, IRProcessing)
            passes.add_pass_after(ReplaceNames, InlineClosureLikes)
        passes.add_pass_after(JudgeOperands if self.rule else JudgeProgram, NopythonTypeInference)
        passes.passes = [(RuleLowering, text) if one is NativeLowering else (one, text) for one, text in passes.passes]
        passes.finalize()
        return [passes]


def program_of(options: CompilerOptions, *, checks: bool = False, inexact: bool = False) -> RuleProgram:
    """A program whose functions go through these passes.

    >>> import numba
    >>> cubed = program_of({"nogil": True}).compiled(lambda x: x**3)
    >>> numba.njit(lambda x: cubed(x))(1.1) == 1.1**3
    True
    """
    return RuleProgram(options, RuleCompiler, checks=checks, inexact=inexact)
