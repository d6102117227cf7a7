/* The line table behind yaml.h, for the parser that fills it. It keeps hashes of paths, since a
 * hostile document has many paths. A collision costs only a wrong line in a message. */
#ifndef OSTLER_BASE_YAML_LINES_H
#define OSTLER_BASE_YAML_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/yaml.h"

/* The path of the document itself. */
extern const uint64_t yaml_path_root;
/* The path of a member or an item below a path. */
uint64_t yaml_path_of_key(uint64_t parent, const char *key);
uint64_t yaml_path_of_index(uint64_t parent, size_t index);

/* An empty table; yaml_lines_free() when done. */
struct yaml_lines *yaml_lines_new(void);
/* Records the line of a path; NULL has no effect. */
void yaml_lines_note(struct yaml_lines *lines, uint64_t path, int line);
/* Empties the table. NULL has no effect. */
void yaml_lines_reset(struct yaml_lines *lines);
/* Prepares the table for yaml_line_of(). NULL has no effect. */
void yaml_lines_finish(struct yaml_lines *lines);

#endif
