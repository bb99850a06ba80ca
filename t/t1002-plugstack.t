#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The administrator's arguments in plugstack.conf, right and wrong.
. "$(dirname "$0")/lib.sh"
need_cluster
# What is wrong is in slurmd's log.
start_cluster --plugin-args "patience=$MALLEABLE_PATIENCE colour=blue default=auto policies=lewi \
	policies@shared=observe report_dir=$work/none"
logged_now() { wait_until grep -q "$1" "$BALANCE_CLUSTER/slurmd.log"; }
logged() { grep -q "balance: plugstack.conf: $1" "$BALANCE_CLUSTER/slurmd.log"; }
once() { [ "$(grep -c "plugstack.conf: colour=" "$BALANCE_CLUSTER/slurmd.log")" = 1 ]; }
ok "slurmd's log names wrong arguments, each once" all_of \
	"wait_until logged 'colour=blue: unknown'" \
	"logged 'default=auto: policies= allows lewi alone: '" \
	"logged 'default@shared=auto: policies= allows observe alone there: '" \
	"logged 'report_dir=$work/none: no such directory'" once
conf=$BALANCE_CLUSTER/plugstack.conf

# with MODE ARGUMENTS...: the plugin's line; srun and slurmstepd read it anew, slurmd need not.
with() {
	echo "$1 $stage/lib/slurm/balance.so libdir=$stage/lib/malleable" \
		"patience=$MALLEABLE_PATIENCE ${*:2}" >"$conf"
}
balanced='echo "<${MALLEABLE_SEGMENT_FD-none}>"'

with optional policies=lewi,observe
run srun --balance=auto -n1 echo started
ok "policies= refuses others and names the allowed ones" \
	all_of fails "complains 'not allowed here: allowed are lewi,observe'" "! says started"
run srun --balance=lewi -n1 sh -c "$balanced"
ok "policies= allows its own" says '^<[0-9]+>$'
run srun --balance=off -n1 sh -c "$balanced"
ok "off is always allowed" all_of "exits 0" "says '^<none>$'"
run env SLURM_SPANK__SLURM_SPANK_OPTION_balance_balance=auto srun -n1 sh -c "$balanced"
ok "the variable that carries options inside Slurm is no way around it" \
	all_of fails "! says '<[0-9]+>'"

with optional default=lewi
run srun -n1 sh -c "$balanced"
ok "default= balances steps that ask for nothing" says '^<[0-9]+>$'
run srun --balance=off -n1 sh -c "$balanced"
ok "--balance=off switches off what default= balances" says '^<none>$'

# What users who asked for nothing are told: nothing, or what report= says.
silent() { ! sed 's/^/# not silent: /' "$work/err" | grep .; }
logs() { wc -l <"$BALANCE_CLUSTER/slurmd.log"; }
short=("$load" "--work=20,10" --iterations=3)
for policy in auto observe; do
	with optional default=$policy
	before=$(logs)
	run srun -n2 -c1 "${short[@]}"
	ok "default=$policy: whoever asked for nothing is told nothing, and slurmd's log neither" \
		all_of "exits 0" "says ^elapsed" silent \
		"! tail -n +$((before + 1)) $BALANCE_CLUSTER/slurmd.log | grep balance: | grep -v uid="
done
run srun -n2 -c1 --balance-report=full "${short[@]}"
ok "who asks for the report has it" complains 'balance: step [0-9.]+ on .*: policy observe'
with optional default=auto
run srun -n2 -c1 --balance "${short[@]}"
ok "who asks for balancing too" complains 'balance: step [0-9.]+ on .*: policy auto'
run salloc -Q -n1 srun -n2 --cpu-bind=none --overcommit "${short[@]}"
ok "who did not ask is not told that ranks run unbalanced" all_of "exits 0" silent
with optional default=auto libdir="$work/none"
run srun -n2 -c1 "${short[@]}"
ok "a broken plugin is told in slurmd's log alone" all_of "exits 0" silent \
	"logged_now 'malleabled: No such file or directory; the step runs unbalanced'"
with optional default=auto report=off report@shared=brief
run srun -n2 -c1 "${short[@]}"
ok "report=off: nothing is printed" all_of "exits 0" silent
run srun -p shared -n2 -c1 "${short[@]}"
ok "report@PARTITION=brief: the verdict alone" all_of "exits 0" \
	"[ \$(grep -c ^balance: $work/err) = 1 ]" "silent_about 'policy auto'"
with optional default=auto report=full
run srun -n2 -c1 "${short[@]}"
ok "report=full: all of it" all_of "exits 0" "complains 'policy auto, 2 ranks'"
with optional default=auto
if [ $openmpi = yes ]; then
	printf '#!/bin/sh\nmpirun -n 2 %s\nSLURM_BALANCE=observe mpirun -n 2 %s\n' "${short[*]}" \
		"${short[*]}" >"$work/job"
	run sbatch --wait -Q -n2 -D "$work" -o "$work/said" -e "$work/said" "$work/job"
	cp "$work/said" "$work/err"
	ok "mpirun in a script likewise" all_of "exits 0" "complains 'policy observe, 2 ranks'" \
		"silent_about 'policy auto'" "[ \$(grep -c ^elapsed $work/err) = 2 ]"
else
	skip "mpirun in a script likewise" "mpirun is MPICH's, which starts ranks in a step"
fi

mkdir -m 1777 "$work/reports"
with optional "report_dir=$work/reports"
run srun -n2 --balance "$load" --iterations=1
ok "report_dir= collects reports" all_of "exits 0" "jq -e .version $work/reports/*.json"
run srun -n2 --balance env
ok "none of steps without ranks" all_of "exits 0" "complains 'nothing to balance'" \
	"[ \$(ls $work/reports | wc -l) = 1 ]"

