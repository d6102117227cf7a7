/* What makes of the library that computes on this processor (tests/cuda/libcuda.c) that of a
 * machine: it opens the devices that the container was given, nvidia-uvm among them, and keeps them
 * open, and says no without them or without a module. NVIDIA's programs look at its name alone,
 * which has the version of the driver. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

enum { OK = 0, NO_DEVICE = 100, UNKNOWN = 999 };

int stand_in_open(int *ret_count);

/* No module of this kernel is behind nodes with the driver's own numbers: that the node is there,
 * and may be opened, is what can be seen. */
static int opens(const char *path)
{
    return open(path, O_RDWR) >= 0 || errno == ENXIO;
}

int stand_in_open(int *ret_count)
{
    glob_t found = { 0 };
    int all = 1;
    if (access("/sys/module/nvidia/refcnt", F_OK) != 0 || !opens("/dev/nvidiactl"))
        return NO_DEVICE;
    *ret_count = glob("/dev/nvidia[0-9]*", 0, NULL, &found) == 0 ? (int) found.gl_pathc : 0;
    for (int i = 0; i < *ret_count; i++)
        all = all && opens(found.gl_pathv[i]);
    globfree(&found);
    if (*ret_count == 0 || !all)
        return NO_DEVICE;
    return opens("/dev/nvidia-uvm") ? OK : UNKNOWN;
}
