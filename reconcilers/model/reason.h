/* Every reason that Ostler gives for a node state, condition, write or Event. Code compares the
 * enum; users and programs read the text. Each reason is a row in the tables reasons_*.inc, from
 * which scripts/describe-reasons writes tables in the documents. */
#ifndef OSTLER_RECONCILERS_MODEL_REASON_H
#define OSTLER_RECONCILERS_MODEL_REASON_H

/* What a reason means for its reader. */
enum reason_class {
    REASON_PROGRESS, /* healthy, or proceeds without help: no action is required */
    REASON_WAITS,    /* proceeds when something else ends or a user acts */
    REASON_WRONG,    /* stays broken until a user acts */
    REASON_GONE,     /* the object is down, deleted, or not served by Ostler */
};

/* REASON(id, text, class, page, todo) of the tables, with its meaning in the comment before it:
 *   text   CamelCase, as statuses, Events, log lines and metrics have it
 *   class  enum reason_class
 *   page   the document below docs/, with its heading, that says more; NULL: only its table does
 *   todo   what a user does about it, in Markdown; NODE stands for the node, PLAN for the hash of
 *          the plan; NULL: nothing */
enum reason {
    REASON_NONE, /* no reason */
#define REASON(id, ...) REASON_##id,
#include "reconcilers/model/reasons.inc"
#undef REASON
    REASON_COUNT
};

/* "" for none. Static text. */
const char *reason_text(enum reason r);
/* The class of a reason that is one. */
enum reason_class reason_class(enum reason r);
/* What a user does about it, from the table. NULL: nothing. Static text. */
const char *reason_todo(enum reason r);
/* The reason with this text; NONE for NULL and "", OTHER for a word that is not in the tables. */
enum reason reason_parse(const char *text);
/* The text; for OTHER the word itself, if known. Static text or `other`, borrowed. */
const char *reason_word(enum reason r, const char *other);

#endif
