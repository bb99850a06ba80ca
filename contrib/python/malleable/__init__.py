# SPDX-License-Identifier: LGPL-2.1-or-later
"""What srun --balance recorded, for analysts: malleable.read(trace) gives its tables for pandas.
malleable.runtime is for balanced programs, malleable.control for those who steer them."""
import importlib

__version__ = "0.9.0"
__all__ = ["Failure", "Trace", "read"]
_HOMES = {"Failure": ".files", "Trace": ".trace", "read": ".trace"}


def __getattr__(name):
    """Pandas is imported by who reads traces alone."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
