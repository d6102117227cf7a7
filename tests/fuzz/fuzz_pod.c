/* Any JSON as a Pod, which any user may have made and any kubelet may have written to: no crash,
 * reading it twice gives the same, what is kept of words of others is within its bounds, and it is
 * a one-off pod of Ostler's or one of all others, never both. Its text tells of one that is kept
 * that it matters, and its whole text the same record or nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/pod_text.h"
#include "reconcilers/model/pod_whole.h"
#include "reconcilers/model/proof.h"

#define OPERANDS "ostler-operands"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct pod *project_fn(struct intern *in, const char *operand_namespace,
                               const json_t *object);

static void check_text(const struct intern *in, uint32_t id, size_t max)
{
    if (strlen(str_or_empty(intern_text(in, id))) > max)
        abort();
}

static void check_words(const struct intern *in, const struct pod *p)
{
    const struct task *t = pod_task(p);
    bool again;
    struct proof_facts facts;
    if (p->problem && (strlen(p->problem) > 300 || strchr(p->problem, '\n')))
        abort();
    if (pod_ended(in, p, &again) && p->component == OPERAND_NONE)
        abort();
    if (!t)
        return;
    check_text(in, t->said, TASK_SAID_MAX);
    check_text(in, t->why_no_image, TASK_WORDS_MAX);
    proof_read(str_or_empty(intern_text(in, t->said)), &facts);
}

static bool holds_nothing(const void *arg, const char *node, uint64_t uid)
{
    (void) arg;
    (void) node;
    (void) uid;
    return false;
}

/* What is kept matters by its text. */
static void check_matters(const json_t *object)
{
    const struct pod_text_asks asks = { OPERANDS, holds_nothing, NULL };
    CLEANUP_FREE char *text = json_compact(object);
    if (!pod_text_matters(&asks, text, strlen(text)))
        abort();
}

/* What a whole text tells is what the object says, if it is one. */
static void check_whole(const char *text, size_t len, const json_t *object)
{
    const struct pod_text_asks asks = { OPERANDS, holds_nothing, NULL };
    struct intern *in = intern_new();
    struct pod_whole whole;
    bool told = pod_whole_read(in, &asks, text, len, &whole);
    struct pod *pod = object ? pod_project(in, OPERANDS, NULL, object) : NULL;
    if (told && object && (!pod != !whole.pod || (pod && !pod_same(pod, whole.pod))))
        abort();
    if (told && pod &&
        (pod->made_s != whole.pod->made_s || pod->component != whole.pod->component ||
         !record_same_uid(&pod->head, &whole.pod->head) || !str_eq(pod->head.key, whole.key)))
        abort();
    if (told && whole.pod)
        pod_free(in, whole.pod);
    if (pod)
        pod_free(in, pod);
    intern_free(in);
}

/* Whether it is kept. */
static bool check_as(const json_t *object, project_fn *project)
{
    struct intern *in = intern_new();
    struct pod *a = project(in, OPERANDS, object), *b = project(in, OPERANDS, object);
    bool kept = a;
    if (!a != !b)
        abort();
    if (a) {
        if (!pod_same(a, b))
            abort();
        check_words(in, a);
        pod_free(in, a);
        pod_free(in, b);
    }
    if (intern_count(in) != 0)
        abort();
    intern_free(in);
    return kept;
}

static struct pod *used(struct intern *in, const char *operand_namespace, const json_t *object)
{
    return pod_project(in, operand_namespace, NULL, object);
}

static struct pod *any_of(struct intern *in, const char *operand_namespace, const json_t *object)
{
    return pod_project_any(in, operand_namespace, NULL, object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_JSON json_t *object = json_parse((const char *) data, size, NULL);
    CLEANUP_JSON json_t *stored = json_parse_stored((const char *) data, size, NULL);
    check_whole((const char *) data, size, stored);
    if (!json_is_object(object))
        return 0;
    CLEANUP_FREE char *compact = json_compact(object);
    check_whole(compact, strlen(compact), object);
    bool task = check_as(object, pod_project_task), user = check_as(object, used),
         any = check_as(object, any_of);
    if (user)
        check_matters(object);
    if ((task && (user || any)) || (user && !any))
        abort();
    return 0;
}
