/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vnode.c: the vnode command: create virtual cores, run a command on them, remove them. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cores.h"

#define BALANCE_EVERY_MS 50

struct options {
	unsigned int cores, slots, per_rank;
	const char *topology;
	char **command;
};

static void usage(FILE *out)
{
	fputs("Usage: vnode [OPTIONS] [--] COMMAND...\n"
	      "\n"
	      "Runs COMMAND, for example mpirun, on a node of virtual cores that are slow but\n"
	      "true in time: each is the same, fixed part of a real CPU, whatever the others\n"
	      "do. Needs root and cgroup v1 or v2.\n"
	      "\n"
	      "  --cores=N     virtual cores (default 8)\n"
	      "  --slots=N     each is 1/N of a real CPU (default: as large as fits)\n"
	      "  --per-rank=C  MPI rank r starts bound to the cores r*C to r*C+C-1\n"
	      "                (default: all cores)\n"
	      "  --topology=S  hwloc's synthetic topology (default \"core:N pu:1\"), such as\n"
	      "                \"pack:2 numa:1 l3:2 core:2 pu:1\": two sockets, two L3 each\n"
	      "\n"
	      "Limits: memory is as fast as the real machine's, and shared caches are those\n"
	      "of the real CPUs. The cores of one real CPU take turns of 0.5 ms, so a core\n"
	      "stands still for (slots - 1) times 0.5 ms at a time: phases must be much\n"
	      "longer (100 ms and more). /proc and /sys show the real CPUs.\n",
	      out);
}

static unsigned int number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || !*text || value < 1 || value > VNODE_MAX_CORES) {
		fprintf(stderr, "vnode: '%s' is not a number from 1 to %d\n", text,
			VNODE_MAX_CORES);
		exit(2);
	}
	return (unsigned int)value;
}

static struct options parse(int argc, char **argv)
{
	static const struct option list[] = {
		{"cores", required_argument, NULL, 'c'},
		{"slots", required_argument, NULL, 's'},
		{"per-rank", required_argument, NULL, 'r'},
		{"topology", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct options options = {.cores = 8};
	int option;

	while ((option = getopt_long(argc, argv, "+h", list, NULL)) != -1) {
		switch (option) {
		case 'c': options.cores = number(optarg); break;
		case 's': options.slots = number(optarg); break;
		case 'r': options.per_rank = number(optarg); break;
		case 't': options.topology = optarg; break;
		case 'h': usage(stdout); exit(0);
		default: exit(2);
		}
	}
	if (optind == argc) {
		fputs("vnode: a command is needed, see vnode --help\n", stderr);
		exit(2);
	}
	options.command = argv + optind;
	return options;
}

static uint32_t max_threads(void)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned int max = 1u << 22;

	if (file) {
		if (fscanf(file, "%u", &max) != 1)
			max = 1u << 22;
		fclose(file);
	}
	return max;
}

/* Memory is used only for thread ids that exist. */
static struct vnode_table *create_table(void)
{
	uint32_t threads = max_threads();
	size_t size = sizeof(struct vnode_table) + (size_t)threads * sizeof(struct vnode_thread);
	int fd = memfd_create("vnode", 0);
	struct vnode_table *table;
	char path[64];

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		return NULL;
	table = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (table == MAP_FAILED)
		return NULL;
	table->threads = threads;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	setenv(VNODE_TABLE_ENV, path, 1);
	return table;
}

/* Set what the programs see of the node: the shim, hwloc's topology, libomp without CPUID. */
static int set_environment(const struct options *options)
{
	char self[4096], text[4200];
	const char *others = getenv("LD_PRELOAD");
	ssize_t got = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (got < 0)
		return -1;
	self[got] = 0;
	snprintf(text, sizeof(text), "%s/shim.so%s%s", dirname(self), others ? ":" : "",
		 others ? others : "");
	setenv("LD_PRELOAD", text, 1);
	snprintf(text, sizeof(text), "core:%u pu:1", options->cores);
	setenv("HWLOC_SYNTHETIC", options->topology ? options->topology : text, 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	setenv("KMP_TOPOLOGY_METHOD", "flat", 0);
	if (options->per_rank) {
		snprintf(text, sizeof(text), "%u", options->per_rank);
		setenv(VNODE_PER_RANK_ENV, text, 1);
	}
	return 0;
}

static pid_t child;

static void pass_on(int signal_number)
{
	if (child > 0)
		kill(child, signal_number);
}

/* Wait for the child's end, and balance meanwhile. */
static int wait_for_end(struct vnode_cores *cores)
{
	int fd = (int)syscall(SYS_pidfd_open, child, 0);
	struct pollfd end = {fd, POLLIN, 0};
	int status;

	while (fd >= 0 && poll(&end, 1, BALANCE_EVERY_MS) <= 0)
		vnode_cores_balance(cores);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 125;
	if (fd >= 0)
		close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct options options = parse(argc, argv);
	struct vnode_table *table = create_table();
	struct vnode_cores *cores;
	int result;

	if (!table) {
		fprintf(stderr, "vnode: cannot create the table of threads: %s\n", strerror(errno));
		return 125;
	}
	cores = vnode_cores_create(table, options.cores, options.slots);
	if (!cores)
		return 125;
	set_environment(&options);
	child = fork();
	if (child == 0) {
		execvp(options.command[0], options.command);
		fprintf(stderr, "vnode: cannot run %s: %s\n", options.command[0], strerror(errno));
		_exit(127);
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
	result = child < 0 ? 125 : wait_for_end(cores);
	vnode_cores_destroy(cores);
	return result;
}
