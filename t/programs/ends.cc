// SPDX-License-Identifier: LGPL-2.1-or-later
// ends.cc: thread_local objects of OpenMP's threads give something back to a static one, which must
// still be there: else the status is 9. With an argument a forked child opens regions too, and ends
// by exit() or by _exit(). Status 8: it left the file by which runtimes of LLVM's family find each
// other. Built for libgomp.
#include <cstdlib>
#include <cstring>
#include <omp.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace
{
struct pool {
	volatile bool alive = true;

	~pool()
	{
		alive = false;
	}
	void give_back() const
	{
		if (!alive)
			_exit(9);
	}
} the_pool;

struct cache {
	int value = 0;

	~cache()
	{
		the_pool.give_back();
	}
};

int open_region()
{
	int sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
		thread_local cache mine;

		mine.value = 1;
		sum += mine.value;
	}
	return sum;
}

bool leaves_file(pid_t child)
{
	std::string name = "/dev/shm/__KMP_REGISTERED_LIB_";

	name += std::to_string(child) + "_" + std::to_string(getuid());
	return access(name.c_str(), F_OK) == 0;
}
} // namespace

int main(int argc, char **argv)
{
	int most = omp_get_max_threads(), status = 0;

	// Before the first region: libgomp cannot do it later.
	if (argc > 1) {
		pid_t child = fork();

		if (child == 0) {
			int same = open_region() == most ? 0 : 1;

			if (strcmp(argv[1], "_exit") == 0)
				_exit(same);
			exit(same);
		}
		waitpid(child, &status, 0);
		if (leaves_file(child))
			return 8;
	}
	return open_region() == most && most > 1 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
