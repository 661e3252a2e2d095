dnl SPDX-License-Identifier: BSD-3-Clause
dnl What compressed entries of NVIDIA's fat binaries are packed with.
AC_DEFUN([HL_LIB_ZSTD], [HL_WITH([zstd], [zstd.h], [zstd], [ZSTD_decompress], [], [optional],
  [zstd, unpacks GPU code in fat binaries])])
AC_DEFUN([HL_LIB_LZ4], [HL_WITH([lz4], [lz4.h], [lz4], [LZ4_decompress_safe], [], [optional],
  [LZ4, unpacks GPU code in fat binaries])])
