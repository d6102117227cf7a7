#include "reconcilers/decide/keeping.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/autoscaler.h"
#include "reconcilers/model/names.h"

json_t *keeping_change(const struct node_view *view, const json_t *ours, const struct claim *claim,
                       json_t *annotations)
{
    bool wanted = claim && claim_keeps_node(claim);
    bool may_set = wanted && json_object_get(annotations, ANNOTATION_CLAIM);
    json_t *stay = json_array();
    for (size_t i = 0; i < KEEP_COUNT; i++) {
        const char *key = autoscaler_keeps[i],
                   *now = intern_text(view->strings, view->node->keeps[i]);
        bool was_ours = json_has_text(ours, key),
             theirs = now && !(was_ours && str_eq(now, KEEPS_VALUE));
        bool sets = may_set && !now && !was_ours;
        if (theirs)
            continue;
        if (sets)
            json_object_set_new(annotations, key, json_string(KEEPS_VALUE));
        else if (!wanted && now)
            json_object_set_new(annotations, key, json_null());
        if (sets || (wanted && was_ours))
            json_array_append_new(stay, json_string(key));
    }
    return stay;
}
