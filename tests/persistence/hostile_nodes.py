"""Objects in skops' schema that would run something, if anyone built them."""

import json


def json_node(value, number):
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
        "is_json": True,
        "__id__": number,
    }


def container(loader, kind, content, number, **more):
    return {
        "__class__": kind,
        "__module__": "builtins",
        "__loader__": loader,
        "content": content,
        "__id__": number,
        **more,
    }


def hostile_nodes(canary):
    command = json_node(f"touch {canary}", 11)
    args = container("TupleNode", "tuple", [command], 12)
    empty = container("DictNode", "dict", {}, 13, key_types=container("ListNode", "list", [], 14))
    system = {"__class__": "system", "__module__": "os", "__loader__": "FunctionNode", "__id__": 15}
    evaluate = {**system, "__class__": "eval", "__module__": "builtins", "__id__": 16}
    partial = {"func": system, "args": args, "kwds": empty, "namespace": json_node(None, 17)}
    named = {"__id__": 18}
    touch = f"touch {canary}"
    return {
        "os.system": system,
        "builtins.eval": evaluate,
        "a type": {**system, "__loader__": "TypeNode"},
        "functools.partial": {
            "__class__": "partial",
            "__module__": "functools",
            "__loader__": "PartialNode",
            "content": partial,
            **named,
        },
        "operator.methodcaller": {
            "__class__": "methodcaller",
            "__module__": "operator",
            **named,
            "__loader__": "OperatorFuncNode",
            "attrs": args,
        },
        "a constructor": {
            "__class__": "Popen",
            "__module__": "subprocess",
            **named,
            "__loader__": "ConstructorFromReduceNode",
            "content": args,
        },
        "a list of another kind": {
            **container("ListNode", "system", [command], 18),
            "__module__": "os",
        },
        "keys that are calls": container(
            "DictNode",
            "dict",
            {touch: command},
            18,
            key_types=container("ListNode", "list", [system], 19),
        ),
        "a known constructor": {
            "__class__": "csr_array",
            "__module__": "scipy.sparse._csr",
            **named,
            "__loader__": "ConstructorFromReduceNode",
            "content": container("TupleNode", "tuple", [json_node([10**9, 10**9], 20)], 21),
        },
        "a method": {
            "__class__": "LogisticRegression",
            "__module__": "sklearn.linear_model._logistic",
            "__loader__": "MethodNode",
            **named,
            "content": {
                "func": "fit",
                "obj": {
                    "__class__": "LogisticRegression",
                    "__id__": 22,
                    "__module__": "sklearn.linear_model._logistic",
                    "__loader__": "ObjectNode",
                },
            },
        },
    }
