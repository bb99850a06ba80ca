/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* node.c: the node command: create virtual cores, run a command on them, remove them. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <hwloc.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "table.h"

/* Linux has no larger thread ids. */
#define MAX_TID (1u << 22)
/* So much may be lost for a run to be believable: it is off by two to three times as much. */
#define BELIEVABLE 0.01

struct options {
	unsigned int cores, per_rank;
	const char *topology, *report;
	uint64_t slice, cold[3], spin;
	double slow;
	char **command;
};

static void usage(FILE *out)
{
	fputs("Usage: node [OPTIONS] [--] COMMAND...\n"
	      "\n"
	      "Runs COMMAND, for example mpirun, on a node of many cores on which work is time:\n"
	      "a thread that works for 5 ms, by node_work(5000000) of the library that is\n"
	      "preloaded, has its core for 5 ms and sleeps. Thus all cores compute at the same\n"
	      "time on a few real CPUs. All else is real and takes real time: OpenMP's and\n"
	      "MPI's libraries, wake-ups, moves of threads.\n"
	      "\n"
	      "  --cores=N     cores (default 8)\n"
	      "  --per-rank=C  MPI rank r starts bound to the cores r*C to r*C+C-1\n"
	      "                (default: all cores)\n"
	      "  --topology=S  hwloc's synthetic topology (default \"core:N pu:1\"), such as\n"
	      "                \"pack:2 numa:1 l3:2 core:2 pu:1\": two sockets, two L3 each\n"
	      "  --slice=US    turn of a thread on a core that it shares (default 3000)\n"
	      "  --cold=core:US,l3:US,socket:US\n"
	      "                more work for a thread that comes to another core of the same\n"
	      "                L3, of another L3, of another socket (default 0)\n"
	      "  --slow=K      work takes K times as long on another NUMA node than that where\n"
	      "                the process's first thread was at the first work (default 1)\n"
	      "  --spin=US     a thread that calls sched_yield(), as MPI does between polls,\n"
	      "                has a turn of so long where others work (default 0: none).\n"
	      "                Waits in OpenMP's barriers hold no core.\n"
	      "  --report=FILE write one JSON object: elapsed_s; worked_s, of all cores;\n"
	      "                late_s, what threads of the process that worked most lost, on\n"
	      "                average, to late wake-ups and waits for a real CPU; late_part of\n"
	      "                elapsed_s; believable: that is 0.01 at most (else a line says\n"
	      "                so); wakeups, late_wakeups (by 0.1 ms)\n"
	      "\n"
	      "KMP_BLOCKTIME=0, GOMP_SPINCOUNT=0 and OMPI_MCA_mpi_yield_when_idle=1 are set\n"
	      "unless they are, as waiting threads would burn the real CPUs; one that polls for\n"
	      "long, by sched_yield() or in Open MPI, takes naps of 50 us. OpenMP and MPI have\n"
	      "a few real CPUs only, so regions should take 10 ms or more, and a piece of work\n"
	      "0.1 ms. Caches and memory are as fast as options say; /proc and /sys show the\n"
	      "real CPUs.\n",
	      out);
}

static unsigned int number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || !*text || value < 1 || value > NODE_MAX_CORES) {
		fprintf(stderr, "node: '%s' is not a number from 1 to %d\n", text, NODE_MAX_CORES);
		exit(2);
	}
	return (unsigned int)value;
}

static double positive(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (*end || !*text || !(value > 0 && value <= 1e6)) {
		fprintf(stderr, "node: '%s' is not a positive number\n", text);
		exit(2);
	}
	return value;
}

static uint64_t microseconds(const char *text)
{
	return (uint64_t)(positive(text) * 1000);
}

static void parse_cold(struct options *options, char *text)
{
	char *const ways[] = {"core", "l3", "socket", NULL};
	char *value;

	while (*text) {
		char *word = text;
		int way;

		if (strchr(word, ':'))
			*strchr(word, ':') = '=';
		way = getsubopt(&text, ways, &value);
		if (way < 0 || !value) {
			fprintf(stderr, "node: '%s' is not core:US, l3:US or socket:US\n", word);
			exit(2);
		}
		options->cold[way] = microseconds(value);
	}
}

