/* What the checks of the invariants share. */
#ifndef OSTLER_TESTS_SWEEP_CHECKS_H
#define OSTLER_TESTS_SWEEP_CHECKS_H

#include "base/map.h"
#include "tests/sweep/moments.h"
#include "tests/sweep/reading.h"
#include "tests/sweep/run.h"
#include "tests/sweep/sight.h"

/* What a check remembers of a client. */
struct client_note {
    uint64_t number;    /* of the client */
    char *holder;       /* its name in the lease; NULL: it has not asked for it */
    int64_t pending_ms; /* when its last request for the lease was sent */
    int64_t renewed_ms; /* when the last one that was accepted was sent; -1: none was */
};

/* What the checks of liveness remember of the last look. */
struct live {
    struct map nodes; /* struct live_node by name */
    struct map pools; /* struct live_pool by name */
    int64_t looked_ms;
    /* since then Ostler is up, can do all that it wants, and the policy says the same */
    int64_t well_ms;
    uint64_t starts;    /* how often an Ostler has begun or lost its lease */
    int64_t generation; /* of the policy */
};

/* When what the checks of closed nodes rest on last happened: struct moment by node; those of
 * `rules` also for the policy, by "". */
struct faults_noted {
    struct map ailing;  /* its report showed, or may have shown, a fault that asks for CLOSE */
    struct map well;    /* its report showed none */
    struct map rules;   /* what says whether it may be closed for a fault changed */
    struct map closed;  /* Ostler closed it for a fault */
    struct map soft;    /* the same, for one that only a log or a library told */
    struct map asked;   /* a user asked for its repair, or took away what Ostler remembers */
    struct map claimed; /* it had a claim */
};

struct invariants {
    struct run *run;
    struct sight *sight; /* what each client was told */
    struct client_note *clients;
    size_t client_count;
    struct map pace;        /* struct pace by object */
    struct map deletions;   /* struct moment by path: when a deletion was last sent */
    struct map assignments; /* struct moment by node: when what it is assigned last changed */
    /* struct moment by node: when it last came, went, or went down or up, or others changed its
     * claim */
    struct map services;
    struct map plans;     /* struct moment by hash: when Ostler last showed it */
    struct map approvals; /* struct moment by hash: when its approval was taken back */
    struct map failures;  /* struct moment by node: when its upgrade failed */
    struct map sends;     /* struct sending by node: who last sent a write of it, and when */
    /* struct moment by client and node: when it took the answer to a write of it */
    struct map answers;
    struct map passings; /* struct passing by pool and revision */
    struct map toolkits; /* struct toolkit_history by node */
    /* struct moment by record and pool: when the revision was first complete there */
    struct map completions;
    /* struct moment by node: when it, its report or a pod on it last changed, but by Ostler's words
     */
    struct map prerequisites;
    struct map transitions; /* struct moment by condition: when its status last changed */
    struct map turns;       /* struct turn by condition */
    int64_t world_ms;       /* when anything last changed, but by Ostler's words */
    uint64_t world_rv;      /* the version that it got then; 0: it was no commit */
    /* when a change last came before the writer was told of the one before it */
    int64_t crowded_ms;
    /* when the client that writes was told of it, in the order of what was told and sent; 0: never
     */
    uint64_t world_told;
    uint64_t policy_sent; /* when it last sent a write of the policy, in that order */
    uint64_t order;       /* of what was told and sent */
    uint64_t writer;      /* the client that last wrote */
    int64_t common_ms;    /* the same of what is no node's own */
    struct live live;
    int64_t generation; /* of the policy */
    struct faults_noted faults;
    struct moments moments;
    /* all nodes that bear marks were served at some time since that generation came */
    bool served_since;
};

void check_tried(struct invariants *v, enum invariant_id id);
/* A finding, with the invariant's name and sentence. */
void check_failed(struct invariants *v, enum invariant_id id, const char *fmt, ...) PRINTF(3, 4);
bool check_is_kind(const struct kind *k, const char *plural);
/* The policy as it is on the server, or NULL. */
const json_t *check_policy(const struct invariants *v);
/* Takes note of when something last happened, and tells it; -1: it never did. */
void check_note(const struct invariants *v, struct map *m, const char *key);
int64_t check_noted(const struct map *m, const char *key);
/* Frees all notes of a map. */
void check_notes_clear(struct map *m);
/* "True", "False", "Unknown"; "" when there is no such condition. */
const char *check_condition(const json_t *object, const char *type);
/* Whether a node bears a taint of that key, whatever its effect. */
bool check_has_taint(const json_t *node, const char *key);
/* Whether every node that bears an assignment and is well has its operands up, with `moving_too`
 * also those that are on their way under a claim; otherwise `ret_why` (owned, may be NULL) names
 * one that has not. */
