dnl SPDX-License-Identifier: BSD-3-Clause
dnl Zydis 3 or 4, whose decoding functions have different names. Without it hpcstruct-lite finds no
dnl loops in x86-64 code.
AC_DEFUN([HL_LIB_ZYDIS], [
  HL_WITH([zydis], [Zydis/Zydis.h], [Zydis], [ZydisDecoderInit], [], [optional],
    [Zydis, decodes x86-64 code: loops as scopes, instructions in report.html])
  hl_saved_libs=$LIBS
  LIBS="$LIBS $ZYDIS_LIBS"
  AC_CHECK_FUNC([ZydisDecoderDecodeInstruction],
    [AC_DEFINE([HAVE_ZYDIS_4], [1], [Zydis 4 or later])])
  LIBS=$hl_saved_libs
])
