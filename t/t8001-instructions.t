#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The hot path does not get longer unseen: instructions per region and per MPI call. The bounds are what was counted, and 15 %.
. "$(dirname "$0")/lib.sh"
command -v valgrind >/dev/null || skip_all "needs valgrind"
plan 1
counted() { OMPI_ALLOW_RUN_AS_ROOT=1 "$srcdir/t/bench/instructions" --build "$builddir" --most-region "$1" --most-call "$2" >"$work/out" 2>"$work/err"; }
ok "instructions of the hot path" all_of "counted 335 270 || { sed 's/^/# /' '$work/out'; false; }"
