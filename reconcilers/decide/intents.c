#include "reconcilers/decide/intents.h"

#include "base/json.h"

/* More children than any policy has; the rest are keys that are not used any longer. */
enum { INTENTS_MAX = 512 };

const char *intents_get(const struct intents *m, const char *key)
{
    return json_key(m->by_key, key);
}

void intents_put(struct intents *m, const char *key, const char *intent)
{
    if (json_object_size(m->by_key) >= INTENTS_MAX)
        intents_clear(m);
    if (!m->by_key)
        m->by_key = json_object();
    json_object_set_new(m->by_key, key, json_text(intent));
}

void intents_clear(struct intents *m)
{
    json_decref(m->by_key);
    m->by_key = NULL;
}
