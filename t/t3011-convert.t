#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# malleable-convert: every figure of a trace comes back from each format, read as its readers do.
. "$(dirname "$0")/lib.sh"
need_tools
plan 21

convert() { run "$tools/malleable-convert" "$@"; }
comes_back() { python3 "$srcdir/t/converted.py" "$@"; }
"$builddir/t/bench/generate" --ranks=5 --cpus=3 --windows=60 drift "$work/drift"
# CPUs move in this one, one belongs to nobody, a rank ends, and time passes between two windows.
jq -c 'if .type == "step" then .cpus = [range(15) | . * 2] else . end |
	if .type == "window" then .at_s = 0 else . end |
	if .type == "window" and input_line_number > 30 then
		.owner[0] = 4 | .owner[7] = -1 | .at_s = 40 |
		.ranks |= .[1:] else . end' "$work/drift" >"$work/trace"
cd "$work" || exit 1
for format in csv:csv perfetto:json paraver:prv; do
	convert --to=${format%:*} trace
	ok "${format%:*} is written beside the trace" all_of "exits 0" \
		"says '^trace.${format#*:}$'" "[ -s 'trace.${format#*:}' ]"
	ok "a converted trace has every figure of it" \
		comes_back ${format%:*} trace "trace.${format#*:}"
done
jq -c 'if .type == "window" and input_line_number == 20 then .ranks[2].mpi_s += 1e-4 else . end' \
	trace >other
differs() { ! comes_back "$1" other "$2" >"$work/out" 2>&1 || { echo "# $1: no"; false; }; }
ok "of one that differs in one figure it has not" all_of "differs csv trace.csv" \
	"differs perfetto trace.json" "differs paraver trace.prv"
convert --to=csv -o - trace
ok "malleable-convert writes to standard output" cmp "$work/out" trace.csv
convert --to=paraver -o named.prv trace
ok "to files of another name" all_of "exits 0" "comes_back paraver trace named.prv"

mkdir folder && ln -s trace link.prv && ln trace second.row
cp trace recording
stays() {
	for name in csv:trace perfetto:link.prv csv:folder/../trace paraver:link paraver:second; do
		convert --to=${name%:*} -o "${name#*:}" trace
		all_of "exits 2" "[ \$(wc -l <'$work/err') = 1 ]" "cmp trace recording" \
			"complains '^malleable-convert: cannot write the trace to .*: it is the input'" \
			"[ ! -e link.pcf ]" || return
	done
}
ok "nothing is written over the trace that is read, whatever it is called" stays

# Another program's files of these formats are not ours.
echo '#!/bin/sh' >app.csv && echo '{"traceEvents":[]}' >app.json
printf '#Paraver (01/01/26 at 10:00):9_ns:1(2):1:2(1:1,1:1)\n1:1:1:1:1:0:9:1\n' >app.prv
anew() {
	for format in csv:csv perfetto:json paraver:prv paraver:pcf paraver:row; do
		convert --to=${format%:*} -o "again.${format#*:}" trace && exits 0 || return
		cp "again.${format#*:}" kept
		convert --to=${format%:*} -o "again.${format#*:}" trace && exits 0 || return
		cmp "again.${format#*:}" kept || [ ${format#*:} = prv ] || return
	done
	for format in csv:csv perfetto:json paraver:prv; do
		cp "app.${format#*:}" kept
		convert --to=${format%:*} -o "app.${format#*:}" trace
		all_of "exits 1" "cmp app.${format#*:} kept" "[ ! -e app.pcf ]" \
			"complains 'app.${format#*:}: malleable did not write the file'" || return
	done
}
ok "each is written over its like, and over nothing else" anew

jq -c 'if .type == "window" then .busy = [.owner[] | 500] else . end' trace >used
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' >app.svg
drawn() {
	convert --to=svg used && convert --to=svg used
	all_of "exits 0" "says '^used.svg$'" "grep -q '>CPU 28<' used.svg" || return
	convert --to=svg -o app.svg used
	all_of "exits 1" "complains 'app.svg: malleable did not write the file'"
}
ok "svg draws which rank used each CPU, over its like alone" drawn
convert --to=svg trace
ok "of a trace that does not tell it there is no picture" all_of "exits 1" "[ ! -e trace.svg ]" \
	"complains 'trace: it does not tell how long CPUs were busy'"
jq -c 'if .type == "window" then .elapsed_s = 5e-324 else . end' trace >instant
convert --to=perfetto -o - instant
ok "times that no clock shows make no wrong JSON" all_of "exits 0" "jq -e . '$work/out' >said"

mkdir theirs && cp trace theirs/trace
if [ "$(id -u)" = 0 ]; then
	chown 65534 theirs
	convert --to=csv theirs/trace
	ok "root writes nothing into a directory of others, unless told to" all_of "exits 1" \
		"complains 'name the trace with -o: theirs/trace is in a directory of others'" \
		"[ ! -e theirs/trace.csv ]" "convert --to=csv -o theirs/trace.csv theirs/trace" \
		"cmp trace.csv theirs/trace.csv"
else
	skip "root writes nothing into a directory of others, unless told to" "needs root"
fi

full_disk() { run sh -c "'$tools/malleable-convert' --to=csv -o - trace >/dev/full"; }
ok "what cannot be written is an error" all_of full_disk "exits 1" \
	"complains '^malleable-convert: cannot write the trace: No space left on device$'" \
	"[ \$(wc -l <'$work/err') = 1 ]"

# Lines that name none of many ranks are short.
{
	head -n1 trace | jq -c '.ranks = 1024'
	yes "$(sed -n 2p trace | jq -c '.ranks = []')" | head -n 10000
} >sparse
run env OPENBLAS_NUM_THREADS=1 \
	sh -c "ulimit -v 2000000; exec '$tools/malleable-convert' --to=csv -o - sparse"
ok "a trace takes as much memory as it says much" all_of "exits 0" "[ \$(wc -l <'$work/out') = 1 ]"

refuses convert 2 "argument --to: invalid choice: .*otf" --to=otf trace
refuses convert 2 "arguments are required: --to" trace
refuses convert 2 "these are several files" --to=paraver -o - trace
refuses convert 1 "cannot read absent" --to=csv absent
