/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the build id from the notes of an object that is mapped into this process. Uses guarded
 * loads, because the object may be damaged or about to be unmapped. Signal-safe, no allocation.
 * Test: tests/cli/run/run_modules.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_ELF_NOTE_H
#define HPCRUN_LITE_RUNTIME_CODE_ELF_NOTE_H

#include "common/format/measurement.h"

#include <stdint.h>

struct elf_note {
	uint8_t build_id[MSR_BUILD_ID_MAX];
	uint32_t n_bytes;      /* 0: none */
	uintptr_t at;          /* address of the build id's bytes; 0: none */
	uintptr_t end;         /* end of the last loaded segment, as a link address; 0: unknown */
};

/* `start` is the address of the mapped ELF header, `bias` the load bias. */
void elf_note_find(uintptr_t start, uintptr_t bias, struct elf_note *note);

#endif
