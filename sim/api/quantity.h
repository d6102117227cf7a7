/* Amounts of resources, as Kubernetes writes them: "500m", "1Gi", "2e3". */
#ifndef OSTLER_SIM_API_QUANTITY_H
#define OSTLER_SIM_API_QUANTITY_H

#include <stdbool.h>

/* An amount: the number in billionths, and how it was written. */
struct quantity {
    __int128 nano;
    enum { QUANTITY_DECIMAL, QUANTITY_BINARY, QUANTITY_EXPONENT } form;
};

/* False if the text is invalid or beyond the range of the API server. */
bool quantity_parse(const char *text, struct quantity *ret);
/* As the API server writes it: "1000m" is "1", "1024Mi" is "1Gi". Owned by the caller. */
char *quantity_text(const struct quantity *q);
/* Whether it has no fraction. */
bool quantity_is_whole(const struct quantity *q);

#endif
