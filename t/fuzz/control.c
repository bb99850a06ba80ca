/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control.c: requests to a controller, one per line, between rounds of samples. */
#include <stdlib.h>

#include "libmalleable/controller/control_socket.c"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_controller *controller = fuzz_step_open("auto");

	fuzz_begin(data, size);
	for (unsigned int i = 0; fuzz_left && i < 12; i++) {
		const uint8_t busy[FUZZ_RANKS] = {(uint8_t)i, 200, 3, (uint8_t)fuzz_left};
		char *text = fuzz_line();

		/* Nobody reads the answer. */
		serve(controller, -1, text);
		free(text);
		fuzz_step_round(controller, busy);
	}
	fuzz_step_close(controller);
	return 0;
}
