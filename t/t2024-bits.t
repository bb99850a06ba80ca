#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Results stay the same, bit for bit, where nobody asked and regions that cannot tell grow all the
# same; where somebody asked, the report has a line. Which teams there were is seen from outside
# (libm.watch.c). Four CPUs are made up.
. "$(dirname "$0")/lib.sh"
need_cluster
need prover
fakes=(FAKE_CPUS=4 KMP_AFFINITY=disabled OMP_WAIT_POLICY=passive XDG_CACHE_HOME="$work/cache"
	WATCH="$work/watch" LD_PRELOAD="$programs/fakecpus.so:$programs/libm.watch.so")
FAKE_CPUS=4 LD_PRELOAD=$programs/fakecpus.so start_cluster --cpus 4 --conf "TaskPlugin=task/none
SlurmdParameters=config_overrides"
site=$(cat "$BALANCE_CLUSTER/plugstack.conf")
with() { echo "$site $*" >"$BALANCE_CLUSTER/plugstack.conf"; }

# Kinds of regions, as of t/programs/races.c.
declare -A kinds=([plain]=1 [sum]=2 [scratch]=3)
teams() {
	awk -v kind="${kinds[$1]}" '$1 == kind && $2 != "threads" {print $2}' \
		"$work/watch.0" 2>/dev/null | sort -u
}
# grown KIND CPUS: rank 0's had more threads than its CPUs at the start.
grown() { [ "$(teams "$1" | tail -n1)" -gt "$2" ] 2>/dev/null; }
kept() { [ "$(teams "$1")" = "$2" ] || { echo "# $1: teams" "$(teams "$1")" && false; }; }
has_ended() { ! kill -0 "$step" 2>/dev/null; }
grown_or_ended() { grown "$@" || has_ended; }
waits() {
	"$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -e '.[0].ranks | any(.lent > 0)' >/dev/null 2>&1 || has_ended
}
# ranks CPUS KINDS [OPTION...]: two of so many CPUs, until ended. The runtime sees the real ones,
# and a number equal to a rank's CPUs is as none.
ranks() {
	rm -f "$work"/watch.*
	begin env "${fakes[@]}" "FAKE_PART=$1" "OMP_NUM_THREADS=$1" srun -n2 "-c$1" "${@:3}" \
		"$programs/$program" "$2" 2 "$work/stop"
}
# without CPUS KINDS: what is printed without us.
without() {
	with
	ranks "$1" "$2"
	ended
	sort "$work/out" >"$work/plain"
}
same() {
	sort "$work/out" | diff "$work/plain" - >"$work/diff" && [ -s "$work/plain" ] ||
		{ sed 's/^/# /' "$work/diff" && false; }
}

for program in races races-gcc; do
	without 2 plain,sum
	with default=lewi
	ranks 2 plain,sum
	wait_until grown_or_ended plain 2
	ended
	ok "$program, unasked: a region grows, one that sums does not, and nothing differs" \
		all_of "exits 0" same "grown plain 2" "kept sum 2" "silent_about balance"
	with
	ranks 2 plain,sum --balance=lewi,bits=keep
	wait_until grown_or_ended plain 2
	ended
	ok "$program, bits=keep: likewise" \
		all_of "exits 0" same "grown plain 2" "kept sum 2" "silent_about results:"
	ranks 2 sum --balance=lewi
	wait_until grown_or_ended sum 2
	ended
	ok "$program, asked: one that sums grows, and the report tells it" all_of "exits 0" \
		"grown sum 2" "complains '^balance: results: sums may have other last digits'"

	without 1 plain,scratch,random,list,shared,last
	ranks 1 plain,scratch,random,list,shared,last --balance=lewi
	wait_until grown_or_ended plain 1
	ended
	ok "$program, asked: what is right with one thread keeps it; the report tells of others" \
		all_of "exits 0" same "grown plain 1" "kept scratch 1" \
		"complains '^balance: results: teams of one grew .bits=strict.\$'"
	with default=lewi
	ranks 1 plain,scratch,random,list,shared,last
	wait_until waits
	ended
	ok "$program, unasked: CPUs are lent, and one thread stays one" \
		all_of "exits 0" same "kept plain 1" "kept scratch 1" "silent_about balance"
done
ok "nothing is left" nothing_left
done_testing
