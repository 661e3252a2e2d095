/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds CUPTI and the driver by name. Some programs bring their own copy of CUPTI (PyTorch does),
 * and two copies in a process cannot both work, so a copy that is already loaded has precedence.
 * Tests: tests/unit/cupti/test_cupti.c, tests/cli/gpu/cupti_trace.sh.
 */
#include "common/safe/clock.h"
#include "common/safe/text.h"
#include "hpcrun-lite/gpu/cupti/front/front.h"
#include "hpcrun-lite/gpu/cupti/nv.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER "libcuda.so.1"
#define NEEDED                                                                                     \
	"CUPTI of CUDA 12 or 13 (libcupti.so.12, libcupti.so.13) is needed; say where it is with " \
	"gpu=nvidia,cupti=FILE or LD_LIBRARY_PATH"

#ifndef NV_BUILT_WITH
#define NV_BUILT_WITH ""
#endif

static const char *const places[] = {
	NV_BUILT_WITH,
	"/usr/local/cuda/lib64/",
	"/usr/local/cuda/extras/CUPTI/lib64/",
	"/usr/local/cuda/lib/",
	"/usr/local/cuda-13/lib64/",
	"/usr/local/cuda-12/lib64/",
	"/opt/cuda/lib64/",
	"/opt/cuda/extras/CUPTI/lib64/",
};

void nv_library_preferred(const char *options, char *path, size_t bytes)
{
	struct text t = text_in(path, bytes);
	text_put(&t, "");
	for (const char *at = options; *at;) {
		size_t n = strcspn(at, ",");
		if (!strncmp(at, "cupti=", 6))
			for (size_t i = 6; i < n; i++)
				text_put_char(&t, at[i]);
		at += n + (at[n] == ',');
	}
}

static const char *const cupti_names[] = {"libcupti.so.13", "libcupti.so.12"};
#define N_NAMES (sizeof cupti_names / sizeof *cupti_names)

static void *open_near(const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct text t = text_in(path, sizeof path);
	text_put(&t, directory);
	text_put(&t, name);
	return t.cut || !*directory ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_named(const char *name)
{
	void *h = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !h && i < sizeof places / sizeof *places; i++)
		h = open_near(places[i], name);
	return h;
}

/* The driver's version is as cuDriverGetVersion gives it. A driver also serves older CUPTIs. */
static void *open_cupti(const char *preferred, int driver)
{
	void *h = NULL;
	for (size_t i = 0; !h && i < N_NAMES; i++)
		h = dlopen(cupti_names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	if (!h && *preferred)
		return dlopen(preferred, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !h && i < N_NAMES; i++)
		h = open_named(cupti_names[driver < 13000 ? N_NAMES - 1 - i : i]);
	return h;
}

void *nv_library_symbol(void *library, const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, CUPTI_FRONT_SYMBOL);
	cupti_front_fn *find = (cupti_front_fn *)(uintptr_t)symbol;
	return find ? find()->symbol(library, name) : dlsym(library, name);
}

struct wanted {
	const char *name;
	void *to;
};

static const char *find_all(void *library, const struct wanted *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		void *symbol = nv_library_symbol(library, w[i].name);
		if (!symbol)
			return w[i].name;
		memcpy(w[i].to, &symbol, sizeof symbol);
	}
	return NULL;
}

static void say(char *why, size_t bytes, const char *a, const char *b, const char *c)
{
	struct text t = text_in(why, bytes);
	text_put(&t, a);
	text_put(&t, b);
	text_put(&t, c);
}

static bool find_cupti(struct nv_library *l, void *handle, char *why, size_t why_bytes)
{
#define WANTED(name) {#name, &l->name},
	const struct wanted functions[] = {NV_CUPTI_FUNCTIONS(WANTED)};
	struct link_map *map = NULL;
	l->path = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "CUPTI";
	uint32_t version = 0;
	CUptiResult (*get_version)(uint32_t *) = NULL;
	void *symbol = dlsym(handle, "cuptiGetVersion");
	memcpy(&get_version, &symbol, sizeof symbol);
	if (get_version)
		get_version(&version);
	l->version = nv_version_of(version);
	l->cupti_text = symbol;
	if (l->version < NV_LEAST_CUPTI) {
		say(why, why_bytes, l->path, " is too old: ", NEEDED);
		return false;
	}
	const char *missing = find_all(handle, functions, sizeof functions / sizeof *functions);
	if (!missing)
		missing = nv_version_set_subscribe(l, handle);
	if (missing)
		say(why, why_bytes, l->path, " has no function ", missing);
	return !missing;
}

