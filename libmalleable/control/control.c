/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control.c: the calls of malleable_control.h.
 *
 * Invariant: Nothing of another user's step is read (t/t3004-control.t: another user).
 */
#include "libmalleable/malleable_control.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/json_number.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/control/orders.h"
#include "libmalleable/control/steps.h"
#include "libmalleable/control/target.h"
#include "libmalleable/core/env.h"

struct malleable_control {
	struct mal_controller_process controller;
	int held; /* the connection whose end removes our orders, or -1 */
	struct mal_error err;
};

/* Of the last call without a handle. */
static __thread struct mal_error without_handle;

static int fail(struct mal_error *err, int error, const char *text)
{
	mal_fail(err, "%s", text);
	return error;
}

const char *malleable_control_message(const malleable_control *control)
{
	return control ? control->err.text : without_handle.text;
}

void malleable_control_free(void *text)
{
	free(text);
}

int malleable_control_steps(malleable_control_found *found, void *argument)
{
	struct mal_steps steps;
	int result = 0;

	without_handle.text[0] = '\0';
	if (mal_steps_find(&steps, &without_handle) < 0)
		return MALLEABLE_CONTROL_SYSTEM;
	for (size_t i = 0; i < steps.count && result == 0; i++) {
		const struct mal_controller_process *controller = &steps.controllers[i];
		char name[MAL_STEP_NAME];
		struct malleable_control_step step = {
			.size = sizeof(step),
			.name = mal_step_name(controller, name, NULL) == 0 ? name : NULL,
			.socket = controller->socket,
			.uid = controller->uid,
			.gid = controller->gid};

		result = found(&step, argument);
	}
	mal_steps_clear(&steps);
	return result;
}

int malleable_control_hidden(char *why, size_t size)
{
	struct mal_steps steps;
	size_t others;

	without_handle.text[0] = '\0';
	if (mal_steps_find(&steps, &without_handle) < 0)
		return MALLEABLE_CONTROL_SYSTEM;
	snprintf(why, size, "%s", steps.hidden.text);
	others = steps.others;
	mal_steps_clear(&steps);
	return (int)others;
}

static int open_at(const struct mal_controller_process *controller, malleable_control **control)
{
	if (controller->uid != geteuid())
		return fail(&without_handle, MALLEABLE_CONTROL_NOT_ALLOWED,
			    "the step is another user's");
	*control = calloc(1, sizeof(**control));
	if (!*control)
		return fail(&without_handle, MALLEABLE_CONTROL_SYSTEM, "out of memory");
	(*control)->controller = *controller;
	(*control)->held = -1;
	return 0;
}

/* The step whose controller has the socket PATH. NULL: there is none. */
static int open_socket(const char *path, malleable_control **control)
{
	struct mal_controller_process own = {.uid = 0};
	struct stat status;

	if (!path || strlen(path) >= sizeof(own.socket) || stat(path, &status) < 0)
		return fail(&without_handle, MALLEABLE_CONTROL_NO_STEP,
			    path && path != getenv(MAL_ENV_SOCKET)
				    ? "no step has that socket"
				    : "this process is in no balanced step");
	strcpy(own.socket, path);
	own.uid = status.st_uid;
	own.gid = status.st_gid;
	return open_at(&own, control);
}

static int open_named(const struct mal_steps *steps, const char *name, malleable_control **control)
{
	struct mal_target *targets;
	int result = mal_targets_find(steps, name, &targets, &without_handle);

	if (result > 0)
		result = *targets->rank ? fail(&without_handle, MALLEABLE_CONTROL_INVALID,
					       "name the step without a rank")
					: open_at(targets->controller, control);
	free(targets);
	return result;
}

int malleable_control_open(const char *name, malleable_control **control)
{
	struct mal_steps steps;
	int result;

	*control = NULL;
	without_handle.text[0] = '\0';
	if (!name || *name == '/')
		return open_socket(name ? name : getenv(MAL_ENV_SOCKET), control);
	if (mal_steps_find(&steps, &without_handle) < 0)
		return MALLEABLE_CONTROL_SYSTEM;
	result = open_named(&steps, name, control);
	mal_steps_clear(&steps);
	return result;
}

void malleable_control_close(malleable_control *control)
{
	if (control && control->held >= 0)
		close(control->held);
	free(control);
}

