dnl SPDX-License-Identifier: BSD-3-Clause
dnl Zydis 4 or later: the function tested for is new in it. Without it hpcstruct-lite finds no loops in x86-64 code.
AC_DEFUN([HL_LIB_ZYDIS], [HL_WITH([zydis], [Zydis/Zydis.h], [Zydis], [ZydisDecoderDecodeInstruction], [], [optional],
  [Zydis 4, decodes x86-64 code: loops as scopes])])
