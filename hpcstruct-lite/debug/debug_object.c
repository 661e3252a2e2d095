/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives libdwarf the debug sections of an image through its access interface. So libdwarf opens,
 * maps and decompresses nothing itself. Test: tests/cli/struct/struct_judge.sh.
 */
#include "hpcstruct-lite/debug/debug_internal.h"

#include "common/base/log.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
typedef Dwarf_Obj_Access_Section_a section_info;
typedef Dwarf_Obj_Access_Methods_a access_methods;
/* Until 0.3.4, which EPEL 9 has, an index is a Dwarf_Half, and later a Dwarf_Unsigned. */
typedef int load_half(void *, Dwarf_Half, Dwarf_Small **, int *);
#define LOADS_HALF                                                                       \
	__builtin_types_compatible_p(__typeof__(((access_methods *)0)->om_load_section), \
				     load_half *)
typedef __typeof__(__builtin_choose_expr(LOADS_HALF, (Dwarf_Half)0,
					 (Dwarf_Unsigned)0)) section_index;
typedef Dwarf_Small byte_order;
#else
typedef Dwarf_Half section_index;
typedef Dwarf_Obj_Access_Section section_info;
typedef Dwarf_Obj_Access_Methods access_methods;
typedef Dwarf_Endianness byte_order;
#endif

const char *const debug_sections[] = {
	".debug_info",        ".debug_abbrev", ".debug_line",     ".debug_line_str", ".debug_str",
	".debug_str_offsets", ".debug_ranges", ".debug_rnglists", ".debug_addr",     ".debug_types",
	NULL};

struct section_bytes debug_bytes(const struct image *image, const char *name)
{
	const struct image_section *s = image_find(image, name);
	return s ? (struct section_bytes){s->bytes, s->n_bytes} : (struct section_bytes){NULL, 0};
}

static const struct image_section *section_at(void *object, Dwarf_Unsigned index)
{
	const struct debug_object *o = object;
	return index > 0 && index <= o->sections.n ? o->sections.at[index - 1] : NULL;
}

static int get_section_info(void *object, section_index index, section_info *out, int *error)
{
	(void)error;
	memset(out, 0, sizeof *out);
	const struct image_section *s = section_at(object, index);
#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
	out->as_name = s ? s->name : "";
	out->as_type = s ? s->type : SHT_NULL;
	out->as_size = s ? s->n_bytes : 0;
	out->as_addr = s ? s->link_addr : 0;
#else
	out->name = s ? s->name : "";
	out->type = s ? s->type : SHT_NULL;
	out->size = s ? s->n_bytes : 0;
	out->addr = s ? s->link_addr : 0;
#endif
	return DW_DLV_OK;
}

static byte_order get_byte_order(void *object)
{
	(void)object;
#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
	return DW_END_little;
#else
	return DW_OBJECT_LSB;
#endif
}

static Dwarf_Small get_8(void *object)
{
	(void)object;
	return 8;
}

static Dwarf_Unsigned get_section_count(void *object)
{
	const struct debug_object *o = object;
	return o->sections.n + 1;
}

static int load_section(void *object, section_index index, Dwarf_Small **data, int *error)
{
	(void)error;
	const struct image_section *s = section_at(object, index);
	if (!s)
		return DW_DLV_NO_ENTRY;
	*data = (Dwarf_Small *)(uintptr_t)s->bytes;
	return DW_DLV_OK;
}

#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
static Dwarf_Unsigned get_file_size(void *object)
{
	const struct debug_object *o = object;
	/* sections may be decompressed, so the sum is the real bound */
	Dwarf_Unsigned total = o->image->file.n_bytes;
	for (size_t i = 0; i < o->sections.n; i++)
		total += o->sections.at[i]->n_bytes;
	return total;
}

static const access_methods methods = {
	.om_get_section_info = get_section_info,
	.om_get_byte_order = get_byte_order,
	.om_get_length_size = get_8,
	.om_get_pointer_size = get_8,
	.om_get_filesize = get_file_size,
	.om_get_section_count = get_section_count,
	.om_load_section = load_section,
};
#else
static const access_methods methods = {
	.get_section_info = get_section_info,
	.get_byte_order = get_byte_order,
	.get_length_size = get_8,
	.get_pointer_size = get_8,
	.get_section_count = get_section_count,
	.load_section = load_section,
};
#endif

enum status debug_object_open(const struct image *image, struct debug_object *o)
{
	*o = (struct debug_object){.image = image};
	for (const char *const *name = debug_sections; *name; name++) {
		const struct image_section *s = image_find(image, *name);
		/* our own decoders read line tables and range lists */
		bool ours = strcmp(*name, ".debug_line") == 0 ||
			    strcmp(*name, ".debug_line_str") == 0 ||
			    strcmp(*name, ".debug_ranges") == 0 ||
			    strcmp(*name, ".debug_rnglists") == 0;
		if (!s || s->n_bytes == 0 || ours)
			continue;
		const struct image_section **slot = vec_push(&o->sections);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = s;
	}
#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
	o->access.ai_object = o;
	o->access.ai_methods = &methods;
#else
	o->access.object = o;
	o->access.methods = &methods;
#endif
	Dwarf_Error error = NULL;
#ifdef HAVE_DWARF_SET_DE_ALLOC_FLAG /* since 2020 */
	/*
	 * We release libdwarf's objects one by one. Its own list of all allocations would cost a
	 * third of the time.
	 */
	dwarf_set_de_alloc_flag(0);
#endif
	errno = 0;
	int result =
		dwarf_object_init_b(&o->access, NULL, NULL, DW_GROUPNUMBER_ANY, &o->dbg, &error);
	if (result == DW_DLV_OK)
		return STATUS_OK;
	o->dbg = NULL;
	if (errno == ENOMEM)
		return STATUS_NO_MEMORY;
	log_warn(image->path, "debug sections cannot be used: %s",
		 result == DW_DLV_ERROR ? dwarf_errmsg(error) : "there are none");
	return STATUS_BAD_INPUT;
}

void debug_object_close(struct debug_object *o)
{
#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
	if (o->dbg)
		dwarf_object_finish(o->dbg);
#else
	Dwarf_Error error = NULL;
	if (o->dbg)
		dwarf_object_finish(o->dbg, &error);
#endif
	vec_free(&o->sections);
	o->dbg = NULL;
}
