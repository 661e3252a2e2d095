/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the driver API that make operations, by name. We use names because the numbers differ
 * between versions of CUPTI, and because we must not miss new forms of old calls (_v3, _ptsz). An
 * unknown name that starts like a known one is treated like it, and is_new is set. Test:
 * tests/unit/cupti/test_cupti.c.
 */
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include <stddef.h>
#include <string.h>

#define NAME_BYTES 96u

struct rule {
	const char *name;   /* without "_v2", "_ptds", "_ptsz" */
	uint8_t kind, detail, form;
	uint8_t least;      /* first version of the call to which the form applies */
	bool waits;
};

#define DEVICE MSR_GPU_MEMORY_DEVICE
#define PINNED MSR_GPU_MEMORY_HOST
#define WAITS true

static const struct rule rules[] = {
	{"cuLaunch", MSR_GPU_KERNEL, 0, NV_FORM_LAUNCH, 1, false},
	{"cuLaunchGrid", MSR_GPU_KERNEL, 0, NV_FORM_LAUNCH, 1, false},
	{"cuLaunchGridAsync", MSR_GPU_KERNEL, 0, NV_FORM_LAUNCH, 1, false},
	{"cuLaunchKernel", MSR_GPU_KERNEL, 0, NV_FORM_LAUNCH, 1, false},
	{"cuLaunchKernelEx", MSR_GPU_KERNEL, 0, NV_FORM_LAUNCH_EX, 1, false},
	{"cuLaunchCooperativeKernel", MSR_GPU_KERNEL, 0, NV_FORM_LAUNCH, 1, false},
	{"cuLaunchCooperativeKernelMultiDevice", MSR_GPU_KERNEL, 0, 0, 0, false},
	{"cuGraphLaunch", MSR_GPU_GRAPH, 0, 0, 0, false},

	{"cuMemcpy", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_2, 1, WAITS},
	{"cuMemcpyAsync", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_2, 1, false},
	{"cuMemcpyHtoD", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_2, 2, WAITS},
	{"cuMemcpyHtoDAsync", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_2, 2, false},
	{"cuMemcpyDtoH", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_2, 2, WAITS},
	{"cuMemcpyDtoHAsync", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_2, 2, false},
	{"cuMemcpyDtoD", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_2, 2, false},
	{"cuMemcpyDtoDAsync", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_2, 2, false},
	{"cuMemcpyDtoA", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_3, 2, false},
	{"cuMemcpyAtoD", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_3, 2, false},
	{"cuMemcpyHtoA", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_3, 2, WAITS},
	{"cuMemcpyHtoAAsync", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_3, 2, false},
	{"cuMemcpyAtoH", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_3, 2, WAITS},
	{"cuMemcpyAtoHAsync", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_3, 2, false},
	{"cuMemcpyAtoA", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_4, 2, false},
	{"cuMemcpy2D", MSR_GPU_COPY, 0, NV_FORM_COPY_2D, 2, WAITS},
	{"cuMemcpy2DUnaligned", MSR_GPU_COPY, 0, NV_FORM_COPY_2D, 2, WAITS},
	{"cuMemcpy2DAsync", MSR_GPU_COPY, 0, NV_FORM_COPY_2D, 2, false},
	{"cuMemcpy3D", MSR_GPU_COPY, 0, NV_FORM_COPY_3D, 2, WAITS},
	{"cuMemcpy3DAsync", MSR_GPU_COPY, 0, NV_FORM_COPY_3D, 2, false},
	{"cuMemcpyPeer", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_4, 1, false},
	{"cuMemcpyPeerAsync", MSR_GPU_COPY, 0, NV_FORM_AMOUNT_4, 1, false},
	{"cuMemcpy3DPeer", MSR_GPU_COPY, 0, 0, 0, false},
	{"cuMemcpy3DPeerAsync", MSR_GPU_COPY, 0, 0, 0, false},
	{"cuMemcpyBatchAsync", MSR_GPU_COPY, 0, 0, 0, false},
	{"cuMemcpy3DBatchAsync", MSR_GPU_COPY, 0, 0, 0, false},

	{"cuMemsetD8", MSR_GPU_SET, 0, NV_FORM_AMOUNT_2, 2, false},
	{"cuMemsetD16", MSR_GPU_SET, 0, NV_FORM_AMOUNT_2, 2, false},
	{"cuMemsetD32", MSR_GPU_SET, 0, NV_FORM_AMOUNT_2, 2, false},
	{"cuMemsetD8Async", MSR_GPU_SET, 0, NV_FORM_AMOUNT_2, 1, false},
	{"cuMemsetD16Async", MSR_GPU_SET, 0, NV_FORM_AMOUNT_2, 1, false},
	{"cuMemsetD32Async", MSR_GPU_SET, 0, NV_FORM_AMOUNT_2, 1, false},
	{"cuMemsetD2D8", MSR_GPU_SET, 0, NV_FORM_SET_2D, 2, false},
	{"cuMemsetD2D16", MSR_GPU_SET, 0, NV_FORM_SET_2D, 2, false},
	{"cuMemsetD2D32", MSR_GPU_SET, 0, NV_FORM_SET_2D, 2, false},
	{"cuMemsetD2D8Async", MSR_GPU_SET, 0, NV_FORM_SET_2D, 1, false},
	{"cuMemsetD2D16Async", MSR_GPU_SET, 0, NV_FORM_SET_2D, 1, false},
	{"cuMemsetD2D32Async", MSR_GPU_SET, 0, NV_FORM_SET_2D, 1, false},

	{"cuMemAlloc", MSR_GPU_ALLOC, DEVICE, NV_FORM_ALLOC, 2, false},
	{"cuMemAllocPitch", MSR_GPU_ALLOC, DEVICE, NV_FORM_PITCH, 2, false},
	{"cuMemAllocHost", MSR_GPU_ALLOC, PINNED, NV_FORM_ALLOC, 2, false},
	{"cuMemHostAlloc", MSR_GPU_ALLOC, PINNED, NV_FORM_ALLOC, 1, false},
	{"cuMemHostRegister", MSR_GPU_ALLOC, PINNED, NV_FORM_REGISTER, 1, false},
	{"cuMemAllocManaged", MSR_GPU_ALLOC, MSR_GPU_MEMORY_MANAGED, NV_FORM_ALLOC, 1, false},
	{"cuMemAllocAsync", MSR_GPU_ALLOC, DEVICE, NV_FORM_ALLOC, 1, false},
	{"cuMemAllocFromPoolAsync", MSR_GPU_ALLOC, DEVICE, NV_FORM_ALLOC, 1, false},
	{"cuMemCreate", MSR_GPU_ALLOC, DEVICE, NV_FORM_ALLOC, 1, false},
	{"cuArrayCreate", MSR_GPU_ALLOC, MSR_GPU_MEMORY_IMAGE, NV_FORM_ARRAY, 2, false},
	{"cuArray3DCreate", MSR_GPU_ALLOC, MSR_GPU_MEMORY_IMAGE, NV_FORM_ARRAY3, 2, false},
	{"cuMipmappedArrayCreate", MSR_GPU_ALLOC, MSR_GPU_MEMORY_IMAGE, NV_FORM_ARRAY3, 1, false},
	{"cuMemFree", MSR_GPU_FREE, DEVICE, NV_FORM_FREE, 2, false},
	{"cuMemFreeAsync", MSR_GPU_FREE, DEVICE, NV_FORM_FREE, 1, false},
	{"cuMemFreeHost", MSR_GPU_FREE, PINNED, NV_FORM_FREE, 1, false},
	{"cuMemHostUnregister", MSR_GPU_FREE, PINNED, NV_FORM_FREE, 1, false},
	{"cuMemRelease", MSR_GPU_FREE, DEVICE, NV_FORM_FREE, 1, false},
	{"cuArrayDestroy", MSR_GPU_FREE, MSR_GPU_MEMORY_IMAGE, NV_FORM_FREE, 1, false},
	{"cuMipmappedArrayDestroy", MSR_GPU_FREE, MSR_GPU_MEMORY_IMAGE, NV_FORM_FREE, 1, false},

	{"cuStreamSynchronize", MSR_GPU_SYNC, MSR_GPU_SYNC_QUEUE, 0, 0, false},
	{"cuEventSynchronize", MSR_GPU_SYNC, MSR_GPU_SYNC_EVENT, 0, 0, false},
	{"cuCtxSynchronize", MSR_GPU_SYNC, MSR_GPU_SYNC_DEVICE, 0, 0, false},

	{"cuStreamBeginCapture", 0, 0, NV_FORM_CAPTURE_BEGIN, 0, false},
	{"cuStreamBeginCaptureToGraph", 0, 0, NV_FORM_CAPTURE_BEGIN, 0, false},
	{"cuStreamEndCapture", 0, 0, NV_FORM_CAPTURE_END, 0, false},

	{"cuModuleLoad", 0, 0, NV_FORM_LOAD, 0, false},
	{"cuModuleLoadData", 0, 0, NV_FORM_LOAD, 0, false},
	{"cuModuleLoadDataEx", 0, 0, NV_FORM_LOAD, 0, false},
	{"cuModuleLoadFatBinary", 0, 0, NV_FORM_LOAD, 0, false},
	{"cuLibraryLoadData", 0, 0, NV_FORM_LOAD, 0, false},
	{"cuLibraryLoadFromFile", 0, 0, NV_FORM_LOAD, 0, false},
	{"cuModuleGetFunction", 0, 0, NV_FORM_GET, 0, false},
	{"cuLibraryGetKernel", 0, 0, NV_FORM_GET, 0, false},
	{"cuLibraryGetModule", 0, 0, NV_FORM_GET, 0, false},
	{"cuKernelGetFunction", 0, 0, NV_FORM_GET, 0, false},
};

