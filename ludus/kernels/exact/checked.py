"""Lowering with checks: what the interpreter raises an error for, compiled rules raise one for, at the user's line.

A check is a comparison and a branch that is never taken. Those of `ALWAYS` are cheap beside what they guard; those of
integers, which guard single instructions, are made where they are asked for.
"""

from __future__ import annotations

import math
from typing import TypeGuard

import numpy as np
from numba.core import cgutils, types
from numba.core import ir as statements
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import CompileResult
from numba.core.compiler_machinery import register_pass
from numba.core.imputils import fix_returning_optional, impl_ret_new_ref
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering

from ludus.kernels.exact.drawn import INFINITE, drawn_by, failing_by, message_of
from ludus.kernels.exact.fault import BOOLEAN, FLOAT, INTEGER, NUMBERS, WRITTEN
from ludus.kernels.exact.functions import OVERFLOW_MARK, integer, power
from ludus.kernels.exact.llvm import ir as llvm
from ludus.kernels.exact.names import refuse
from ludus.kernels.exact.narrow import narrow_of
from ludus.kernels.exact.operators import operator
from ludus.kernels.numba_types import Builder, IRExpr, IRLocation, IRStatement, IRVar, LLVMValue, NumbaType, Signature

__all__ = ["RuleLowering"]