bool check_served(const struct invariants *v, bool moving_too, char **ret_why);

/* ---- checks_sent.c */
void check_identity(struct invariants *v, const struct wire_client *c, const struct request *r);
void check_leader(struct invariants *v, const struct wire_client *c, const struct request *r);
void check_secrets(struct invariants *v, const struct wire_client *c, const struct request *r);
void check_static(struct invariants *v, const struct wire_client *c, const struct request *r);
/* A Lease was committed. */
void check_leader_commit(struct invariants *v, const struct api_commit *c);

/* ---- checks_frame.c */
void check_frame_node(struct invariants *v, const struct api_commit *c);
void check_frame_child(struct invariants *v, const struct api_commit *c);
void check_frame_policy(struct invariants *v, const struct api_commit *c);
void check_deletion(struct invariants *v, const struct api_commit *c);

/* ---- checks_budget.c */
/* A claim as a write makes it. */
struct taking {
    struct reading_claim claim;
    bool was_ours; /* it was closed for its upgrade before */
    /* it was out of service already: by others' doing, or closed since its upgrade had failed */
    bool was_out;
    bool begins; /* it takes a place among those that are changed */
};

/* Whether a write takes a node out of service, or gives it a place among those that are changed. */
bool check_is_taking(const struct invariants *v, const struct api_commit *c, struct taking *ret);
/* The policy that the claim was made for, where it still says what it said then; else NULL. */
const json_t *check_policy_of(const struct invariants *v, const struct reading_claim *claim);
void check_budget(struct invariants *v, const struct api_commit *c);
void check_cordon(struct invariants *v, const struct api_commit *c);
/* Whether others closed or opened the node, made it or took it away, or brought it down or up, so
 * lately that Ostler may not have heard of it. */
bool check_is_recent(const struct invariants *v, const char *node);
/* Whether a claimed node holds a slot and its topology domain: not while it is down, unless Ostler
 * reboots it. */
bool check_keeps_place(const json_t *node, const struct reading_claim *claim);
void check_failed_revision(struct invariants *v, const struct api_commit *c);
/* Takes note of what any client committed. */
void check_budget_commit(struct invariants *v, const struct api_commit *c);

/* ---- checks_begin.c */
void check_paused(struct invariants *v, const struct api_commit *c);
void check_approved(struct invariants *v, const struct api_commit *c);
void check_window(struct invariants *v, const struct api_commit *c);
void check_domain(struct invariants *v, const struct api_commit *c);
void check_canary(struct invariants *v, const struct api_commit *c);
void check_threshold(struct invariants *v, const struct api_commit *c);
/* Take note of writes of nodes that a client sends, and that it was answered. */
void check_begin_sent(struct invariants *v, const struct wire_client *c, const struct request *r);
void check_begin_taken(struct invariants *v, const struct wire_client *c,
                       const struct wire_taken *t);
/* Takes note of what any client committed. */
void check_begin_commit(struct invariants *v, const struct api_commit *c);
void check_begin_clear(struct invariants *v);

/* ---- checks_toolkit.c */
void check_first_toolkit(struct invariants *v, const struct api_commit *c);
/* Takes note of what any client committed. */
void check_toolkit_commit(struct invariants *v, const struct api_commit *c);
void check_toolkit_clear(struct invariants *v);

/* ---- checks_live.c */
/* Looks at what goes on, now and then. */
void check_live(struct invariants *v);
void check_fair(struct invariants *v, const struct api_commit *c);
void check_live_clear(struct invariants *v);

/* ---- checks_upgrade.c */
/* Whether a resource is GPUs. */
bool check_is_gpu(const char *resource);
/* Whether a node bears the taint of an upgrade. */
bool check_is_closed(const json_t *node);
/* The claim of a node that is closed as well; false: it has none. */
bool check_claim_of(const json_t *node, struct reading_claim *ret);
void check_eviction(struct invariants *v, const struct api_commit *c);
void check_steps(struct invariants *v, const struct api_commit *c);
void check_closed(struct invariants *v, const struct api_commit *c);
void check_proven(struct invariants *v, const struct api_commit *c);
void check_claimed(struct invariants *v, const struct api_commit *c);

/* ---- checks_images.c */
void check_images(struct invariants *v, const struct api_commit *c);

/* ---- checks_state.c */
void check_assigned(struct invariants *v, const struct api_commit *c);
void check_assigned_sent(struct invariants *v, const struct wire_client *c,
                         const struct request *r);
