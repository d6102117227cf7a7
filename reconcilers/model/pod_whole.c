#include "reconcilers/model/pod_whole.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/picks.h"
#include "reconcilers/model/names.h"

/* What is read of a pod. A deletion, or a message of an init container, is only looked for. */
enum place {
    METADATA,
    NAME,
    NAMESPACE,
    UID,
    VERSION,
    MADE,
    DELETED,
    LABELS,
    MANAGER,
    COMPONENT,
    REVISION,
    OWNERS,
    ANNOTATIONS,
    WRITERS,
    SPEC,
    NODE,
    CLAIMS,
    STATUS,
    PHASE,
    CONDITIONS,
    INIT,
    PLACES
};

static const struct picks_row labels[] = { { LABEL_MANAGED_BY, MANAGER, NULL },
                                           { LABEL_COMPONENT, COMPONENT, NULL },
                                           { LABEL_REVISION, REVISION, NULL },
                                           { 0 } };
static const struct picks_row metadata[] = { { "name", NAME, NULL },
                                             { "namespace", NAMESPACE, NULL },
                                             { "uid", UID, NULL },
                                             { "resourceVersion", VERSION, NULL },
                                             { "creationTimestamp", MADE, NULL },
                                             { "deletionTimestamp", DELETED, NULL },
                                             { "labels", LABELS, labels },
                                             { "ownerReferences", OWNERS, NULL },
                                             { "annotations", ANNOTATIONS, NULL },
                                             { "managedFields", WRITERS, NULL },
                                             { 0 } };
static const struct picks_row spec[] = { { "nodeName", NODE, NULL },
                                         { "resourceClaims", CLAIMS, NULL },
                                         { 0 } };
static const struct picks_row status[] = { { "phase", PHASE, NULL },
                                           { "conditions", CONDITIONS, NULL },
                                           { "initContainerStatuses", INIT, NULL },
                                           { 0 } };
static const struct picks_row root[] = {
    { "metadata", METADATA, metadata }, { "spec", SPEC, spec }, { "status", STATUS, status }, { 0 }
};

/* Whether the condition Ready is there, and True. The first of its type counts. */
static bool pod_whole_is_ready(struct picked conditions)
{
    enum { TYPE, IS };
    static const struct picks_row rows[] = { { "type", TYPE, NULL },
                                             { "status", IS, NULL },
                                             { 0 } };
    for (struct picked condition; picks_next(&conditions, &condition);) {
        struct picked of[] = { [TYPE] = { 0 }, [IS] = { 0 } };
        if (!picks_read(condition.at, condition.len, rows, of))
            return false;
        if (picks_is(&of[TYPE], "Ready"))
            return picks_is(&of[IS], "True");
    }
    return false;
}

/* Whether one of its owners controls it. */
static bool pod_whole_has_controller(struct picked owners)
{
    static const struct picks_row rows[] = { { "controller", 0, NULL }, { 0 } };
    for (struct picked owner; picks_next(&owners, &owner);) {
        struct picked controls = { 0 };
        if (!picks_read(owner.at, owner.len, rows, &controls))
            return false;
        if (controls.len == strlen("true") && memcmp(controls.at, "true", controls.len) == 0)
            return true;
    }
    return false;
}

/* Its first init container may have found a driver of the host, and says so in a message. */
static bool is_silent(const struct picked *init)
{
    return !init->at || (!memmem(init->at, init->len, "message", strlen("message")) &&
                         !memchr(init->at, '\\', init->len));
}

enum { TEXT_SIZE = 64 }; /* of a label's value */

/* Whether a pod in the operands' namespace is an operand's that is up; `ret`: which. */
static bool is_up(const struct picked *p, enum operand *ret)
{
    char name[TEXT_SIZE];
    if (!picks_is(&p[MANAGER], MANAGED_BY) || !picks_text(&p[COMPONENT], name, sizeof name) ||
        p[DELETED].at || !picks_is(&p[PHASE], "Running"))
        return false;
    *ret = operand_parse(name);
    return *ret != OPERAND_NONE && is_silent(&p[INIT]) && pod_whole_has_controller(p[OWNERS]) &&
           pod_whole_is_ready(p[CONDITIONS]);
}

