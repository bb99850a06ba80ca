#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# contrib/cluster: a private Slurm comes, says so, goes, and leaves nothing, also when it fails.
# contrib/apart: several of them side by side.
. "$(dirname "$0")/lib.sh"
need_cluster
cluster=$srcdir/contrib/cluster
dir=$work/a/cluster

run "$cluster" --help
ok "contrib/cluster helps" all_of "exits 0" "says Usage"
run "$cluster" frobnicate
ok "an unknown command is refused" all_of fails "complains 'unknown command frobnicate'"
run "$cluster" start --nonsense
ok "an unknown option is refused" all_of fails "complains 'unknown option --nonsense'"
run "$cluster" run --dir "$dir" true
ok "run without a cluster says how to start one" all_of fails "complains 'contrib/cluster start'"

of_ours() {
	for name in munged slurmctld slurmd; do
		for pid in $(pids_of $name); do
			tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "$work" && echo "$pid"
		done
	done
}
before=$(find /etc/slurm /etc/munge /var/lib/munge /run/munge -newer "$work" 2>/dev/null)
run "$cluster" start --dir "$dir" --prefix "$stage"
ok "contrib/cluster starts a Slurm" all_of "exits 0" "says 'runs in $dir'"
run "$cluster" status --dir "$dir"
ok "status says what runs" all_of "exits 0" "says 'slurmctld: runs'"
run "$cluster" start --dir "$dir" --prefix "$stage"
ok "a second start in the same place is refused" all_of fails "complains 'already runs'"
run "$cluster" run --dir "$dir" srun -n2 hostname
ok "run starts a command in it" all_of "exits 0" "[ \$(wc -l <$work/out) = 2 ]"
eval "$("$cluster" env --dir "$dir")"
run srun -n1 true
ok "env prints what shells need" exits 0
run "$cluster" stop --dir "$dir"
gone() { [ ! -e "$dir" ] && [ -z "$(of_ours)" ]; }
ok "stop leaves no file and no process" all_of "exits 0" gone
run "$cluster" status --dir "$dir"
ok "status of what does not run" fails

# A plugstack.conf that slurmctld and slurmd refuse: that ends after a limit of time.
if full; then
	run "$cluster" start --dir "$dir" --prefix "$stage" --mode nonsense --plugin-args 'x' \
		--cpus 4096
	ok "a start that fails leaves nothing either" all_of fails gone
fi
after=$(find /etc/slurm /etc/munge /var/lib/munge /run/munge -newer "$work" 2>/dev/null)
ok "the system's Slurm and munge are untouched" test "$before" = "$after"

# Beside what runs here, a command apart sees nothing of it, and leaves nothing.
apart=$srcdir/contrib/apart
if run "$apart" --available && [ "$status" = 0 ]; then
	# shellcheck disable=SC2016
	run sh -c 'echo $$ >"$0"; exec "$@"' "$work/one" \
		"$apart" sh -c 'ps -e | wc -l; exit 7'
	cp "$work/out" "$work/processes"
	files() {
		"$apart" find /tmp /dev/shm -path "$(realpath "$srcdir")" -prune -o ! -type d -print
	}
	alone() { [ "$(cat "$work/processes")" -le 6 ] && [ -z "$(files)" ]; }
	ok "apart: own processes and places, the command's exit status" all_of "exits 7" alone
	# Those of process $1: others may use it too.
	groups() { find /sys/fs/cgroup -name "apart-$1-*" 2>/dev/null; }
	ok "its control groups are gone" test -z "$(groups "$(cat "$work/one")")"
	if full; then
		"$apart" sh -c 'sleep 1000 & sleep 1001' 8>&- &
		one=$!
		sleepers() { pgrep -x sleep -a | grep -c 'sleep 100[01]$'; }
		two_sleep() { [ "$(sleepers)" = 2 ]; }
		wait_until two_sleep
		kill "$one"
		wait "$one" 2>/dev/null
		none_sleep() { [ "$(sleepers)" = 0 ] && [ -z "$(groups "$one")" ]; }
		ok "ended, it takes all of its processes and groups with it" wait_until none_sleep
	fi
	apart_cluster() {
		"$apart" "$cluster" start --dir /tmp/c --prefix "$stage" 8>&- >"$work/$1" 2>&1
	}
	apart_cluster one &
	one=$!
	apart_cluster two
	both=$?
	wait "$one" && [ "$both" = 0 ]
	both=$?
	ok "two private Slurms start side by side" test "$both" = 0
else
	for what in "own places" "its groups" "its end" "two Slurms"; do
		skip "apart: $what" "$(cat "$work/out")"
	done
fi
done_testing
