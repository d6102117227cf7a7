#include "reconcilers/view/support.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/view/events.h"
#include "reconcilers/view/health.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/xid.h"

bool support_is_needed(const json_t *report)
{
    return json_at(report, "status.health") ||
           json_array_size(json_at(report, "status.inventory.faults")) > 0;
}

static void title(struct buf *out, const char *text)
{
    buf_printf(out, "\n%s\n", text);
}

/* A value of the inventory as a cell: a text, a number, yes or no; "-": not known. Owned by the
 * caller. */
static char *cell_of(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    if (json_is_boolean(value))
        return xstrdup(json_is_true(value) ? "yes" : "no");
    if (json_is_integer(value))
        return xasprintf("%lld", (long long) json_integer_value(value));
    return xstrdup(*json_str_or_empty(object, member) ? json_str(object, member) : "-");
}

/* ---- tables: a title, and a row of members for each item */

enum { COLUMNS_MAX = 12 };

struct support_table {
    const char *title;
    struct {
        const char *head, *member;
    } columns[COLUMNS_MAX];
};

static void add_cells(struct grid *g, const struct support_table *t, const json_t *item)
{
    char *cells[COLUMNS_MAX];
    size_t n = 0;
    for (; n < COLUMNS_MAX && t->columns[n].head; n++)
        cells[n] = cell_of(item, t->columns[n].member);
    grid_row(g, PLAIN, (const char *const *) cells, n);
    for (size_t i = 0; i < n; i++)
        free(cells[i]);
}

static void print_table(const struct support_table *t, const json_t *items, const struct paint *p,
                        struct buf *out)
{
    const char *heads[COLUMNS_MAX];
    struct grid g = { 0 };
    size_t n = 0;
    for (; n < COLUMNS_MAX && t->columns[n].head; n++)
        heads[n] = t->columns[n].head;
    if (json_array_size(items) == 0)
        return;
    title(out, t->title);
    grid_row(&g, PLAIN, heads, n);
    JSON_EACH (item, items)
        add_cells(&g, t, item);
    grid_print(&g, p, out);
    grid_clear(&g);
}

static const struct support_table gpus_table = {
    "GPUs, as the PCI bus and the driver report them",
    { { "ADDRESS", "address" },
      { "PRODUCT", "product" },
      { "UUID", "uuid" },
      { "DEVICE", "device" },
      { "BUS", "bus" },
      { "KERNEL-DRIVER", "driver" },
      { "MIG", "migInstances" } },
};
static const struct support_table health_table = {
    "Their health, as NVML reports it (\"-\": it does not)",
    { { "ADDRESS", "address" },
      { "SERIAL", "serial" },
      { "RECOVERY", "recovery" },
      { "REMAP-PENDING", "remapPending" },
      { "REMAP-FAILED", "remapFailed" },
      { "DOUBLE-BIT-ERRORS", "doubleBitErrors" },
      { "SRAM-EXCEEDED", "sramExceeded" },
      { "FABRIC", "fabric" },
      { "LOST", "lost" },
      { "HANGS", "hangs" } },
};
static const struct support_table switches_table = {
    "NVSwitches",
    { { "ADDRESS", "address" },
      { "DEVICE", "device" },
      { "BUS", "bus" },
      { "KERNEL-DRIVER", "driver" } },
};
static const struct support_table faults_table = {
    "Faults in the kernel log",
    { { "FAULT", "fault" },
      { "ADDRESS", "address" },
      { "FIRST", "first" },
      { "LAST", "last" },
      { "COUNT", "count" },
      { "BOOT", "boot" },
      { "FATAL", "fatal" },
      { "RECOVERY", "recovery" },
      { "MEANING", "meaning" },
      { "NVIDIA'S-ADVICE", "advice" } },
};

/* The faults with the meaning of their numbers, from NVIDIA's catalogue. New reference. */
static json_t *faults_of(const json_t *inventory)
{
    const char *boot = json_str(inventory, "bootId");
    json_t *faults = json_array();
    JSON_EACH (fault, json_object_get(inventory, "faults")) {
        if (!json_is_object(fault))
            continue;
        json_t *row = json_copy(fault);
        int64_t xid = json_int(fault, "xid", -1);
        bool nvswitch = json_bool(fault, "nvswitch", false);
        const struct xid_row *known = xid >= 0 && xid <= UINT16_MAX && !nvswitch
                                          ? xid_find((unsigned) xid)
                                          : NULL;
        const char *of = json_str(fault, "bootId");
        json_object_set_new(row, "fault",
                            json_textf("%s %lld", nvswitch ? "SXid" : "Xid", (long long) xid));
        if (of)
            json_object_set_new(row, "boot", json_text(str_eq(of, boot) ? "this" : "earlier"));
        if (known) {
            json_object_set_new(row, "meaning", json_text(known->name));
            json_object_set_new(row, "advice", json_text(known->advice));
        }
        json_array_append_new(faults, row);
    }
    return faults;
}

/* ---- lines */

