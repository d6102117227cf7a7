#ifndef OSTLER_MODEL_POLICY_FORMATS_H
#define OSTLER_MODEL_POLICY_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The formats of strings in a policy. Each is there twice: as the pattern that the CRD has, and as
 * a function, since a policy is hostile input and the C library's regular expressions are not made
 * for that. Tests hold the two against each other and the pattern against the CRD.
 */
enum policy_format {
    FORMAT_TEXT,        /* anything: the value of an environment variable */
    FORMAT_ARGUMENT,    /* anything: a command line argument */
    FORMAT_LABEL_KEY,   /* "team", "example.com/team" */
    FORMAT_LABEL_VALUE, /* may be empty */
    FORMAT_SUBDOMAIN,   /* the name of most objects */
    FORMAT_POOL,        /* becomes part of annotation keys */
    FORMAT_VERSION,     /* an image's tag or digest */
    FORMAT_REPOSITORY,
    FORMAT_IMAGE,
    FORMAT_VARIABLE,
    FORMAT_DATA_KEY, /* a key of a ConfigMap */
    FORMAT_DURATION,
    FORMAT_PERCENT,
    FORMAT_QUANTITY,
    FORMAT_INSTALL_DIR,
    FORMAT_PROFILE, /* a file of the kubelet's folder seccomp */
    FORMAT_SCHEDULE,
    FORMAT_TIME_ZONE,
};

struct policy_format_info {
    const char *pattern; /* as in the CRD; NULL: everything */
    size_t min_length;
    size_t max_length;             /* in characters */
    bool (*matches)(const char *); /* within the lengths; NULL: everything */
    const char *sentence;          /* "must be a label key, such as ..." */
};

/* What a format is. Static. */
const struct policy_format_info *policy_format(enum policy_format format);

/* Whether a string has the format, its length included. */
bool policy_format_matches(enum policy_format format, const char *s);

#endif
