/* Any JSON as what was read of a cluster: every view of the plugin takes it, and no control
 * character comes out; with secrets taken out it is JSON still. Secrets are taken out of any text.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "reconcilers/view/edit.h"
#include "reconcilers/view/events.h"
#include "reconcilers/view/explain.h"
#include "reconcilers/view/nodes.h"
#include "reconcilers/view/scrub.h"
#include "reconcilers/view/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 64 << 20 };

static const int64_t now_us = INT64_C(1795168800000000);

static void check_clean(struct buf *out)
{
    for (const unsigned char *c = (const unsigned char *) buf_text(out); *c; c++)
        if ((*c < ' ' && *c != '\n') || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            abort();
    buf_clear(out);
}

static void show_all(const json_t *snapshot, const struct paint *p)
{
    struct buf out = BUF_INIT(TEXT_MAX);
    char *names[] = { (char *) "gpu-1" };
    CLEANUP_JSON json_t *status = status_view(snapshot, now_us);
    CLEANUP_JSON json_t *nodes = nodes_view(snapshot, &(struct nodes_wanted){ 0 }, now_us);
    CLEANUP_JSON json_t *events = events_view(snapshot, &(struct events_wanted){ 1, names, 1 });
    CLEANUP_JSON json_t *explained = explain_view(snapshot, "gpu-1", now_us);
    status_print(status, p, &out);
    nodes_print(nodes, p, &out);
    events_print(events, p, &out);
    explain_print(explained, p, &out);
    check_clean(&out);
}

static void decide_all(const json_t *snapshot)
{
    const json_t *policy = json_object_get(snapshot, "policy"),
                 *node = json_object_get(snapshot, "nodes");
    struct edit d;
    CLEANUP_ERR struct err e = { 0 };
    edit_pause(policy, &d);
    edit_clear(&d);
    edit_resume(policy, &d);
    edit_clear(&d);
    edit_approve(policy, NULL, &d, &e);
    edit_clear(&d);
    edit_hold(node, &d);
    edit_clear(&d);
    edit_release(node, &d);
    edit_clear(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *text = size ? xstrndup((const char *) data, size) : xstrdup("");
    free(scrub_text(text));
    CLEANUP_JSON json_t *snapshot = json_parse((const char *) data, size, NULL);
    if (!snapshot)
        return 0;
    show_all(snapshot, &(struct paint){ .width = 80 });
    show_all(snapshot, &(struct paint){ .width = 40, .wide = true, .whole = true });
    decide_all(snapshot);
    CLEANUP_JSON json_t *scrubbed = scrub_object(snapshot);
    if (!scrubbed)
        abort();
    return 0;
}
