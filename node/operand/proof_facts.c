#include "node/operand/proof_facts.h"

static const struct part nothing = { "", 0 };

struct part proof_first_line(struct part text)
{
    struct part line;
    return part_next(&text, '\n', &line) ? part_trimmed(line) : nothing;
}

/* The line starts like "CUDA Version                              : 13.0". */
struct part proof_cuda_version(struct part text)
{
    struct part line, name;
    while (part_next(&text, '\n', &line))
        if (part_begins(line, "CUDA Version") && part_next(&line, ':', &name))
            return part_trimmed(line);
    return nothing;
}

/* The line is like "  MIG 1g.10gb     Device  0: (UUID: MIG-…)". */
struct part proof_slice(struct part text)
{
    struct part line, word, profile;
    while (part_next(&text, '\n', &line))
        if (part_word(&line, &word) && part_is(word, "MIG") && part_word(&line, &profile))
            return profile;
    return nothing;
}
