#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The walls of the architecture: who may include what. Licence lines. Scripts that shellcheck likes.
. "$(dirname "$0")/lib.sh"
cd "$srcdir" || exit 1
plan 14

# includes DIRS PATTERN: files below DIRS (words) that include a header matching PATTERN.
# shellcheck disable=SC2086
includes() { grep -rlE "#include [<\"]($2)" $1 --include='*.[ch]'; }
none() { local found; found=$("$@"); [ -z "$found" ] || { echo "# $found"; false; }; }
outside() { includes "spank libmalleable policies contrib t" "$1" | grep -vE "$2"; }

ok "<slurm/spank.h> is included by spank/plugin.h alone, slurm's own interface where comments are set" none outside 'slurm/' '^spank/(plugin\.h|outcome\.c)$'
ok "omp-tools.h is included by rank/ompt.c and the tests' tools alone" none outside 'omp-tools\.h' '^(libmalleable/rank/ompt|t/bench/emptytool|t/programs/record)\.c$'
ok "mpi.h is included by rank/mpi/, examples and tests alone" none outside 'mpi\.h' '^(libmalleable/rank/mpi|contrib/examples|t)/'
ok "pmix.h is included by rank/pmix.c and the tests' listener alone" none outside 'pmix\.h' '^(libmalleable/rank/pmix|t/programs/listen)\.c$'
ok "policies know core's error and spec, and libc" none includes policies 'libmalleable/(rank|controller|cmd|trace)|spank/|hwloc|sys/|unistd|time\.h|pthread'
ok "core includes nothing of ours but core" none includes libmalleable/core 'libmalleable/(agent|rank|controller|cmd|trace)|policies/|spank/'
ok "the node's agent includes core and agent" none includes libmalleable/agent 'libmalleable/(rank|controller|cmd|trace|loadable)|policies/|spank/'
ok "ranks include core and rank" none includes libmalleable/rank 'libmalleable/(agent|controller|cmd|trace)|policies/|spank/'
ok "the plugin includes core and policies" none includes spank 'libmalleable/(agent|rank|controller|cmd|trace)'
ok "traces include core and policies" none includes libmalleable/trace 'libmalleable/(rank|controller|cmd)|spank/'
ok "loadable policies' side includes core and policies" none includes libmalleable/loadable 'libmalleable/(rank|controller|cmd|trace)|spank/'
licence() {
	local missing
	missing=$(find configure.ac Makefile.am spank libmalleable policies contrib t doc -type f \( -name '*.[ch]' -o -name '*.t' \
		-o -name '*.sh' -o -name '*.f90' -o -name '*.inc' -o -name '*.am' -o -name '*.scd' -o -name configure.ac \) -print0 |
		xargs -0 grep -L 'SPDX-License-Identifier: LGPL-2.1-or-later')
	[ -z "$missing" ] || { echo "# $missing"; false; }
}
ok "every source file names its licence" licence
if command -v shellcheck >/dev/null; then
	ok "shellcheck has nothing to say" shellcheck -x -P SCRIPTDIR contrib/check contrib/cluster contrib/debian contrib/demo contrib/prepare \
		contrib/vm contrib/vm.d/guest .ci/run t/lib.sh t/vm/run t/vm/*.t t/*.t
else
	skip "shellcheck has nothing to say" "no shellcheck"
fi
formatted() {
	find spank libmalleable policies contrib t -name '*.[ch]' -print0 | xargs -0 clang-format-19 --dry-run -Werror 2>&1 | head -n 5 |
		sed 's/^/# /' | grep . && return 1
	return 0
}
if command -v clang-format-19 >/dev/null; then
	ok "the sources are formatted as .clang-format says" formatted
else
	skip "the sources are formatted as .clang-format says" "no clang-format-19"
fi
