#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the virtual machine with two hardware threads per core.
. "$(dirname "$0")/../lib.sh"
need_cluster
[ "$(lscpu | awk '/^Thread\(s\) per core/ {print $4}')" = 2 ] ||
	skip_all "needs SMT: contrib/vm run --threads 2 $0"
plan 3
start_cluster
run srun -n2 -c8 --balance=auto,lend=no --balance-report="$work/report.json" "$load" --units=60000 \
	--chunks=64 \
	--work=400,20 --regions=1 --iterations=28
ok "CPUs move" all_of "exits 0" "report_has '.cpu_changes.moves > 0'"
cpus_of() {
	report ".per_rank[$1].cpus" | tr , '\n' |
		awk -F- '{for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i}'
}
# Threads 2k and 2k+1 share core k in this machine.
split_cores() {
	comm -12 <(cpus_of 0 | awk '{print int($1 / 2)}' | sort -u) <(cpus_of 1 |
		awk '{print int($1 / 2)}' | sort -u) | wc -l
}
ok "at most one core is shared by two ranks" [ "$(split_cores)" -le 1 ]
ok "nothing is left" nothing_left
