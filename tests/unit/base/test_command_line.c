#include "base/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { WORDS_MAX = 8 };

struct options {
    const char *any, *text;
    unsigned shape;
    int64_t number, wait_ms;
    bool flag, wants;
};

static const char *const shapes[] = { "flat", "round", NULL };

static const struct option_kind
    text = { .store = option_store_text, .wanted = "must not be empty" },
    shape = { .store = option_store_word, .wanted = "must be flat or round", .words = shapes },
    number = { .store = option_store_number, .wanted = "must be from 1 to 9", .min = 1, .max = 9 },
    duration = { .store = option_store_duration, .wanted = "must be a time" },
    may_be = { .store = option_store_word,
               .wanted = "must be flat or round",
               .words = shapes,
               .arity = OPTION_MAY_BE,
               .alone = "round" };

#define AT(member) offsetof(struct options, member)

static const struct option_row rows[] = {
    { "--any", NULL, 1, &option_any, AT(any), "TEXT", "any" },
    { "--text", "-t", 1, &text, AT(text), "TEXT", "some" },
    { "--shape", NULL, 1, &shape, AT(shape), "SHAPE", "a shape" },
    { "--default-shape", NULL, 1, &may_be, AT(shape), "SHAPE", "a shape" },
    { "--number", NULL, 1, &number, AT(number), "N", "a number" },
    { "--wait", NULL, 2, &duration, AT(wait_ms), "TIME", "a time" },
    { "--flag", "-f", 1, &option_flag, AT(flag), "", "a flag" },
    { "--wants", NULL, 1, &option_switch, AT(wants), "BOOL", "a switch" },
};

static struct option_table table = {
    .rows = rows, .count = ARRAY_LEN(rows), .program = "p", .lists = "p help", .unknown = "option"
};

/* A command line, and what it comes to: what was stored, words, how it ended. */
static const struct row {
    const char *name;
    enum option_words words;
    bool repeats;
    const char *said;
} lines[] = {
    { "", OPTION_WORDS_PLAIN, false, "end" },
    { "--any= --text x", OPTION_WORDS_PLAIN, false, "any= text=x end" },
    { "--text=x=y a", OPTION_WORDS_PLAIN, false, "[a] text=x=y end" },
    { "-tx", OPTION_WORDS_PLAIN, false, "text=x end" },
    { "-t=x", OPTION_WORDS_PLAIN, false, "text=x end" },
    { "-t x", OPTION_WORDS_PLAIN, false, "text=x end" },
    { "--text", OPTION_WORDS_PLAIN, false, "--text needs TEXT" },
    { "--text=", OPTION_WORDS_PLAIN, false, "--text: must not be empty, not \"\"" },
    { "--tex x", OPTION_WORDS_PLAIN, false, "unknown option --tex; `p help` lists them" },
    { "--text a --text b", OPTION_WORDS_PLAIN, false, "--text is given twice" },
    { "--text a --text b", OPTION_WORDS_PLAIN, true, "text=b end" },
    { "--shape round", OPTION_WORDS_PLAIN, false, "shape=1 end" },
    { "--shape square", OPTION_WORDS_PLAIN, false,
      "--shape: must be flat or round, not \"square\"" },
    { "--default-shape flat", OPTION_WORDS_PLAIN, false, "[flat] shape=1 end" },
    { "--default-shape=flat", OPTION_WORDS_PLAIN, false, "end" },
    { "--number 9", OPTION_WORDS_PLAIN, false, "number=9 end" },
    { "--number 10", OPTION_WORDS_PLAIN, false, "--number: must be from 1 to 9, not \"10\"" },
    { "--wait 2s", OPTION_WORDS_PLAIN, false,
      "wait=2000 --wait is not an option of `p go`; `p help` lists the options" },
    { "-f --flag", OPTION_WORDS_PLAIN, true, "flag end" },
    { "--flag=true", OPTION_WORDS_PLAIN, false, "--flag takes no value" },
    { "--wants a", OPTION_WORDS_PLAIN, false, "[a] wants end" },
    { "--wants true a", OPTION_WORDS_PLAIN, false, "[a] wants end" },
    { "--wants false a", OPTION_WORDS_PLAIN, false, "[a] end" },
    { "--wants=maybe", OPTION_WORDS_PLAIN, false, "--wants: must be true or false, not \"maybe\"" },
    { "a -h b --version", OPTION_WORDS_PLAIN, false, "[a] help [b] version end" },
    { "a - b", OPTION_WORDS_PLAIN, false, "[a] unknown option -; `p help` lists them" },
    { "a - -- --any b", OPTION_WORDS_DASHES, false, "[a] [-] [--any] [b] end" },
    { "--any x a", OPTION_WORDS_NONE, false, "unknown option a; `p help` lists them" },
};

static void add_stored(const struct options *o, struct buf *said)
{
    if (o->any)
        buf_printf(said, "any=%s ", o->any);
    if (o->text)
        buf_printf(said, "text=%s ", o->text);
    if (o->shape)
        buf_printf(said, "shape=%u ", o->shape);
    if (o->number || o->wait_ms)
        buf_printf(said, "%s=%lld ", o->number ? "number" : "wait",
                   (long long) (o->number + o->wait_ms));
    buf_printf(said, "%s%s", o->flag ? "flag " : "", o->wants ? "wants " : "");
}

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_FREE char *line = xstrdup(row->name);
    CLEANUP_BUF struct buf said = BUF_INIT(1024);
    CLEANUP_ERR struct err e = { 0 };
    struct options o = { 0 };
    char *argv[WORDS_MAX] = { (char *) "p" }, *rest = line;
    struct option_reader r = { .table = &table, .argc = 1, .argv = argv, .at = 1, .to = &o };
    for (char *word; (word = strsep(&rest, " ")) && r.argc < WORDS_MAX;)
        if (*word)
            argv[r.argc++] = word;
    table.words = row->words;
    table.repeats = row->repeats;
    enum option_next next;
    while ((next = option_next(&r, &e)) != OPTION_NEXT_END && next != OPTION_NEXT_WRONG)
        if (next == OPTION_NEXT_WORD)
            buf_printf(&said, "[%s] ", argv[r.at - 1]);
        else
            buf_str(&said, next == OPTION_NEXT_HELP ? "help " : "version ");
    if (next == OPTION_NEXT_END)
        add_stored(&o, &said);
    if (next == OPTION_NEXT_END && option_check(&r, 1, "go", &e) == 0)
        buf_str(&said, "end");
    buf_str(&said, err_msg(&e));
    assert_string_equal(buf_text(&said), row->said);
}

static void check_help(void **state)
{
    (void) state;
    static const struct command_row commands[] = { { "go", NULL, "goes" },
                                                   { "stop", "WHEN", "stops" } };
    const struct option_table t = { .rows = rows, .count = 2 };
    char *text_of = NULL;
    size_t len;
    FILE *out = open_memstream(&text_of, &len);
    command_help(out, commands, ARRAY_LEN(commands), 10);
    option_help(out, &t, 8, 16);
    fclose(out);
    assert_string_equal(text_of, "  go         goes\n"
                                 "  stop WHEN  stops\n"
                                 "  --any    TEXT    any\n"
                                 "  --text   TEXT    some; short: -t\n");
    assert_int_equal(command_find(commands, ARRAY_LEN(commands), "stop"), 1);
    assert_int_equal(command_find(commands, ARRAY_LEN(commands), "sto"), 2);
    free(text_of);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, lines);
    suite_add(&s, "help", check_help, NULL);
    return suite_run(&s, "command_line");
}
