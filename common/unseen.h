/*  unseen - the characters that nobody sees, or that change what is seen around them.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_UNSEEN_H
#define AG_UNSEEN_H
#include <stdbool.h>
#include <stdint.h>

//  What Unicode 15 lets a reader ignore (Default_Ignorable_Code_Point: zero widths, directions, fillers, variations,
//  tags), line and paragraph separators, annotations, and the control characters from U+0080 on.
bool ag_is_unseen (uint32_t code);

//  A character that comes byte by byte; {0} before the first.
struct ag_utf8_char {
    uint32_t code;
    int left; //  bytes to come
};
//  Take the next byte: true when it completes a character, whose code then stands in code. Bytes that are no UTF-8
//  complete nothing.
bool ag_utf8_char_add (struct ag_utf8_char *self, uint8_t byte);
#endif
