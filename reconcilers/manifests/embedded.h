/* The YAML files of this directory, which scripts/embed puts into one generated C file. */
#ifndef OSTLER_RECONCILERS_MANIFESTS_EMBEDDED_H
#define OSTLER_RECONCILERS_MANIFESTS_EMBEDDED_H

#include <stddef.h>

struct embedded {
    const char *name; /* "toolkit/parts/k3s.yaml" */
    const char *text;
};

extern const struct embedded embedded_files[];
extern const size_t embedded_files_len;

#endif
