/* completion.h - finds what a shell may offer at a place of the command line, and prints a script
 * for each shell. */
#ifndef QN_CLI_MANUAL_COMPLETION_H
#define QN_CLI_MANUAL_COMPLETION_H

#include "cli/cli.h"

typedef enum { QN_OFFER_NOTHING, QN_OFFER_WORDS, QN_OFFER_FILES, QN_OFFER_FOLDERS } qn_offer_kind;

typedef struct qn_offer {
    qn_offer_kind kind;
    char words[256]; /* of QN_OFFER_WORDS, separated by blanks */
} qn_offer;

/* What may follow an option: nothing after a flag. */
qn_offer qn_offer_of_option(const qn_opt *opt);

/* The arguments of a command besides options. */
qn_offer qn_offer_of_words(const qn_command *command);

/* Appends the names in a table: "devices tasks scan ...". */
void qn_offer_names(const qn_command *const *commands, qn_str *out);

/* Calls `each` for every command that can be run, with its path ("tasks run"). */
void qn_offer_walk(const qn_command *const *commands, qn_str *out,
                   void (*each)(const char *path, const qn_command *command, qn_str *out));

void qn_completion_bash(const qn_command *const *commands, qn_str *out);
void qn_completion_zsh(const qn_command *const *commands, qn_str *out);
void qn_completion_fish(const qn_command *const *commands, qn_str *out);

#endif