/* Treat an unknown call whose name starts like this as a call of this kind. */
static const struct rule beginnings[] = {
	/* a function of the program on the CPU: CUPTI writes no record */
	{"cuLaunchHostFunc", 0, 0, 0, 0, false},
	{"cuLaunch", MSR_GPU_KERNEL, 0, 0, 0, false},
	{"cuGraphLaunch", MSR_GPU_GRAPH, 0, 0, 0, false},
	{"cuMemcpy", MSR_GPU_COPY, 0, 0, 0, false},
	{"cuMemset", MSR_GPU_SET, 0, 0, 0, false},
};

/* Removes an ending. Returns false if the name does not have it. */
static bool cut_end(char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);
	bool has = n > m && !strcmp(name + n - m, end);
	if (has)
		name[n - m] = 0;
	return has;
}

/* Removes "_v2", "_v3", ... and returns its number; 1 if there is none. */
static unsigned cut_version(char *name)
{
	char *at = strrchr(name, '_');
	if (!at || at[1] != 'v' || at[2] < '2' || at[2] > '9' || at[3])
		return 1;
	*at = 0;
	return (unsigned)(at[2] - '0');
}

/* Gets the name as in the table, and the version of the call; 0 for old calls named "cu64...". */
static unsigned base_name(const char *name, char base[NAME_BYTES])
{
	bool is_old = !strncmp(name, "cu64", 4);
	const char *rest = name + (is_old ? 4 : 2);
	size_t n = strnlen(rest, NAME_BYTES - 3);
	memcpy(base, "cu", 2);
	memcpy(base + 2, rest, n);
	base[2 + n] = 0;
	if (!cut_end(base, "_ptsz"))
		cut_end(base, "_ptds");
	unsigned version = cut_version(base);
	return is_old ? 0 : version;
}

