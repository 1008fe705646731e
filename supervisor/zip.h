/*  zip - bytes made small and large again; zip.c is the one file that sees zstd.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ZIP_H
#define AG_ZIP_H
#include "common/buf.h"

//  Append a frame of these bytes, with their length and a checksum.
void ag_zip (struct ag_str bytes, struct ag_buf *out);
//  Append what a frame holds; -1 when it is no whole frame, is damaged, or holds more than limit bytes.
int ag_unzip (struct ag_str frame, size_t limit, struct ag_buf *out);
#endif
