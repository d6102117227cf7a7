/* JSON merge patches (RFC 7386). */
#include "sim/api/patch.h"

#include "base/json.h"

json_t *patch_merge(const json_t *object, const json_t *patch)
{
    if (!json_is_object(patch))
        return json_incref((json_t *) patch);
    json_t *merged = json_is_object(object) ? json_copy((json_t *) object) : json_object();
    JSON_EACH_MEMBER (key, value, patch) {
        if (json_is_null(value))
            json_object_del(merged, key);
        else
            json_object_set_new(merged, key, patch_merge(json_object_get(object, key), value));
    }
    return merged;
}
