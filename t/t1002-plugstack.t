#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The administrator's arguments in plugstack.conf, right and wrong.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster
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
ok "and --balance=off still switches off" says '^<none>$'

mkdir -m 1777 "$work/reports"
with optional "report_dir=$work/reports"
run srun -n2 --balance "$load" --iterations=1
ok "report_dir= collects reports" all_of "exits 0" "jq -e .version $work/reports/*.json"

with optional colour=blue default=fast log=perhaps
run srun -n1 echo started
ok "wrong arguments are named and never keep a job from starting" all_of "exits 0" "says started" \
	"complains 'plugstack.conf: colour=blue: unknown'" \
	"complains 'default=fast: unknown policy'" \
	"complains 'log=perhaps: syslog, slurmd or no is wanted'"
once() { [ "$(grep -c colour= "$work/err")" = 1 ]; }
ok "each once" once

with optional libdir=/nonexistent
run srun -n1 --balance echo started
ok "without a controller the step runs unbalanced and is told why" \
	all_of "exits 0" "says started" "complains 'malleabled: No such file.*runs unbalanced'"
with required
run srun -n2 --balance "$load" --iterations=1
ok "it works as required plugin" all_of "exits 0" "complains 'policy auto'"
done_testing
