/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU back ends for the launcher; see gpu_client.h. Test: tests/unit/run/test_launch.c,
 * tests/cli/launch/launch_gpu.sh.
 */
#include "hpcrun-lite/launch/gpu_client.h"

#include "common/base/log.h"
#include "common/base/options.h"
#include "hpcrun-lite/gpu/cupti/nv_options.h"
#include "hpcrun-lite/gpu/gpu_probe.h"
#include "hpcrun-lite/launch/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHY_BYTES 512

struct backend {
	const char *name, *about;
	const char *module;       /* its module's name after CONFIG_MODULE_HEAD */
	/* separated by ','; "" for none; a name that ends in '=' takes a value; shown to users */
	const char *options;
	const char *missing;      /* the message if its module was not built */
	/* a file that the driver of its devices makes; NULL: nobody misses the module */
	const char *sign;
	/* NULL: check against `options`; else `why` follows the back end's name in the message */
	bool (*check)(const char *options, char *why, size_t why_bytes);
};

static bool check_nvidia(const char *options, char *why, size_t why_bytes)
{
	struct nv_options o;
	return nv_options_read(options, &o, why, why_bytes);
}

static const struct backend backends[] = {
	{"opencl", "OpenCL kernels, copies and allocations, with device times", "opencl", "preload",
	 "hpctoolkit-lite was built without OpenCL; install its headers and loader "
	 "(opencl-headers, ocl-icd-opencl-dev) and build again",
	 NULL, NULL},
	{"nvidia",
	 "CUDA kernels, copies, allocations and waits of NVIDIA GPUs, with device times; pc: "
	 "samples of their instructions, with stall reasons",
	 "cupti", NV_OPTIONS_SHOWN,
	 "hpctoolkit-lite was built without CUPTI; install a CUDA toolkit (12.4 or later) and "
	 "build again (configure --with-cupti=DIR)",
	 "/proc/driver/nvidia/version", check_nvidia},
};
#define N_BACKENDS (sizeof backends / sizeof backends[0])
_Static_assert(N_BACKENDS == GPU_CLIENT_MOST, "as many answers as back ends");

/* ---- the command line ---- */

static const struct backend *find(const char *name)
{
	for (size_t i = 0; i < N_BACKENDS; i++)
		if (!strcmp(backends[i].name, name))
			return &backends[i];
	return NULL;
}

/*
 * Returns true if `list`, separated by ',', contains `word` of length n. Also true if `word` is a
 * name in `list` that ends in '=', followed by a value.
 */
static bool is_among(const char *word, size_t n, const char *list)
{
	while (*list) {
		size_t m = strcspn(list, ",");
		bool has_value = m && list[m - 1] == '=' && n > m;
		if ((m == n || has_value) && !strncmp(list, word, m) &&
		    (has_value || list[m - 1] != '='))
			return true;
		list += m + (list[m] == ',');
	}
	return false;
}

static enum status check_options(const struct backend *b, const char *options)
{
	char why[WHY_BYTES];
	if (b->check)
		return b->check(options, why, sizeof why)
			       ? STATUS_OK
			       : options_refuse("gpu=%s %s", b->name, why);
	for (const char *at = options; *at;) {
		size_t n = strcspn(at, ",");
		if (!is_among(at, n, b->options))
			return options_refuse("gpu=%s has no option '%.*s'; its options are: %s",
					      b->name, (int)n, at, b->options);
		at += n + (at[n] == ',');
	}
	return STATUS_OK;
}

static void name_all(char *text, size_t bytes)
{
	text[0] = 0;
	for (size_t i = 0; i < N_BACKENDS; i++) {
		size_t n = strlen(text);
		snprintf(text + n, bytes - n, "%s%s", n ? ", " : "", backends[i].name);
	}
}

enum status gpu_client_parse(const char *text, struct config *c)
{
	char all[256];
	struct config_gpu g = {.name = "", .options = ""};
	size_t n = strcspn(text, ",");
	const char *options = text[n] ? text + n + 1 : "";
	if (n < sizeof g.name)
		memcpy(g.name, text, n);
	const struct backend *b = find(g.name);
	if (!b) {
		name_all(all, sizeof all);
		return options_refuse("unknown GPU back end '%.*s'; choose from: %s", (int)n, text,
				      all);
	}
	if (config_find_gpu(c, g.name))
		return options_refuse("gpu=%s is given twice", g.name);
	if (strlen(options) >= sizeof g.options)
		return options_refuse("the options of gpu=%s are too long", g.name);
	memcpy(g.options, options, strlen(options));
	enum status status = check_options(b, options);
	if (status == STATUS_OK && c->n_gpus == CONFIG_MAX_GPUS)
		return options_refuse("more than %u GPU back ends", CONFIG_MAX_GPUS);
	if (status == STATUS_OK)
		c->gpu[c->n_gpus++] = g;
	return status;
}