static struct options parse(int argc, char **argv)
{
	static const struct option list[] = {
		{"cores", required_argument, NULL, 'c'},
		{"per-rank", required_argument, NULL, 'r'},
		{"topology", required_argument, NULL, 't'},
		{"slice", required_argument, NULL, 's'},
		{"cold", required_argument, NULL, 'C'},
		{"slow", required_argument, NULL, 'S'},
		{"spin", required_argument, NULL, 'p'},
		{"report", required_argument, NULL, 'R'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct options options = {.cores = 8, .slice = 3000000, .slow = 1};
	int option;

	while ((option = getopt_long(argc, argv, "+h", list, NULL)) != -1) {
		switch (option) {
		case 'c': options.cores = number(optarg); break;
		case 'r': options.per_rank = number(optarg); break;
		case 't': options.topology = optarg; break;
		case 's': options.slice = microseconds(optarg); break;
		case 'C': parse_cold(&options, optarg); break;
		case 'S': options.slow = positive(optarg); break;
		case 'p': options.spin = microseconds(optarg); break;
		case 'R': options.report = optarg; break;
		case 'h': usage(stdout); exit(0);
		default: exit(2);
		}
	}
	if (optind == argc) {
		fputs("node: a command is needed, see node --help\n", stderr);
		exit(2);
	}
	options.command = argv + optind;
	return options;
}

/* Memory is used only for thread ids that exist. */
static struct node_table *create_table(void)
{
	size_t size = sizeof(struct node_table) + MAX_TID * sizeof(struct node_thread);
	int fd = memfd_create("node", 0);
	struct node_table *table;
	char path[64];

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		return NULL;
	table = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (table == MAP_FAILED)
		return NULL;
	table->threads = MAX_TID;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	setenv(NODE_TABLE_ENV, path, 1);
	return table;
}

/* Which of the objects of a kind a core belongs to. */
static uint32_t part_of(hwloc_topology_t topology, unsigned int core, hwloc_obj_type_t type)
{
	hwloc_obj_t part = NULL;
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, core);

	while (pu && (part = hwloc_get_next_obj_by_type(topology, type, part)))
		if (hwloc_bitmap_isset(part->cpuset, pu->os_index))
			return part->logical_index;
	return 0;
}

static int read_topology(struct node_table *table, const char *text)
{
	hwloc_topology_t topology;
	int failed = hwloc_topology_init(&topology) ||
		     hwloc_topology_set_synthetic(topology, text) || hwloc_topology_load(topology);

	if (failed || hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) != (int)table->cores) {
		fprintf(stderr, "node: topology \"%s\" is wrong, or has not %u cores\n", text,
			table->cores);
		return -1;
	}
	for (unsigned int i = 0; i < table->cores; i++) {
		table->core[i].l3 = part_of(topology, i, HWLOC_OBJ_L3CACHE);
		table->core[i].socket = part_of(topology, i, HWLOC_OBJ_PACKAGE);
		table->core[i].numa = part_of(topology, i, HWLOC_OBJ_NUMANODE);
	}
	hwloc_topology_destroy(topology);
	return 0;
}

static int fill_table(struct node_table *table, const struct options *options)
{
	char plain[32];

	table->cores = options->cores;
	table->slice = options->slice;
	table->slow = options->slow;
	table->spin = options->spin;
	memcpy(table->cold, options->cold, sizeof(table->cold));
	snprintf(plain, sizeof(plain), "core:%u pu:1", options->cores);
	setenv("HWLOC_SYNTHETIC", options->topology ? options->topology : plain, 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	return options->topology ? read_topology(table, options->topology) : 0;
}

/* Set what the programs see of the node: the shim, libomp without CPUID; and how they wait. */
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
	setenv("KMP_TOPOLOGY_METHOD", "flat", 0);
	setenv("KMP_BLOCKTIME", "0", 0);
	setenv("GOMP_SPINCOUNT", "0", 0);
	setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
	if (options->per_rank) {
		snprintf(text, sizeof(text), "%u", options->per_rank);
		setenv(NODE_PER_RANK_ENV, text, 1);
	}
	return 0;
}

/* Before all else on the real CPUs, as far as we may: a thread whose work is done wakes up then. */
static void go_first(void)
{
	const struct sched_param lowest = {.sched_priority = 1};

	prctl(PR_SET_TIMERSLACK, 1UL);
	if (sched_setscheduler(0, SCHED_RR, &lowest) < 0)
		setpriority(PRIO_PROCESS, 0, -15);
}

static pid_t child;

static void pass_on(int signal_number)
{
	if (child > 0)
		kill(child, signal_number);
}

/* End what the command left: its orphans are our children. */
static void end_others(void)
{
	char path[64];
	int left = 1, pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	while (left) {
		FILE *file = fopen(path, "re");

		left = 0;
		while (file && fscanf(file, "%d", &pid) == 1) {
			kill(pid, SIGKILL);
			left = waitpid(pid, NULL, 0) == pid;
		}
		if (file)
			fclose(file);
	}
}

static int wait_for_end(void)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 125;
	end_others();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether the run was true in time, and what it took. */
static int report(const struct node_table *table, const char *path, uint64_t elapsed)
{
	double late = (double)table->lost / (double)elapsed;
	bool believable = late <= BELIEVABLE;
	FILE *file = path ? fopen(path, "we") : NULL;

	if (!believable)
		fprintf(stderr, "node: not believable: %.1f %% of the time was lost\n", late * 100);
	if (!path)
		return 0;
	if (file)
		fprintf(file,
			"{\"cores\":%u,\"elapsed_s\":%.6f,\"worked_s\":%.6f,\"late_s\":%.6f,"
			"\"late_part\":%.4f,\"wakeups\":%lu,\"late_wakeups\":%lu,"
			"\"believable\":%s}\n",
			table->cores, (double)elapsed * 1e-9, (double)table->worked * 1e-9,
			(double)table->lost * 1e-9, late, (unsigned long)table->wakeups,
			(unsigned long)table->late_wakeups, believable ? "true" : "false");
	if (file && fclose(file) == 0)
		return 0;
	fprintf(stderr, "node: cannot write %s: %s\n", path, strerror(errno));
	return -1;
}

int main(int argc, char **argv)
{
	struct options options = parse(argc, argv);
	struct node_table *table = create_table();
	uint64_t begin = node_now();
	int result;

	if (!table) {
		fprintf(stderr, "node: cannot create the table of threads: %s\n", strerror(errno));
		return 125;
	}
	if (fill_table(table, &options) < 0 || set_environment(&options) < 0)
		return 125;
	go_first();
	prctl(PR_SET_CHILD_SUBREAPER, 1UL);
	child = fork();
	if (child == 0) {
		execvp(options.command[0], options.command);
		fprintf(stderr, "node: cannot run %s: %s\n", options.command[0], strerror(errno));
		_exit(127);
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
	result = child < 0 ? 125 : wait_for_end();
	return report(table, options.report, node_now() - begin) < 0 && !result ? 125 : result;
}
