package main

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The capabilities by their numbers (linux/capability.h).
var capabilities = strings.Fields(`CAP_CHOWN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_FSETID CAP_KILL CAP_SETGID CAP_SETUID CAP_SETPCAP
	CAP_LINUX_IMMUTABLE CAP_NET_BIND_SERVICE CAP_NET_BROADCAST CAP_NET_ADMIN CAP_NET_RAW CAP_IPC_LOCK CAP_IPC_OWNER CAP_SYS_MODULE CAP_SYS_RAWIO
	CAP_SYS_CHROOT CAP_SYS_PTRACE CAP_SYS_PACCT CAP_SYS_ADMIN CAP_SYS_BOOT CAP_SYS_NICE CAP_SYS_RESOURCE CAP_SYS_TIME CAP_SYS_TTY_CONFIG CAP_MKNOD
	CAP_LEASE CAP_AUDIT_WRITE CAP_AUDIT_CONTROL CAP_SETFCAP CAP_MAC_OVERRIDE CAP_MAC_ADMIN CAP_SYSLOG CAP_WAKE_ALARM CAP_BLOCK_SUSPEND CAP_AUDIT_READ
	CAP_PERFMON CAP_BPF CAP_CHECKPOINT_RESTORE`)

// restrict takes from a container's process what this machine may not give where it is a container itself. containerd gives privileged containers no
// more than it has, and the score that it may by restrict_oom_score_adj; CRI-O gives all that there is.
func restrict(process object) {
	restrictOOMScore(process)
	sets, _ := process["capabilities"].(object)
	for name, set := range sets {
		wanted, _ := set.([]any)
		sets[name] = slices.DeleteFunc(wanted, func(one any) bool { return !mayGive(one.(string)) })
	}
}

func mayGive(capability string) bool {
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(slices.Index(capabilities, capability)), 0, 0, 0)
	return err == nil && has == 1
}

// restrictOOMScore raises a score to that of this process.
func restrictOOMScore(process object) {
	wanted, has := process["oomScoreAdj"].(float64)
	text, err := os.ReadFile("/proc/self/oom_score_adj")
	if !has || err != nil {
		return
	}
	if own, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil && wanted < own {
		process["oomScoreAdj"] = own
	}
}