static struct nv_call call_of(const struct rule *r, unsigned version)
{
	return (struct nv_call){.kind = r->kind,
				.detail = r->detail,
				.form = version >= r->least ? r->form : NV_FORM_NONE,
				.waits = r->waits};
}

struct nv_call nv_call_of(const char *name)
{
	char base[NAME_BYTES];
	if (strncmp(name, "cu", 2))
		return (struct nv_call){0};
	unsigned version = base_name(name, base);
	for (const struct rule *r = rules; r < rules + sizeof rules / sizeof *rules; r++)
		if (!strcmp(r->name, base))
			return call_of(r, version);
	for (const struct rule *r = beginnings;
	     r < beginnings + sizeof beginnings / sizeof *beginnings; r++)
		if (!strncmp(r->name, base, strlen(r->name))) {
			struct nv_call c = call_of(r, 0);
			c.is_new = c.kind != 0;
			return c;
		}
	return (struct nv_call){0};
}

/* ---- arguments ---- */

/*
 * CUPTI provides a struct with the arguments. The offset of each argument that we read is a
 * multiple of eight.
 */
static uint64_t argument(const void *params, unsigned n)
{
	uint64_t v;
	memcpy(&v, (const char *)params + 8u * n, sizeof v);
	return v;
}

_Static_assert(offsetof(cuMemcpyHtoD_v2_params, ByteCount) == 16 &&
		       offsetof(cuMemsetD8_v2_params, N) == 16,
	       "the third argument");
_Static_assert(offsetof(cuMemcpyHtoA_v2_params, ByteCount) == 24 &&
		       offsetof(cuMemcpyDtoA_v2_params, ByteCount) == 24,
	       "the fourth");
_Static_assert(offsetof(cuMemcpyAtoA_v2_params, ByteCount) == 32 &&
		       offsetof(cuMemcpyPeer_params, ByteCount) == 32,
	       "the fifth");
