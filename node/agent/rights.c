#include "node/agent/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* A uid that no known image or service uses, and that differs from Ostler's: with CAP_SYS_PTRACE
 * the agent could write to the memory of processes with the same uid. */
enum { AGENT_UID = 65531 };

#define TO_LOOK (1U << CAP_SYS_PTRACE | 1U << CAP_DAC_READ_SEARCH)

/* CAP_SYSLOG is above the first 32 capabilities. */
#define SYSLOG_WORD (CAP_SYSLOG / 32)
#define SYSLOG_BIT (1U << CAP_SYSLOG % 32)

/* Keeps capabilities across the change of user; they must then be made effective again. */
static int keep_to_look(bool kernel_log)
{
    const unsigned wanted[_LINUX_CAPABILITY_U32S_3] = { TO_LOOK, [SYSLOG_WORD] = kernel_log
                                                                                     ? SYSLOG_BIT
                                                                                     : 0 };
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    if (syscall(SYS_capget, &header, rights) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(rights); i++) {
        unsigned kept = rights[i].permitted & wanted[i];
        rights[i] = (struct __user_cap_data_struct){ .effective = kept, .permitted = kept };
    }
    return (int) syscall(SYS_capset, &header, rights);
}

bool rights_have_syslog(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    return syscall(SYS_capget, &header, rights) == 0 && rights[SYSLOG_WORD].effective & SYSLOG_BIT;
}

int rights_lessen(bool kernel_log, struct err *e)
{
    if (geteuid() != 0)
        return 0;
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
        setresgid(AGENT_UID, AGENT_UID, AGENT_UID) < 0 ||
        setresuid(AGENT_UID, AGENT_UID, AGENT_UID) < 0 || keep_to_look(kernel_log) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set(e, ERR_SYSTEM, "cannot switch from root to another user: %s",
                       strerror(errno));
    return 0;
}
