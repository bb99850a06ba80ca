#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The life of a balanced step: who runs where as whom, what it sees, and that it leaves nothing.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster
plan 17

# The environment of a step, without what differs from step to step.
environment() { env | grep -vE '^(SLURM_|PMIX|_=|PMI_|OMPI|TMPDIR|HOSTNAME|SHLVL)' | sort; }
declare -f environment >"$work/environment.sh"
run srun -n1 bash -c ". $work/environment.sh; environment; ls -l /proc/self/fd | grep -c memfd"
cp "$work/out" "$work/with-plugin"
mv "$BALANCE_CLUSTER/plugstack.conf" "$work/saved"
run srun -n1 bash -c ". $work/environment.sh; environment; ls -l /proc/self/fd | grep -c memfd"
mv "$work/saved" "$BALANCE_CLUSTER/plugstack.conf"
ok "without --balance a step is the same as without the plugin" cmp "$work/out" "$work/with-plugin"

srun -n2 --balance "$load" --work=10,10 --iterations=15 >"$work/out" 2>"$work/err" &
controller() { pids_of malleabled | grep .; }
wait_until controller >/dev/null
pid=$(controller)
ok "the controller is in the step's cgroup" grep -q '/job_[0-9]*/step_0' "/proc/$pid/cgroup"
ok "it has its own session and no signal blocked" grep -Eq '^SigBlk:\s0+$' "/proc/$pid/status"
fds() { [ "$(find "/proc/$pid/fd" -mindepth 1 | wc -l)" -le 8 ]; }
ok "it holds no descriptor of slurmstepd" fds
ok "it is not exempt from the OOM killer" grep -qx 0 "/proc/$pid/oom_score_adj"
segment_of() { tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^MALLEABLE_SEGMENT_FD=//p'; }
ranks_have_memfd() {
	for p in $(pids_of load); do
		readlink "/proc/$p/fd/$(segment_of "$p")" | grep -q malleable || return 1
	done
}
wait_until living load
ok "every rank has the segment as a descriptor" ranks_have_memfd
stranger() {
	! setpriv --reuid=65534 --regid=65534 --clear-groups cat "/proc/$pid/fd/3" >/dev/null 2>&1
}
ok "another user cannot open it" stranger
wait
ok "nothing is left" nothing_left

chmod 711 "$work"
user=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/)
as_user() { "${user[@]}" "$@"; }
cd / || exit 1
mkdir -m 777 "$work/user"
user_step() {
	as_user timeout 60 srun -D / -n2 --balance --balance-report="$work/user/report.json" \
		"$load" --work=10,10 --iterations=40 >"$work/user/out" 2>"$work/err" &
	wait_until controller >/dev/null || return 1
	pid=$(controller)
	uids=$(awk '/^Uid:/ {print $2, $3, $4, $5}' "/proc/$pid/status")
	gids=$(awk '/^Gid:/ {print $2, $3, $4, $5}' "/proc/$pid/status")
	wait
}
is_user() { [ "$uids" = "65534 65534 65534 65534" ] && [ "$gids" = "65534 65534 65534 65534" ]; }
two_users() {
	srun -s -n2 --balance --balance-report="$work/root.json" "$load" --iterations=8 \
		>/dev/null 2>&1 &
	as_user timeout 60 srun -s -D / -n2 --balance=lewi --balance-report="$work/user/two.json" \
		"$load" --iterations=8 >/dev/null 2>&1
	wait
	jq -e '.ranks == 2 and .policy == "auto"' "$work/root.json" >/dev/null &&
		jq -e '.ranks == 2 and .policy == "lewi"' "$work/user/two.json" >/dev/null
}
if as_user test -r "$stage/lib/malleable/libmalleable.so"; then
	user_step
	ok "a user's controller runs as the user in every id" is_user
	ok "its report is the user's file" test "$(stat -c %u "$work/user/report.json")" = 65534
	run "${user[@]}" srun -D / -n2 --balance bash \
		-c "for fd in {40..70}; do eval \"exec \$fd>&-\"; done; exec $load --iterations=5"
	ok "a user's wrapper that closes descriptors is balanced too" \
		all_of "exits 0" "complains '2 ranks'"
	ok "two users' steps on the same CPUs at once, each by itself" two_users
else
	for what in "a user's controller" "its report" "a wrapper" "two users"; do
		skip "$what" "users cannot read the build tree"
	done
fi

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
		srun --overlap -n2 --balance --balance-report=$work/a.json $load --iterations=5 &
		srun --overlap -n2 --balance=lewi --balance-report=$work/b.json $load \
			--iterations=5 &
		wait"
	jq -e '.ranks == 2 and .policy == "auto"' "$work/a.json" >/dev/null &&
		jq -e '.ranks == 2 and .policy == "lewi"' "$work/b.json" >/dev/null
}
ok "two balanced steps at once, each by itself" two_steps
ok "nothing is left by them" nothing_left