void check_generation(struct invariants *v, const struct api_commit *c);
void check_honesty(struct invariants *v, const struct api_commit *c);
void check_counts(struct invariants *v, const struct api_commit *c);
void check_once(struct invariants *v, const struct api_commit *c);
void check_bounds(struct invariants *v, const struct api_commit *c);
/* Takes note of what any client committed. */
void check_honesty_commit(struct invariants *v, const struct api_commit *c);
void check_unload(struct invariants *v);
void check_status(struct invariants *v);
void check_nodes(struct invariants *v);
void check_removal(struct invariants *v);
void check_cache(struct invariants *v);
void checks_state_clear(struct invariants *v);

/* ---- checks_truth.c */
/* Whether the policy wants a node, if that has a GPU: it is selected, and no label releases it. */
bool check_is_wanted(const json_t *policy, const json_t *node);
void check_kept(struct invariants *v, const struct api_commit *c);
void check_marks(struct invariants *v);
void check_events(struct invariants *v, const struct api_commit *c);
void check_status_truth(struct invariants *v);
void check_report_truth(struct invariants *v);

/* ---- checks_flap.c */
void check_flap(struct invariants *v, const struct api_commit *c);
void check_times(struct invariants *v, const struct api_commit *c);
/* Takes note of what any client committed. */
void check_flap_commit(struct invariants *v, const struct api_commit *c);
/* Takes note of what came to nothing, of what a client was told, and of what it sent. */
void check_flap_taken(struct invariants *v, const struct wire_client *c,
                      const struct wire_taken *t);
void check_flap_sent(struct invariants *v, const struct wire_client *c, const struct request *r);
void check_flap_clear(struct invariants *v);

/* ---- checks_health.c */
/* The levels of faults, the mildest first. */
enum fault_level { LEVEL_NONE, LEVEL_EVENT, LEVEL_RESET_WHEN_IDLE, LEVEL_CLOSE, LEVEL_REBOOT };

/* The most that an agent's inventory may ask for, whatever the driver's word is. */
int check_level_at_most(const json_t *inventory);
/* The same where the driver's word decides what it covers, and a driver whose newest pod on the
 * node was created at `driver_us` (-1: never) has ended what its log told before. */
int check_level_settled(const json_t *inventory, int64_t driver_us);
/* When the newest driver that is up on a node was created; -1: none is. */
int64_t check_driver_us(const struct invariants *v, const char *node);
/* The least that NVML and the bus ask for. */
int check_level_at_least(const json_t *inventory);
/* Whether NVML does not answer about a GPU, and that counts as little as the log does: Ostler
 * changes the node's driver, or has just done so. */
bool check_silence_may_be_of_a_change(const struct invariants *v, const json_t *node,
                                      const json_t *inventory);
/* Whether NVML speaks of every GPU. */
bool check_nvml_speaks(const json_t *inventory);
/* Whether the bus shows a fault: a GPU is gone already. */
bool check_is_hard(const json_t *inventory);
/* What the agent of a node reports; NULL: nothing. */
const json_t *check_inventory(const struct invariants *v, const char *node);
/* Whether GPUs fail in this life. */
bool check_has_faults(const struct invariants *v);
/* The report of a node of which Ostler must say what is wrong: its agent has reported since the
 * boot. NULL: it is none. */
const json_t *check_report_of(const struct invariants *v, const json_t *node);
/* What Ostler does about faults, as the policy says: "Close"; "" without a policy that counts. */
const char *check_health_mode(const json_t *policy);
/* Whether a pod is a user's, on a node, and a write sends it away. */
bool check_is_sent_away(const struct api_commit *c);
/* Whether a node has, or had in this boot, a GPU with a fault. */
bool check_is_faulty(const struct invariants *v, const char *node);
void check_observe(struct invariants *v, const struct api_commit *c);
/* H2_SEEN and H3_GONE */
void check_health(struct invariants *v);

/* ---- checks_closing.c */
/* Whether a node is closed because of a fault of its GPUs. */
bool check_is_unhealthy(const json_t *node);
/* Whether the record of a node's fault says that it is dealt with: closed, or the device plugin
 * withholds the GPU. */
bool check_is_on_record(const json_t *node);
void check_closing(struct invariants *v, const struct api_commit *c);
void check_records(struct invariants *v);
void check_no_eviction(struct invariants *v, const struct api_commit *c);
void check_opened(struct invariants *v);
void check_brake(struct invariants *v, const struct api_commit *c);
/* Takes note of what any client committed. */
void check_closing_commit(struct invariants *v, const struct api_commit *c);
void check_closing_clear(struct invariants *v);

/* ---- checks_repair.c */
void check_attempts(struct invariants *v);
void check_condition_of_health(struct invariants *v);
/* A day of quiet has passed. */
void check_rest(struct invariants *v, size_t writes);

/* ---- checks_moments.c */
void check_moment(struct invariants *v);

#endif