/* Texts of a pod that its record has. */
struct texts {
    char uid[RECORD_UID_MAX], version[FRAME_RV_MAX], made[CLOCK_TEXT_MAX];
    char node[FRAME_KEY_MAX], revision[TEXT_SIZE];
    bool has_revision;
};

static bool take_texts(const struct picked *p, struct texts *t)
{
    t->has_revision = p[REVISION].at;
    return picks_text(&p[UID], t->uid, sizeof t->uid) &&
           picks_text(&p[VERSION], t->version, sizeof t->version) &&
           picks_text(&p[MADE], t->made, sizeof t->made) &&
           picks_text(&p[NODE], t->node, sizeof t->node) &&
           (!t->has_revision || picks_text(&p[REVISION], t->revision, sizeof t->revision));
}

/* The record of an operand's pod that is up; NULL: it must be parsed. */
static struct pod *read_operand(struct intern *in, const struct picked *picked, const char *key)
{
    enum operand operand;
    struct texts t;
    if (!is_up(picked, &operand) || !take_texts(picked, &t))
        return NULL;
    struct pod *p = record_named(sizeof *p, key, t.uid);
    p->head.rv = object_rv_parse(t.version);
    p->node = intern_add(in, t.node);
    p->component = (uint8_t) (operand & 0x1f);
    p->revision = t.has_revision ? intern_add(in, t.revision) : INTERN_NONE;
    p->ready = p->running = true;
    p->made_s = pod_made_s(t.made);
    return p;
}

/* Whether a GPU of its node is held open by the pod; in doubt it is. */
static bool is_holder(const struct pod_text_asks *asks, const struct picked *p)
{
    char node[FRAME_KEY_MAX], uid[RECORD_UID_MAX];
    return p[NODE].at &&
           (!picks_text(&p[NODE], node, sizeof node) || !picks_text(&p[UID], uid, sizeof uid) ||
            asks->holds(asks->arg, node, str_hash_id(uid)));
}

/* Whether a user's pod may have a record. All its text counts but two members that are not read for
 * that. */
static bool pod_whole_matters(const struct pod_text_asks *asks, const struct picked *p,
                              const char *text, size_t len)
{
    bool writers_first = p[WRITERS].at < p[ANNOTATIONS].at;
    const struct picked *out[] = { &p[writers_first ? WRITERS : ANNOTATIONS],
                                   &p[writers_first ? ANNOTATIONS : WRITERS] };
    const char *from = text;
    for (size_t i = 0; i < ARRAY_LEN(out); i++) {
        if (!out[i]->at)
            continue;
        if (pod_text_part_matters(from, (size_t) (out[i]->at - from)))
            return true;
        from = out[i]->at + out[i]->len;
    }
    return p[CLAIMS].at || pod_text_part_matters(from, (size_t) (text + len - from)) ||
           is_holder(asks, p);
}

/* "namespace/name" */
static bool take_key(const struct picked *p, char ret[static FRAME_KEY_MAX])
{
    if (!picks_text(&p[NAMESPACE], ret, FRAME_KEY_MAX - 1))
        return false;
    size_t len = strlen(ret);
    ret[len++] = '/';
    return picks_text(&p[NAME], ret + len, FRAME_KEY_MAX - len);
}

bool pod_whole_read(struct intern *in, const struct pod_text_asks *asks, const char *text,
                    size_t len, struct pod_whole *ret)
{
    struct picked picked[PLACES] = { 0 };
    if (!picks_read(text, len, root, picked) || !take_key(picked, ret->key))
        return false;
    ret->pod = NULL;
    if (!picks_is(&picked[NAMESPACE], asks->operand_namespace))
        return !pod_whole_matters(asks, picked, text, len);
    ret->pod = read_operand(in, picked, ret->key);
    return ret->pod;
}
