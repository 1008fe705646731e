//  SPDX-License-Identifier: Apache-2.0
#include "common/unseen.h"

#include <stddef.h>

static const struct {
    uint32_t first, last;
} ranges[] = {
    {0x80, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},   {0x115f, 0x1160},
    {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool
ag_is_unseen (uint32_t code)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && ranges[i].first <= code; i++)
        if (code <= ranges[i].last)
            return true;
    return false;
}

bool
ag_utf8_char_add (struct ag_utf8_char *self, uint8_t byte)
{
    if ((byte & 0xc0) == 0x80) {
        if (!self->left)
            return false;
        self->code = self->code << 6 | (byte & 0x3f);
        return --self->left == 0;
    }
    self->left = byte < 0xc0 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    self->code = byte & (byte < 0x80 ? 0x7f : 0x3f >> self->left);
    return byte < 0x80;
}
