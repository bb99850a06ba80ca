/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* share.c: messages of the node's agent to a controller. */
#include "libmalleable/controller/share.h"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_controller *controller = fuzz_step_open("lewi");

	fuzz_begin(data, size);
	mal_share_open(controller, 3);
	mal_share_update(controller);
	fuzz_step_close(controller);
	return 0;
}
