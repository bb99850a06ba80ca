#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# malleable-acct: what the reports of a site add up to; what users may put among them harms nobody.
. "$(dirname "$0")/lib.sh"
need_tools
plan 35

malleable=$stage/bin/malleable
PATH=$tools:$PATH
acct() { run malleable-acct "$@"; }
dir=$work/reports
mkdir "$dir"
# report NAME POLICY PROGRAM DATE ELAPSED UNBALANCED IDEAL: one of a step on 4 CPUs for 3600 s.
report() {
	jq -n --arg policy "$2" --arg program "$3" --arg date "$4" --argjson elapsed "$5" \
		--argjson off "$6" --argjson ideal "$7" '{version: 1, timestamp: $date, ranks: 2,
		policy: $policy, command: [$program, "x"], cpus: 4, elapsed_s: 3600, measured: {
		windows: 9, elapsed_s: $elapsed, unbalanced_s: $off, ideal_s: $ideal}}' >"$dir/$1"
}
report 1.0.n1.json auto /opt/solver 2026-01-01T10:00:00Z 2700 3600 1800
report 1.0.n2.json.1 auto /opt/solver 2026-01-02T10:00:00Z 1800 2700 1800
report 2.0.n1.json observe "$(printf 'a\033[2Jb')" 2026-01-05T10:00:00Z 3600 3900 1800
report 3.0.n1.json lewi solver 2026-01-06T10:00:00Z 3600 2700 2700
echo '{"version": 1, "policy": "auto", "ranks": 0, "timestamp": "2026-01-06T10:00:00Z"}' \
	>"$dir/4.0.n1.json"
row() { awk -v name="$1" '$1 == name {print $2, $3, $4, $5}' "$work/out"; }

acct --by=program "$dir"
ok "sums by program: reports, CPU hours, saved, what could be saved" all_of "exits 0" \
	"[ \"\$(row solver)\" = '3 12.00 1.00 2.00' ]" \
	"[ \"\$(row 'a?[2Jb')\" = '1 4.00 0.00 2.00' ]" \
	"[ \"\$(row all)\" = '5 16.00 1.00 4.00' ]"
acct --by=policy "$dir"
ok "by policy: who saved most comes first, a loss is negative" all_of "exits 0" \
	"[ \"\$(awk '{print \$1}' '$work/out' | xargs)\" = 'policy auto observe lewi all' ]" \
	"[ \"\$(row auto)\" = '3 8.00 2.00 1.00' ]" "[ \"\$(row lewi)\" = '1 4.00 -1.00 1.00' ]"
acct --by=week "$dir"
ok "by week: sums by week" all_of "[ \"\$(row 2026-W01)\" = '2 8.00 2.00 1.00' ]" \
	"[ \"\$(row 2026-W02)\" = '3 8.00 -1.00 3.00' ]"
