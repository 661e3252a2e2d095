/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes and decodes the environment variable between launcher and run time; see config.h. Must
 * not allocate. Test: tests/unit/run/test_config.c.
 */
#include "hpcrun-lite/config/config.h"

#include "common/safe/launcher.h"

#include <string.h>

/* ---- writing ---- */

struct out {
	char *text;
	size_t n, room;
	bool full;
};

static void put(struct out *o, char c)
{
	if (o->n + 1 >= o->room)
		o->full = true;
	else
		o->text[o->n++] = c;
}

static void put_text(struct out *o, const char *s)
{
	while (*s)
		put(o, *s++);
}

static void put_escaped(struct out *o, const char *s)
{
	static const char hex[] = "0123456789ABCDEF";
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '%' || c == ';' || c == ',' || c < 0x20 || c > 0x7e) {
			put(o, '%');
			put(o, hex[c >> 4]);
			put(o, hex[c & 15]);
		} else {
			put(o, (char)c);
		}
	}
}

static void put_u64(struct out *o, uint64_t v)
{
	char digits[20];
	int n = 0;
	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		put(o, digits[--n]);
}

static void put_number(struct out *o, const char *key, int64_t v)
{
	put(o, ';');
	put_text(o, key);
	put(o, '=');
	if (v < 0)
		put(o, '-');
	put_u64(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void put_string(struct out *o, const char *key, const char *s)
{
	put(o, ';');
	put_text(o, key);
	put(o, '=');
	put_escaped(o, s);
}

static void put_event(struct out *o, const struct config_event *e)
{
	const uint64_t field[] = {e->kind,   e->unit,    e->perf_type, e->perf_config,
				  e->period, e->as_rate, e->cpu_source};
	put_string(o, "event", e->name);
	for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
		put(o, ',');
		put_u64(o, field[i]);
	}
}

size_t config_encode(const struct config *c, char *text, size_t n_bytes)
{
	struct out o = {.text = text, .room = n_bytes};
	if (n_bytes == 0)
		return 0;
	put_text(&o, CONFIG_VERSION);
	put_string(&o, "dir", c->directory);
	if (c->cache[0])
		put_string(&o, "cache", c->cache);
	put_string(&o, "lib", c->library);
	put_number(&o, "trace", c->trace);
	put_number(&o, "python", c->python);
	put_number(&o, "openmp", c->openmp);
	put_number(&o, "delay", c->delay);
	put_number(&o, "say", c->say);
	put_number(&o, "rank", c->rank);
	put_number(&o, "size", c->n_ranks);
	put_string(&o, "job", c->job);
	if (c->spawned.id) {
		put_number(&o, "jobhost", (int64_t)c->spawned.host_id);
		put_number(&o, "jobid", (int64_t)c->spawned.id);
		put_number(&o, "jobpid", c->spawned.pid);
	}
	put_number(&o, "pid", c->root_pid);
	put_number(&o, "execpid", c->exec_pid);
	put_number(&o, "seq", c->exec_seq);
	put_number(&o, "start", (int64_t)c->process_start_ns);
	put_number(&o, "since", (int64_t)c->since_ns);
	if (c->root_inode) {
		put_text(&o, ";root=");
		put_u64(&o, c->root_device);
		put(&o, ',');
		put_u64(&o, c->root_inode);
	}
	put_number(&o, "depth", c->max_depth);
	put_number(&o, "nodes", c->max_nodes);
	put_number(&o, "bytes", (int64_t)c->max_bytes);
	put_number(&o, "gpubytes", (int64_t)c->gpu_bytes);
	if (c->local[0]) {
		put_string(&o, "local", c->local);
		put_number(&o, "leave", (int64_t)c->leave_bytes);
		put_string(&o, "tool", c->tool);
	}
	for (uint32_t i = 0; i < c->n_events && i < MSR_MAX_METRICS; i++)
		put_event(&o, &c->event[i]);
	for (uint32_t i = 0; i < c->n_gpus && i < CONFIG_MAX_GPUS; i++) {
		put_string(&o, "gpu", c->gpu[i].name);
		put(&o, ',');
		put_escaped(&o, c->gpu[i].options);
		put(&o, ',');
		put_u64(&o, c->gpu[i].preload);
	}
	if (c->mpi)
		put_number(&o, "mpi", 1);
	if (c->check)
		put_number(&o, "check", 1);
	if (c->nvtx)
		put_number(&o, "nvtx", 1);
	if (c->torch)
		put_number(&o, "torch", 1);
	if (c->attached)
		put_number(&o, "attached", 1);
	o.text[o.n] = '\0';
	return o.full ? 0 : o.n;
}

/* ---- reading ---- */

struct in {
	const char *at;
	bool bad;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a value up to `,` or `;` or the end, unescaped. */
static void get_text(struct in *in, char *to, size_t room)
{
	size_t n = 0;
	while (*in->at && *in->at != ';' && *in->at != ',') {
		int c = (unsigned char)*in->at++;
		if (c == '%') {
			int high = hex_digit(in->at[0]), low = high < 0 ? -1 : hex_digit(in->at[1]);
			if (low < 0) {
				in->bad = true;
				break;
			}
			c = high << 4 | low;
			in->at += 2;
		}
		if (n + 1 >= room) {
			in->bad = true;
			break;
		}
		to[n++] = (char)c;
	}
	to[n] = '\0';
}

static uint64_t get_u64(struct in *in)
{
	uint64_t v = 0;
	if (*in->at < '0' || *in->at > '9')
		in->bad = true;
	for (; *in->at >= '0' && *in->at <= '9'; in->at++) {
		uint64_t digit = (uint64_t)(*in->at - '0');
		if (v > (UINT64_MAX - digit) / 10)
			in->bad = true;
		v = v * 10 + digit;
	}
	return v;
}

static int64_t get_i64(struct in *in)
{
	bool minus = *in->at == '-';
	in->at += minus;
	uint64_t v = get_u64(in);
	if (v > INT64_MAX)
		in->bad = true;
	return minus ? -(int64_t)(v & INT64_MAX) : (int64_t)v;
}

static uint64_t get_field(struct in *in)
{
	if (*in->at != ',')
		in->bad = true;
	else
		in->at++;
	return get_u64(in);
}

static void get_event(struct in *in, struct config *c)
{
	if (c->n_events == MSR_MAX_METRICS) {
		in->bad = true;
		return;
	}
	struct config_event *e = &c->event[c->n_events++];
	get_text(in, e->name, sizeof e->name);
	e->kind = (uint32_t)get_field(in);
	e->unit = (uint32_t)get_field(in);
	e->perf_type = (uint32_t)get_field(in);
	e->perf_config = get_field(in);
	e->period = get_field(in);
	e->as_rate = get_field(in) != 0;
	e->cpu_source = (uint32_t)get_field(in);
	if (e->cpu_source >= SOURCE_N_CPU || e->kind < CONFIG_CPUTIME ||
	    e->kind > CONFIG_KIND_LAST || e->period == 0)
		in->bad = true;
}

static bool is_gpu_name(const char *s)
{
	return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static void get_gpu(struct in *in, struct config *c)
{
	struct config_gpu g = {"", "", false};
	get_text(in, g.name, sizeof g.name);
	if (*in->at == ',') {
		in->at++;
		get_text(in, g.options, sizeof g.options);
	}
	if (*in->at == ',') {
		in->at++;
		g.preload = get_u64(in) != 0;
	}
	if (c->n_gpus == CONFIG_MAX_GPUS || !is_gpu_name(g.name) || config_find_gpu(c, g.name))
		in->bad = true;
	else
		c->gpu[c->n_gpus++] = g;
}

static void get_value(struct in *in, const char *key, struct config *c)
{
	char skipped[CONFIG_MAX_BYTES];
	if (!strcmp(key, "dir"))
		get_text(in, c->directory, sizeof c->directory);
	else if (!strcmp(key, "cache"))
		get_text(in, c->cache, sizeof c->cache);
	else if (!strcmp(key, "lib"))
		get_text(in, c->library, sizeof c->library);
	else if (!strcmp(key, "local"))
		get_text(in, c->local, sizeof c->local);
	else if (!strcmp(key, "leave"))
		c->leave_bytes = get_u64(in);
	else if (!strcmp(key, "tool"))
		get_text(in, c->tool, sizeof c->tool);
	else if (!strcmp(key, "job"))
		get_text(in, c->job, sizeof c->job);
	else if (!strcmp(key, "jobhost"))
		c->spawned.host_id = (uint64_t)get_i64(in);
	else if (!strcmp(key, "jobid"))
		c->spawned.id = get_u64(in);
	else if (!strcmp(key, "jobpid"))
		c->spawned.pid = (uint32_t)get_u64(in);
	else if (!strcmp(key, "event"))
		get_event(in, c);
	else if (!strcmp(key, "gpu"))
		get_gpu(in, c);
	else if (!strcmp(key, "gpubytes"))
		c->gpu_bytes = get_u64(in);
	else if (!strcmp(key, "mpi"))
		c->mpi = get_i64(in) != 0;
	else if (!strcmp(key, "check"))
		c->check = get_i64(in) != 0;
	else if (!strcmp(key, "nvtx"))
		c->nvtx = get_i64(in) != 0;
	else if (!strcmp(key, "torch"))
		c->torch = get_i64(in) != 0;
	else if (!strcmp(key, "attached"))
		c->attached = get_i64(in) != 0;
	else if (!strcmp(key, "trace"))
		c->trace = get_i64(in) != 0;
	else if (!strcmp(key, "python"))
		c->python = get_i64(in) != 0;
	else if (!strcmp(key, "openmp"))
		c->openmp = get_i64(in) != 0;
	else if (!strcmp(key, "delay"))
		c->delay = get_i64(in) != 0;
	else if (!strcmp(key, "say"))
		c->say = (uint32_t)get_i64(in);
	else if (!strcmp(key, "rank"))
		c->rank = (int32_t)get_i64(in);
	else if (!strcmp(key, "size"))
		c->n_ranks = (int32_t)get_i64(in);
	else if (!strcmp(key, "pid"))
		c->root_pid = (uint32_t)get_i64(in);
	else if (!strcmp(key, "execpid"))
		c->exec_pid = (uint32_t)get_i64(in);
	else if (!strcmp(key, "seq"))
		c->exec_seq = (uint32_t)get_i64(in);
	else if (!strcmp(key, "start"))
		c->process_start_ns = get_u64(in);
	else if (!strcmp(key, "since"))
		c->since_ns = get_u64(in);
	else if (!strcmp(key, "root")) {
		c->root_device = get_u64(in);
		c->root_inode = get_field(in);
	} else if (!strcmp(key, "depth"))
		c->max_depth = (uint32_t)get_i64(in);
	else if (!strcmp(key, "nodes"))
		c->max_nodes = (uint32_t)get_i64(in);
	else if (!strcmp(key, "bytes"))
		c->max_bytes = get_u64(in);
	else
		for (get_text(in, skipped, sizeof skipped); *in->at == ',' && !in->bad;
		     get_text(in, skipped, sizeof skipped))
			in->at++;
}

void config_defaults(struct config *c)
{
	memset(c, 0, sizeof *c);
	c->rank = c->n_ranks = -1;
	c->python = c->openmp = true;
	c->max_depth = CONFIG_MAX_DEPTH;
	c->max_nodes = CONFIG_MAX_NODES;
	c->gpu_bytes = CONFIG_GPU_BYTES;
}

const struct config_gpu *config_find_gpu(const struct config *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_gpus; i++)
		if (!strcmp(c->gpu[i].name, name))
			return &c->gpu[i];
	return NULL;
}

/* Appends as much as fits, but counts all of it. */
static void append(char *text, size_t n_bytes, size_t *n, const char *s, size_t length)
{
	for (size_t i = 0; i < length; i++, (*n)++)
		if (*n + 1 < n_bytes) {
			text[*n] = s[i];
			text[*n + 1] = '\0';
		}
}

static void append_module(const struct config *c, const char *name, char *text, size_t n_bytes,
			  size_t *n)
{
	const char *slash = strrchr(c->library, '/');
	append(text, n_bytes, n, ":", 1);
	append(text, n_bytes, n, c->library, slash ? (size_t)(slash - c->library) + 1 : 0);
	append(text, n_bytes, n, CONFIG_MODULE_HEAD, strlen(CONFIG_MODULE_HEAD));
	append(text, n_bytes, n, name, strlen(name));
	append(text, n_bytes, n, ".so", 3);
}

/* The length of the first name if it is AddressSanitizer's run time, else 0. */
static size_t sanitizer_bytes(const char *names)
{
	static const char *const heads[] = {"libasan.so", "libclang_rt.asan"};
	const size_t n = strcspn(names, ": ");
	size_t base = n;
	while (base > 0 && names[base - 1] != '/')
		base--;
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		if (n - base >= strlen(heads[i]) &&
		    strncmp(names + base, heads[i], strlen(heads[i])) == 0)
			return n;
	return 0;
}

size_t config_preload(const struct config *c, const char *others, char *text, size_t n_bytes)
{
	const size_t n_first = others ? sanitizer_bytes(others) : 0;
	size_t n = 0;
	if (n_bytes)
		text[0] = '\0';
	if (n_first) {
		append(text, n_bytes, &n, others, n_first);
		append(text, n_bytes, &n, ":", 1);
	}
	append(text, n_bytes, &n, c->library, strlen(c->library));
	for (uint32_t i = 0; i < c->n_gpus; i++)
		if (c->gpu[i].preload)
			append_module(c, c->gpu[i].name, text, n_bytes, &n);
	if (c->mpi)
		append_module(c, "mpi", text, n_bytes, &n);
	if (c->torch)
		append_module(c, "torch", text, n_bytes, &n);
	for (uint32_t i = 0; i < c->n_events; i++)
		if (c->event[i].kind == CONFIG_MEMORY)
			append_module(c, "memory", text, n_bytes, &n);
	if (others && !n_first)
		append(text, n_bytes, &n, ":", 1);
	if (others) /* the first name is followed by its separator or by nothing */
		append(text, n_bytes, &n, others + n_first, strlen(others + n_first));
	return n;
}

static bool in_bounds(const struct config *c)
{
	return c->directory[0] == '/' && (c->n_events || c->n_gpus || c->mpi || c->nvtx) &&
	       c->max_depth >= 16 && c->max_depth <= 65535 && c->max_nodes > 0 &&
	       c->max_nodes <= MSR_TRACE_NODE_MAX;
}

bool config_decode(const char *text, struct config *c)
{
	struct in in = {.at = text};
	char key[16];
	config_defaults(c);
	size_t version = strlen(CONFIG_VERSION);
	if (strncmp(text, CONFIG_VERSION, version) != 0 || text[version] != ';')
		return false;
	in.at += version;
	while (*in.at == ';' && !in.bad) {
		size_t n = strcspn(++in.at, "=;,");
		if (in.at[n] != '=' || n >= sizeof key)
			return false;
		memcpy(key, in.at, n);
		key[n] = '\0';
		in.at += n + 1;
		get_value(&in, key, c);
	}
	return !in.bad && *in.at == '\0' && in_bounds(c);
}

void config_find_rank(struct config *c, char *const *env)
{
	int32_t rank, size;
	const struct launcher *l = c->rank < 0 ? launcher_find(env, &rank, &size) : NULL;
	if (!l)
		return;
	c->rank = rank;
	c->n_ranks = size;
	if (!c->spawned.id && launcher_spawned(l, env))
		c->spawned.id = CONFIG_JOB_UNKNOWN;
}