# malleable admin check: of what is in force.
check() { run "$stage/bin/malleable" admin check "$@"; }
with optional colour=blue default=fast log=perhaps
run srun -n1 echo started
ok "wrong arguments never keep a job from starting, and are not its user's" all_of "exits 0" \
	"says started" "silent_about balance"
check "$conf"
ok "malleable admin check names them" all_of "exits 1" \
	"complains '^malleable admin check: $conf:1: colour=blue: unknown argument, known are'" \
	"complains 'default=fast: unknown policy'" \
	"complains 'log=perhaps: must be syslog, slurmd or no'"
with optional default=auto policies=lewi
run srun -n1 sh -c "$balanced"
ok "a default that policies= forbids: the step runs unbalanced" all_of "exits 0" \
	"says '^<none>$'" "silent_about balance"
check
ok "which is told too, of the file beside slurm.conf" all_of "exits 1" \
	"complains 'default=auto: policies= allows lewi alone'" "says 'ask for nothing: off'"
with optional libdir=lib report_dir= 
check
ok "relative and empty directories are none" all_of "exits 1" \
	"complains 'libdir=lib: must be an absolute path'" \
	"complains 'report_dir=: must be an absolute path'"
with optional default=lewi,keep=perhaps libdir="$work/none"
check
ok "a directory that is not there is wrong" all_of "exits 1" \
	"complains 'libdir=$work/none: malleabled is not there'" "complains 'default=lewi,keep'"
# As slurmd and srun find it.
with optional off_file="$work/none/off"
check
ok "a directory of the switch that is not there is wrong" all_of "exits 1" \
	"complains 'off_file=$work/none/off: no such directory'"
with optional default=lewi min_cpus=2 report=brief log=slurmd default@shared=observe \
	policies@shared=observe,off max_overcommit@other=3 default=off@user=root
check
ok "all that is in force is printed" all_of "exits 0" silent \
	"says '^  in force: default=lewi report=brief libdir=.* log=slurmd min_cpus=2 '" \
	"says '^  in partition shared: default=observe policies=observe,off\$'" \
	"says '^  in partition other: max_overcommit=3\$'" \
	"says '^  for some steps: default=off@user=root\$'"
echo "optional balance.so libdir=$stage/lib/malleable" >"$conf"
for file in "" "$conf"; do
	check ${file:+"$file"}
	ok "a name that Slurm does not find is wrong: ${file:-the file in force}" all_of "exits 1" \
		"complains 'balance.so: srun does not load it: .*balance.so'"
done
: >"$work/balance.so"
echo "optional $work/balance.so libdir=$stage/lib/malleable" >"$conf"
check
ok "what is no plugin for this Slurm is named" all_of "exits 1" \
	"complains 'balance.so: srun does not load it: '"
mkdir "$work/parts"
with optional default=lewi,keep=no
mv "$conf" "$work/parts/ours.conf"
printf '# ours\ninclude %s/parts/*.conf # all\n' "$work" >"$conf"
check
ok "files that it includes are read, and what is right is told" all_of "exits 0" silent \
	"says 'parts/ours.conf:1: .*balance.so: steps that ask for nothing: lewi,keep=no;'"
printf 'include %s\noptionally x.so\n' "$conf" >"$conf"
check
ok "files that include themselves end, and other lines are looked at" all_of "exits 1" \
	"complains ':1: .*: too many levels of include'" \
	"complains ':2: optionally: needs optional, required or include'"
: >"$conf"
check
ok "without a line for the plugin it says so" all_of "exits 1" "complains 'there is no --balance'"
# As where the plugin was removed, or is for another Slurm.
printf '#!/bin/sh\n#SBATCH --balance\necho ran\n' >"$work/option"
printf '#!/bin/sh\nexport SLURM_BALANCE=auto\nsrun -n2 sh -c "$1"\n' >"$work/variable"
run sbatch --wait -Q -o "$work/ran" "$work/option"
ok "scripts with the option end then" all_of "exits 255" \
	"complains 'unrecognized option .*balance'" "[ ! -e $work/ran ]"
run srun --balance -n1 true
ok "srun with the option ends then" all_of "exits 255" "complains 'unrecognized option .*balance'"
scripted() { run sbatch --wait -Q -n2 -o "$work/said" "$work/variable" "$balanced"; }
scripted
ok "SLURM_BALANCE=auto does no harm there" all_of "exits 0" \
	"[ \"\$(sort -u $work/said)\" = '<none>' ]"
with optional
scripted
ok "SLURM_BALANCE=auto balances where the plugin is" \
	all_of "exits 0" "grep -Eq '^<[0-9]+>$' $work/said"

with optional libdir="$work/none"
run srun -n1 --balance echo started
ok "without a controller the step runs unbalanced and is told why" \
	all_of "exits 0" "says started" "complains 'malleabled: No such file.*runs unbalanced'"
mkdir "$work/bare" && cp "$stage"/lib/malleable/{malleabled,libmalleable*.so} "$work/bare"
with optional libdir="$work/bare"
run srun -n2 --balance=auto,dlb=yes "${short[@]}"
ok "without our library for DLB's names the step runs unbalanced, which one line says" all_of \
	"exits 0" \
	"says ^elapsed" "[ \$(grep -c balance: $work/err) = 1 ]" \
	"complains 'dlb=yes: there is no $work/bare/compat/libdlb.so.*runs unbalanced'"
with required
run srun -n2 --balance "$load" --iterations=1
ok "the plugin works as a required one" all_of "exits 0" "complains 'policy auto'"
done_testing
