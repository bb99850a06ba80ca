#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# malleable acct: what the reports of a site add up to; what users may put among them harms nobody.
. "$(dirname "$0")/lib.sh"
plan 16

malleable=$stage/bin/malleable
acct() { run "$malleable" acct "$@"; }
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
ok "by week" all_of "[ \"\$(row 2026-W01)\" = '2 8.00 2.00 1.00' ]" \
	"[ \"\$(row 2026-W02)\" = '3 8.00 -1.00 3.00' ]"
acct "$dir"
ok "by user, the owner of the file" [ "$(row "$(id -un)")" = "5 16.00 1.00 4.00" ]
acct --json "$dir"
ok "as JSON, in CPU seconds" all_of "exits 0" \
	"jq -e '[.version, .by, .total.saved_cpu_s, .no_reports] == [1, \"user\", 3600, 0]' \
		'$work/out' >'$work/said'"
acct --prometheus --by=program "$dir"
value() { sed -n "s/^malleable_$1{program=\"$2\"} //p" "$work/out"; }
ok "for Prometheus: gains and losses apart, as counters never fall" all_of "exits 0" \
	"[ \"\$(value saved_cpu_seconds_total solver)\" = 7200 ]" \
	"[ \"\$(value lost_cpu_seconds_total solver)\" = 3600 ]" \
	"[ \"\$(value steps_total 'a?\[2Jb')\" = 1 ]" \
	"[ \$(grep -c '^# TYPE' '$work/out') = 6 ]"
grep -o 'malleable_[a-z_]*' "$srcdir/contrib/grafana.json" | sort -u >"$work/shown"
ok "and all that the dashboard shows is there" all_of "[ \$(wc -l <'$work/shown') = 5 ]" \
	"[ -z \"\$(grep -vxf <(sed -n 's/^# TYPE \([a-z_]*\).*/\1/p' '$work/out') '$work/shown')\" ]"
if command -v promtool >/dev/null; then
	report 9.0.n1.json auto 'a"b\c' 2026-01-06T10:00:00Z 3600 3900 1800
	acct --prometheus --by=program "$dir"
	cp "$work/out" "$work/prom"
	rm "$dir/9.0.n1.json"
	run sh -c "promtool check metrics <'$work/prom'"
	ok "and promtool has nothing to say" all_of "exits 0" "[ ! -s '$work/err' ]"
else
	skip "and promtool has nothing to say" "there is no promtool"
fi

mkfifo "$dir/pipe.json"
ln -s "$dir/1.0.n1.json" "$dir/link.json"
echo '{"version": 1, "policy": "auto", "ranks": 1, "cpus": 1e300}' >"$dir/wrong.json"
printf '%0100000d' 0 | tr 0 '[' >"$dir/deep.json"
jq '.measured.elapsed_s = -5' "$dir/1.0.n1.json" >"$dir/negative.json"
head -c 100 "$dir/1.0.n1.json" >"$dir/cut.json"
touch "$dir/empty.json" "$dir/notes.txt"
acct --by=program "$dir"
ok "what is no report is counted, and harms nothing" all_of "exits 0" \
	"[ \"\$(row all)\" = '5 16.00 1.00 4.00' ]" "says '^7 files are no reports'"
if [ "$(id -u)" = 0 ]; then
	chmod 600 "$dir"/*.json
	chown 65534 "$dir/2.0.n1.json"
	acct "$dir"
	ok "root sees what only the users may read" all_of "exits 0" \
		"[ \"\$(row nobody)\" = '1 4.00 0.00 2.00' ]"
	run setpriv --bounding-set=-setuid --inh-caps=-setuid "$malleable" acct "$dir"
	ok "and reads nothing as long as it is root" all_of "exits 1" \
		"complains 'cannot give up root'" "[ ! -s '$work/out' ]"
else
	skip "root sees what only the users may read" "needs root"
	skip "and reads nothing as long as it is root" "needs root"
fi
mkdir "$work/none"
report ../none/1.0.n1.json auto solver 2026-01-06T10:00:00Z 3600 null 1800
acct --by=program "$work/none"
ok "a step beside others, of which there is no estimate, saved and lost nothing" all_of "exits 0" \
	"[ \"\$(row solver)\" = '1 4.00 0.00 0.00' ]"
rm "$work/none/1.0.n1.json"
acct "$work/none"
ok "no report is no fault" all_of "exits 0" "[ \$(wc -l <'$work/out') = 1 ]"

# refused STATUS MESSAGE ARGUMENTS...
refused() {
	acct "${@:3}"
	ok "refused: ${*:3}" all_of "exits $1" "complains '$2'" "[ \$(wc -l <'$work/err') = 1 ]"
}
refused 2 "user, program, policy or week is wanted" --by=group "$dir"
refused 2 "give one directory"
refused 1 "cannot read /nonexistent" /nonexistent