static void print_line(struct buf *out, const struct paint *p, const char *head, const char *text)
{
    CLEANUP_FREE char *line = xasprintf("%s: %s", head, text);
    if (text && *text)
        term_wrap(out, p, 0, 0, line);
}

static void print_facts(const json_t *report, const struct paint *p, struct buf *out)
{
    static const struct {
        const char *head, *path;
    } facts[] = {
        { "machine", "inventory.machine" },
        { "operating system", "inventory.os.name" },
        { "kernel", "inventory.kernel" },
        { "driver that is loaded", "inventory.module.version" },
        { "its kernel modules", "inventory.module.flavour" },
        { "driver of the policy", "driver.version" },
        { "driver on the host", "inventory.hostDriver.version" },
        { "toolkit", "stack.version" },
        { "boot id", "inventory.bootId" },
    };
    const json_t *status = json_object_get(report, "status");
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        print_line(out, p, facts[i].head, json_str(status, facts[i].path));
}

static void print_worst(const json_t *health, const struct paint *p, struct buf *out)
{
    const char *handled = health_handled(health);
    if (!health)
        return;
    title(out, "Worst fault");
    print_line(out, p, "reason", json_str(health, "reason"));
    print_line(out, p, "what it asks for", json_str(health, "level"));
    print_line(out, p, "what Ostler does", handled ? handled : "Reported");
    print_line(out, p, "since", json_str(health, "since"));
    print_line(out, p, "message", json_str(health, "message"));
    JSON_EACH (repair, json_object_get(health, "repairs")) {
        CLEANUP_FREE char *text = xasprintf("%s at %s", json_str_or_empty(repair, "kind"),
                                            json_str_or_empty(repair, "at"));
        print_line(out, p, "repair", text);
    }
}

static void print_node_events(const json_t *snapshot, const char *name, const struct paint *p,
                              struct buf *out)
{
    char *names[] = { (char *) name };
    CLEANUP_JSON json_t *events = events_view(
        snapshot, &(struct events_wanted){ .nodes = names, .node_count = 1 });
    if (json_array_size(events) == 0)
        return;
    title(out, "Events");
    events_print(events, p, out);
}

void support_print(const json_t *snapshot, const struct paint *p, struct buf *out)
{
    const json_t *report = json_object_get(snapshot, "reports"),
                 *inventory = json_at(report, "status.inventory");
    const char *name = object_name(report);
    CLEANUP_JSON json_t *faults = faults_of(inventory);
    print_line(out, p, "Node", name);
    print_facts(report, p, out);
    print_worst(json_at(report, "status.health"), p, out);
    print_table(&gpus_table, json_object_get(inventory, "gpus"), p, out);
    print_table(&health_table, json_object_get(inventory, "health"), p, out);
    print_table(&switches_table, json_object_get(inventory, "nvSwitches"), p, out);
    print_table(&faults_table, faults, p, out);
    print_node_events(snapshot, name, p, out);
    buf_str(out,
            "\nNot known here: versions of firmware (VBIOS, GSP, InfoROM), the whole kernel log "
            "and the driver's\nown records. commands.txt has the command that collects them.\n");
}

/* ---- commands */

/* The pod of NVIDIA's driver container on the node; NULL: the driver is the host's, or Google's,
 * whose pod has no program. Borrowed. */
static const json_t *driver_pod(const json_t *pods)
{
    JSON_EACH (pod, pods) {
        bool driver = str_eq(object_label(pod, LABEL_MANAGED_BY), MANAGED_BY) &&
                      str_eq(object_label(pod, LABEL_COMPONENT), "driver");
        if (driver && !json_find(json_at(pod, "spec.initContainers"), "name", "install") &&
            snapshot_is_name(object_name(pod)) && snapshot_is_name(object_namespace(pod)))
            return pod;
    }
    return NULL;
}

void support_print_commands(const json_t *snapshot, const struct paint *p, struct buf *out)
{
    const char *name = object_name(json_object_get(snapshot, "reports"));
    const json_t *pod = driver_pod(json_object_get(snapshot, "pods"));
    (void) p;
    if (!snapshot_is_name(name))
        return;
    buf_printf(out, "\n# %s\n", name);
    if (pod) {
        const char *ns = object_namespace(pod), *of = object_name(pod);
        buf_printf(out,
                   "kubectl -n %s exec %s -c driver -- sh -c 'cd /tmp && nvidia-bug-report.sh'\n"
                   "kubectl -n %s cp -c driver %s:/tmp/nvidia-bug-report.log.gz "
                   "%s-nvidia-bug-report.log.gz\n",
                   ns, of, ns, of, name);
    } else {
        buf_printf(
            out,
            "# No driver container of Ostler's runs there: run it on the host, whose driver "
            "may have it in another folder.\n"
            "kubectl debug node/%s -it --profile=sysadmin --image=busybox -- chroot /host sh "
            "-c 'cd /tmp && nvidia-bug-report.sh'\n",
            name);
    }
}
