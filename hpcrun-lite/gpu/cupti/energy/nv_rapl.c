/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_rapl.h. Test: tests/unit/cupti/test_energy.c. */
#include "hpcrun-lite/gpu/cupti/energy/nv_rapl.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define MOST_PACKAGES 8u
#define MOST_PARTS 4u /* of a package */
#define PATH_BYTES sizeof((struct nv_rapl_meter *)0)->path

/* Reads a small file, without its newline. Returns 0, or -errno. */
static int read_file(const char *directory, const char *name, char *to, size_t bytes)
{
	char path[PATH_BYTES + 32];
	struct text t = text_in(path, sizeof path);
	text_put(&t, directory);
	text_put(&t, name);
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	long n = sys_read(fd, to, bytes - 1);
	sys_close(fd);
	if (n < 0)
		return (int)n;
	to[n] = 0;
	to[strcspn(to, "\n")] = 0;
	return 0;
}

static bool read_number(const char *directory, const char *name, uint64_t *n)
{
	char digits[32];
	if (read_file(directory, name, digits, sizeof digits) < 0 || !digits[0])
		return false;
	*n = 0;
	for (const char *d = digits; *d; d++) {
		if (*d < '0' || *d > '9' || *n > UINT64_MAX / 10 - 1)
			return false;
		*n = *n * 10 + (uint64_t)(*d - '0');
	}
	return true;
}

static void add(struct nv_rapl *r, const char *path, const char *name, unsigned package)
{
	char digits[32];
	struct nv_rapl_meter *m = &r->meter[r->n];
	int error = read_file(path, "energy_uj", digits, sizeof digits);
	if (error == -EACCES || error == -EPERM)
		r->is_denied = true;
	if (error < 0 || r->n == NV_RAPL_METERS)
		return;
	*m = (struct nv_rapl_meter){.range_uj = 0};
	struct text to_name = text_in(m->name, sizeof m->name),
		    to_path = text_in(m->path, sizeof m->path);
	text_put(&to_name, "RAPL ");
	text_put(&to_name, name);
	if (!strcmp(name, "dram")) {
		text_put_char(&to_name, '-');
		text_put_u64(&to_name, package);
	}
	text_put(&to_path, path);
	read_number(path, "max_energy_range_uj", &m->range_uj);
	if (!to_path.cut && read_number(path, "energy_uj", &m->last_uj))
		r->n++;
}

/*
 * Sets `path` to DIR/intel-rapl:PACKAGE/ (part < 0) or DIR/intel-rapl:PACKAGE:PART/. Returns the
 * meter's name; "": there is none.
 */
static const char *find(const char *directory, unsigned package, int part, char path[PATH_BYTES],
			char name[32])
{
	struct text t = text_in(path, PATH_BYTES);
	text_put(&t, directory);
	text_put(&t, "intel-rapl:");
	text_put_u64(&t, package);
	if (part >= 0) {
		text_put_char(&t, ':');
		text_put_u64(&t, (uint64_t)part);
	}
	text_put_char(&t, '/');
	return t.cut || read_file(path, "name", name, 32) < 0 ? "" : name;
}

void nv_rapl_open(struct nv_rapl *r, const char *directory)
{
	char path[PATH_BYTES], name[32];
	r->n = 0;
	r->is_denied = false;
	for (unsigned package = 0; package < MOST_PACKAGES; package++) {
		/*
		 * Skip "psys", which includes the packages, and "core" and "uncore", which packages
		 * include.
		 */
		if (!strncmp(find(directory, package, -1, path, name), "package-", 8))
			add(r, path, name, package);
		for (int part = 0; part < (int)MOST_PARTS; part++)
			if (!strcmp(find(directory, package, part, path, name), "dram"))
				add(r, path, name, package);
	}
}

bool nv_rapl_read(struct nv_rapl_meter *m, uint64_t *energy_uj)
{
	uint64_t now_uj;
	if (!read_number(m->path, "energy_uj", &now_uj))
		return false;
	if (now_uj < m->last_uj)
		m->turns_uj += m->range_uj > m->last_uj ? m->range_uj : m->last_uj;
	m->last_uj = now_uj;
	*energy_uj = m->turns_uj + now_uj;
	return true;
}
