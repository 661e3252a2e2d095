/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profiler that the driver loads (CUDA_INJECTION64_PATH): counts launches by callbacks of calls,
 * and prints them at exit().
 */
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __typeof__(&cuptiSubscribe) subscribe;
static __typeof__(&cuptiEnableCallback) enable;
static CUpti_SubscriberHandle subscriber;
static unsigned n_launches;

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			    const void *data)
{
	(void)user, (void)domain, (void)id;
	n_launches += ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_EXIT;
}

static void print(void)
{
	printf("result injected: launches %u\n", n_launches);
	fflush(stdout);
}

int InitializeInjection(void);
int InitializeInjection(void)
{
	const char *file = getenv("CUPTI_FILE");
	void *library = dlopen(file ? file : "libcupti.so.13", RTLD_NOW);
	if (!library)
		return 0;
	memcpy(&subscribe, &(void *){dlsym(library, "cuptiSubscribe")}, sizeof subscribe);
	memcpy(&enable, &(void *){dlsym(library, "cuptiEnableCallback")}, sizeof enable);
	CUptiResult r = subscribe(&subscriber, called, NULL);
	if (r == CUPTI_SUCCESS)
		r = enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
			   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	printf("result injected: %d\n", (int)r);
	atexit(print);
	return 1;
}
