/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of NVIDIA's 128-bit instructions; see sass.h. The low nine bits are the operation. The
 * next three say which operand is a constant or an immediate. The codes come from the output of
 * nvdisasm 12.4 for libraries of CUDA 13 (sm_75 to sm_90). Newer operations were found by compiling
 * PTX. Test: tests/unit/struct/test_depend.c.
 */
#include "hpcstruct-lite/isa/sass.h"

#include "common/format/structure.h"

#include <stddef.h>

#define D SASS_OPERAND_D
#define A SASS_OPERAND_A
#define B SASS_OPERAND_B
#define C SASS_OPERAND_C
#define DATA SASS_OPERAND_DATA
#define D2 SASS_OPERAND_D2
#define P SASS_OPERAND_P
#define Q SASS_OPERAND_Q
#define UD SASS_OPERAND_UD
#define U SASS_OPERAND_U
#define UB SASS_OPERAND_UB
#define UA SASS_OPERAND_UA
#define UC SASS_OPERAND_UC
#define TO SASS_OPERAND_TO
#define P2 SASS_OPERAND_P2

/* Rising. */
static const struct sass_operation table[] = {
	{0x002, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | B},                       /* MOV */
	{0x003, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A},                       /* P2R */
	{0x004, STRUCTURE_ARITHMETIC, SASS_SINGLE, A},                           /* R2P */
	{0x005, STRUCTURE_SPECIAL, SASS_CLOCK, D},                               /* CS2R */
	{0x006, STRUCTURE_SHUFFLE, SASS_SINGLE, D | P | Q},                      /* VOTE */
	{0x007, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | Q},               /* SEL */
	{0x008, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | Q},               /* FSEL */
	{0x009, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | Q},               /* FMNMX */
	{0x00a, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | Q},               /* FSET */
	{0x00b, STRUCTURE_ARITHMETIC, SASS_SINGLE, A | B | P | P2 | Q},          /* FSETP */
	{0x00c, STRUCTURE_ARITHMETIC, SASS_SINGLE, A | B | P | P2 | Q},          /* ISETP */
	{0x00f, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C | Q},           /* VIMNMX3 */
	{0x010, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C | P | P2 | Q},  /* IADD3 */
	{0x011, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C | P | Q},       /* LEA */
	{0x012, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C | P | Q},       /* LOP3 */
	{0x013, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | B},                       /* IABS */
	{0x016, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C},               /* PRMT */
	{0x017, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | Q},               /* IMNMX */
	{0x019, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C},               /* SHF */
	{0x01c, STRUCTURE_ARITHMETIC, SASS_SINGLE, P | P2 | Q},                  /* PLOP3 */
	{0x020, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B},                   /* FMUL */
	{0x021, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B},                   /* FADD */
	{0x023, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C},               /* FFMA */
	{0x024, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C | Q},           /* IMAD */
	{0x025, STRUCTURE_ARITHMETIC, SASS_WIDE, D | A | B | C | P},             /* IMAD.WIDE */
	{0x026, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C},               /* IDP */
	{0x027, STRUCTURE_ARITHMETIC, SASS_WIDE, D | A | B | C | P},             /* IMAD.HI */
	{0x028, STRUCTURE_DOUBLE, SASS_DOUBLE, D | A | B},                       /* DMUL */
	{0x029, STRUCTURE_DOUBLE, SASS_DOUBLE, D | A | B | C},                   /* DADD */
	{0x02a, STRUCTURE_DOUBLE, SASS_DOUBLE, A | B | P | P2 | Q},              /* DSETP */
	{0x02b, STRUCTURE_DOUBLE, SASS_DOUBLE, D | A | B | C},                   /* DFMA */
	{0x02f, STRUCTURE_SHUFFLE, SASS_SINGLE, D | P | UD},                     /* ELECT */
	{0x030, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B},                   /* HADD2 */
	{0x031, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C},               /* HFMA2 */
	{0x032, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B},                   /* HMUL2 */
	{0x033, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | Q},               /* HSET2 */
	{0x034, STRUCTURE_ARITHMETIC, SASS_SINGLE, A | B | P | P2 | Q},          /* HSETP2 */
	{0x035, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C},               /* HFMA2.MMA */
	{0x036, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B},                   /* VIADD */
	{0x037, STRUCTURE_TENSOR, SASS_MATRIX, D | A | B | C},                   /* IMMA */
	{0x03a, STRUCTURE_TENSOR, SASS_SINGLE, D | A},                           /* MOVM */
	{0x03b, STRUCTURE_SHARED_LOAD, SASS_QUAD, D | A | UB},                   /* LDSM */
	{0x03c, STRUCTURE_TENSOR, SASS_MATRIX, D | A | B | C},                   /* HMMA */
	{0x03d, STRUCTURE_TENSOR, SASS_MATRIX, D | A | B | C},                   /* BMMA */
	{0x03e, STRUCTURE_CONVERSION, SASS_SINGLE, D | A | B},                   /* F2FP */
	{0x03f, STRUCTURE_TENSOR, SASS_MATRIX, D | A | B | C},                   /* DMMA */
	{0x045, STRUCTURE_CONVERSION, SASS_SINGLE, D | B},                       /* I2FP */
	{0x046, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | C | Q},           /* VIADDMNMX */
	{0x048, STRUCTURE_ARITHMETIC, SASS_SINGLE, D | A | B | Q},               /* VIMNMX */
	{0x082, STRUCTURE_UNIFORM, SASS_SINGLE, D | B | U},                      /* UMOV */
	{0x083, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | U},                      /* UP2UR */
	{0x086, STRUCTURE_SHUFFLE, SASS_SINGLE, D | P | Q | U},                  /* VOTEU */
	{0x087, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | B | Q | U},              /* USEL */
	{0x08c, STRUCTURE_UNIFORM, SASS_SINGLE, A | B | P | P2 | Q | U},         /* UISETP */
	{0x090, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | B | C | P | P2 | Q | U}, /* UIADD3 */
	{0x091, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | B | C | P | Q | U},      /* ULEA */
	{0x092, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | B | C | P | Q | U},      /* ULOP3 */
	{0x096, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | B | C | U},              /* UPRMT */
	{0x097, STRUCTURE_UNIFORM, SASS_DOUBLE, D | A | B | C | P | U},          /* UIADD3.64 */
	{0x099, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | B | C | U},              /* USHF */
	{0x09c, STRUCTURE_UNIFORM, SASS_SINGLE, P | P2 | Q | U},                 /* UPLOP3 */
	{0x0a4, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | B | C | Q | U},          /* UIMAD */
	{0x0a5, STRUCTURE_UNIFORM, SASS_WIDE, D | A | B | C | P | U},            /* UIMAD.WIDE */
	{0x0a6, STRUCTURE_UNIFORM, SASS_WIDE, D | A | B | C | P | U},            /* of sm_120 */
	{0x0b9, STRUCTURE_CONSTANT_LOAD, SASS_MEMORY, D | U},                    /* ULDC */
	{0x0bd, STRUCTURE_UNIFORM, SASS_SINGLE, D | B | U},                      /* UFLO */
	{0x0be, STRUCTURE_UNIFORM, SASS_SINGLE, D | B | U},                      /* UBREV */
	{0x0bf, STRUCTURE_UNIFORM, SASS_SINGLE, D | B | U},                      /* UPOPC */
	{0x0ca, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | UD},                     /* R2UR */
	{0x100, STRUCTURE_CONVERSION, SASS_SINGLE, D | B},                       /* FLO */
	{0x101, STRUCTURE_CONVERSION, SASS_SINGLE, D | B},                       /* BREV */
	{0x102, STRUCTURE_MUFU, SASS_SINGLE, A | B | P},                         /* FCHK */
	{0x104, STRUCTURE_CONVERSION, SASS_SINGLE, D | B},                       /* F2F */
	{0x105, STRUCTURE_CONVERSION, SASS_SINGLE, D | B},                       /* F2I */
	{0x106, STRUCTURE_CONVERSION, SASS_SINGLE, D | B},                       /* I2F */
	{0x107, STRUCTURE_CONVERSION, SASS_SINGLE, D | B},                       /* FRND */
	{0x108, STRUCTURE_MUFU, SASS_SINGLE, D | B},                             /* MUFU */
	{0x109, STRUCTURE_CONVERSION, SASS_SINGLE, D | B},                       /* POPC */
	{0x110, STRUCTURE_CONVERSION, SASS_CONVERT, D | B},                      /* F2F.64 */
	{0x111, STRUCTURE_CONVERSION, SASS_CONVERT, D | B},                      /* F2I.64 */
	{0x112, STRUCTURE_CONVERSION, SASS_CONVERT, D | B},                      /* I2F.64 */
	{0x113, STRUCTURE_CONVERSION, SASS_CONVERT, D | B},                      /* FRND.64 */
	{0x117, STRUCTURE_BRANCH, SASS_SINGLE, 0},                               /* IDE */
	{0x118, STRUCTURE_OTHER_OPERATION, SASS_SINGLE, 0},                      /* NOP */
	{0x119, STRUCTURE_SPECIAL, SASS_SINGLE, D},                              /* S2R */
	{0x11a, STRUCTURE_BARRIER, SASS_SINGLE, 0},                              /* DEPBAR */
	{0x11b, STRUCTURE_BRANCH, SASS_SINGLE, 0},                               /* ENDCOLLECTIVE */
	{0x11c, STRUCTURE_BARRIER, SASS_SINGLE, D},                              /* B2R */
	{0x11d, STRUCTURE_BARRIER, SASS_SINGLE, 0},                              /* BAR */
	{0x11e, STRUCTURE_OTHER_OPERATION, SASS_SINGLE, 0},                      /* SETLMEMBASE */
	{0x141, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* BSYNC */
	{0x142, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* BREAK */
	{0x143, STRUCTURE_CALL, SASS_DOUBLE, A},                                 /* CALL.ABS */
	{0x144, STRUCTURE_CALL, SASS_DOUBLE, A},                                 /* CALL.REL */
	{0x145, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* BSSY */
	{0x146, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* YIELD */
	{0x147, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* BRA */
	{0x148, STRUCTURE_BARRIER, SASS_SINGLE, A | B},                          /* WARPSYNC */
	{0x149, STRUCTURE_BRANCH, SASS_DOUBLE, A | Q},                           /* BRX */
	{0x14a, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* JMP */
	{0x14c, STRUCTURE_BRANCH, SASS_DOUBLE, A | Q},                           /* JMX */
	{0x14d, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* EXIT */
	{0x14e, STRUCTURE_OTHER_OPERATION, SASS_DOUBLE, D},                      /* LEPC */
	{0x150, STRUCTURE_BRANCH, SASS_DOUBLE, A | Q},                           /* RET */
	{0x155, STRUCTURE_OTHER_OPERATION, SASS_SINGLE, D},                      /* BMOV */
	{0x156, STRUCTURE_OTHER_OPERATION, SASS_SINGLE, B},                      /* BMOV */
	{0x158, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* BRXU */
	{0x159, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* JMXU */
	{0x15b, STRUCTURE_BRANCH, SASS_SINGLE, Q},                               /* KILL */
	{0x15c, STRUCTURE_OTHER_OPERATION, SASS_SINGLE, 0},                      /* BPT */
	{0x15d, STRUCTURE_OTHER_OPERATION, SASS_SINGLE, 0},                      /* NANOSLEEP */
	{0x160, STRUCTURE_TEXTURE, SASS_QUAD, D | A | DATA | D2},                /* TEX */
	{0x161, STRUCTURE_TEXTURE, SASS_QUAD, D | A | DATA | D2},                /* TEX.B */
	{0x162, STRUCTURE_TEXTURE, SASS_QUAD, D | A | DATA | D2},                /* TEX.B */
	{0x163, STRUCTURE_TEXTURE, SASS_QUAD, D | A | DATA | D2},                /* TLD4 */
	{0x164, STRUCTURE_TEXTURE, SASS_QUAD, D | A | DATA | D2},                /* TLD4.B */
	{0x166, STRUCTURE_TEXTURE, SASS_QUAD, D | A | DATA | D2},                /* TLD */
	{0x167, STRUCTURE_TEXTURE, SASS_QUAD, D | A | DATA | D2},                /* TLD.B */
	{0x169, STRUCTURE_TEXTURE, SASS_QUAD, D | A | DATA | D2},                /* TMML */
	{0x16c, STRUCTURE_TEXTURE, SASS_QUAD, D | A | DATA | D2},                /* TXD */
	{0x16f, STRUCTURE_TEXTURE, SASS_QUAD, D | A | D2},                       /* TXQ */
	{0x180, STRUCTURE_GENERIC_LOAD, SASS_MEMORY, D | A | UB},                /* LD */
	{0x181, STRUCTURE_GLOBAL_LOAD, SASS_MEMORY, D | A | UB},                 /* LDG */
	{0x182, STRUCTURE_CONSTANT_LOAD, SASS_MEMORY, D | A},                    /* LDC */
	{0x183, STRUCTURE_LOCAL_LOAD, SASS_MEMORY, D | A | UB},                  /* LDL */
	{0x184, STRUCTURE_SHARED_LOAD, SASS_MEMORY, D | A | UB},                 /* LDS */
	{0x185, STRUCTURE_GENERIC_STORE, SASS_MEMORY, A | DATA | UC},            /* ST */
	{0x186, STRUCTURE_GLOBAL_STORE, SASS_MEMORY, A | DATA | UC},             /* STG */
	{0x187, STRUCTURE_LOCAL_STORE, SASS_MEMORY, A | DATA | UC},              /* STL */
	{0x188, STRUCTURE_SHARED_STORE, SASS_MEMORY, A | DATA | UC},             /* STS */
	{0x189, STRUCTURE_SHUFFLE, SASS_SINGLE, D | A | P},                      /* SHFL */
	{0x18a, STRUCTURE_GENERIC_ATOMIC, SASS_MEMORY, D | A | DATA | UC | P},   /* ATOM */
	{0x18b, STRUCTURE_GENERIC_ATOMIC, SASS_MEMORY, D | A | DATA | C | P},    /* ATOM.CAS */
	{0x18c, STRUCTURE_SHARED_ATOMIC, SASS_MEMORY, D | A | DATA | UC},        /* ATOMS */
	{0x18d, STRUCTURE_SHARED_ATOMIC, SASS_MEMORY, D | A | DATA | C},         /* ATOMS.CAS */
	{0x18e, STRUCTURE_GLOBAL_ATOMIC, SASS_MEMORY, A | DATA | UC},            /* RED */
	{0x18f, STRUCTURE_FENCE, SASS_DOUBLE, A},                                /* CCTL */
	{0x192, STRUCTURE_FENCE, SASS_SINGLE, 0},                                /* MEMBAR */
	{0x198, STRUCTURE_FENCE, SASS_SINGLE, 0},                                /* CCTLL */
	{0x199, STRUCTURE_SURFACE, SASS_QUAD, D | A},                            /* SULD */
	{0x19b, STRUCTURE_SURFACE, SASS_QUAD, D | A},                            /* SULD */
	{0x19c, STRUCTURE_SURFACE, SASS_QUAD, A | DATA},                         /* SUST */
	{0x19d, STRUCTURE_SURFACE, SASS_QUAD, A | DATA},                         /* SUST */
	{0x1a0, STRUCTURE_SURFACE, SASS_QUAD, D | A | DATA},                     /* SUATOM */
	{0x1a1, STRUCTURE_SHUFFLE, SASS_SINGLE, D | A | P},                      /* MATCH */
	{0x1a2, STRUCTURE_OTHER_OPERATION, SASS_SINGLE, D | A | P},              /* QSPC */
	{0x1a3, STRUCTURE_GLOBAL_ATOMIC, SASS_MEMORY, D | A | DATA | UC | P},    /* ATOMG.F */
	{0x1a6, STRUCTURE_GLOBAL_ATOMIC, SASS_MEMORY, A | DATA | UC},            /* REDG */
	{0x1a7, STRUCTURE_BARRIER, SASS_SINGLE, A | DATA | UC | P},              /* SYNCS */
	{0x1a8, STRUCTURE_GLOBAL_ATOMIC, SASS_MEMORY, D | A | DATA | UC | P},    /* ATOMG */
	{0x1a9, STRUCTURE_GLOBAL_ATOMIC, SASS_MEMORY, D | A | DATA | C | P},     /* ATOMG.CAS */
	{0x1ab, STRUCTURE_FENCE, SASS_SINGLE, 0},                                /* ERRBAR */
	{0x1ac, STRUCTURE_CONSTANT_LOAD, SASS_MEMORY, D | U},                    /* LDCU */
	{0x1ae, STRUCTURE_ASYNC_COPY, SASS_MEMORY, A | UC | TO},                 /* LDGSTS */
	{0x1af, STRUCTURE_ASYNC_COPY, SASS_SINGLE, 0},                           /* LDGDEPBAR */
	{0x1b2, STRUCTURE_BARRIER, SASS_DOUBLE, A | DATA | U},                   /* SYNCS.EXCH */
	{0x1b3, STRUCTURE_ASYNC_COPY, SASS_SINGLE, 0},                           /* UTMAREDG */
	{0x1b4, STRUCTURE_ASYNC_COPY, SASS_DOUBLE, A | DATA | U},                /* UTMALDG */
	{0x1b5, STRUCTURE_ASYNC_COPY, SASS_DOUBLE, A | DATA | U},                /* UTMASTG */
	{0x1b7, STRUCTURE_ASYNC_COPY, SASS_SINGLE, 0},                           /* UTMACMDFLUSH */
	{0x1b8, STRUCTURE_ASYNC_COPY, SASS_SINGLE, 0},                           /* UTMAPF */
	{0x1b9, STRUCTURE_ASYNC_COPY, SASS_SINGLE, 0},                           /* UTMACCTL */
	{0x1ba, STRUCTURE_ASYNC_COPY, SASS_DOUBLE, A | DATA | C | U},            /* UBLKCP */
	{0x1bb, STRUCTURE_ASYNC_COPY, SASS_SINGLE, 0},                           /* UBLKRED */
	{0x1bc, STRUCTURE_ASYNC_COPY, SASS_SINGLE, 0},                           /* UBLKPF */
	{0x1c2, STRUCTURE_UNIFORM, SASS_SINGLE, D | A | UD},                     /* R2UR */
	{0x1c3, STRUCTURE_SPECIAL, SASS_SINGLE, D | UD},                         /* S2UR */
	{0x1c4, STRUCTURE_SHUFFLE, SASS_SINGLE, D | A | UD},                     /* REDUX */
	{0x1c5, STRUCTURE_TENSOR, SASS_SINGLE, 0},                               /* WARPGROUP */
	{0x1c6, STRUCTURE_FENCE, SASS_SINGLE, 0},                                /* FENCE.VIEW */
	{0x1c7, STRUCTURE_BARRIER, SASS_SINGLE, 0},                              /* UCGABAR */
	{0x1e3, STRUCTURE_TENSOR_MEMORY, SASS_SINGLE, D | P | U},                /* UTCATOMSWS */
	{0x1e7, STRUCTURE_TENSOR_MEMORY, SASS_SINGLE, 0},                        /* UTCCP */
	{0x1e9, STRUCTURE_TENSOR_MEMORY, SASS_SINGLE, 0},                        /* UTCBAR */
	{0x1ea, STRUCTURE_TENSOR, SASS_SINGLE, 0},                               /* UTCMMA */
	{0x1ed, STRUCTURE_TENSOR_MEMORY, SASS_QUAD, DATA},                       /* STTM */
	{0x1ee, STRUCTURE_TENSOR_MEMORY, SASS_QUAD, D},                          /* LDTM */
	{0x1f0, STRUCTURE_TENSOR, SASS_QUAD, D | UA},                            /* HGMMA */
	{0x1f1, STRUCTURE_TENSOR, SASS_QUAD, D | UA},                            /* IGMMA */
	{0x1f2, STRUCTURE_TENSOR, SASS_QUAD, D | UA},                            /* BGMMA */
	{0x1f3, STRUCTURE_TENSOR, SASS_QUAD, D | UA},                            /* QGMMA */
};

const struct sass_operation *sass_find_operation(uint32_t code)
{
	size_t low = 0, high = sizeof table / sizeof table[0];
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (table[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sizeof table / sizeof table[0] && table[low].code == code ? &table[low] : NULL;
}
