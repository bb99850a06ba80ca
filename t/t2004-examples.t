#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The example programs verify their own results, and these are the same with and without balancing,
# by every policy.
. "$(dirname "$0")/lib.sh"
need fortran cxx
need_cluster
examples=$builddir/contrib/examples
start_cluster
policies="auto lewi"
if full; then policies+=" sabo observe"; fi
result() { grep -o 'result [^,]*' "$work/out"; }

# same PROGRAM OPTIONS...: the result without balancing, then by each policy.
same() {
	local expected policy
	run srun -n2 "$examples/$1" "${@:2}"
	ok "$1 is verified" all_of "exits 0" "says verified"
	expected=$(result)
	for policy in $policies; do
		run srun -n2 --balance="$policy" "$examples/$1" "${@:2}"
		ok "$1 gives the same by $policy" all_of "exits 0" "says verified" \
			"[ '$expected' = \"\$(result)\" ]"
	done
}
same particles --particles=1500 --iterations=6
alone=$(result)
run srun -n2 "$examples/particles" --particles=1500 --iterations=6 --rebalance=2 --verbose
ok "particles has the same result where it lays borders anew" \
	all_of "exits 0" "says verified" "[ '$alone' = \"\$(result)\" ]"
# They start in 0.3 of the box, and drift by 0.12 an iteration.
ok "the borders are where half of the particles are" \
	all_of "says '^rank 1 begins at 0[.]3[0-9]+$'" "says '^rank 1 begins at 0[.]8[0-9]+$'"
same amr --rows=24 --columns=8 --iterations=20
same stencil --n=40 --planes=24 --iterations=20
same heat 40
same bodies 6
# Sums in another order: the last digits of cg may differ, which its own check knows.
run srun -n2 "$examples/cg" --n=24 --planes=32 --iterations=80 --imbalance=200
ok "cg is verified" all_of "exits 0" "says verified"
for policy in $policies; do
	run srun -n2 --balance="$policy" --balance-report="$work/report.json" \
		"$examples/cg" --n=24 \
		--planes=32 --iterations=80 --imbalance=200
	ok "cg is verified by $policy" all_of "exits 0" "says verified"
done
run srun -n2 --balance "$examples/cg" --no-such-option
ok "a wrong option is refused" all_of fails "complains 'wrong option'"
run "$examples/amr" --help
ok "the examples have help" all_of "exits 0" "says 'Usage: amr'" "says -- '--mark-phases'"
done_testing
