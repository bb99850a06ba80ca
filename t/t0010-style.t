#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What tools say of the sources: shellcheck on each script, Python, clang, clang-format, and groff
# on man pages.
. "$(dirname "$0")/lib.sh"
cd "$srcdir" || exit 1
plan 6

# tool WHAT TOOL COMMAND...: passes if the command says nothing; skipped without the tool.
tool() {
	local what=$1 tool=$2
	shift 2
	if command -v "$tool" >/dev/null; then ok "$what" "$@"; else skip "$what" "no $tool"; fi
}
quiet() {
	local found
	found=$("$@" 2>&1 | sed 's/^/# /' | head -n "${most:-30}")
	[ -z "$found" ] || { echo "$found"; false; }
}

shell=(t/lib.sh t/faults.sh t/unit.sh contrib/completion/malleable)
mapfile -t -O 3 shell < <(scripts_of '(ba|busybox )?sh')
tool "shellcheck has nothing to say" shellcheck quiet shellcheck -x -P SCRIPTDIR "${shell[@]}"
ok "all scripts are among what it reads" all_of "[ ${#shell[@]} -gt 60 ]" \
	"grep -qx t/bench/kills <(printf '%s\n' ${shell[*]})"
compiled() {
	find contrib t -name '*.py' -print0 | xargs -0 python3 -W error::SyntaxWarning -c '
import sys
for name in sys.argv[1:]:
    compile(open(name, encoding="utf-8").read(), name, "exec")'
}
ok "Python has no warning for its sources" quiet compiled
formatted() {
	find spank libmalleable policies contrib t -name '*.[ch]' -print0 |
		xargs -0 "$format" --dry-run -Werror
}
name="clang has nothing to warn of"
if [ -n "${LEFT_OUT:-}" ]; then
	skip "$name" "configured without $LEFT_OUT"
else
	tool "$name" "clang-$("$srcdir/contrib/llvm")" quiet contrib/analyze --warnings "$builddir"
fi
format=clang-format-$(OMPCC='' "$srcdir/contrib/llvm")
most=5 tool "the sources are formatted as .clang-format says" "$format" quiet formatted
pages() {
	local page
	for page in "$builddir"/doc/man/*.[1-8] doc/man/*.[1-8]; do
		[ ! -e "$page" ] || groff -t -man -ww -z "$page"
	done
}
tool "groff has nothing to say of the man pages" groff quiet pages
