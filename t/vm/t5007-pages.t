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

/* It touches 512 MiB on node 0, and computes where it was started. */
int main(int argc, char **argv)
{
	unsigned long node_0 = 1;
	size_t size = (size_t)512 << 20;
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
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return all[size / 2] != 1 || sum < 0;
}
END
OMPI_CC=$clang MPICH_CC=$clang mpicc -fopenmp -O1 -o "$work/touch" "$work/touch.c" 2>"$work/cc"
on_cpus_of() {
	run taskset -c "$(cat /sys/devices/system/node/node"$1"/cpulist)" "$stage/bin/malleable" \
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
done_testing
