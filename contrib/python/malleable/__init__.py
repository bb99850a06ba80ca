# SPDX-License-Identifier: LGPL-2.1-or-later
"""What srun --balance recorded, for analysts: malleable.read(trace) gives its tables for pandas."""
from .files import Failure
from .trace import Trace, read

__version__ = "0.9.0"
__all__ = ["Failure", "Trace", "read"]