_Static_assert(offsetof(cuMemsetD2D8_v2_params, Width) == 24 &&
		       offsetof(cuMemsetD2D8_v2_params, Height) == 32,
	       "of a fill in two dimensions");
_Static_assert(offsetof(cuLaunchKernel_params, f) == 0 &&
		       offsetof(cuLaunchCooperativeKernel_params, f) == 0 &&
		       offsetof(cuLaunchKernelEx_params, f) == 8,
	       "of launches");
_Static_assert(offsetof(cuModuleGetFunction_params, hmod) == 8 &&
		       offsetof(cuLibraryGetKernel_params, library) == 8 &&
		       offsetof(cuKernelGetFunction_params, kernel) == 8,
	       "of handles");
_Static_assert(offsetof(cuMemAlloc_v2_params, bytesize) == 8 &&
		       offsetof(cuMemCreate_params, size) == 8 &&
		       offsetof(cuMemAllocAsync_params, bytesize) == 8,
	       "of allocations");

static const void *pointer(const void *params, unsigned n)
{
	return (const void *)(uintptr_t)argument(params, n);
}

bool nv_call_has_amount(enum nv_form form, const void *params)
{
	const CUDA_MEMCPY2D *flat;
	const CUDA_MEMCPY3D *deep;
	switch (form) {
	case NV_FORM_AMOUNT_2:
		return argument(params, 2) != 0;
	case NV_FORM_AMOUNT_3:
		return argument(params, 3) != 0;
	case NV_FORM_AMOUNT_4:
		return argument(params, 4) != 0;
	case NV_FORM_SET_2D:
		return argument(params, 3) != 0 && argument(params, 4) != 0;
	case NV_FORM_COPY_2D:
		flat = pointer(params, 0);
		return !flat || (flat->WidthInBytes && flat->Height);
	case NV_FORM_COPY_3D:
		deep = pointer(params, 0);
		return !deep || (deep->WidthInBytes && deep->Height && deep->Depth);
	default:
		return true;
	}
}

const void *nv_call_function(enum nv_form form, const void *params)
{
	return form == NV_FORM_LAUNCH      ? pointer(params, 0)
	       : form == NV_FORM_LAUNCH_EX ? pointer(params, 1)
					   : NULL;
}

static uint64_t element_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	default:
		return 0; /* compressed and video formats: unknown */
	}
}

static uint64_t or_one(uint64_t n)
{
	return n ? n : 1;
}

static uint64_t array_bytes(const CUDA_ARRAY_DESCRIPTOR *d)
{
	return d ? d->Width * or_one(d->Height) * d->NumChannels * element_bytes(d->Format) : 0;
}

static uint64_t array3_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	return d ? d->Width * or_one(d->Height) * or_one(d->Depth) * d->NumChannels *
			       element_bytes(d->Format)
		 : 0;
}

static uint64_t pointed_at(const void *params, unsigned n)
{
	const uint64_t *p = pointer(params, n);
	return p ? *p : 0;
}

void nv_call_allocation(enum nv_form form, const void *params, uint64_t *address, uint64_t *bytes)
{
	*address = *bytes = 0;
	switch (form) {
	case NV_FORM_ALLOC:
		*address = pointed_at(params, 0);
		*bytes = argument(params, 1);
		break;
	case NV_FORM_PITCH:
		*address = pointed_at(params, 0);
		*bytes = pointed_at(params, 1) * argument(params, 3);
		break;
	case NV_FORM_ARRAY:
		*address = pointed_at(params, 0);
		*bytes = array_bytes(pointer(params, 1));
		break;
	case NV_FORM_ARRAY3:
		*address = pointed_at(params, 0);
		*bytes = array3_bytes(pointer(params, 1));
		break;
	case NV_FORM_REGISTER:
		*address = argument(params, 0);
		*bytes = argument(params, 1);
		break;
	case NV_FORM_FREE:
		*address = argument(params, 0);
		break;
	default:
		break;
	}
}

/* A failed call has stored no address and no pitch. */
uint64_t nv_call_asked(enum nv_form form, const void *params)
{
	switch (form) {
	case NV_FORM_ALLOC:
	case NV_FORM_REGISTER: return argument(params, 1);
	case NV_FORM_PITCH: return argument(params, 2) * argument(params, 3);
	case NV_FORM_ARRAY: return array_bytes(pointer(params, 1));
	case NV_FORM_ARRAY3: return array3_bytes(pointer(params, 1));
	default: return 0;
	}
}
