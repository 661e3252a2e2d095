/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The build id of an object that is mapped into this process, read from its notes with guarded loads: the object may be damaged or on its
 * way out. Signal-safe, no allocation. Tests: tests/cli/run_modules.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_ELF_NOTE_H
#define HPCRUN_LITE_RUNTIME_CODE_ELF_NOTE_H

#include "common/format/measurement.h"

#include <stdint.h>

struct elf_note {
	uint8_t build_id[MSR_BUILD_ID_MAX];
	uint32_t n_bytes;      /* 0: none */
	uintptr_t at;          /* address of the build id's bytes; 0: none */
	uintptr_t end;         /* end of the last loaded segment, link address; 0: unknown */
};

/* `start` is where the ELF header is mapped, `bias` the load bias. */
void elf_note_find(uintptr_t start, uintptr_t bias, struct elf_note *note);

#endif
