#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Texts from outside (names of files, in traces and in programs, what jansson quotes of a file) get
# to a terminal as printable ASCII; what is no file with an end is refused.
. "$(dirname "$0")/lib.sh"

need_tools
malleable=$stage/bin/malleable
PATH=$stage/bin:$PATH
cd "$work" || exit 1
escape=$'\e]0;owned\a\e[2J\n\x9b31m'
# harmless: both outputs of the last command have none of it.
harmless() { ! LC_ALL=C grep -q '[^ -~]' "$work/out" "$work/err"; }
# harmless_lines N: and are N lines.
harmless_lines() { harmless && [ "$(cat "$work/out" "$work/err" | wc -l)" = "$1" ]; }

"$builddir/t/bench/generate" --ranks=2 --cpus=2 --windows=9 steady trace
sed -e '1s/"policy":"[^"]*"/"policy":"\\u001b[2J\\nx"/' \
	-e '1s/"node":"[^"]*"/"node":"\\u009b1m"/' trace >named
for command in "$malleable replay" "$tools/malleable-convert --to=csv" "$tools/malleable-report"; do
	name=${command##*/}
	# shellcheck disable=SC2086 # a command and its option
	run $command "absent$escape"
	ok "$name: a file's name, absent" all_of "exits 1" "harmless_lines 1"
	printf '{"\e[2J\n' >broken
	# shellcheck disable=SC2086
	run $command broken
	ok "$name: what jansson quotes" all_of "exits 1" "harmless_lines 1"
	# shellcheck disable=SC2086
	run $command "--$escape"
	ok "$name: an option" all_of "exits 2" "harmless_lines 1"
	cp named "named$escape"
	# shellcheck disable=SC2086
	run $command "named$escape"
	ok "$name: names in a trace, and its own" all_of "exits 0" harmless
	ok "$name: in what it wrote too" all_of "! grep -rqs $'[\e\a]' named$'\e'*.csv" \
		"! grep -rqs $'[\e\a]' named$'\e'*.html"
	mkfifo fifo 2>/dev/null
	# shellcheck disable=SC2086
	run timeout 60 $command fifo
	ok "$name: a FIFO" all_of "exits 1" "complains 'cannot read fifo: not a regular file'"
	truncate -s 1T sparse
	# shellcheck disable=SC2086
	run timeout 60 $command sparse
	ok "$name: a file of 1 TiB" all_of "exits 1" "complains 'line 1: it is too long'"
done

cat >region.c <<'C'
int main(void)
{
	int sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < 1000; i++)
		sum += i;
	return sum == 0;
}
C
${CC:-gcc} -O1 -fopenmp -w -o region region.c || exit 1
objcopy --redefine-sym "main._omp_fn.0=main$escape" region "region$escape" || exit 1
run "$malleable" inspect "region$escape"
ok_with prover "inspect: a function's name and a file's" all_of "exits 0" "harmless_lines 2" \
	"says 'main.]0;'"
run "$malleable" inspect --json "region$escape"
ok_with prover "inspect --json: the same" all_of "exits 0" \
	"jq -e '.[0].regions[0].name' $work/out" "! LC_ALL=C grep -q '[^ -~]' $work/out" \
	"[ \"\$(jq -r '.[0] | .file, .regions[].name' $work/out | LC_ALL=C grep -c '[^ -~]')\" = 0 ]"
for odd in "absent$escape" fifo; do
	run timeout 60 "$malleable" inspect "$odd"
	ok "inspect: no program: ${odd%%$'\e'*}" all_of "exits 1" "harmless_lines 1"
done
run "$malleable" "$escape"
ok "a command's name is printable" all_of "exits 2" "harmless_lines 1"
done_testing
