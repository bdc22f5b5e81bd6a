from types import FunctionType

class FunctionIdentity:
    func: FunctionType
    func_name: str
