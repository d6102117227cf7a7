/* A map from path ("spec.pools[1].name") to line, for error messages. It keeps hashes of paths,
 * since a hostile document has many paths. A collision costs only a wrong line in a message. */
#ifndef OSTLER_BASE_YAML_LINES_H
#define OSTLER_BASE_YAML_LINES_H

#include <stddef.h>
#include <stdint.h>

struct yaml_lines;

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
/* The line (from 1) of a path or its nearest existing ancestor; 0 if unknown. */
int yaml_line_of(const struct yaml_lines *lines, const char *path);
/* Frees the table. NULL has no effect. */
void yaml_lines_free(struct yaml_lines *lines);

#endif
