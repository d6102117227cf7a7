#include "kube/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

char *record_key(const json_t *object)
{
    const char *ns = object_namespace(object);
    return *ns ? xasprintf("%s/%s", ns, object_name(object)) : xstrdup(object_name(object));
}

/* ---- uids */

/* The byte of a UUID whose first bit is set in all that are in use (RFC 9562). A text in ASCII has
 * no such byte. */
enum { UID_VARIANT = 8, UID_IS_UUID = 0x80 };
static const char hex[] = "0123456789abcdef";
/* The form of a UUID as API servers write it: a digit for each x. */
static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
/* The uid of a record that has it after its key. */
static const uint8_t elsewhere[RECORD_UID_BYTES] = { 0, 1 };

static bool is_uuid(const uint8_t uid[static RECORD_UID_BYTES])
{
    return uid[UID_VARIANT] & UID_IS_UUID;
}

static bool is_elsewhere(const struct record *r)
{
    return memcmp(r->uid, elsewhere, sizeof elsewhere) == 0;
}

static bool uuid_parse(const char *text, uint8_t ret[static RECORD_UID_BYTES])
{
    size_t nibbles = 0;
    for (size_t i = 0; i < sizeof form; i++) { /* with the NUL */
        const char *digit = form[i] == 'x' && text[i] ? strchr(hex, text[i]) : NULL;
        if (form[i] == 'x' ? !digit : text[i] != form[i])
            return false;
        if (digit) {
            ret[nibbles / 2] = (uint8_t) (ret[nibbles / 2] << 4 | (digit - hex));
            nibbles++;
        }
    }
    return is_uuid(ret);
}

static void uuid_print(const uint8_t uid[static RECORD_UID_BYTES], char text[static RECORD_UID_MAX])
{
    size_t nibbles = 0;
    for (size_t i = 0; i < sizeof form; i++) {
        text[i] = form[i];
        if (form[i] == 'x') {
            text[i] = hex[uid[nibbles / 2] >> (nibbles % 2 ? 0 : 4) & 15];
            nibbles++;
        }
    }
}

/* Returns whether it fits: otherwise the text has to be after the key. */
static bool uid_pack(const char *text, uint8_t ret[static RECORD_UID_BYTES])
{
    uint8_t uid[RECORD_UID_BYTES] = { 0 };
    bool fits = uuid_parse(text, uid);
    if (!fits) {
        memset(uid, 0, sizeof uid);
        fits = strlen(text) < sizeof uid && !is_uuid(memcpy(uid, text, strlen(text)));
    }
    memcpy(ret, fits ? uid : elsewhere, sizeof uid);
    return fits;
}

const char *record_uid(const struct record *r, char text[static RECORD_UID_MAX])
{
    if (is_elsewhere(r))
        return strchr(r->key, '\0') + 1;
    if (!is_uuid(r->uid))
        return (const char *) r->uid;
    uuid_print(r->uid, text);
    return text;
}

bool record_same_uid(const struct record *a, const struct record *b)
{
    return memcmp(a->uid, b->uid, sizeof a->uid) == 0 &&
           (!is_elsewhere(a) || str_eq(RECORD_UID(a), RECORD_UID(b)));
}

/* ---- records */

/* Its memory, with the key, and after that a uid (NULL: none) that does not fit elsewhere. */
static struct record *record_make(size_t size, const char *key, const char *uid)
{
    size_t key_size = strlen(key) + 1, uid_size = uid ? strnlen(uid, RECORD_UID_MAX - 1) + 1 : 0;
    struct record *r = xcalloc(1, size + key_size + uid_size);
    r->key = memcpy((char *) r + size, key, key_size);
    if (uid)
        memcpy(r->key + key_size, uid, uid_size - 1);
    return r;
}

void *record_named(size_t size, const char *key, const char *uid)
{
    uint8_t packed[RECORD_UID_BYTES];
    bool fits = uid_pack(uid, packed);
    struct record *r = record_make(size, key, fits ? NULL : uid);
    memcpy(r->uid, packed, sizeof packed);
    return r;
}

void *record_new(size_t size, const json_t *object)
{
    CLEANUP_FREE char *key = record_key(object);
    return record_named(size, key, object_uid(object));
}

void *record_copy(const void *record, size_t size)
{
    const struct record *from = record;
    struct record *r = record_make(size, from->key, is_elsewhere(from) ? RECORD_UID(from) : NULL);
    char *key = r->key;
    memcpy(r, from, size);
    r->key = key;
    return r;
}

void record_free(void *record)
{
    free(record);
}

const char *record_name(const char *key)
{
    const char *slash = strchr(key, '/');
    return slash ? slash + 1 : key;
}

char *record_namespace(const char *key, const char **ret_name)
{
    char *ns = xstrdup(key), *slash = strchr(ns, '/');
    *slash = '\0';
    *ret_name = slash + 1;
    return ns;
}
