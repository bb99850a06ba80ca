/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* steps.c: finds controllers in /proc and asks them. */
#include "libmalleable/cmd/steps.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/core/channel.h"

#define NAME "malleabled"
#define TIMEOUT_MS 2000

/* One that lives: init may not have noticed the end of another yet (proc(5), stat). */
static bool is_controller(const char *entry)
{
	char path[64], name[sizeof(NAME) + 1] = "", state = 'X';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", entry);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%10[^)]) %c", name, &state) != 2)
		name[0] = '\0';
	fclose(file);
	return strcmp(name, NAME) == 0 && state != 'Z' && state != 'X';
}

static int add(struct mal_steps *steps, const char *entry)
{
	struct mal_controller_process *controllers;
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.16s", entry);
	if (stat(path, &status) < 0)
		return 0;
	if (geteuid() != 0 && status.st_uid != geteuid()) {
		steps->others++;
		return 0;
	}
	controllers = realloc(steps->controllers, (steps->count + 1) * sizeof(*controllers));
	if (!controllers)
		return -1;
	steps->controllers = controllers;
	controllers[steps->count++] = (struct mal_controller_process){atoi(entry), status.st_uid, status.st_gid};
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct mal_controller_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int mal_steps_find(struct mal_steps *steps, struct mal_error *err)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	int result = 0;

	*steps = (struct mal_steps){0};
	if (!directory)
		return mal_fail_errno(err, "cannot read /proc");
	while (result == 0 && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]) && is_controller(entry->d_name))
			result = add(steps, entry->d_name);
	closedir(directory);
	if (result < 0) {
		mal_steps_clear(steps);
		return mal_fail(err, "out of memory");
	}
	if (steps->count)
		qsort(steps->controllers, steps->count, sizeof(steps->controllers[0]), by_pid);
	return 0;
}

void mal_steps_clear(struct mal_steps *steps)
{
	free(steps->controllers);
	*steps = (struct mal_steps){0};
}

bool mal_step_matches(const char *name, const char *wanted)
{
	size_t length;

	if (!wanted || strcmp(name, wanted) == 0)
		return true;
	length = strlen(wanted);
	return strspn(wanted, "0123456789") == length && strncmp(name, wanted, length) == 0 && name[length] == '.';
}

/* Names go to a terminal: nothing but plain letters. */
static void clean(json_t *status, const char *key)
{
	const char *text = json_string_value(json_object_get(status, key));
	char plain[128];
	size_t used = 0;

	for (; text && *text && used + 1 < sizeof(plain); text++)
		plain[used++] = *text > ' ' && *text < 127 ? *text : '?';
	plain[used] = '\0';
	json_object_set_new(status, key, json_string(used ? plain : "?"));
}

json_t *mal_step_status(const struct mal_controller_process *controller, struct mal_error *err)
{
	size_t length;
	char *text = mal_channel_ask(controller->pid, controller->uid, "status", TIMEOUT_MS, &length, err);
	json_t *status;

	if (!text)
		return NULL;
	status = json_loadb(text, length, 0, NULL);
	free(text);
	if (!json_is_object(status) || json_integer_value(json_object_get(status, "version")) != 1 ||
	    !json_is_array(json_object_get(status, "ranks"))) {
		json_decref(status);
		mal_fail(err, "the controller %ld speaks another version", (long)controller->pid);
		return NULL;
	}
	clean(status, "step");
	clean(status, "node");
	clean(status, "policy");
	json_object_set_new(status, "controller", json_integer(controller->pid));
	json_object_set_new(status, "uid", json_integer((json_int_t)controller->uid));
	return status;
}

double mal_step_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

const char *mal_step_text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

int mal_step_request(const struct mal_controller_process *controller, const char *request, struct mal_error *err)
{
	size_t length;
	char *text = mal_channel_ask(controller->pid, controller->uid, request, TIMEOUT_MS, &length, err);
	int result = 0;

	if (!text)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	for (char *letter = text; *letter; letter++)
		if (*letter < ' ' || *letter > 126)
			*letter = '?';
	if (strcmp(text, "ok") != 0)
		result = mal_fail(err, "%s", strncmp(text, "error ", 6) == 0 ? text + 6 : text);
	free(text);
	return result;
}

/* In the child: be the controller's user for good. */
static bool become(const struct mal_controller_process *controller)
{
	return setgroups(0, NULL) == 0 && setgid(controller->gid) == 0 && setuid(controller->uid) == 0 && setuid(0) < 0;
}

int mal_step_act(const struct mal_controller_process *controller,
		 int (*act)(const struct mal_controller_process *controller, void *argument, FILE *out), void *argument,
		 FILE *out)
{
	pid_t child;
	int status;

	if (controller->uid == geteuid())
		return act(controller, argument, out);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		status = become(controller) ? act(controller, argument, out) : 255;
		fflush(NULL);
		_exit(status);
	}
	if (child < 0)
		return -1;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
