#include "reconcilers/decide/stages.h"

/* A new node: it was never validated, and its kubelet never had GPUs. */
static bool is_new(const struct node_input *in, const struct node_verdict *v)
{
    const struct node *n = in->view.node;
    return node_state_served(v->state) && v->state != NODE_READY && !n->has_served && !n->proof &&
           !n->claim;
}

/* The stages that it has visibly passed. A host driver has no images and is present. */
static unsigned shown_by(const struct node_input *in, const struct node_verdict *v)
{
    const struct node_pods *p = in->pods;
    bool ours = v->wanted & 1u << OPERAND_DRIVER,
         assigned = *v->carried.hash[TIER_STACK] && !v->removal;
    const bool reached[STAGE_COUNT] = {
        [STAGE_IMAGES] = ours ? p->of[OPERAND_DRIVER].running : assigned,
        [STAGE_DRIVER] = ours ? v->up & 1u << OPERAND_DRIVER : assigned,
        [STAGE_REGISTERED] = in->view.node->gpus > 0,
        [STAGE_PROVEN] = v->state == NODE_READY,
    };
    unsigned set = 0;
    for (int i = 0; i < STAGE_COUNT; i++)
        set |= (unsigned) reached[i] << i;
    return set;
}

unsigned stages_take(struct node_stages *s, const struct node_input *in,
                     const struct node_verdict *v, enum stages_look look)
{
    unsigned news = 0;
    if (look == STAGES_JOINS && !s->seen_s && in->now_s > 0 && is_new(in, v))
        s->seen_s = (uint32_t) in->now_s;
    if (!node_stages_run(s))
        return 0;
    int64_t after_s = in->now_s > s->seen_s ? in->now_s - s->seen_s : 0;
    unsigned shown = shown_by(in, v);
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (s->reached[i] || !(shown >> i & 1) || s->missed >> i & 1)
            continue;
        if (look == STAGES_FOUND) {
            s->missed |= 1u << i;
            continue;
        }
        s->reached[i] = (uint32_t) after_s + 1;
        news |= 1u << i;
    }
    return news;
}

int64_t stages_lasted_s(const struct node_stages *s, enum node_stage stage)
{
    uint32_t before = 1;
    for (int i = 0; i < (int) stage; i++)
        if (s->reached[i] > before)
            before = s->reached[i];
    return s->reached[stage] >= before ? (int64_t) s->reached[stage] - before : -1;
}
