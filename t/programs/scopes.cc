// SPDX-License-Identifier: LGPL-2.1-or-later
// scopes.cc: scopes FILE, two ranks with one CPU each: rank 0 waits in a scope until rank 1 has
// borrowed its CPU in one and said so (FILE); exceptions end both. Nothing is linked.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

#define MALLEABLE_DLOPEN
#include "libmalleable/malleable.h"

static void wait_for(const std::string &file)
{
	malleable::region region("wait");
	malleable::waiting waits;

	while (access(file.c_str(), F_OK) != 0)
		usleep(1000);
	throw file;
}

static void borrow(const std::string &file)
{
	malleable::borrowing borrows(2);
	int had = malleable_cpus();

	while (had < 2) {
		usleep(1000);
		had = malleable_borrow(MALLEABLE_ALL);
	}
	std::fclose(std::fopen(file.c_str(), "w"));
	throw had;
}

int main(int argc, char **argv)
{
	const char *number = std::getenv("OMPI_COMM_WORLD_RANK");

	if (argc != 2 || !number)
		return 2;
	try {
		(std::atoi(number) ? borrow : wait_for)(argv[1]);
	} catch (const std::string &) {
		int cpus = malleable_cpus(), region = malleable_region("wait");
		malleable_times times = {};

		times.size = sizeof(times);
		malleable_region_times(region, &times);
		std::printf("waited, has %d, %d, ran %d, %d\n", cpus, malleable_waiting_end(),
			    static_cast<int>(times.runs), malleable_region_end(region));
	} catch (int had) {
		std::printf("borrowed, had %d, has %d\n", had, malleable_cpus());
	}
	return 0;
}
