/* The inside of yaml.h's line table, for the reader that fills it. Paths are hashed piece by piece instead of kept: a collision
 * costs a wrong line in a message, copies of every path of a hostile document would cost much more. */
#ifndef OSTLER_BASE_YAML_LINES_H
#define OSTLER_BASE_YAML_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/yaml.h"

/* The path of the document itself. */
extern const uint64_t yaml_path_root;
/* The path of a member and of an item below a path. */
uint64_t yaml_path_of_key(uint64_t parent, const char *key);
uint64_t yaml_path_of_index(uint64_t parent, size_t index);

/* An empty table; yaml_lines_free() when done. */
struct yaml_lines *yaml_lines_new(void);
/* Remembers where a path is; NULL takes nothing. */
void yaml_lines_note(struct yaml_lines *lines, uint64_t path, int line);
/* Forgets everything. NULL is fine. */
void yaml_lines_reset(struct yaml_lines *lines);
/* Makes the table ready for yaml_line_of(). NULL is fine. */
void yaml_lines_finish(struct yaml_lines *lines);

#endif
