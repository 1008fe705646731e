/*  replay - a fuzz target without its fuzzer: each file of a directory as one input.
 *
 *      NAME_fuzz corpus/NAME
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/buf.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n);

//  The input has exactly its size on the heap, so that a read past its end is seen.
static void
try_file (const char *path)
{
    enum { MOST_BYTES = 1 << 20 };
    FILE *file = fopen (path, "r");
    assert (file);
    char *buf = ag_xmalloc (MOST_BYTES);
    size_t n = fread (buf, 1, MOST_BYTES, file);
    fclose (file);
    uint8_t *input = ag_xmalloc (n);
    memcpy (input, buf, n);
    free (buf);
    LLVMFuzzerTestOneInput (input, n);
    free (input);
}

int
main (int argc, char **argv)
{
    if (argc != 2) {
        fprintf (stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    DIR *dir = opendir (argv[1]);
    if (!dir) {
        perror (argv[1]);
        return 1;
    }
    int inputs = 0;
    for (struct dirent *entry; (entry = readdir (dir));) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = ag_xprintf ("%s/%s", argv[1], entry->d_name);
        try_file (path);
        free (path);
        inputs++;
    }
    closedir (dir);
    printf ("%d inputs\n", inputs);
    return inputs > 0 ? 0 : 1;
}