/* The step's status, to be released; NULL with what is returned in RESULT. */
static json_t *ask_status(malleable_control *control, int *result)
{
	json_t *status;

	control->err.text[0] = '\0';
	status = mal_step_status(&control->controller, &control->err);
	*result = status ? 0 : mal_step_no_answer(&control->controller);
	return status;
}

int malleable_control_status(malleable_control *control, char **json)
{
	int result;
	json_t *status = ask_status(control, &result);

	*json = status ? json_dumps(status,
				    JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6))
		       : NULL;
	json_decref(status);
	if (status && !*json)
		return fail(&control->err, MALLEABLE_CONTROL_SYSTEM, "out of memory");
	return result;
}

int malleable_control_cpus(malleable_control *control, int rank, char *list, size_t size)
{
	int result;
	json_t *status = ask_status(control, &result);
	const json_t *found = NULL, *each;
	size_t i;

	json_array_foreach(json_object_get(status, "ranks"), i,
			   each) if ((int)mal_json_number_of(each, "rank") == rank) found = each;
	if (found) {
		result = (int)mal_json_number_of(found, "count");
		snprintf(list, size, "%s", mal_json_text_of(found, "cpus"));
	} else if (status) {
		result = fail(&control->err, MALLEABLE_CONTROL_INVALID, "there is no such rank");
	}
	json_decref(status);
	return result;
}

static struct malleable_control_times times_of(const json_t *region)
{
	const json_t *part = json_object_get(region, "efficiency");
	const json_t *mpi = json_object_get(part, "mpi"), *openmp = json_object_get(part, "openmp");

	return (struct malleable_control_times){
		.runs = (unsigned long long)json_integer_value(json_object_get(region, "runs")),
		.ranks = (int)json_integer_value(json_object_get(region, "ranks")),
		.cpus = (int)json_integer_value(json_object_get(region, "cpus")),
		.elapsed_s = mal_json_known(region, "elapsed_s"),
		.mpi_s = mal_json_known(region, "mpi_s"),
		.offered_s = mal_json_known(region, "offered_s"),
		.outside_part = mal_json_known(region, "outside_part"),
		.offer_saves_s = mal_json_known(region, "offer_saves_s"),
		.parallel = mal_json_known(part, "parallel"),
		.mpi = mal_json_known(mpi, "parallel"),
		.load_balance = mal_json_known(mpi, "load_balance"),
		.communication = mal_json_known(mpi, "communication"),
		.openmp = mal_json_known(openmp, "parallel"),
		.serial = mal_json_known(openmp, "serial"),
		.regions = mal_json_known(openmp, "regions"),
	};
}

int malleable_control_region(malleable_control *control, const char *name,
			     struct malleable_control_times *times)
{
	int result;
	size_t size = times->size, i;
	json_t *status = ask_status(control, &result);
	const json_t *found = NULL, *each;

	json_array_foreach(json_object_get(status, "regions"), i,
			   each) if (strcmp(mal_json_text_of(each, "name"), name) == 0) found =
		each;
	if (found && size >= sizeof(size)) {
		struct malleable_control_times result_of = times_of(found);

		result_of.size = size;
		memcpy(times, &result_of, size < sizeof(result_of) ? size : sizeof(result_of));
	} else if (status) {
		result = fail(&control->err, MALLEABLE_CONTROL_INVALID,
			      found ? "the struct has no size" : "there is no such region");
	}
	json_decref(status);
	return result;
}

/* The time until which the controller may take to answer what is asked now. */
static long answer_deadline(void)
{
	return mal_now_ms() + mal_patience_ms(MAL_STEP_TIMEOUT_MS);
}

/* Send REQUEST on the connection FD, which stays open. */
static int request_on(malleable_control *control, int fd, const char *request, long deadline)
{
	char answer[sizeof(control->err.text) + 16];

	if (mal_channel_ask_on(fd, request, answer, sizeof(answer), deadline) < 0)
		return fail(&control->err, mal_step_no_answer(&control->controller),
			    "the controller does not answer");
	return mal_step_read_answer(answer, &control->err);
}

/* A connection that stays open after REQUEST, or an error. */
static int connect_for(malleable_control *control, const char *request)
{
	long deadline = answer_deadline();
	int result, fd;

	control->err.text[0] = '\0';
	fd = mal_channel_open(control->controller.socket, deadline, &control->err);
	if (fd < 0)
		return mal_step_no_answer(&control->controller);
	result = request_on(control, fd, request, deadline);
	if (result < 0)
		close(fd);
	return result < 0 ? result : fd;
}

