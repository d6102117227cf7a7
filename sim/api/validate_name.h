/* Names, and keys and values of labels. */
#ifndef OSTLER_SIM_API_VALIDATE_NAME_H
#define OSTLER_SIM_API_VALIDATE_NAME_H

#include "sim/api/spot.h"

/* Each adds causes where the text is none of its kind. */
void validate_subdomain(const char *name, const struct spot *at, struct refusal *r);
/* With `undotted`, a name that would be one but for its dots is told so. */
void validate_dns_label(const char *name, bool undotted, const struct spot *at, struct refusal *r);
/* A name with an optional prefix, as keys of labels have it: "example.com/name". */
void validate_qualified_name(const char *name, const struct spot *at, struct refusal *r);
/* A label's value: at most 63 bytes; may be empty. */
void validate_label_value(const char *value, const struct spot *at, struct refusal *r);
/* The name of a port: at most 15 letters, digits and hyphens. */
void validate_port_name(const char *name, const struct spot *at, struct refusal *r);

#endif
