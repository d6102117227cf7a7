/* Every reason that Ostler gives: for the state of a node, a condition, a write or an Event. Code
 * compares reasons, people and programs read their texts. The tables reasons_*.inc have a row for
 * each; scripts/describe-reasons writes the tables of the documents from them. */
#ifndef OSTLER_RECONCILERS_MODEL_REASON_H
#define OSTLER_RECONCILERS_MODEL_REASON_H

/* What a reason means for whoever reads it. */
enum reason_class {
    REASON_PROGRESS, /* it is as it should be, or goes on by itself: no action is required */
    REASON_WAITS,    /* it goes on when something else has ended, or a user acts */
    REASON_WRONG,    /* it does not get well before a user acts */
    REASON_GONE,     /* what it is about is down, gone, or not for Ostler to serve */
};

/* REASON(id, text, class, page, todo) of the tables, with its meaning in the comment before it:
 *   text   CamelCase, as statuses, Events, log lines and metrics have it
 *   class  enum reason_class
 *   page   the document below docs/, with its heading, that says more; NULL: only its table does
 *   todo   what a user does about it, in Markdown; NODE stands for the node, PLAN for the hash of
 *          the plan; NULL: nothing */
enum reason {
    REASON_NONE, /* no reason is given */
#define REASON(id, ...) REASON_##id,
#include "reconcilers/model/reasons.inc"
#undef REASON
    REASON_COUNT
};

/* "" for none. Static text. */
const char *reason_text(enum reason r);
/* The class of a reason that is one. */
enum reason_class reason_class(enum reason r);
/* What a user does about it, as the table has it. NULL: nothing. Static text. */
const char *reason_todo(enum reason r);
/* The reason with this text; NONE for NULL and "", OTHER for a word that no table has. */
enum reason reason_parse(const char *text);
/* The text; for OTHER the word itself, if that is known. Static text, or `other`, borrowed. */
const char *reason_word(enum reason r, const char *other);

#endif