DIVISIONS = {operator.truediv, operator.floordiv, operator.mod, divmod}
WORD, DOUBLE = llvm.IntType(64), llvm.DoubleType()
TO_INTEGER = {integer, round, math.floor, math.ceil, math.trunc, np.int64}
POLES = {math.log, math.log2, math.log10, math.log1p, math.atanh}
"""Infinite at a point, which Python takes for an error of the argument."""
CIRCULAR = {math.sin, math.cos, math.tan}
BOUNDED = {
    *(math.asin, math.acos, math.atan, math.atan2, math.tanh, math.sqrt, math.fabs),
    *(math.copysign, math.asinh, math.acosh, math.radians),
}
"""Never infinite for a finite argument."""
ORDER: dict[object, str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
SHIFTS = {operator.lshift, operator.rshift}
DOMAIN: tuple[type[Exception], str] = (ValueError, "math domain error")
WITH_OVERFLOW: dict[object, str] = {operator.add: "sadd", operator.sub: "ssub", operator.mul: "smul"}
LIMIT = float(2**63)
MAX_SITES = 64
"""How many errors a word can hold."""
EXACT_INTEGER = 2**53
"""Integers up to here are floats without rounding."""


class RuleLower(Lower):
    """From typed rules to LLVM, with checks."""

    # --- division, overflow ---

    def lower_binop(self, resty: NumbaType, expr: IRExpr, op: object) -> LLVMValue:
        """An operator, checked."""
        plain = getattr(expr, "immutable_fn", op) if expr.op == "inplace_binop" else op
        left, right = self._plain(expr.lhs), self._plain(expr.rhs)
        if plain in DIVISIONS and _is_number(left) and _is_number(right):
            self._check_divisor(expr.rhs, right)
            if left == right == types.int64:
                self._check_quotient(expr, plain)
        if plain in SHIFTS and {left, right} <= {types.int64, types.boolean}:
            return self._shifted(resty, expr, plain)
        if self._checks and left == right == types.int64 and plain in WITH_OVERFLOW:
            return self._overflowing(resty, expr, WITH_OVERFLOW[plain])
        if plain in ORDER and {left, right} == {types.int64, types.float64} and resty == types.boolean:
            return self._compared(expr, plain, whole_first=left == types.int64)
        found = super().lower_binop(resty, expr, op)
        kind = narrow_of(left, right)
        if self._is_rule and kind is not None and plain in WITH_OVERFLOW and isinstance(resty, types.Integer):
            self._check_narrow(found, resty, kind)
        return found

    def _compared(self, expr: IRExpr, op: object, *, whole_first: bool) -> LLVMValue:
        """An integer and a float, compared as the numbers they are: 2**53 + 1 is no float, and equals none."""
        builder = self.builder
        whole, number = (expr.lhs, expr.rhs) if whole_first else (expr.rhs, expr.lhs)
        i, f = self._integer(whole), self._float(number)
        as_float = builder.sitofp(i, DOUBLE)
        pairs = [(as_float, f), (f, as_float)]
        compare = builder.fcmp_unordered if op is operator.ne else builder.fcmp_ordered
        rounded = compare(ORDER[op], *pairs[not whole_first])
        literal = self.typeof(whole.name)
        if isinstance(literal, types.IntegerLiteral) and abs(literal.literal_value) <= EXACT_INTEGER:
            return rounded
        # Where they are one float, the integer may still be another: 2**63, which is none of 64 bits, is the largest.
        beyond = builder.fcmp_ordered(">=", f, DOUBLE(LIMIT))
        same = builder.and_(builder.fcmp_ordered("==", as_float, f), builder.not_(beyond))
        back = builder.fptosi(builder.select(same, f, DOUBLE(0.0)), WORD)
        exact = builder.icmp_signed(ORDER[op], *[(i, back), (back, i)][not whole_first])
        above = compare(ORDER[op], *[(DOUBLE(0.0), DOUBLE(1.0)), (DOUBLE(1.0), DOUBLE(0.0))][not whole_first])
        return builder.select(same, exact, builder.select(beyond, above, rounded))

    def _check_narrow(self, found: LLVMValue, resty: NumbaType, kind: types.Integer) -> None:
        """NumPy's small integers wrap around; here that is an error."""
        value = self.context.cast(self.builder, found, resty, types.int64)
        above = self.builder.icmp_signed(">", value, WORD(kind.maxval))
        below = self.builder.icmp_signed("<", value, WORD(kind.minval))
        self._fail_if(self.builder.or_(above, below), OverflowError, f"an integer beyond {kind}")

    def _check_divisor(self, divisor: IRVar, kind: NumbaType) -> None:
        value, builder = self.loadvar(divisor.name), self.builder
        value = self.context.cast(builder, value, self.typeof(divisor.name), kind)
        if isinstance(kind, types.Float):
            zero = builder.fcmp_ordered("==", value, value.type(0.0))
            self._fail_later(zero, ZeroDivisionError, "division by zero")
        else:
            zero = builder.icmp_signed("==", value, value.type(0))
            self._fail_if(zero, ZeroDivisionError, "division by zero")

    def _check_quotient(self, expr: IRExpr, op: object) -> None:
        """Of large integers Python's quotient is rounded once, and a machine's twice; the least one has none."""
        if not self._checks:
            return
        builder = self.builder
        left, right = (self._integer(one) for one in (expr.lhs, expr.rhs))
        if op is not operator.truediv:
            least = builder.icmp_signed("==", left, WORD(OVERFLOW_MARK))
            negated = builder.icmp_signed("==", right, WORD(-1))
            self._fail_if(builder.and_(least, negated), OverflowError, "an integer is larger than 64 bits")
            return
        for value in (left, right):
            beyond = builder.icmp_unsigned(">", builder.add(value, WORD(EXACT_INTEGER)), WORD(2 * EXACT_INTEGER))
            self._fail_if(beyond, OverflowError, "an integer beyond 2**53 has no exact quotient")

    def _overflowing(self, resty: NumbaType, expr: IRExpr, name: str) -> LLVMValue:
        builder = self.builder
        left, right = self._integer(expr.lhs), self._integer(expr.rhs)
        found = getattr(builder, f"{name}_with_overflow")(left, right)
        self._fail_if(builder.extract_value(found, 1), OverflowError, "an integer is larger than 64 bits")
        signature = self.fndesc.calltypes[expr]
        return self.context.cast(builder, builder.extract_value(found, 0), signature.return_type, resty)

    def _shifted(self, resty: NumbaType, expr: IRExpr, op: object) -> LLVMValue:
        """A shift by any count: a processor's own takes 64 for 0."""
        builder = self.builder
        value, by = self._integer(expr.lhs), self._integer(expr.rhs)
        negative, wide = builder.icmp_signed("<", by, WORD(0)), builder.icmp_unsigned(">", by, WORD(63))
        self._fail_if(negative, ValueError, "negative shift count")
        if op is operator.rshift:
            found = builder.ashr(value, builder.select(wide, WORD(63), by))
        else:
            by = builder.select(wide, WORD(0), by)
            found = builder.shl(value, by)
            lost = builder.and_(wide, builder.icmp_signed("!=", value, WORD(0)))
            if self._checks:
                lost = builder.or_(lost, builder.icmp_signed("!=", builder.ashr(found, by), value))
            self._fail_if(lost, OverflowError, "an integer is larger than 64 bits")
        return self.context.cast(builder, found, types.int64, resty)

    # --- indices ---

    def lower_getitem(
        self, resty: NumbaType, expr: IRExpr, value: IRVar, index: IRVar, signature: Signature
    ) -> LLVMValue:
        """An element, within bounds."""
        if self._is_rule:
            self._check_index(value, index)
        return super().lower_getitem(resty, expr, value, index, signature)

    def lower_setitem(self, target_var: IRVar, index_var: IRVar, value_var: IRVar, signature: Signature) -> LLVMValue:
        """Set an element, within bounds, to a value that fits."""
        if self._is_rule:
            self._check_index(target_var, index_var)
        if self._checks:
            self._check_narrowing(target_var, value_var)
        return super().lower_setitem(target_var, index_var, value_var, signature)

    def _check_index(self, of: IRVar, index: IRVar) -> None:
        kind = self._plain(of)
        if not isinstance(kind, types.Buffer):
            return
        builder = self.builder
        array = self.context.make_array(kind)(self.context, builder, self.loadvar(of.name))
        lengths = cgutils.unpack_tuple(builder, array.shape)
        for value, one, axis in self._indices(index):
            number, length = self.context.cast(builder, value, one, types.int64), lengths[axis]
            if _never_negative(one):
                outside = builder.icmp_unsigned(">=", number, length)
            else:
                # -length <= number < length, in one comparison.
                outside = builder.icmp_unsigned(">=", builder.add(number, length), builder.shl(length, WORD(1)))
            self._fail_if(outside, IndexError, "an index is out of bounds")

    def _indices(self, index: IRVar) -> list[tuple[LLVMValue, types.Integer, int]]:
        """The integers of an index and the axes they are for; those after an ellipsis are counted from behind."""
        value, kind = self.loadvar(index.name), self.typeof(index.name)
        if not isinstance(kind, types.BaseTuple):
            return [(value, kind, 0)] if isinstance(kind, types.Integer) else []
        parts = zip(cgutils.unpack_tuple(self.builder, value), kind.types, strict=True)
        pairs = [pair for pair in parts if not isinstance(pair[1], types.NoneType)]  # a new axis takes none
        cut = next((place for place, (_, one) in enumerate(pairs) if isinstance(one, types.EllipsisType)), len(pairs))
        axes = [place if place < cut else place - len(pairs) for place in range(len(pairs))]
        return [
            (part, one, axis) for (part, one), axis in zip(pairs, axes, strict=True) if isinstance(one, types.Integer)
        ]

    def _check_narrowing(self, target: IRVar, value: IRVar) -> None:
        kind, given = self._plain(target), self._plain(value)
        if not isinstance(kind, types.Array) or not isinstance(given, types.Integer):
            return
        dtype = kind.dtype
        if not isinstance(dtype, types.Integer) or _holds(dtype, given):
            return
        builder = self.builder
        number = self._integer(value)
        low, high = WORD(dtype.minval), WORD(min(dtype.maxval, 2**63 - 1))
        outside = builder.or_(builder.icmp_signed("<", number, low), builder.icmp_signed(">", number, high))
        self._fail_if(outside, OverflowError, f"an integer does not fit {dtype}")

    # --- functions ---

    def _lower_call_normal(self, fnty: NumbaType, expr: IRExpr, signature: Signature) -> LLVMValue:
        key = getattr(fnty, "typing_key", None)
        key = integer if isinstance(fnty, types.NumberClass) and isinstance(fnty.instance_type, types.Integer) else key
        if key in TO_INTEGER:
            self._check_integral(expr)
        if self._is_rule and isinstance(fnty, types.NumberClass):
            self._check_named_type(fnty.instance_type, expr)
        if not self._is_rule and isinstance(fnty, types.Dispatcher):
            compiled = fnty.dispatcher.overloads.get(tuple(signature.args))
            if compiled is not None:
                return self._call_rule(fnty, expr, signature, compiled)
        draw = drawn_by(fnty) if self._is_rule else None
        if draw is not None:
            with failing_by(self.builder, lambda: self._fail_draw(draw, fnty, expr, signature)):
                return super()._lower_call_normal(fnty, expr, signature)
        found = super()._lower_call_normal(fnty, expr, signature)
        if key is power or getattr(key, "__module__", "") == "math":
            self._check_result(expr, found, signature.return_type, key)
        return found

    def _call_rule(self, fnty: NumbaType, expr: IRExpr, signature: Signature, compiled: CompileResult) -> LLVMValue:
        """Call a rule from the loop; where it fails, the lane's count of steps turns negative, so that it is known."""
        context, builder = self.context, self.builder
        args = self.fold_call_args(fnty, signature, expr.args, expr.vararg, expr.kws)
        context.add_linking_libs((compiled.library,))
        made = compiled.fndesc
        function = context.declare_function(builder.module, made)
        status, found = self.call_conv.call_function(builder, function, made.restype, made.argtypes, args)
        with cgutils.if_unlikely(builder, status.is_error):
            if {"elapsed", "i"} <= self.fndesc.typemap.keys():
                place = builder.gep(self.loadvar("elapsed"), [self.loadvar("i")])
                builder.store(builder.not_(builder.load(place)), place)
            self.call_conv.return_status_propagate(builder, status)
        found = fix_returning_optional(context, builder, signature, status, found)
        return impl_ret_new_ref(context, builder, made.restype, found)

    def _fail_draw(self, name: str, fnty: NumbaType, expr: IRExpr, signature: Signature) -> None:
        """Tell a draw's error once more, at the user's line: only which of two it was has to be found out again."""
        builder, kinds = self.builder, signature.args
        if name == "uniform" and len(kinds) > 1:
            values = self.fold_call_args(fnty, signature, expr.args, expr.vararg, expr.kws)
            low, high = (
                DOUBLE(kind.value)
                if isinstance(kind, types.Omitted)
                else self.context.cast(builder, one, kind, types.float64)
                for one, kind in zip(values, kinds, strict=True)
            )
            finite = _finite(builder, builder.fsub(high, low))
            self._fail_if(builder.not_(finite), OverflowError, INFINITE)
        self._fail(ValueError, message_of(name, kinds), self.loc)

    def _check_named_type(self, kind: NumbaType, expr: IRExpr) -> None:
        """`np.int8(300)` is an error, as it is of Python's numbers; a float is cut first."""
        given = self._plain(expr.args[0]) if len(expr.args) == 1 else None
        if not isinstance(kind, types.Integer) or not _is_number(given) or kind == types.int64:
            return
        if isinstance(given, types.Integer) and given.minval >= kind.minval and given.maxval <= kind.maxval:
            return
        builder, number = self.builder, self._integer(expr.args[0])
        outside = builder.icmp_signed("<", number, WORD(kind.minval))
        if kind.maxval < 2**63:
            outside = builder.or_(outside, builder.icmp_signed(">", number, WORD(kind.maxval)))
        self._fail_if(outside, OverflowError, f"an integer does not fit {kind}")

    def _check_integral(self, expr: IRExpr) -> None:
        for one in expr.args[:1]:
            if isinstance(self._plain(one), types.Float):
                builder = self.builder
                value = self.context.cast(builder, self.loadvar(one.name), self.typeof(one.name), types.float64)
                inside = builder.fcmp_ordered("<", _absolute(builder, value), DOUBLE(LIMIT))
                with builder.if_then(builder.not_(inside), likely=False):
                    unknown = builder.fcmp_unordered("uno", value, value)
                    self._fail_if(unknown, ValueError, "a NaN is no integer")
                    self._fail(OverflowError, "a number that is no integer of 64 bits", self.loc)

    def _check_result(self, expr: IRExpr, found: LLVMValue, kind: NumbaType, key: object) -> None:
        builder = self.builder
        if kind == types.int64 and key is power:
            failed = builder.icmp_signed("==", found, WORD(OVERFLOW_MARK))
            self._fail_if(failed, OverflowError, "** gives an integer beyond 64 bits, or a float (write float(x) ** y)")
        if kind != types.float64:
            return
        numbers = [self._float(one) for one in expr.args]
        if key in CIRCULAR:  # one comparison, which the sine and the cosine of an angle share
            outside = builder.fcmp_ordered("==", _absolute(builder, numbers[0]), DOUBLE(math.inf))
            self._fail_later(outside, ValueError, "math domain error")
            return
        known, finite = llvm.IntType(1)(1), llvm.IntType(1)(1)
        for value in numbers:
            known = builder.and_(known, builder.fcmp_ordered("ord", value, value))
            finite = builder.and_(finite, _finite(builder, value))
        # A NaN that goes in may come out, and so may an infinity.
        undefined = builder.and_(known, builder.fcmp_unordered("uno", found, found))
        self._fail_later(undefined, ValueError, "math domain error")
        named = getattr(key, "__name__", "")
        if key is power or named == math.pow.__name__:  # a pole, of which Python says one thing or another
            zero = builder.fcmp_ordered("==", numbers[0], DOUBLE(0.0))
            pole = builder.and_(zero, builder.fcmp_ordered("<", numbers[1], DOUBLE(0.0)))
            error, message = (ZeroDivisionError, "0.0 to a negative power") if key is power else DOMAIN
            self._fail_later(builder.and_(pole, finite), error, message)
        if key not in BOUNDED:
            infinite = builder.fcmp_ordered("==", _absolute(builder, found), DOUBLE(math.inf))
            error, message = DOMAIN if key in POLES else (OverflowError, "math range error")
            self._fail_later(builder.and_(infinite, finite), error, message)

    # --- what they share ---

    @property
    def _checks(self) -> bool:
        return self.metadata["ludus_checks"] is True

    @property
    def _is_rule(self) -> bool:
        return self.metadata["ludus_rule"] is True

    def _plain(self, var: IRVar) -> NumbaType:
        return types.unliteral(self.typeof(var.name))

    def _integer(self, var: IRVar) -> LLVMValue:
        return self.context.cast(self.builder, self.loadvar(var.name), self.typeof(var.name), types.int64)

    def _float(self, var: IRVar) -> LLVMValue:
        return self.context.cast(self.builder, self.loadvar(var.name), self._plain(var), types.float64)

    # --- errors ---

    def init(self) -> None:
        """Begin with a function."""
        super().init()
        self._sites: list[tuple[type[Exception], str, IRLocation]] = []
        self._mask: LLVMValue | None = None
        self._fault_block: llvm.Block | None = None
        # In a loop an infinity may go round for ever: there an error is raised at once.
        self._defers = not compute_cfg_from_blocks(self.blocks).loops()

    def lower_inst(self, inst: IRStatement) -> None:
        """A statement; before a return, ask for errors that were put off."""
        if isinstance(inst, statements.Return) and self._defers and self._is_rule:
            builder = self.builder
            if self._fault_block is None:
                self._fault_block = builder.append_basic_block("faults")
            onward = builder.append_basic_block("no_fault")
            wrong = builder.icmp_unsigned("!=", builder.load(self._fault_mask()), WORD(0))
            branch = builder.cbranch(wrong, self._fault_block, onward)
            branch.set_weights([1, 2000])
            builder.position_at_end(onward)
        super().lower_inst(inst)

    def lower_function_body(self) -> llvm.Block:
        """All blocks, and the one that tells which error it was."""
        tail = super().lower_function_body()
        if self._fault_block is not None:
            builder = self.builder
            builder.position_at_end(self._fault_block)
            mask = builder.load(self._fault_mask())
            for place, (kind, message, loc) in enumerate(self._sites):
                bit = builder.and_(mask, WORD(1 << place))
                with builder.if_then(builder.icmp_unsigned("!=", bit, WORD(0))):
                    self._fail(kind, message, loc)
            self._fail(ArithmeticError, "an unknown error", self.loc)
        return tail

    def _fault_mask(self) -> LLVMValue:
        if self._mask is None:
            self._mask = cgutils.alloca_once(self.builder, WORD, zfill=True)
        return self._mask

    def _fail_later(self, condition: LLVMValue, kind: type[Exception], message: str) -> None:
        """Note an error that does no harm until the function returns: a branch here would cost a step a tenth."""
        if not self._defers or len(self._sites) == MAX_SITES:
            self._fail_if(condition, kind, message)
            return
        builder, mask = self.builder, self._fault_mask()
        bit = builder.select(condition, WORD(1 << len(self._sites)), WORD(0))
        self._sites.append((kind, message, self.loc))
        builder.store(builder.or_(builder.load(mask), bit), mask)

    def lower_dynamic_raise(self, inst: statements.DynamicRaise) -> None:
        """An exception that tells numbers, each as a word; what they are stands after them, for who raises it."""
        args: list[object] = []
        kinds: list[NumbaType | None] = []
        codes = ""
        for one in inst.exc_args:
            if not isinstance(one, statements.Var):
                args.append(one)
                kinds.append(None)
                codes += WRITTEN
                continue
            kind = self._plain(one)
            if isinstance(kind, types.Integer | types.Boolean):
                args.append(self._integer(one))
                kinds.append(types.int64)
                codes += BOOLEAN if isinstance(kind, types.Boolean) else INTEGER
            elif isinstance(kind, types.Float):
                args.append(self._float(one))
                kinds.append(types.float64)
                codes += FLOAT
            else:
                refuse(self.loc, f"an exception that tells {kind}", "numbers and text")
        self.return_dynamic_exception(inst.exc_class, (*args, NUMBERS + codes), (*kinds, None), loc=self.loc)

    def _fail_if(self, condition: LLVMValue, kind: type[Exception], message: str) -> None:
        with self.builder.if_then(condition, likely=False):
            self._fail(kind, message, self.loc)

    def _fail(self, kind: type[Exception], message: str, loc: IRLocation) -> None:
        name = self.func_ir.func_id.func_name
        self.call_conv.return_user_exc(self.builder, kind, (message,), loc=loc, func_name=name)


def _never_negative(kind: types.Integer) -> bool:
    return not kind.signed or (isinstance(kind, types.IntegerLiteral) and kind.literal_value >= 0)


def _holds(wide: types.Integer, narrow: types.Integer) -> bool:
    return wide.signed and wide.bitwidth >= narrow.bitwidth


def _absolute(builder: Builder, value: LLVMValue) -> LLVMValue:
    bits = builder.and_(builder.bitcast(value, WORD), WORD(2**63 - 1))
    return builder.bitcast(bits, DOUBLE)


def _finite(builder: Builder, value: LLVMValue) -> LLVMValue:
    return builder.fcmp_ordered("<", _absolute(builder, value), DOUBLE(math.inf))


def _is_number(kind: NumbaType | None) -> TypeGuard[types.Integer | types.Float]:
    return isinstance(kind, types.Integer | types.Float)


@register_pass(mutates_CFG=True, analysis_only=False)
class RuleLowering(BaseNativeLowering):
    """Numba's lowering pass, by `RuleLower`."""

    _name = "ludus_lowering"

    @property
    def lowering_class(self) -> type[RuleLower]:
        """What lowers a function."""
        return RuleLower
