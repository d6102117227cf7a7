/* The GPUs of a machine: their faults, and what the kernel log and NVML say of them. Only for this
 * directory. */
#ifndef OSTLER_SIM_ACTORS_GPU_H
#define OSTLER_SIM_ACTORS_GPU_H

#include "sim/actors/world_spec.h"
#include "sim/world/sim.h"

struct machine;

enum { GPU_LINES_MAX = 32 };

/* A fault that has not ended. */
struct gpu_trouble {
    struct machine *machine;
    struct spec_gpu_fault fault;
    bool hidden;  /* it comes and goes, and is gone at the moment */
    bool told;    /* a driver has met it in this boot */
    bool unknown; /* the loaded driver has never found the GPU */
    struct sim_event event;
};

/* The kernel log's lines of one GPU or NVSwitch with the same number, in this boot. */
struct gpu_line {
    int gpu; /* place on the bus */
    int xid;
    bool nvswitch, fatal;
    enum spec_recovery recovery; /* of Xid 154 */
    int64_t count;
    int64_t first_us, last_us; /* wall time */
};

/* Zero-initialised: nothing is wrong. */
struct gpus {
    struct gpu_trouble **troubles;
    size_t trouble_count, trouble_cap;
    struct gpu_line lines[GPU_LINES_MAX]; /* the newest last */
    size_t line_count;
    uint64_t withheld; /* GPUs that the device plugin considers unhealthy, as bits */
};

/* A GPU gets a fault; false: there is no such GPU. */
bool gpus_fault(struct machine *m, const struct spec_gpu_fault *fault);
/* A reset of a GPU, -1: of all; ends some faults. A driver that is loaded later meets the others
 * again. */
void gpus_reset(struct machine *m, int gpu);
/* The machine goes down, gets another GPU (-1: all), and boots; ends all faults of the GPU. */
void gpus_replace(struct machine *m, int gpu);
/* The power is off: the kernel log and the plugin's knowledge are lost. */
void gpus_off(struct machine *m);
/* A boot ends some faults. */
void gpus_boot(struct machine *m);
/* A driver is loaded: it reports the faults that it meets for the first time in this boot. */
void gpus_driver_starts(struct machine *m);
/* Whether no fault keeps the machine from booting. */
bool gpus_may_boot(const struct machine *m);
/* Number of GPUs that a device plugin finds when it starts; it considers all of them healthy. */
int gpus_found(struct machine *m);
/* Number of devices that a running plugin considers unhealthy. */
int64_t gpus_withheld(const struct machine *m);
/* GPUs with a fault at the moment, as bits. */
uint64_t gpus_faulty(const struct machine *m);
/* Branch of the loaded driver, such as 580; 0: none is loaded. */
unsigned gpus_driver_branch(const struct machine *m);
/* Frees everything. */
void gpus_clear(struct machine *m);

/* ---- gpu_report.c: lists of an agent's inventory. New references. */
/* Whether a GPU responds with ones. */
bool gpus_is_silent(const struct machine *m, int gpu);
/* `health`; NULL: NVML does not answer on this machine. */
json_t *gpus_health(const struct machine *m);
/* `faults`, with those of earlier boots in `before`. */
json_t *gpus_faults(const struct machine *m, const json_t *before);
/* Place of the GPU with this PCI address; -1: there is none. */
int gpus_at(const struct machine *m, const char *address);
/* PCI address of the GPU at this place. */
json_t *gpus_address(int gpu);

#endif
