/*  text - words of a text, and how much two texts have in common.
 *
 *  A word is a run of ASCII letters and digits and of bytes from 128 on, compared in lower case; what
 *  stands between words (spaces, line ends, punctuation, comment marks) does not count. Texts are compared
 *  by their shingles: every five words in a row (all of them when there are fewer), hashed. Both measures
 *  are deterministic and take time linear in the texts, but for one sort of 8 bytes a word.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TEXT_H
#define AG_TEXT_H
#include "common/buf.h"

//  The next word of rest, as it is written; false when there is none.
bool ag_word (struct ag_str *rest, struct ag_str *word);

//  Shingles that both have, of those that either has: 1 same, 0 nothing in common. Two texts without
//  words are the same.
double ag_similarity (struct ag_str a, struct ag_str b);

//  Shingles of a that b has too, of those of a: 1 when b says all that a says.
double ag_containment (struct ag_str a, struct ag_str b);

//  Append text with every byte that is not part of valid UTF-8 as "?" and without control characters but
//  tab and line feed; at most `most` bytes, cut between characters.
void ag_clean (struct ag_str text, size_t most, struct ag_buf *out);
#endif
