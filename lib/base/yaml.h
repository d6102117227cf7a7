/* YAML to JSON (libyaml's events to jansson's trees), with limits. All other code sees only
 * JSON. */
#ifndef OSTLER_BASE_YAML_H
#define OSTLER_BASE_YAML_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/* A map from path ("spec.pools[1].name") to line, for error messages. */
struct yaml_lines;

/* Parses all documents of `text` into an array and skips empty ones. Scalars follow the rules of
 * kubectl's YAML parser. Duplicate keys, too many anchors and too much depth are errors that
 * name the line. `ret_lines` may be NULL; it covers the first document. */
json_t *yaml_parse(const char *text, size_t len, struct yaml_lines **ret_lines, struct err *e);
/* Reads a file ("-": standard input) and parses it; the error names the file. */
json_t *yaml_parse_file(const char *path, struct yaml_lines **ret_lines, struct err *e);
/* The file's name in messages. */
const char *yaml_file_name(const char *path);
/* The line (from 1) of a path or its nearest existing ancestor; 0 if unknown. */
int yaml_line_of(const struct yaml_lines *lines, const char *path);
/* Frees the table. NULL has no effect. */
void yaml_lines_free(struct yaml_lines *lines);
/* One JSON value as a YAML document (block style, keys in insertion order, strings quoted if
 * needed). Owned by the caller. */
char *yaml_dump(const json_t *value);

#endif
