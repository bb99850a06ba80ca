/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steps.c: find controllers by their sockets and send them requests.
 *
 * Invariant: a controller that does not answer holds up nothing (t/t3004-control.t).
 */
#include "libmalleable/control/steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/json_number.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/core/step_word.h"
#include "libmalleable/malleable_control.h"

static int add(struct mal_steps *steps, const char *directory, const char *name,
	       const struct stat *status)
{
	struct mal_controller_process *controllers, *added;

	if (geteuid() != 0 && status->st_uid != geteuid()) {
		steps->others++;
		return 0;
	}
	controllers = realloc(steps->controllers, (steps->count + 1) * sizeof(*controllers));
	if (!controllers)
		return -1;
	steps->controllers = controllers;
	added = &controllers[steps->count];
	*added = (struct mal_controller_process){.uid = status->st_uid, .gid = status->st_gid};
	if (snprintf(added->socket, sizeof(added->socket), "%s/%s", directory, name) <
		    (int)sizeof(added->socket) &&
	    mal_channel_is_open(added->socket))
		steps->count++;
	return 0;
}

/* Add all sockets in the directory PATH, which only the caller or root can write to. */
static int add_all(struct mal_steps *steps, const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int result = 0;

	if (!directory && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return -1;
	while (directory && result == 0 && (entry = readdir(directory))) {
		struct stat status;

		if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISSOCK(status.st_mode))
			result = add(steps, path, entry->d_name, &status);
	}
	if (directory)
		closedir(directory);
	return result;
}

static int by_name(const void *a, const void *b)
{
	const struct mal_controller_process *x = a, *y = b;

	return strverscmp(x->socket, y->socket);
}

int mal_steps_find(struct mal_steps *steps, struct mal_error *err)
{
	char own[MAL_SOCKET_PATH];
	bool trusted;

	*steps = (struct mal_steps){0};
	trusted = mal_rundir_find_own(false, own, sizeof(own), &steps->hidden) == 0;
	if (trusted || access(own, F_OK) < 0)
		steps->hidden.text[0] = '\0';
	if (add_all(steps, MAL_SOCKET_DIR) < 0 || (trusted && add_all(steps, own) < 0)) {
		mal_fail_errno(err, "cannot look for steps");
		mal_steps_clear(steps);
		return -1;
	}
	if (steps->count)
		qsort(steps->controllers, steps->count, sizeof(steps->controllers[0]), by_name);
	return 0;
}

void mal_steps_clear(struct mal_steps *steps)
{
	free(steps->controllers);
	*steps = (struct mal_steps){0};
}

/* A name is one word of bounded length. It is printable already (clean_all()). */
static void clean(json_t *status, const char *key)
{
	const char *text = json_string_value(json_object_get(status, key));
	char plain[128];

	snprintf(plain, sizeof(plain), "%s", text && *text ? text : "?");
	for (char *space = plain; (space = strchr(space, ' '));)
		*space = '?';
	json_object_set_new(status, key, json_string(plain));
}

/* Replace control characters and all that terminals may interpret, as texts are printed there. */
static void clean_all(json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value)) {
		char *plain = strdup(json_string_value(value));

		if (plain)
			mal_make_printable(plain, strlen(plain), false);
		json_string_set(value, plain ? plain : "");
		free(plain);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, item) clean_all(item);
	} else if (json_is_object(value)) {
		json_object_foreach(value, key, item) clean_all(item);
	}
}

/*
 * Name the step by its socket: JOB.STEP.PID, which root created, as the controller's own answer is
 * its user's word; PID, behind what the controller answers without its directory.
 */
static void name_step(const struct mal_controller_process *controller, json_t *status)
{
	const char *last = strrchr(controller->socket, '/') + 1, *end = strrchr(last, '.');
	const char *step = mal_json_text_of(status, "step"), *slash = strrchr(step, '/');
	char name[MAL_STEP_NAME];

	if (mal_step_has_pid(controller->socket))
		snprintf(name, sizeof(name), "%.127s.%.16s", slash ? slash + 1 : step, last);
	else
		snprintf(name, sizeof(name), "%.*s", (int)(end ? end - last : (long)strlen(last)),
			 last);
	json_object_set_new(status, "step", json_string(name));
}

json_t *mal_step_status(const struct mal_controller_process *controller, struct mal_error *err)
{
	size_t length;
	char *text = mal_channel_ask(controller->socket, "status",
				     mal_patience_ms(MAL_STEP_TIMEOUT_MS), &length, err);
	json_t *status;

	if (!text)
		return NULL;
	status = json_loadb(text, length, 0, NULL);
	free(text);
	if (!json_is_object(status) ||
	    json_integer_value(json_object_get(status, "version")) != 1 ||
	    !json_is_array(json_object_get(status, "ranks"))) {
		json_decref(status);
		mal_fail(err, "the controller at %s speaks another version", controller->socket);
		return NULL;
	}
	clean_all(status);
	clean(status, "step");
	clean(status, "node");
	name_step(controller, status);
	clean(status, "policy");
	json_object_set_new(status, "uid", json_integer((json_int_t)controller->uid));
	return status;
}

int mal_step_name(const struct mal_controller_process *controller, char name[MAL_STEP_NAME],
		  struct mal_error *err)
{
	json_t *status;

	if (!mal_step_has_pid(controller->socket)) {
		status = json_object();
		name_step(controller, status);
	} else if (controller->uid == geteuid()) {
		status = mal_step_status(controller, err);
	} else {
		return mal_fail(err, "another user's");
	}
	if (!status)
		return -1;
	snprintf(name, MAL_STEP_NAME, "%s", mal_json_text_of(status, "step"));
	json_decref(status);
	return 0;
}

int mal_step_no_answer(const struct mal_controller_process *controller)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	if (fd < 0)
		return MALLEABLE_CONTROL_SYSTEM;
	close(fd);
	return mal_channel_is_open(controller->socket) ? MALLEABLE_CONTROL_TIMEOUT
						       : MALLEABLE_CONTROL_GONE;
}

int mal_step_read_answer(char *answer, struct mal_error *err)
{
	answer[strcspn(answer, "\n")] = '\0';
	mal_make_printable(answer, strlen(answer), false);
	if (strcmp(answer, "ok") == 0)
		return 0;
	mal_fail(err, "%s", strncmp(answer, "error ", 6) == 0 ? answer + 6 : answer);
	return MALLEABLE_CONTROL_REFUSED;
}
