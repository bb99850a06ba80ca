#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The protocol's model (t/model/protocol.pml): every state is looked at. It finds the defects that
# the code once had, and none without.
. "$(dirname "$0")/lib.sh"
for tool in spin gcc; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
plan 18

# explore DEFINITIONS...: what pan says, in $work/out. Fails if not all states were looked at. To
# optimise pan takes longer than it saves.
explore() {
	(cd "$work" && spin -a "$@" "$srcdir/t/model/protocol.pml" &&
		gcc -O0 -w -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -o pan pan.c) \
		>"$work/err" 2>&1 || return 1
	(cd "$work" && timeout 300 ./pan -m100000 -w22) >"$work/out" 2>&1
	! grep -q 'max search depth too small\|out of memory' "$work/out" &&
		grep 'errors:\|states, stored\|violated' "$work/out" | sed 's/^/# /'
}
right() {
	explore "$@" && grep -q 'errors: 0' "$work/out" && ! grep -q 'not completed' "$work/out"
}
wrong() { explore "$@" && grep -q "assertion violated.*$pattern" "$work/out"; }

ok "a rank computes twice and lends, another lends and takes back" right -DSCENE_LEND \
	-DREGIONS=2 -DPOLLS=1
ok "a rank computes, two others lend" right -DSCENE_LEND -DREGIONS=1 -DBOTH_WAIT
ok "three ranks with two CPUs each: one computes, one gives a CPU away, one ends" right \
	-DSCENE_MOVE -DCPUS_EACH=2
ok "the one that computes is killed at any moment" right -DSCENE_DIE -DVICTIM=0
ok "the one that lends is" right -DSCENE_DIE -DVICTIM=1
ok "the hints on free CPUs and borrowers are right, whoever is killed: who computes" right \
	-DSCENE_DIE -DVICTIM=0 -DHINTS
ok "hints on free CPUs are right whoever is killed as it lends" right -DSCENE_DIE -DVICTIM=1 -DHINTS
pattern='state\[owner'
ok "a CPU moved to a rank that has ended is found lost" wrong -DSCENE_MOVE -DCPUS_EACH=2 \
	-DFAULT_MOVED_TO_ENDED
pattern='computing'
ok "a late thread that does not look again is found" wrong -DSCENE_LEND -DREGIONS=2 \
	-DFAULT_LATE_THREAD
pattern='owner\[at'
ok "a thread that has no place to go to, as its rank has lent all, is found" wrong \
	-DSCENE_LEND -DREGIONS=1 -DPOLLS=1 -DFAULT_NO_WAY_HOME
ok "a thread that nobody sends away where a grant is rolled back is found" wrong \
	-DSCENE_LEND -DREGIONS=2 -DFAULT_ROLL_BACK
ok "a thread is found whose rank had returned the CPU before a grant is rolled back" \
	wrong -DSCENE_LEND -DREGIONS=1 \
	-DBOTH_WAIT -DFAULT_RETURNED
pattern='waiting'
ok "a CPU granted to a rank that waits by now is found parked" wrong -DSCENE_LEND -DREGIONS=2 \
	-DFAULT_LATE_GRANT
ok "a CPU given by a rank that died is found parked" wrong -DSCENE_DIE -DVICTIM=1 -DFAULT_DEAD_GIVER
pattern='computing'
ok "a thread that a dead rank was about to send away is found" wrong -DSCENE_DIE -DVICTIM=1 \
	-DFAULT_DEAD_BINDER
pattern='request'
ok "a request that is made when the region has ended is found" wrong -DSCENE_LEND -DREGIONS=1 \
	-DBOTH_WAIT -DFAULT_LATE_REQUEST
# What a rank that is killed leaves off: the hint on its CPUs, and that on whether it would borrow.
pattern='free_cpus'
ok "a hint on free CPUs that a dead rank left off for good is found" wrong -DSCENE_DIE \
	-DVICTIM=1 -DHINTS -DFAULT_DEAD_FREE
pattern='borrowers'
ok "a hint on borrowers that it left off for good is found" wrong -DSCENE_DIE -DVICTIM=0 -DHINTS \
	-DFAULT_DEAD_BORROWER
