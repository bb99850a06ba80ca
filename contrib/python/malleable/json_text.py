# SPDX-License-Identifier: LGPL-2.1-or-later
"""JSON with so many digits for each real number, and no more than that."""
from __future__ import annotations

import json
import math
from typing import Any


def real(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text if "." in text else text + ".0"
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{int(exponent)}"


def dumps(value: Any, digits: int, indent: int = 0, depth: int = 0) -> str:
    """VALUE as text, on one line without INDENT. What is no number is null."""
    if isinstance(value, float):
        return real(value, digits) if math.isfinite(value) else "null"
    if isinstance(value, dict):
        colon = ": " if indent else ":"
        items = [f"{json.dumps(key)}{colon}{dumps(item, digits, indent, depth + 1)}"
                 for key, item in value.items()]
        begin, end = "{", "}"
    elif isinstance(value, (list, tuple)):
        items = [dumps(item, digits, indent, depth + 1) for item in value]
        begin, end = "[", "]"
    else:
        return json.dumps(value)
    if not indent or not items:
        return begin + ",".join(items) + end
    space = "\n" + " " * indent * (depth + 1)
    return begin + space + ("," + space).join(items) + "\n" + " " * indent * depth + end