acct "$dir"
ok "by user, the owner of the file" [ "$(row "$(id -un)")" = "5 16.00 1.00 4.00" ]
acct --json "$dir"
ok "as JSON, in CPU seconds" all_of "exits 0" \
	"jq -e '[.version, .by, .total.saved_cpu_s, .total.no_estimate, .no_reports] ==
		[1, \"user\", 3600, 0, 0]' \
		'$work/out' >'$work/said'"
acct --prometheus --by=program "$dir"
value() { sed -n "s/^malleable_$1{program=\"$2\"} //p" "$work/out"; }
ok "for Prometheus: gains and losses apart, as counters never fall" all_of "exits 0" \
	"[ \"\$(value saved_cpu_seconds_total solver)\" = 7200 ]" \
	"[ \"\$(value lost_cpu_seconds_total solver)\" = 3600 ]" \
	"[ \"\$(value steps_total 'a?\[2Jb')\" = 1 ]" \
	"[ \"\$(value steps_without_estimate_total solver)\" = 0 ]" \
	"[ \$(grep -c '^# TYPE' '$work/out') = 7 ]"
grep -o 'malleable_[a-z_]*' "$srcdir/contrib/grafana.json" | sort -u >"$work/shown"
ok "all that the dashboard shows is there for Prometheus" \
	all_of "[ \$(wc -l <'$work/shown') = 5 ]" \
	"[ -z \"\$(grep -vxf <(sed -n 's/^# TYPE \([a-z_]*\).*/\1/p' '$work/out') '$work/shown')\" ]"
if command -v promtool >/dev/null; then
	report 9.0.n1.json auto 'a"b\c' 2026-01-06T10:00:00Z 3600 3900 1800
	acct --prometheus --by=program "$dir"
	cp "$work/out" "$work/prom"
	rm "$dir/9.0.n1.json"
	run sh -c "promtool check metrics <'$work/prom'"
	ok "promtool has nothing to say" all_of "exits 0" "[ ! -s '$work/err' ]"
else
	skip "promtool has nothing to say" "there is no promtool"
fi

mkfifo "$dir/pipe.json"
ln -s "$dir/1.0.n1.json" "$dir/link.json"
printf '%0100000d' 0 | tr 0 '[' >"$dir/deep.json"
jq 'del(.ranks)' "$dir/1.0.n1.json" >"$dir/lacks.json"
head -c 100 "$dir/1.0.n1.json" >"$dir/cut.json"
truncate -s 1T "$dir/sparse.json"
touch "$dir/empty.json" "$dir/notes.txt"
acct --by=program "$dir"
ok "what is no report is counted, and harms nothing" all_of "exits 0" \
	"[ \"\$(row all)\" = '5 16.00 1.00 4.00' ]" "says '^7 files are no reports'"
# impossible NAME PROGRAM WHY: that of a report that is otherwise good.
impossible() {
	jq "$2" "$dir/1.0.n1.json" >"$dir/$1.json"
	acct --by=program "$dir"
	ok "left out: $2" all_of "exits 3" \
		"complains '^malleable-acct: left out $1.json: $3'" \
		"[ \$(wc -l <'$work/err') = 1 ]" "[ \"\$(row all)\" = '5 16.00 1.00 4.00' ]" \
		"says '^8 files are no reports'"
	rm "$dir/$1.json"
}
impossible negative '.measured.elapsed_s = -5' 'elapsed_s is -5,'
impossible cpus '.cpus = 1e9' 'cpus is 1e\+09, and only 0 to 1024 can be'
impossible years '.elapsed_s = 1e9' 'elapsed_s is 1e\+09,'
impossible saved '.measured.unbalanced_s = 1e6' 'unbalanced_s is 1000000,'
impossible "$(printf 'a\nb')" '.ranks = 1e300' 'ranks is' # its line end is a question mark
impossible large '.pad = [range(3000000) | 0]' 'File too large'
for i in $(seq 30); do jq '.cpus = -1' "$dir/1.0.n1.json" >"$dir/many$i.json"; done
acct "$dir"
ok "of many some are named, and the others counted" all_of "exits 3" \
	"complains '^malleable-acct: left out 10 more$'" "[ \$(wc -l <'$work/err') = 21 ]"
rm "$dir"/many*
# Ranks that come to a boundary one after the other: windows overlap, and are more than the step.
mkdir "$work/overlap"
jq '.measured = {elapsed_s: 7200, unbalanced_s: 9000, ideal_s: 5400}' "$dir/1.0.n1.json" \
	>"$work/overlap/1.json"
acct --by=program "$work/overlap"
ok "windows of a step are no longer than the step" all_of "exits 0" \
	"[ \"\$(row solver)\" = '1 4.00 1.00 1.00' ]"
run sh -c "malleable-acct '$work/overlap' >/dev/full"
ok "what cannot be printed is an error" all_of "exits 1" "complains 'cannot print: No space left'"
if [ "$(id -u)" = 0 ]; then
	chmod 600 "$dir"/*.json
	chown 65534 "$dir/2.0.n1.json"
	acct "$dir"
	ok "root sees what only the users may read" all_of "exits 0" \
		"[ \"\$(row nobody)\" = '1 4.00 0.00 2.00' ]"
	run setpriv --bounding-set=-setuid --inh-caps=-setuid malleable-acct "$dir"
	ok "malleable acct reads nothing as long as it is root" all_of "exits 1" \
		"complains 'cannot give up root'" "[ ! -s '$work/out' ]"
	# beside AS_ROOT AS_USER COMMAND...: what others do beside the reader.
	beside() {
		run env LD_PRELOAD="$programs/beside.so" AS_ROOT="$1" AS_USER="$2" "${@:3}"
	}
	# shellcheck disable=SC2016 # that of the shell beside it
	reader='$PPID'
	unchanged() {
		beside "" "prlimit --pid $reader --nofile=3:3" "$@"
		all_of "exits 0" "complains 'prlimit: .*Operation not permitted'" || return
		"$@" | cmp - "$work/out"
	}
	ok "no process of the reader's user changes its limits" unchanged malleable-acct "$dir"
	ok_with prover "no process of its user changes the limits of the reader of programs" \
		unchanged "$malleable" inspect /bin/true
	# cut_off LIMIT WHY COMMAND...: an error is said where a limit is too low.
	cut_off() {
		beside "prlimit --pid $reader --$1" "" "${@:3}"
		all_of "exits 1" "complains '$2'" "[ ! -s '$work/out' ]"
	}
	# Which does not fit into what the process has already.
	jq '.pad = [range(20000) | 0]' "$dir/1.0.n1.json" >"$work/overlap/1.json"
	ok "reports that a limit keeps off are said to be" all_of \
		"cut_off nofile=3:3 'did not come: Too many open files' malleable-acct '$dir'" \
		"cut_off as=100000:100000 'out of memory' malleable-acct '$work/overlap'" \
		"cut_off fsize=0:0 'stopped or killed' malleable-acct '$dir'"
	large=$stage/lib/malleable/malleabled
	ok_with prover "programs that a limit keeps off are said to be" all_of \
		"cut_off as=100000:100000 'malleabled: out of memory' $malleable inspect '$large'" \
		"cut_off fsize=0:0 'stopped or killed' $malleable inspect /bin/true"
	struck() {
		beside "" "kill -$1 $reader" "${@:2}"
		all_of "exits 1" "complains 'stopped or killed'" "[ ! -s '$work/out' ]"
	}
	ok "a reader that somebody stops or kills is said" all_of \
		"struck STOP malleable-acct '$dir'" "struck KILL malleable-acct '$dir'"
	ok_with prover "a reader of programs that somebody stops is said" \
		struck STOP "$malleable" inspect /bin/true
	# Its output is full, so that it is there until then.
	mkfifo "$work/full"
	exec 9<>"$work/full"
	dd if=/dev/zero of="$work/full" bs=4096 count=1000 oflag=nonblock 2>/dev/null
	malleable-acct "$dir" >&9 &
	command=$!
	reads() { reader=$(pgrep -P "$command") && [ "$(ps -o ruid= -p "$reader" | xargs)" != 0 ]; }
	gone() { ! kill -0 "$reader" 2>/dev/null; }
	wait_until reads
	kill -KILL $command
	wait $command 2>/dev/null
	ok "a reader goes with the command, and prints no part of the sums" wait_until gone
	kill -KILL "$reader" 2>/dev/null
	exec 9>&-
	# as UID: the reader's, where that of the user malleable is UID.
	as() {
		(cat /etc/passwd && echo "malleable:x:$1:$1::/:/bin/false") >"$work/passwd"
		# shellcheck disable=SC2016
		run env LD_PRELOAD="$programs/beside.so" AS_USER='id -u >&2' unshare --mount sh -c \
			'mount --bind "$0" /etc/passwd && exec "$@"' "$work/passwd" \
			"$tools/malleable-acct" "$work/overlap"
		complains "^$2$"
	}
	ok "the reader is the system's user malleable, or nobody" \
		all_of "as 973 973" "as 1973 65534" "as 0 65534"
else
	for what in "root sees what only the users may read" \
		"malleable acct reads nothing as long as it is root" \
		"no process of the reader's user changes its limits" \
		"reports that a limit keeps off are said to be" \
		"programs that a limit keeps off are said to be" \
		"a reader that somebody stops or kills is said" \
		"a reader goes with the command, and prints no part of the sums" \
		"the reader is the system's user malleable, or nobody"; do
		skip "$what" "needs root"
	done
fi
mkdir -p "$work/theirs/malleable"
echo 'raise SystemExit("theirs")' | tee "$work/theirs/malleable/__init__.py" \
	>"$work/theirs/sitecustomize.py"
run env PYTHONPATH="$work/theirs" "$malleable" acct --by=program "$dir"
ok "another package of that name, or code of others, is not run by malleable acct" all_of \
	"exits 0" "[ ! -s '$work/err' ]" "says '^all '"
mkdir "$work/none"
report ../none/1.0.n1.json auto solver 2026-01-06T10:00:00Z 3600 null 1800
acct --by=program "$work/none"
ok "a step beside others, of which there is no estimate, saved and lost nothing" all_of "exits 0" \
	"[ \"\$(row solver)\" = '1 4.00 0.00 0.00' ]" \
	"[ \"\$(awk '\$1 == \"solver\" {print \$6}' '$work/out')\" = 1 ]"
rm "$work/none/1.0.n1.json"
acct "$work/none"
ok "no report is no fault" all_of "exits 0" "[ \$(wc -l <'$work/out') = 1 ]"
touch "$work/none/empty.json"
acct "$work/none"
ok "one is said to be one" all_of "exits 0" "says '^1 file is no report$'"

refuses acct 2 "argument --by: invalid choice: .*group" --by=group "$dir"
refuses acct 2 "arguments are required: DIRECTORY"
refuses acct 1 "cannot read $work/absent" "$work/absent"
