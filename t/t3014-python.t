#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tools for analysts from inside: what pytest finds, a check for each of its tests.
. "$(dirname "$0")/lib.sh"
need_tools

limit=1200 MALLEABLE=$stage/bin/malleable run "$tools/python" -m pytest -v -p no:cacheprovider \
	--basetemp="$work/pytest" "$srcdir/contrib/python/tests"
cp "$work/out" "$work/tests"
finished=$status
good() { [ "$1" = PASSED ] || [ "$1" = SKIPPED ]; }
while read -r result test; do
	ok "$test" good "$result"
done < <(sed -nE 's,.*/(test_[^ /]*\.py::.*) (PASSED|SKIPPED|FAILED|ERROR)[^a-z]*$,\2 \1,p' \
	"$work/tests")
ok "these are all, and pytest has nothing else to say" \
	all_of "[ $finished = 0 ]" "[ $number -gt 60 ]"
[ "$finished" = 0 ] || tail -n 60 "$work/tests" | sed 's/^/# /'
done_testing
