/* Label selectors as a query writes them: "a=b,c in (d,e),!f". */
#ifndef OSTLER_SIM_API_LABEL_TEXT_H
#define OSTLER_SIM_API_LABEL_TEXT_H

#include "kube/selector.h"
#include "sim/api/refusal.h"

/* -1 and 400 in the words of the API server when it is not a selector. "" matches everything.
 * Comparisons of numbers (a>1) are refused: none of the program's clients asks for them. */
int label_text_compile(const char *text, struct selector *ret, struct refusal *r);

#endif
