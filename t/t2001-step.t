#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The life of a balanced step: who runs where as whom, what it sees, and that it leaves nothing.
. "$(dirname "$0")/lib.sh"
need_cluster
ordinary_users
start_cluster

# The environment of a step, without what differs from step to step.
environment() { env | grep -vE '^(SLURM_|PMIX|_=|PMI_|OMPI|TMPDIR|HOSTNAME|SHLVL)' | sort; }
declare -f environment >"$work/environment.sh"
run srun -n1 bash -c ". $work/environment.sh; environment; ls -l /proc/self/fd | grep -c memfd"
cp "$work/out" "$work/with-plugin"
mv "$BALANCE_CLUSTER/plugstack.conf" "$work/saved"
run srun -n1 bash -c ". $work/environment.sh; environment; ls -l /proc/self/fd | grep -c memfd"
mv "$work/saved" "$BALANCE_CLUSTER/plugstack.conf"
ok "without --balance a step is the same as without the plugin" cmp "$work/out" "$work/with-plugin"

# until FILE: the load goes on until it is told to stop.
until_told=("$load" "--work=10,10" --iterations=1 --until="$work/stop")
begin srun -n2 --balance "${until_told[@]}"
wait_until computes
pid=$(pids_of malleabled)
ok "the controller is in the step's cgroup" \
	grep -Eq '/(job_[0-9]+|s[0-9A-Z]{13})/step_0' "/proc/$pid/cgroup"
ok "the controller has its own session and no signal blocked" \
	grep -Eq '^SigBlk:\s0+$' "/proc/$pid/status"
# Besides those that are of the ranks.
fds() { [ "$(find "/proc/$pid/fd" -mindepth 1 ! -lname "*pidfd*" | wc -l)" -le 8 ]; }
ok "the controller holds no descriptor of slurmstepd" fds
ok "the controller is not exempt from the OOM killer" grep -qx 0 "/proc/$pid/oom_score_adj"
segment_of() { tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^MALLEABLE_SEGMENT_FD=//p'; }
ranks_have_memfd() {
	[ "$(pids_of load | wc -l)" = 2 ] || return 1
	for p in $(pids_of load); do
		readlink "/proc/$p/fd/$(segment_of "$p")" | grep -q malleable || return 1
	done
}
ok "every rank has the segment as a descriptor" ranks_have_memfd
open_segment() { "$@" cat "/proc/$pid/fd/3" 2>&1 >/dev/null | head -n1 >"$work/opened"; }
stranger() {
	open_segment "${user[@]}" && grep -q 'Permission denied' "$work/opened" &&
		open_segment && ! grep -q 'Permission denied' "$work/opened"
}
ok "another user cannot open the segment" stranger
ended
ok "nothing is left" all_of "exits 0" nothing_left

mkdir -m 777 "$work/user"
begin "${user[@]}" srun -D / -n2 --balance --balance-report="$work/user/report.json" \
	"${until_told[@]}"
wait_until computes
ids() {
	awk -v what="$1:" '$1 == what {print $2, $3, $4, $5}' "/proc/$(pids_of malleabled)/status"
}
all_four="65534 65534 65534 65534"
ok "a user's controller runs as the user in every id" \
	all_of "[ '$(ids Uid)' = '$all_four' ]" "[ '$(ids Gid)' = '$all_four' ]"
ended
ok "the report of a user's step is the user's file" \
	all_of "exits 0" "[ \$(stat -c %u $work/user/report.json) = 65534 ]"
run "${user[@]}" srun -D / -n2 --balance bash \
	-c "for fd in {40..70}; do eval \"exec \$fd>&-\"; done; exec $load --iterations=5"
ok "a user's wrapper that closes descriptors is balanced too" \
	all_of "exits 0" "complains '2 ranks'"
# balanced_by REPORT POLICY: its step had two ranks and that policy.
balanced_by() { jq -e ".ranks == 2 and .policy == \"$2\"" "$1" >/dev/null; }
two_users() {
	begin srun -s -n2 --balance --balance-report="$work/root.json" "${until_told[@]}"
	wait_until computes
	timeout 300 "${user[@]}" srun -s -D / -n2 --balance=lewi \
		--balance-report="$work/user/two.json" "$load" --iterations=3 8>&- >/dev/null 2>&1
	ended
	exits 0 && balanced_by "$work/root.json" auto && balanced_by "$work/user/two.json" lewi
}
ok "two users' steps on the same CPUs at once, each by itself" two_users

run srun -n2 "$load" --units=500000 --iterations=5
cut -d, -f3 "$work/out" >"$work/plain"
run srun -n2 --balance "$load" --units=500000 --iterations=5
cut -d, -f3 "$work/out" >"$work/balanced"
close_enough() {
	awk '{print $2}' "$work/plain" "$work/balanced" | sort -u |
		awk 'NR == 1 {a = $1} {d = ($1 - a) / a; if (d < 0) d = -d; if (d > 1e-12) bad = 1}
		END {exit bad}'
}
ok "the program's result is the same" close_enough
run srun -n2 --balance bash \
	-c "for fd in {40..70}; do eval \"exec \$fd>&-\"; done; exec $load --iterations=5"
ok "a wrapper that closes descriptors is balanced all the same" \
	all_of "exits 0" "complains '2 ranks'"
if unshare -m true 2>/dev/null; then
	run env OMPI_MCA_btl_tcp_if_include=lo srun -n2 --balance unshare -m sh \
		-c "mount -t tmpfs none /dev/shm && exec $load --iterations=5"
	ok "it works where /dev/shm is private" all_of "exits 0" "complains '2 ranks'"
else
	skip "it works where /dev/shm is private" "no mount namespaces here"
fi

two_steps() {
	run salloc -Q -n2 bash -c "
		srun --overlap -n2 --balance --balance-report=$work/a.json ${until_told[*]} &
		until [ \"\$($stage/bin/malleable status --here --json | jq -r '.[0].windows')\" \
			-gt 0 ] 2>/dev/null; do sleep 0.1; done
		srun --overlap -n2 --balance=lewi --balance-report=$work/b.json $load --iterations=3
		touch $work/stop
		wait"
	exits 0 && balanced_by "$work/a.json" auto && balanced_by "$work/b.json" lewi
}
rm -f "$work/stop"
ok "two balanced steps at once, each by itself" two_steps
ok "nothing is left by them" nothing_left
done_testing
