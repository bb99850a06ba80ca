/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * device_calls.h: calls that wait for a device, as a GPU, by number of arguments. All are words,
 * and the result is an int.
 *
 * CALL(name, tag, arguments, version): TAG is any word that no other row of the name has. VERSION
 * is that of the symbol in the library; MALLEABLE, our first one, which ld.so takes for references
 * to none (base/shown.h). A version here is one in libmalleable_mpi.map, too.
 *
 * Functions of two versions are those of two libraries, which one process may have loaded.
 */
CALL(clFinish, opencl, 1, "OPENCL_1.0")
CALL(clFinish, plain, 1, "MALLEABLE")
CALL(clWaitForEvents, opencl, 2, "OPENCL_1.0")
CALL(clWaitForEvents, plain, 2, "MALLEABLE")

/* CUDA's runtime, unless linked statically; _ptsz: with a default stream for each thread. */
#define CUDA(tag, version) \
	CALL(cudaDeviceSynchronize, tag, 0, version) \
	CALL(cudaStreamSynchronize, tag, 1, version) \
	CALL(cudaStreamSynchronize_ptsz, tag, 1, version) \
	CALL(cudaEventSynchronize, tag, 1, version)
CUDA(plain, "MALLEABLE")
CUDA(cuda11, "libcudart.so.11.0")
CUDA(cuda12, "libcudart.so.12")
CUDA(cuda13, "libcudart.so.13")
#undef CUDA

/* and its driver */
CALL(cuCtxSynchronize, plain, 0, "MALLEABLE")
CALL(cuStreamSynchronize, plain, 1, "MALLEABLE")
CALL(cuStreamSynchronize_ptsz, plain, 1, "MALLEABLE")
CALL(cuEventSynchronize, plain, 1, "MALLEABLE")

/* ROCm */
CALL(hipDeviceSynchronize, hip, 0, "hip_4.2")
CALL(hipDeviceSynchronize, plain, 0, "MALLEABLE")
CALL(hipStreamSynchronize, hip, 1, "hip_4.2")
CALL(hipStreamSynchronize, plain, 1, "MALLEABLE")
CALL(hipEventSynchronize, hip, 1, "hip_4.2")
CALL(hipEventSynchronize, plain, 1, "MALLEABLE")
CALL(hipStreamSynchronize_spt, hip, 1, "hip_5.2")
