/* JSON in tests, written with ' in place of " so that it can be read. */
#ifndef OSTLER_TESTS_SUPPORT_TREE_H
#define OSTLER_TESTS_SUPPORT_TREE_H

#include <jansson.h>

/* The text with every ' as ". Owned by the caller. */
char *json_quoted(const char *text);
/* The same, parsed; fails the test when it is not JSON. New reference. */
json_t *tree(const char *text);
/* Fails the test unless the tree is the one that the text (with ') stands for; the order of keys
 * does not count. */
void assert_tree(const json_t *got, const char *want);

#endif