const char *nv_library_version_text(unsigned version, char text[NV_VERSION_BYTES])
{
	struct text t = text_in(text, NV_VERSION_BYTES);
	text_put_u64(&t, version / 10000);
	text_put_char(&t, '.');
	text_put_u64(&t, version / 100 % 100);
	text_put_char(&t, '.');
	text_put_u64(&t, version % 100);
	return text;
}

/* ---- the process itself ---- */

static uint64_t now_ns(void)
{
	return clock_mono_ns();
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u)};
}

/*
 * Threads of the program wait here, inside the driver and under our locks. So cancellation is
 * disabled: it must take effect only where it would without us.
 */
static void wait_until(sem_t *wake, uint64_t until_ns)
{
	int old;
	const struct timespec until = timespec_of(until_ns);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	while (sem_clockwait(wake, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
		;
	pthread_setcancelstate(old, NULL);
}

static bool lock_until(pthread_mutex_t *m, uint64_t until_ns)
{
	const struct timespec until = timespec_of(until_ns);
	return (until_ns ? pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &until)
			 : pthread_mutex_lock(m)) == 0;
}

static void point(void)
{
}

static bool agree(enum nv_agree what, bool mine)
{
	(void)what;
	return mine;
}

static bool spawn(void *(*run)(void *arg), void *arg)
{
	pthread_t thread;
	pthread_attr_t attributes;
	if (pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	bool good = pthread_create(&thread, &attributes, run, arg) == 0;
	pthread_attr_destroy(&attributes);
	return good;
}

static void at_exit(void (*fn)(void))
{
	atexit(fn);
}

static void at_end(void (*fn)(uint64_t may_wait_ns))
{
	nv.host->at_end(nv.host, fn);
}

static void on_switch(void (*fn)(bool on))
{
	nv.host->on_switch(nv.host, fn);
}

void nv_library_own(struct nv_library *l)
{
	l->now_ns = now_ns;
	l->wait = wait_until;
	l->lock = lock_until;
	l->point = point;
	l->agree = agree;
	l->spawn = spawn;
	l->at_exit = at_exit;
	l->at_end = at_end;
	l->on_switch = on_switch;
	l->lock_gpu = nv_gpu_lock;
}

/* ---- opening ---- */

const struct nv_library *nv_library_stand_in;

bool nv_library_open(struct nv_library *l, const char *preferred, bool load_driver, char *why,
		     size_t why_bytes)
{
	const struct wanted functions[] = {NV_DRIVER_FUNCTIONS(WANTED)};
	if (nv_library_stand_in) {
		*l = *nv_library_stand_in;
		return true;
	}
	nv_library_own(l);
	void *driver = dlopen(DRIVER, RTLD_LAZY | RTLD_LOCAL | (load_driver ? 0 : RTLD_NOLOAD));
	const char *missing =
		driver ? find_all(driver, functions, sizeof functions / sizeof *functions) : "";
	if (!missing)
		missing = nv_version_set_synchronize(l, driver);
	if (missing) {
		say(why, why_bytes,
		    driver ? DRIVER " has no function "
			   : "there is no NVIDIA driver here (" DRIVER " is not found)",
		    missing, driver ? ": the driver is too old" : "");
		return false;
	}
	memcpy(&l->driver_text, &(void *){dlsym(driver, "cuDriverGetVersion")},
	       sizeof l->driver_text);
	int version = 0;
	l->cuDriverGetVersion(&version);
	void *cupti = open_cupti(preferred, version);
	if (!cupti) {
		say(why, why_bytes, *preferred ? preferred : "CUPTI",
		    " cannot be loaded: ", *preferred ? dlerror() : NEEDED);
		return false;
	}
	return find_cupti(l, cupti, why, why_bytes);
}
