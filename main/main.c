/* One file, several programs: which of them is asked for, its name says. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kubectl/kubectl_gpu.h"
#include "node/ostler_node.h"
#include "commands/ostler.h"
#include "sim/ostler_sim.h"

struct program {
    const char *name;
    int (*main)(int argc, char **argv);
};

static const struct program PROGRAMS[] = {
    { "ostler", ostler_main },
    { "ostler-node", ostler_node_main },
    { "ostler-sim", ostler_sim_main },
    { "kubectl-gpu", kubectl_gpu_main },
    { "kubectl_complete-gpu", kubectl_complete_gpu_main },
    /* a plugin whose command has a dash may be called this way */
    { "kubectl_gpu", kubectl_gpu_main },
};

/* The file may be called otherwise too, as one with its version is: then it is the first. */
static const struct program *main_find(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < ARRAY_LEN(PROGRAMS); i++)
        if (strcmp(PROGRAMS[i].name, slash ? slash + 1 : path) == 0)
            return &PROGRAMS[i];
    return &PROGRAMS[0];
}

/* Other tables in each process: tenants choose names that are kept in them. */
static bool seed_tables(void)
{
    uint64_t seed[2];
    if (getrandom(seed, sizeof seed, 0) != sizeof seed)
        return false;
    hash_set_seed(seed);
    return true;
}

int main(int argc, char **argv)
{
    if (!seed_tables()) {
        perror("ostler: cannot read random bytes for the hash tables: getrandom");
        return 1;
    }
    return main_find(argc > 0 ? argv[0] : "")->main(argc, argv);
}
