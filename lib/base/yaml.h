/* YAML to JSON (libyaml's events to jansson's trees), with limits. Nothing else in the program knows YAML. */
#ifndef OSTLER_BASE_YAML_H
#define OSTLER_BASE_YAML_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/* Where things stand in the text: path ("spec.pools[1].name") to line, for messages to people. */
struct yaml_lines;

/* Parses all documents of `text` into an array (empty documents are left out). Scalars follow the rules of the YAML reader that
 * kubectl uses; duplicate keys, anchors beyond a bound, and depth beyond a bound are errors that name the line.
 * `ret_lines` may be NULL; it is for the first document. */
json_t *yaml_parse(const char *text, size_t len, struct yaml_lines **ret_lines, struct err *e);
/* Reads a file ("-": standard input) and parses it; the error names the file. */
json_t *yaml_parse_file(const char *path, struct yaml_lines **ret_lines, struct err *e);
/* The file as messages name it. */
const char *yaml_file_name(const char *path);
/* The line (from 1) of a path or of its nearest ancestor that is there; 0 when nothing is known. */
int yaml_line_of(const struct yaml_lines *lines, const char *path);
/* Frees the table. NULL is none. */
void yaml_lines_free(struct yaml_lines *lines);
/* One JSON value as a YAML document (block style, keys in insertion order, strings quoted where needed). Owned by the caller. */
char *yaml_dump(const json_t *value);

#endif
