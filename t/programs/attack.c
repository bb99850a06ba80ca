/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attack.c: what a user may try on the controllers of the user's own steps as they start: attack
 * SECONDS steal VICTIM | stop | trace | kill; or on all controllers while they run: attack SECONDS
 * connect.
 *
 * Looks at each new process at once. At the end prints the number of controllers met and of
 * successful attacks.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Processes to look at beyond the newest one, and how often each. */
#define AHEAD 40
#define SEEN_MAX 100000
/* Open at once. */
#define CONNECTIONS 200

static char met[SEEN_MAX * 50 + 1];
static unsigned int controllers, successes;

static int is_controller(pid_t pid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return strcmp(name, "malleabled\n") == 0;
}

/* Write to all pipes of the process that VICTIM is the controller. */
static int steal(pid_t pid, pid_t victim)
{
	int done = 0;

	for (int number = 3; number < 12; number++) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
		fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		done += write(fd, &victim, sizeof(victim)) == (ssize_t)sizeof(victim);
		close(fd);
	}
	return done > 0;
}

static int trace(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return 1;
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return 0;
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 1;
}

static int attack(const char *how, pid_t pid, pid_t victim)
{
	if (strcmp(how, "steal") == 0)
		return steal(pid, victim);
	if (strcmp(how, "kill") == 0)
		return kill(pid, SIGKILL) == 0;
	return strcmp(how, "stop") == 0 ? kill(pid, SIGSTOP) == 0 : trace(pid);
}

/* If PID is a controller now, attack it until that succeeds. */
static void look_at(const char *how, pid_t pid, pid_t victim)
{
	enum { NEW, MET, DONE };
	char *state = &met[pid % (pid_t)sizeof(met)];

	if (*state == DONE || !is_controller(pid))
		return;
	controllers += *state == NEW;
	*state = MET;
	if (attack(how, pid, victim)) {
		*state = DONE;
		successes++;
	}
}

static pid_t newest(void)
{
	char text[128] = "";
	int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	const char *last = got > 0 ? strrchr(text, ' ') : NULL;

	if (fd >= 0)
		close(fd);
	return last ? atoi(last) : 0;
}

/*
 * Each connection sends something that is no request, or nothing, and stays open until its slot is
 * used again.
 */
static void connect_to(const char *name)
{
	static int fds[CONNECTIONS];
	static unsigned int next;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/run/malleable/sockets/%.60s", name);
	controllers++;
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
		successes++;
		if (next % 2)
			send(fd, "status\xff\nset 0 99\n", 18, MSG_NOSIGNAL);
	}
	if (fds[next] > 0)
		close(fds[next]);
	fds[next] = fd;
	next = (next + 1) % CONNECTIONS;
}

static void connect_to_all(void)
{
	const struct timespec pause = {0, 1000000};
	DIR *directory = opendir("/run/malleable/sockets");
	struct dirent *file;

	while (directory && (file = readdir(directory)))
		if (file->d_name[0] != '.')
			connect_to(file->d_name);
	if (directory)
		closedir(directory);
	nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
	time_t end;
	pid_t from;

	if (argc < 3) {
		fputs("attack: SECONDS steal VICTIM | stop | trace | kill | connect\n", stderr);
		return 2;
	}
	end = time(NULL) + atoi(argv[1]);
	while (strcmp(argv[2], "connect") == 0 && time(NULL) < end)
		connect_to_all();
	for (from = newest(); time(NULL) < end;) {
		pid_t last = newest();

		for (pid_t pid = last > from + AHEAD ? last - AHEAD : from; pid <= last + 2; pid++)
			look_at(argv[2], pid, argc > 3 ? atoi(argv[3]) : 0);
		from = last > AHEAD ? last - AHEAD : 1;
	}
	printf("met %u controllers, succeeded %u times\n", controllers, successes);
	return 0;
}
