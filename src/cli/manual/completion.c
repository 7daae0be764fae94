/* completion.c - finds completions from the kind of an option and the name of its value. */
#include "cli/manual/completion.h"

#include <string.h>

/* Choices for options that are texts for the parser because they may be lists or have an index. */
static const struct {
    const char *name, *words;
} known[] = {
    { "backend", "auto cpu opencl cuda sim" },
    { "backends", "cpu cpu1 opencl cuda" },
    { "devices", "all cpu opencl cuda sim" },
    { "scenario", "all Uniform-32k Uniform-64k Mixed-Same-Bucket Mixed-Adjacent-Buckets "
                  "Mixed-Diverse Large-Uniform Large-Mixed" },
};

static qn_offer words_offer(const char *words)
{
    qn_offer offer = { .kind = QN_OFFER_WORDS };

    snprintf(offer.words, sizeof offer.words, "%s", words);
    return offer;
}

/* The choices of "a|b|c", up to a blank or bracket. Names in capitals and ranges are not
 * choices. */
static qn_offer choices_of(const char *text)
{
    qn_offer offer = { .kind = QN_OFFER_NOTHING };
    size_t used = 0;

    while (*text && !strchr(" ]", *text)) {
        const size_t len = strcspn(text, "| ]");
        const int is_word = !memchr(text, '.', len) && !memchr(text, '[', len);

        if (is_word && used + len + 2 < sizeof offer.words) {
            used += (size_t)snprintf(offer.words + used, sizeof offer.words - used, "%s%.*s",
                                     used ? " " : "", (int)len, text);
            offer.kind = QN_OFFER_WORDS;
        }
        text += len + (text[len] == '|');
    }
    return offer;
}

static int names_a_file(const char *value)
{
    static const char *const parts[] = { "FILE", "PREFIX", "OUT", "TASK", "PROGRAMS", ".csv" };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(value, parts[i]))
            return 1;
    return 0;
}

qn_offer qn_offer_of_option(const qn_opt *opt)
{
    const char *value = qn_opt_value(opt);

    if (opt->kind == QN_OPT_CHOICE)
        return choices_of(value);
    if (opt->kind != QN_OPT_TEXT)
        return (qn_offer){ 0 };
    for (size_t i = 0; opt->name && i < sizeof known / sizeof *known; i++)
        if (!strcmp(opt->name, known[i].name))
            return words_offer(known[i].words);
    if (!strcmp(value, "DIR"))
        return (qn_offer){ .kind = QN_OFFER_FOLDERS };
    return (qn_offer){ .kind = names_a_file(value) ? QN_OFFER_FILES : QN_OFFER_NOTHING };
}

qn_offer qn_offer_of_words(const qn_command *command)
{
    const char *words = command->words ? command->words : "";
    const char *first = words + (*words == '[');

    if (!strcmp(words, "[COMMAND]")) {
        char names[512] = "";

        for (int i = 0; qn_commands[i]; i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
                     qn_commands[i]->name);
        return words_offer(names);
    }
    /* The first word may be one of a few choices; names in capitals are placeholders. */
    if (strcspn(first, "|") < strcspn(first, " ]") && !names_a_file(words))
        return choices_of(first);
    if (*first >= 'a' && *first <= 'z')
        return choices_of(first);
    return (qn_offer){ .kind = names_a_file(words) ? QN_OFFER_FILES : QN_OFFER_NOTHING };
}

void qn_offer_names(const qn_command *const *commands, qn_str *out)
{
    for (int i = 0; commands[i]; i++)
        qn_str_addf(out, "%s%s", i ? " " : "", commands[i]->name);
}

void qn_offer_walk(const qn_command *const *commands, qn_str *out,
                   void (*each)(const char *path, const qn_command *command, qn_str *out))
{
    for (int i = 0; commands[i]; i++) {
        const qn_command *command = commands[i];

        if (!command->verbs)
            each(command->name, command, out);
        for (int k = 0; command->verbs && command->verbs[k]; k++) {
            char path[64];

            snprintf(path, sizeof path, "%s %s", command->name, command->verbs[k]->name);
            each(path, command->verbs[k], out);
        }
    }
}
