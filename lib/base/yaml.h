/* YAML to JSON (libyaml's events to jansson's trees), with limits. All other code sees only
 * JSON. */
#ifndef OSTLER_BASE_YAML_H
#define OSTLER_BASE_YAML_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"
#include "base/yaml_lines.h"

/* Parses all documents of `text` into an array and skips empty ones. Scalars follow the rules of
 * kubectl's YAML parser. Duplicate keys, too many anchors and too much depth are errors that
 * name the line. `ret_lines` may be NULL; it covers the first document. */
json_t *yaml_parse(const char *text, size_t len, struct yaml_lines **ret_lines, struct err *e);
/* Reads a file ("-": standard input) and parses it; the error names the file. */
json_t *yaml_parse_file(const char *path, struct yaml_lines **ret_lines, struct err *e);
/* The file's name in messages. */
const char *yaml_file_name(const char *path);
/* One JSON value as a YAML document (block style, keys in insertion order, strings quoted if
 * needed). Owned by the caller. */
char *yaml_dump(const json_t *value);

#endif
