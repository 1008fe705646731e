/*  help - what schemas/commands.def says, for people, for programs and for shells.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_HELP_H
#define AG_HELP_H
#include "client/look.h"

//  All commands under their titles, to out.
void ag_help_overview (const struct ag_look *look, FILE *out);
//  One command: its examples first, then arguments and options.
void ag_help_command (const struct ag_look *look, const struct ag_command *command, FILE *out);
//  The commands that begin with this word.
void ag_help_family (const struct ag_look *look, const char *family, FILE *out);
//  Append the same as a value: {"commands", "options", "operations", "errors", ...}, or one command.
void ag_help_value (const struct ag_command *command, struct ag_buf *out);
//  A completion script for bash, zsh or fish.
void ag_completion (const char *shell, FILE *out);

//  Handlers of the commands that the client does alone.
int ag_cmd_help (const struct ag_call *call, struct ag_err *err);
int ag_cmd_completion (const struct ag_call *call, struct ag_err *err);
int ag_cmd_version (const struct ag_call *call, struct ag_err *err);
#endif