static int send_order(malleable_control *control, const char *words)
{
	char request[MAL_CHANNEL_REQUEST];
	int fd;

	control->err.text[0] = '\0';
	if (snprintf(request, sizeof(request), "set %s", words) >= (int)sizeof(request))
		return fail(&control->err, MALLEABLE_CONTROL_INVALID, "the orders are too long");
	if (control->held >= 0)
		return request_on(control, control->held, request, answer_deadline());
	fd = connect_for(control, request);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* Send an order for RANK: WORD, and TEXT behind it, which the controller must not split. */
static int order(malleable_control *control, int rank, const char *word, const char *text)
{
	char words[MAL_CHANNEL_REQUEST - 64];
	int used = rank < 0 ? 0 : snprintf(words, sizeof(words), "rank=%d ", rank);

	for (const char *letter = text; *letter; letter++)
		if (*letter <= ' ' || *letter > '~')
			return fail(&control->err, MALLEABLE_CONTROL_INVALID,
				    "spaces are not allowed");
	snprintf(words + used, sizeof(words) - (size_t)used, "%s%s", word, text);
	return send_order(control, words);
}

int malleable_control_set_cpus(malleable_control *control, int rank, const char *list)
{
	return order(control, rank, "cpus=", list);
}

int malleable_control_set_count(malleable_control *control, int rank, int min, int max)
{
	char words[64] = "", *end = words;

	if (min)
		end += sprintf(end, "min=%d ", min);
	if (max)
		sprintf(end, "max=%d", max);
	return order(control, rank, words, "");
}

int malleable_control_free_orders(malleable_control *control, int rank)
{
	return order(control, rank, "free", "");
}

int malleable_control_set_policy(malleable_control *control, const char *text)
{
	return order(control, MALLEABLE_CONTROL_ALL_RANKS, "policy=", text);
}

int malleable_control_set_many(malleable_control *control, const char *text)
{
	char words[MAL_CHANNEL_REQUEST - 64];

	if (mal_orders_read(text, words, sizeof(words), &control->err) < 0)
		return MALLEABLE_CONTROL_INVALID;
	return send_order(control, words);
}

/* How many CPUs have not come yet to the ranks that are to have them, or an error. */
static int count_coming(malleable_control *control)
{
	int result;
	json_t *status = ask_status(control, &result);
	const json_t *rank;
	double sum = 0;
	size_t i;

	json_array_foreach(json_object_get(status, "ranks"), i, rank) sum +=
		mal_json_number_of(rank, "coming");
	json_decref(status);
	return result < 0 ? result : sum < 1e6 ? (int)sum : 1000000;
}

/* Wait for an event, and forget it. Returns 1, 0 after DEADLINE, or an error. */
static int await_event(malleable_control *control, int events, long deadline)
{
	char text[4096];

	if (!mal_descriptor_wait(events, POLLIN, deadline))
		return 0;
	if (read(events, text, sizeof(text)) > 0)
		return 1;
	return fail(&control->err, MALLEABLE_CONTROL_GONE, "the step has ended");
}

int malleable_control_await(malleable_control *control, int timeout_ms)
{
	long deadline = timeout_ms < 0 ? LONG_MAX / 2 : mal_now_ms() + timeout_ms;
	/* Before the first look: what comes after it is told. */
	int events = malleable_control_events(control), result, left;

	if (events < 0)
		return events;
	do {
		result = left = count_coming(control);
		if (left > 0)
			result = await_event(control, events, deadline);
	} while (left > 0 && result > 0);
	if (left > 0 && result == 0)
		mal_fail(&control->err, "%d CPU%s not come", left, left == 1 ? " has" : "s have");
	close(events);
	return left == 0 ? 1 : result;
}

int malleable_control_events(malleable_control *control)
{
	int fd = connect_for(control, "events");

	/* For stdio as well: who polls may set O_NONBLOCK again. */
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

int malleable_control_hold(malleable_control *control)
{
	int fd = control->held < 0 ? connect_for(control, "hold") : control->held;

	control->held = fd < 0 ? control->held : fd;
	return fd < 0 ? fd : 0;
}
