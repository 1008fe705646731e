//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/zip.h"

#include <assert.h>
#include <zstd.h>

enum { LEVEL = 3 };

void
ag_zip (struct ag_str bytes, struct ag_buf *out)
{
    size_t before = out->n, room = ZSTD_compressBound (bytes.n);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert (context);
    ZSTD_CCtx_setParameter (context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter (context, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2 (context, ag_buf_grow (out, room), room, bytes.p, bytes.n);
    assert (!ZSTD_isError (n)); //  there is room for the worst, so only memory can lack
    out->n = before + n;
    ZSTD_freeCCtx (context);
}

int
ag_unzip (struct ag_str frame, size_t limit, struct ag_buf *out)
{
    size_t before = out->n;
    unsigned long long room = ZSTD_getFrameContentSize (frame.p, frame.n);
    if (room == ZSTD_CONTENTSIZE_UNKNOWN || room == ZSTD_CONTENTSIZE_ERROR || room > limit)
        return -1;
    size_t n = ZSTD_decompress (ag_buf_grow (out, (size_t)room), (size_t)room, frame.p, frame.n);
    if (ZSTD_isError (n) || n != room) {
        out->n = before;
        return -1;
    }
    return 0;
}
