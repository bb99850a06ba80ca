#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Environments that leave their balanced step: outside it nothing of ours does or says anything, and
# nothing is handed on.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster

# What is ours in an environment.
cat >"$work/look" <<'LOOK'
#!/bin/bash
env | grep -E '^(MALLEABLE_|KMP_)|libmalleable' || echo clean
LOOK
cat >"$work/job" <<JOB
#!/bin/bash
$work/look
srun -n1 $work/look
srun -n1 --balance --balance-report=$work/inner.json $load --iterations=2
srun -n1 --balance --balance-report=off bash -c 'echo preload \$LD_PRELOAD'
JOB
# As a workflow manager: what Slurm set is taken away first, but for its configuration.
cat >"$work/manager" <<MANAGER
#!/bin/bash
env -0 >$work/captured
for v in \${!SLURM_@} \${!SBATCH_@}; do [ "\$v" = SLURM_CONF ] || unset "\$v"; done
sbatch -W -n1 -o "$work/job.txt" "$work/job"
MANAGER
chmod +x "$work/look" "$work/job" "$work/manager"
run srun -n1 -c1 --balance "$work/manager"
sed 's/^/# job: /' "$work/job.txt"
ok "a job from inside a balanced step has nothing of it, nor have its steps" \
	all_of "exits 0" "[ \$(grep -cx clean $work/job.txt) = 2 ]"
ok "a balanced step of it is balanced by itself" jq -e '.ranks == 1' "$work/inner.json"
preloaded() { sed -n 's/^preload //p' "$work/job.txt" | tr ': ' '\n'; }
ok "a balanced step of a balanced script has our libraries once" \
	[ "$(preloaded | grep -c 'malleable\.so$')" = 1 ]

# The script of a balanced job submits the next one, which has nothing of that, but for what the
# user has set.
cat >"$work/next" <<NEXT
#!/bin/bash
# These are of all tests.
unset MALLEABLE_PATIENCE BALANCE_LOCKED
compgen -e | grep -iE 'malleable|balance|(fork|exec)_agent|^KMP_' | grep -v _CLUSTER || echo clean
srun -n1 $work/look
NEXT
cat >"$work/first" <<FIRST
#!/bin/bash
sbatch -W -n1 -o $work/next.txt $work/next
SLURM_BALANCE=lewi SLURM_BALANCE_REPORT=off sbatch -W -n1 -o $work/chosen.txt $work/next
srun -n1 --balance-report=off bash -c 'echo step \$LD_PRELOAD'
FIRST
chmod +x "$work/next" "$work/first"
run sbatch -W -n1 --balance --balance-report=brief -o "$work/first.txt" "$work/first"
sed 's/^/# next: /' "$work/next.txt"
ok "a job that a balanced job's script submits has nothing of ours" \
	all_of "exits 0" "[ \$(grep -cx clean $work/next.txt) = 2 ]"
ok "a job that a balanced job's script submits has what the user has set for it" \
	all_of "grep -qx SLURM_BALANCE $work/chosen.txt" "grep -q libmalleable $work/chosen.txt"
ok "the script's own steps are balanced" grep -q 'step .*libmalleable' "$work/first.txt"

# What can be no rank and start none is executed without our libraries; what may, is not.
maps() { run srun -n1 -c1 --balance --balance-report=off "$@" && exits 0; }
maps bash -c 'cat /proc/self/maps; true'
ok "a short command does not load our libraries" all_of "says libc" "! says libmalleable"
maps bash -c 'python3 -c "print(open(\"/proc/self/maps\").read())"; true'
ok "an interpreter, which may load MPI, does" says libmalleable
maps bash -c 'LD_PRELOAD=$LD_PRELOAD:libm.so.6 cat /proc/self/maps; true'
ok "a command for which the user preloads something has our library" says libmalleable

run srun -n1 -c1 --balance --balance-report=off bash -c 'printenv LD_PRELOAD; true'
ok "LD_PRELOAD is not hidden from printenv, on whose word the user may add to it" \
	all_of "exits 0" "says libmalleable"

# captured COMMAND...: with the environment of the step, elsewhere and later.
mapfile -d '' -t variables <"$work/captured"
captured() { run env -i "${variables[@]}" "$@"; }
has_ours() { printf '%s\n' "${variables[@]}" | grep -q '^LD_PRELOAD=.*libmalleable.so'; }
ok "an environment was captured inside" has_ours
captured bash -c "$work/look"
ok "used again it is clean in the first process's children" all_of "exits 0" "says '^clean$'"
captured "$programs/omponly"
ok "a program is as without us, and nothing is said" all_of "exits 0" "[ ! -s $work/err ]"

# sanitized BUILD: its runtime bears no call of ours before it has started.
sanitized() {
	if [ -x "$programs/sanitized-$1" ]; then
		captured "$programs/sanitized-$1"
		ok "$1: so is one with a sanitizer" all_of "exits 0" "silent_about balance" \
			"says '^preload none, 0 of ours'"
	else
		skip "$1: so is one with a sanitizer" "it does not build here"
	fi
}
sanitized address-gcc
sanitized thread-clang

# Such a command may leave a process behind, which has the segment still.
cat >"$work/daemon" <<DAEMON
#!/bin/bash
until [ -e $work/over ]; do sleep 0.1; done
"$work/look" >$work/daemon.txt
"$programs/omponly" 2>$work/daemon.err
[ ! -x "$programs/sanitized-address-gcc" ] ||
	"$programs/sanitized-address-gcc" 2>&1 | grep balance >>$work/daemon.err
touch $work/done
DAEMON
chmod +x "$work/daemon"
run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance-report=off -- \
	bash -c "setsid $work/daemon >/dev/null 2>&1 </dev/null & $programs/omponly"
ok "a command ends and leaves a daemon" exits 0
touch "$work/over"
wait_until [ -e "$work/done" ]
ok "the daemon's children have nothing of it, and say nothing" \
	all_of "grep -qx clean $work/daemon.txt" "[ ! -s $work/daemon.err ]"
ok "nothing is left" nothing_left
done_testing
