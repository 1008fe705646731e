//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/buf.h"

int
ag_image_check (int fd)
{
    struct stat st;
    int seals = fcntl (fd, F_GET_SEALS);
    if (fd < 0 || fstat (fd, &st) < 0)
        errno = EBADF;
    else if (seals < 0 || (seals & AG_IMAGE_SEALS) != AG_IMAGE_SEALS)
        errno = EPERM;
    else if (st.st_size > AG_IMAGE_MAX)
        errno = EFBIG;
    else if (st.st_size < (off_t)sizeof (struct ag_image))
        errno = EBADMSG;
    else
        return 0;
    return -1;
}

struct cursor {
    char *p, *end;
};

static int
bad (void)
{
    errno = EBADMSG;
    return -1;
}

static int
string (struct cursor *in, char **text)
{
    uint32_t n;
    if ((size_t)(in->end - in->p) < sizeof n)
        return bad();
    memcpy (&n, in->p, sizeof n);
    in->p += sizeof n;
    if (n >= (size_t)(in->end - in->p) || in->p[n] || memchr (in->p, 0, n))
        return bad();
    *text = in->p;
    in->p += n + 1;
    return 0;
}

//  `before` places stay free in front of the list.
static int
list (struct cursor *in, uint32_t count, size_t before, char ***out)
{
    if (count > (size_t)(in->end - in->p) / (sizeof (uint32_t) + 1))
        return bad();
    *out = (char **)ag_xcalloc (count + before + 1, sizeof (char *)) + before;
    for (uint32_t i = 0; i < count; i++)
        if (string (in, &(*out)[i]))
            return -1;
    return 0;
}

static int
whole (int fd, struct cursor *in)
{
    struct stat st;
    if (fstat (fd, &st) < 0)
        return -1;
    size_t size = (size_t)st.st_size;
    in->p = ag_xmalloc (size + 1);
    in->end = in->p + size;
    for (size_t at = 0; at < size;) {
        ssize_t n = pread (fd, in->p + at, size - at, (off_t)at);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0)
            return bad();
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int
ag_image_read (int fd, struct ag_strings *strings)
{
    struct cursor in;
    struct ag_image head;
    char *dir;
    if (whole (fd, &in))
        return -1;
    memcpy (&head, in.p, sizeof head);
    in.p += sizeof head;
    if (head.magic != AG_IMAGE_MAGIC || !head.counts[AG_IMAGE_ARGV])
        return bad();
    if (string (&in, &dir))
        return -1;
    for (int i = 0; i < AG_IMAGE_LISTS; i++)
        if (list (&in, head.counts[i], i == AG_IMAGE_ENV ? 2 : 0, &strings->list[i]))
            return -1;
    if ((size_t)(in.end - in.p) != head.filter_bytes)
        return bad();
    strings->dir = dir;
    strings->filter =
        memcpy (ag_xmalloc (head.filter_bytes + 1), in.p, head.filter_bytes); //  aligned
    strings->filter_bytes = head.filter_bytes;
    return 0;
}
