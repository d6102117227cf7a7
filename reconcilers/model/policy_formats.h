#ifndef OSTLER_MODEL_POLICY_FORMATS_H
#define OSTLER_MODEL_POLICY_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

/* The formats of strings in a policy, each as a pattern and as a function. The CRD has the pattern.
 * The code uses the function, because a policy is hostile input and the C library's regular
 * expressions are not safe against it. Tests compare both with each other, and the pattern with the
 * CRD. */
enum policy_format {
    FORMAT_TEXT,        /* anything: the value of an environment variable */
    FORMAT_ARGUMENT,    /* anything: a command line argument */
    FORMAT_LABEL_KEY,   /* "team", "example.com/team" */
    FORMAT_LABEL_VALUE, /* may be empty */
    FORMAT_SUBDOMAIN,   /* the name format of most objects */
    FORMAT_POOL,        /* part of annotation keys */
    FORMAT_VERSION,     /* an image tag or digest */
    FORMAT_REPOSITORY,
    FORMAT_IMAGE,
    FORMAT_VARIABLE,
    FORMAT_DATA_KEY, /* a key of a ConfigMap */
    FORMAT_DURATION,
    FORMAT_PERCENT,
    FORMAT_QUANTITY,
    FORMAT_INSTALL_DIR,
    FORMAT_PROFILE, /* a file in the kubelet's directory seccomp */
    FORMAT_SCHEDULE,
    FORMAT_TIME_ZONE,
};

struct policy_format_info {
    const char *pattern; /* as in the CRD; NULL: everything */
    size_t min_length;
    size_t max_length;             /* in characters */
    bool (*matches)(const char *); /* assumes a valid length; NULL: everything */
    const char *sentence;          /* "must be a label key, such as ..." */
};

/* The row of a format. Static. */
const struct policy_format_info *policy_format(enum policy_format format);

/* Whether a string has the format and a valid length. */
bool policy_format_matches(enum policy_format format, const char *s);

#endif
