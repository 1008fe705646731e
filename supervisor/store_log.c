//  The format: blocks of 32 KiB; in them records of checksum (4), length (2), type (1), payload; a rest
//  of less than a header is filled with zeros. The checksum is CRC-32C over type and payload, masked.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/store_log.h"
#include "common/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 32768, HEADER = 7, FULL = 1, FIRST = 2, RECYCLED = 5, RECYCLED_LAST = 8 };

static uint32_t
crc_add (uint32_t crc, uint8_t byte)
{
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++)
        crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
    return crc;
}

static uint32_t
crc_masked (uint32_t crc)
{
    crc = ~crc;
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

static uint32_t
checksum_of (const uint8_t *record)
{
    return (uint32_t)record[0] | (uint32_t)record[1] << 8 | (uint32_t)record[2] << 16 |
           (uint32_t)record[3] << 24;
}

static size_t
length_of (const uint8_t *record)
{
    return (size_t)record[4] | (size_t)record[5] << 8;
}

//  Bytes from `at` to the end of its block or of the file.
static size_t
left_at (size_t at, size_t size)
{
    size_t block = BLOCK - at % BLOCK;
    return block < size - at ? block : size - at;
}

//  A type of logs that are written over older ones, which this store's are not: one bit away from ours.
static bool
is_recycled (const uint8_t *record)
{
    return record[6] >= RECYCLED && record[6] <= RECYCLED_LAST;
}

//  Where RocksDB stops to read without calling it damage; size when it reads everything.
static size_t
find_end (const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    while (at < size) {
        size_t left = left_at (at, size);
        if (left < HEADER) {
            at += left;
            continue;
        }
        size_t length = length_of (bytes + at);
        if (length > left - HEADER || (length == 0 && bytes[at + 6] == 0) ||
            is_recycled (bytes + at))
            return at;
        at += HEADER + length;
    }
    return size;
}

//  Whether a record of a length between least and most starts here and agrees with its checksum.
static bool
is_whole (const uint8_t *record, size_t least, size_t most)
{
    uint32_t crc = crc_add (~0u, record[6]);
    for (size_t n = 0; n <= most; n++) {
        if (n >= least && crc_masked (crc) == checksum_of (record))
            return true;
        if (n < most)
            crc = crc_add (crc, record[HEADER + n]);
    }
    return false;
}

//  Whether a write begins here, whole or with a whole first part.
static bool
begins_write (const uint8_t *record, size_t left)
{
    if (left < HEADER || (record[6] != FULL && record[6] != FIRST))
        return false;
    size_t length = length_of (record);
    return length <= left - HEADER && is_whole (record, length, length);
}

static int
check_bytes (const uint8_t *bytes, size_t size, const char *path, struct ag_err *err)
{
    size_t end = find_end (bytes, size);
    if (end == size)
        return 0;
    if (is_recycled (bytes + end))
        return ag_fail (err, AG_E_CORRUPT, "%s: the record at byte %zu has a damaged type", path,
                        end);
    if (is_whole (bytes + end, 0, left_at (end, size) - HEADER))
        return ag_fail (err, AG_E_CORRUPT, "%s: the record at byte %zu has a damaged length", path,
                        end);
    for (size_t at = end + 1; at < size; at++)
        if (begins_write (bytes + at, left_at (at, size)))
            return ag_fail (err, AG_E_CORRUPT,
                            "%s: damaged at byte %zu, a later record follows at byte %zu", path,
                            end, at);
    return 0;
}

static int
check_records (const uint8_t *bytes, size_t size, const char *path, struct ag_err *err)
{
    size_t end = find_end (bytes, size);
    for (size_t at = 0; at < end;) {
        size_t left = left_at (at, size), length = left < HEADER ? 0 : length_of (bytes + at);
        if (left >= HEADER && !is_whole (bytes + at, length, length))
            return ag_fail (err, AG_E_CORRUPT,
                            "%s: the record at byte %zu does not agree with its checksum", path,
                            at);
        at += left < HEADER ? left : HEADER + length;
    }
    return check_bytes (bytes, size, path, err);
}

typedef int check_fn (const uint8_t *bytes, size_t size, const char *path, struct ag_err *err);

static int
check_file (const char *path, check_fn *check, struct ag_err *err)
{
    struct stat info;
    int rc = -1, fd = open (path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat (fd, &info)) {
        ag_fail (err, AG_E_SYSTEM, "open %s: %s", path, strerror (errno));
        goto out;
    }
    size_t size = (size_t)info.st_size;
    void *bytes = size ? mmap (NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (bytes == MAP_FAILED) {
        ag_fail (err, AG_E_SYSTEM, "map %s: %s", path, strerror (errno));
        goto out;
    }
    rc = check (bytes, size, path, err);
    if (size)
        munmap (bytes, size);
out:
    if (fd >= 0)
        close (fd);
    return rc;
}

int
ag_store_log_check (const char *path, struct ag_err *err)
{
    return check_file (path, check_bytes, err);
}

int
ag_store_log_check_records (const char *path, struct ag_err *err)
{
    return check_file (path, check_records, err);
}
