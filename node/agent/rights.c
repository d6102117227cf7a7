#include "node/agent/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A uid that no known image or service uses, and that differs from Ostler's: with CAP_SYS_PTRACE
 * the agent could write to the memory of processes with the same uid. */
enum { AGENT_UID = 65531 };

#define TO_LOOK (1U << CAP_SYS_PTRACE | 1U << CAP_DAC_READ_SEARCH)

/* Keeps capabilities across the change of user; they must then be made effective again. */
static int keep_to_look(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    if (syscall(SYS_capget, &header, rights) < 0)
        return -1;
    unsigned kept = rights[0].permitted & TO_LOOK;
    rights[0] = (struct __user_cap_data_struct){ .effective = kept, .permitted = kept };
    rights[1] = (struct __user_cap_data_struct){ 0 };
    return (int) syscall(SYS_capset, &header, rights);
}

int rights_lessen(struct err *e)
{
    if (geteuid() != 0)
        return 0;
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
        setresgid(AGENT_UID, AGENT_UID, AGENT_UID) < 0 ||
        setresuid(AGENT_UID, AGENT_UID, AGENT_UID) < 0 || keep_to_look() < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set(e, ERR_SYSTEM, "cannot switch from root to another user: %s",
                       strerror(errno));
    return 0;
}