enum status gpu_client_record(struct config *c, const char *option)
{
	for (uint32_t i = 0; i < c->n_gpus; i++) {
		struct config_gpu *g = &c->gpu[i];
		size_t n = strlen(g->options);
		if (strcmp(g->name, "nvidia") != 0)
			continue;
		if (n + strlen(option) + 2 > sizeof g->options)
			return options_refuse("the options of gpu=%s are too long", g->name);
		if (!is_among(option, strlen(option), g->options))
			snprintf(g->options + n, sizeof g->options - n, "%s%s", n ? "," : "",
				 option);
		return check_options(find(g->name), g->options);
	}
	return options_refuse("--record-gpu needs -e gpu=nvidia");
}

/* ---- the module ---- */

struct question {
	const char *directory;
	const char *module, *options;
	const char *missing;      /* the message if there is no module */
	const char *sign;         /* as in the table */
};

struct answer {
	bool good, preload;
	char why[WHY_BYTES];
};

static const struct gpu_probe *open_module(const struct question *q, char *why, size_t bytes)
{
	return child_open_module(&(struct child_module){q->directory, q->module, GPU_PROBE_SYMBOL,
							"module", q->missing},
				 why, bytes);
}

static void check_in_child(void *arg, int out)
{
	const struct question *q = arg;
	struct answer a = {0};
	const struct gpu_probe *probe = open_module(q, a.why, sizeof a.why);
	a.good = probe != NULL;
	a.preload = probe && probe->wants_preload(q->options, a.why, sizeof a.why);
	if (write(out, &a, sizeof a) != sizeof a)
		_exit(1);
}

static void list_in_child(void *arg, int out)
{
	const struct question *q = arg;
	char why[WHY_BYTES];
	const struct gpu_probe *probe = open_module(q, why, sizeof why);
	if (probe) {
		probe->list(out);
	} else if (q->sign && access(q->sign, F_OK) == 0) {
		char *cure = strstr(why, "; ");
		int n = cure ? (int)(cure - why) : (int)strlen(why);
		dprintf(out, "!work of GPUs\t%.*s\t%s\n", n, why, cure ? cure + 2 : "");
	} else {
		dprintf(out, "-%s\n", why);
	}
}

static bool check_one(const char *library_directory, struct config_gpu *g)
{
	const struct backend *b = find(g->name);
	struct question q = {library_directory, b ? b->module : g->name, g->options,
			     b ? b->missing : "", NULL};
	struct answer a = {0};
	char how[128], what[sizeof g->name + sizeof GPU_CLIENT_PREFIX];
	pid_t child;
	snprintf(what, sizeof what, GPU_CLIENT_PREFIX "%s", g->name);
	int in = child_start(check_in_child, &q, &child);
	if (in < 0) {
		log_error(what, "cannot start a process to test it: %s", strerror(errno));
		return false;
	}
	size_t n = child_read(in, &a, sizeof a);
	close(in);
	child_reap(child, "its library", how, sizeof how);
	if (n != sizeof a || !a.good) {
		log_error(what, "%s (-L lists what is available)", n == sizeof a ? a.why : how);
		return false;
	}
	g->preload = a.preload;
	if (a.why[0])
		log_note(what, "%s", a.why);
	return true;
}

bool gpu_client_check(const char *library_directory, struct config *c)
{
	bool good = true;
	for (uint32_t i = 0; i < c->n_gpus; i++)
		good &= check_one(library_directory, &c->gpu[i]);
	return good;
}

void gpu_client_ask(const char *library_directory, struct gpu_client_answer to[GPU_CLIENT_MOST])
{
	for (size_t i = 0; i < N_BACKENDS; i++) {
		const struct backend *b = &backends[i];
		struct question q = {library_directory, b->module, "", b->missing, b->sign};
		char how[128];
		pid_t child;
		to[i] = (struct gpu_client_answer){b->name, b->about, b->options, NULL};
		int in = child_start(list_in_child, &q, &child);
		char *text = in < 0 ? NULL : child_read_text(in);
		if (!text)
			continue;
		child_reap(child, "its library", how, sizeof how);
		if (asprintf(&to[i].text, "%s%s%s", text, how[0] ? "-" : "", how) < 0)
			to[i].text = NULL;
		free(text);
	}
}
