#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# grow=job: a step uses the CPUs that other steps of its job leave idle, and is off them before
# another step's first task is on.
. "$(dirname "$0")/lib.sh"
need_cluster
PATIENCE=1 start_cluster
plan 19
chmod 711 "$work"
cp "$(command -v sleep)" "$work/resident"
# in_job SCRIPT: run it in a job of two CPUs.
in_job() {
	printf '#!/bin/bash\n%s\n' "$1" >"$work/job.sh"
	chmod +x "$work/job.sh"
	run salloc -Q -n2 -c1 "$work/job.sh"
}
long="$load --work=10 --iterations=400"
no_pool() { [ ! -e /run/malleable ]; }
export stage work load long programs srcdir
# What is used below inside jobs.
cat >"$work/lib" <<'LIB'
status_of() { "$stage/bin/malleable" status --here --json 2>/dev/null | jq -r "$1" 2>/dev/null; }
await() {
	for _ in $(seq 100); do [ "$(status_of "$1")" = "$2" ] && return 0; sleep 0.1; done
	echo "never: $1 = $2"; status_of .; return 1
}
begin() {
	srun --exact -n1 -c1 --balance=auto,grow=job --balance-report="$work/report.json" \
		$long >"$work/step.out" 2>&1 &
}
end() { pkill -x load; wait; }
LIB

in_job "srun --exact -n1 -c1 --balance=auto,grow=job --balance-report=$work/report.json \
	$load --work=10 --iterations=20"
ok "a step of one CPU of two uses both" all_of "exits 0" "report_has '.cpu_changes.moves == 1'" \
	"report_has '.per_rank[0].home != .per_rank[0].cpus'"
ok "and gains by it" report_has '.measured.unbalanced_s > 1.4 * .measured.elapsed_s'
ok "nothing is left" all_of nothing_left no_pool
in_job "srun --exact -n1 -c1 --balance=auto --balance-report=$work/report.json \
	$load --work=10 --iterations=5"
ok "without grow=job it keeps to its own" all_of "exits 0" \
	"report_has '.per_rank[0].home == .per_rank[0].cpus'" no_pool

in_job '. $work/lib; "$srcdir/t/watch.py" 10 load resident >"$work/masks" & sleep 0.3; begin;
	await ".[0].ranks[0].count" 2
srun --exact -n1 -c1 "$work/resident" 1; await ".[0].ranks[0].count" 2; wait %1; end'
together() {
	awk '$3 != "-" {looks++; n = split($2, mine, ","); m = split($3, its, ",");
		for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) if (mine[i] == its[j]) bad++}
		END {exit !(looks > 20) || bad > 0}' "$work/masks"
}
ok "a new step without --balance gets its CPU, no thread of the first beside it" \
	all_of "exits 0" together
ok "when it has ended the CPU comes back" all_of "silent_about never" \
	"tail -n1 $work/masks | grep -q ' 0,1 -'"
in_job '. $work/lib; begin; await ".[0].ranks[0].count" 2;
	srun --exact -n1 -c1 --balance=auto,grow=job --balance-report=off \
		"$load" --work=10 --iterations=3
await ".[0].ranks[0].count" 2; end'
ok "so does a new step with grow=job" all_of "exits 0" "says '^elapsed'" "silent_about never"
in_job '. $work/lib; begin; await ".[0].ranks[0].count" 2; for i in $(seq 10);
	do srun --exact -n1 -c1 grep Cpus_allowed_list /proc/self/status; done; end'
ok "ten short steps come and go" all_of "exits 0" \
	"[ \$(grep -c Cpus_allowed_list: $work/out) = 10 ]"
in_job '. $work/lib; begin; await ".[0].ranks[0].count" 2;
	srun --exact -n1 -c1 "$work/resident" 3 & await ".[0].ranks[0].count" 1
step=$(status_of ".[0].step"); malleable set "$step.0" --cpus=0,1;
	malleable set "$step.0" --cpus="$(status_of ".[0].ranks[0].cpus")" && echo own; kill %2;
	end'
ok "malleable set refuses CPUs that another step has" \
	all_of "says own" "complains 'CPUs 0,1 are not the step.s: it has [01]$'"
in_job '. $work/lib; begin; await ".[0].ranks[0].count" 2; kill -9 $(pgrep -x malleabled);
	srun --exact -n1 -c1 bash -c "grep Cpus_allowed_list /proc/self/status;
	cat /proc/\$(pgrep -x load)/task/*/status | grep Cpus_allowed_list" >"$work/after"; end'
alone() {
	awk 'NR == 1 {its = $2} NR > 1 && $2 != "" {n = split($2, list, ",")
		for (i = 1; i <= n; i++) if (list[i] == its || list[i] == "0-1") bad++}
		END {exit bad > 0 || NR < 2}' "$work/after"
}
ok "the controller killed: the kernel takes the CPU" all_of "exits 0" alone
ok "nothing is left then" all_of nothing_left no_pool
in_job '. $work/lib; begin; await ".[0].ranks[0].count" 2; kill -STOP $(pgrep -x malleabled);
	srun --exact -n1 -c1 bash -c "grep Cpus_allowed_list /proc/self/status;
	cat /proc/\$(pgrep -x load)/task/*/status | grep Cpus_allowed_list" >"$work/after";
	kill -CONT $(pgrep -x malleabled); end'
ok "the controller stopped: the new step does not wait for it" all_of "exits 0" alone
in_job '. $work/lib; begin; await ".[0].ranks[0].count" 2; flock /run/malleable/*/lock sleep 3 &
	sleep 0.3; time srun --exact -n1 -c1 echo through; kill %2; end'
ok "the pool held by something that hangs: a new step says so and runs" \
	all_of "exits 0" "says through" "complains 'real	0m[01]'" \
	"complains 'held by another step'"
in_job '. $work/lib; begin; await ".[0].ranks[0].count" 2; kill -9 $(pgrep -x load); wait;
	srun --exact -n2 -c1 true'
ok "the rank killed: the step ends, the job goes on" all_of "exits 0" nothing_left no_pool
run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance=auto,grow=job -- true
ok "malleable run has no job" all_of "exits 2" "complains 'there is no Slurm job'"
in_job "srun --exact -n1 -c1 --balance=lewi,grow=job --balance-report=$work/report.json \
	$load --work=10 --iterations=20"
ok "lewi takes idle CPUs too" all_of "exits 0" "report_has '.per_rank[0].home != .per_rank[0].cpus'"
in_job "srun -n2 -c1 --balance=auto,grow=job --balance-report=$work/report.json \
	$load --work=10,20 --iterations=5"
ok "a step that has all CPUs runs as without" all_of "exits 0" "report_has '.cpus == 2'"
mkdir -m 777 "$work/user"
printf '#!/bin/bash\nsrun -D / --exact -n1 -c1 --balance=%s --balance-report=%s %s %s\n' \
	auto,grow=job "$work/user/report.json" "$load" "--work=10 --iterations=20" \
	>"$work/job.sh"
if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$load"; then
	cd / && run setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ salloc -D / \
		-Q -n2 -c1 "$work/job.sh"
	ok "an ordinary user has it too" all_of "exits 0" \
		"[ \$(jq '.per_rank[0].home != .per_rank[0].cpus' $work/user/report.json) = true ]"
else
	skip "an ordinary user has it too" "users cannot read the build tree"
fi
ok "nothing is left at the end" all_of nothing_left no_pool
