#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# contrib/cluster: a private Slurm comes, says so, goes, and leaves nothing, also when it fails.
. "$(dirname "$0")/lib.sh"
need_cluster
plan 13
cluster=$srcdir/contrib/cluster
dir=$work/a/cluster

run "$cluster" --help
ok "--help" all_of "exits 0" "says Usage"
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
ok "start" all_of "exits 0" "says 'runs in $dir'"
run "$cluster" status --dir "$dir"
ok "status says what runs" all_of "exits 0" "says 'slurmctld: runs'"
run "$cluster" start --dir "$dir" --prefix "$stage"
ok "a second start in the same place is refused" all_of fails "complains 'already runs'"
run "$cluster" run --dir "$dir" srun -n2 hostname
ok "run" all_of "exits 0" "[ \$(wc -l <$work/out) = 2 ]"
eval "$("$cluster" env --dir "$dir")"
run srun -n1 true
ok "env" exits 0
run "$cluster" stop --dir "$dir"
gone() { [ ! -e "$dir" ] && [ -z "$(of_ours)" ]; }
ok "stop leaves no file and no process" all_of "exits 0" gone
run "$cluster" status --dir "$dir"
ok "status of what does not run" fails

# A plugstack.conf that slurmctld and slurmd refuse.
run "$cluster" start --dir "$dir" --prefix "$stage" --mode nonsense --plugin-args 'x' --cpus 4096
ok "a start that fails leaves nothing either" all_of fails gone
after=$(find /etc/slurm /etc/munge /var/lib/munge /run/munge -newer "$work" 2>/dev/null)
ok "the system's Slurm and munge are untouched" test "$before" = "$after"
