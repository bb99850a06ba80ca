#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What is set for a partition follows what slurmctld says, not the environment; users write no lines
# into root's logs.
. "$(dirname "$0")/lib.sh"
need_cluster
id games >/dev/null 2>&1 || skip_all "needs the user games"
users_read
start_cluster
conf=$BALANCE_CLUSTER/plugstack.conf
log=$BALANCE_CLUSTER/slurmd.log
# with ARGUMENTS: those of the plugin, from the next step on.
with() {
	local lib=${libdir:-$stage/lib/malleable}
	echo "optional $stage/lib/slurm/balance.so libdir=$lib patience=$MALLEABLE_PATIENCE log=no $*" \
		>"$conf"
}
games=(setpriv --reuid=games --regid=games --clear-groups env HOME=/)
balanced='echo "<${MALLEABLE_SEGMENT_FD-none}>"'
cd / || exit 1

with policies@main=observe
run "${games[@]}" srun -D / --balance=auto -n1 sh -c "$balanced"
ok "policies@PARTITION= holds for a user" says '^<none>$'
run "${games[@]}" env SLURM_JOB_PARTITION=shared srun -D / -p main --balance=auto -n1 sh \
	-c "$balanced"
ok "who says in the environment of srun to be elsewhere" says '^<none>$'
run "${games[@]}" salloc -D / -Q -n1 sh \
	-c "SLURM_JOB_PARTITION=shared srun -Q --balance=auto -n1 sh -c '$balanced'"
ok "who says in a step's environment to be elsewhere" says '^<none>$'
run "${games[@]}" srun -D / -p shared --balance=auto -n1 sh -c "$balanced"
ok "has not what another partition has" says '^<[0-9]+>$'
run "${games[@]}" env SLURM_JOB_PARTITION=main srun -D / -p main,shared --balance=auto -n1 sh \
	-c "$balanced"
ok "a job that may run in several has what holds where it runs" says '^<none>$'

# How often it is asked: a program that counts stands in for the one that asks.
mkdir "$work/lib" && ln -s "$stage"/lib/malleable/* "$work/lib" && rm "$work/lib/malleable-slurm"
cat >"$work/lib/malleable-slurm" <<SH
#!/bin/sh
echo "\$(id -u) \$*" >>$work/asked
exec $stage/lib/malleable/malleable-slurm "\$@"
SH
chmod 755 "$work/lib/malleable-slurm"
chmod 711 "$work" && mkdir -m 777 "$work/open"
libdir=$work/lib with default=auto
run "${games[@]}" salloc -D / -Q -n1 sh -c "srun -Q -n1 true"
ok "nobody is asked where nothing is set for partitions" [ ! -e "$work/asked" ]
libdir=$work/lib with policies@main=observe
run "${games[@]}" salloc -D / -Q -n1 sh -c "cd $work/open
	srun -Q -D $work/open --overlap -n1 sh -c 'touch begun
		until [ -e stop ]; do sleep 0.1; done' &
	until [ -e begun ]; do sleep 0.1; done
	srun -Q --overlap -n1 true; srun -Q --overlap -n1 true; touch stop; wait"
ok "slurmctld is asked once for several steps of a job, by root" \
	all_of "[ \$(wc -l <$work/asked) = 1 ]" "grep -q '^0 [0-9]' $work/asked"

# slurmctld stops when a step begins: the time that it has passes, and is that of users.
MALLEABLE_PATIENCE=1
ctld=$(cat "$BALANCE_CLUSTER/slurmctld.pid")
cat >"$work/lib/malleable-slurm" <<SH
#!/bin/sh
kill -STOP $ctld
exec $stage/lib/malleable/malleable-slurm "\$@"
SH
asked="kill -CONT $ctld; echo \"<\${MALLEABLE_SEGMENT_FD-none}>\""
libdir=$work/lib with policies@main=observe
run salloc -Q -n1 sh -c "srun -Q -n1 -c1 --balance=auto sh -c '$asked'"
ok "slurmctld does not answer: the step starts, unbalanced as limits are not known" \
	all_of "says '^<none>$'" "complains 'partition from slurmctld in time'"
libdir=$work/lib with default@main=auto
run salloc -Q -n1 sh -c "srun -Q -n1 -c1 --balance=lewi sh -c '$asked'"
ok "balanced where nothing is limited" says '^<[0-9]+>$'
ok "slurmd's log says so, once for each" \
	[ "$(grep -c 'cannot get the partition of job .* from slurmctld in time' "$log")" = 2 ]
nobody_waits() { ! living malleable-slurm; }
ok "nobody waits for a slurmctld that did not answer once" wait_until nobody_waits
kill -CONT "$ctld"
MALLEABLE_PATIENCE=60
with log=slurmd

# Lines that are not ours.
forged=$'lewi balance: uid 77777\n[2026-01-01T00:00:00.000] error: forged\e[31m line'
run "${games[@]}" srun -D / -n1 --export="ALL,SLURM_BALANCE=$forged" true
ok "no line of a user's is in slurmd's log" eval \
	'! grep -q "^\[2026-01-01" "$log" && ! grep -q "$(printf "\033")" "$log"'
no_step() {
	grep -q 'balance? uid 77777' "$log" && ! grep -q 'balance: uid 77777' "$log"
}
ok "no text of a user's looks like a step's line in slurmd's log" no_step
ok "nothing is left" nothing_left
done_testing
