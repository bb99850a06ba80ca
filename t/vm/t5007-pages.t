#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the virtual machine with two NUMA nodes: pages=yes tells where memory is, and where its
# rank computes.
. "$(dirname "$0")/../lib.sh"
need mpi clang
[ "$(lscpu | awk '/^NUMA node\(s\)/ {print $3}')" = 2 ] ||
	skip_all "needs two NUMA nodes: contrib/vm run $0"
# The machine has no other network.
export OMPI_MCA_oob_tcp_if_include=lo
cat >"$work/touch.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * It touches 256 MiB on node 0, and computes for 40 phases where it was started: the second half
 * when its argument, a file, is there.
 */
int main(int argc, char **argv)
{
	unsigned long node_0 = 1;
	size_t size = (size_t)256 << 20;
	double sum = 0;
	char *all;

	syscall(SYS_set_mempolicy, 2, &node_0, 64);
	all = malloc(size);
	memset(all, 1, size);
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 40; i++) {
#pragma omp parallel for reduction(+ : sum)
		for (int k = 0; k < 4000000; k++)
			sum += k * 0.5;
		if (i == 20 && argc > 1 && access(argv[1], F_OK))
			i = 19;
		MPI_Bcast(&i, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return all[size / 2] != 1 || sum < 0;
}
END
OMPI_CC=$clang MPICH_CC=$clang mpicc -fopenmp -O1 -o "$work/touch" "$work/touch.c" 2>"$work/cc"
cpus_of() { cat /sys/devices/system/node/node"$1"/cpulist; }
on_cpus_of() {
	run taskset -c "$(cpus_of "$1")" "$stage/bin/malleable" \
		run --libdir "$stage/lib/malleable" --balance=observe,pages=yes \
		--balance-report="$work/report.json" -- "${mpirun[@]}" -n 1 "$work/touch"
}
part() { report ".per_rank[0].memory[] | select(.node == $1).$2"; }
on_cpus_of 1
ok "memory on node 0 is far from a rank on node 1" all_of "exits 0" \
	"complains 'memory: rank 0 has (9[5-9]|100) % of its pages on NUMA node 0, 100 % of its CPU'" \
	"complains 'CPU time on node 1$'"
ok "figures have memory on node 0 and CPU time on node 1" \
	all_of "jq -en '$(part 0 pages_part) > 0.95'" \
	"jq -en '$(part 1 cpu_part) == 1 and $(part 0 cpu_part) == 0'"
on_cpus_of 0
ok "memory on node 0 is near to a rank on node 0" all_of "exits 0" \
	"complains 'memory: (it is on the NUMA nodes on which|all of it is on one)'"
# Two ranks, which change places at their middle.
"$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance=external,pages=yes \
	--balance-report="$work/report.json" -- "${mpirun[@]}" \
	-n 1 taskset -c "$(cpus_of 0)" "$work/touch" "$work/moved" : \
	-n 1 taskset -c "$(cpus_of 1)" "$work/touch" "$work/moved" 2>"$work/moved.err" &
step=$!
status_of() { "$stage/bin/malleable" status --here --json 2>/dev/null | jq -r "$1" 2>/dev/null; }
windows() { [ "$(status_of '.[0].windows')" -gt 2 ] 2>/dev/null; }
wait_until windows
printf '%s\n' "0 --cpus=$(cpus_of 1)" "1 --cpus=$(cpus_of 0)" >"$work/orders"
run "$stage/bin/malleable" set "$(status_of '.[0].step')" --from="$work/orders" --wait
ok "the ranks change places" exits 0
touch "$work/moved"
wait "$step"
ok "memory is still where it was touched, CPU time where the rank was before and after" \
	all_of "jq -en '$(part 0 pages_part) > 0.95'" \
	"jq -en '$(part 0 cpu_part) > 0.1 and $(part 1 cpu_part) > 0.1'"
done_testing
