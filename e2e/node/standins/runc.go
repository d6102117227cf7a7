package main

import (
	"path/filepath"
	"slices"
)

// Calls of a container that the machine's kernel answers instead of the one that is there.
var answeredCalls = []any{"delete_module", "init_module", "finit_module", "openat2"}

// The same for one that the profile of the container must allow.
const logCall = "syslog"

// runRunc is the machine's runc: the real one, with a specification that gives a container the machine's kernel.
func runRunc(args []string) error {
	if slices.Contains(args, "create") {
		path := filepath.Join(bundleOf(args), "config.json")
		spec, err := readSpec(path)
		if err != nil {
			return err
		}
		hooks, _ := spec["hooks"].(object)
		if hooks == nil {
			hooks = object{}
		}
		create, _ := hooks["createContainer"].([]any)
		hooks["createContainer"] = append(create, object{"path": "/opt/bin/standin", "args": []string{"standin", "kernel-hook"}})
		spec["hooks"] = hooks
		restrict(spec["process"].(object))
		linux := spec["linux"].(object)
		linux["seccomp"] = withAnswers(linux["seccomp"])
		if err := writeSpec(path, spec); err != nil {
			return err
		}
	}
	// A program that is started in a container, as CRI-O's monitor has it done: in a file.
	if at := slices.Index(args, "--process"); slices.Contains(args, "exec") && at >= 0 && at+1 < len(args) {
		process, err := readSpec(args[at+1])
		if err != nil {
			return err
		}
		restrict(process)
		if err := writeSpec(args[at+1], process); err != nil {
			return err
		}
	}
	for _, runc := range []string{"/usr/bin/runc", "/usr/sbin/runc"} {
		if exists(runc) {
			return become(runc, args)
		}
	}
	return become("runc", args)
}

// withAnswers is a seccomp profile, or an empty one, with the calls that are answered here.
func withAnswers(profile any) object {
	seccomp, _ := profile.(object)
	if seccomp == nil {
		seccomp = object{"defaultAction": "SCMP_ACT_ALLOW"}
	}
	answered := answeredCalls
	if allows(seccomp, logCall) {
		answered = append(slices.Clone(answered), logCall)
	}
	rules, _ := seccomp["syscalls"].([]any)
	for _, rule := range rules {
		names, _ := rule.(object)["names"].([]any)
		rule.(object)["names"] = slices.DeleteFunc(names, func(name any) bool { return slices.Contains(answered, name) })
	}
	rules = slices.DeleteFunc(rules, func(rule any) bool { names, _ := rule.(object)["names"].([]any); return len(names) == 0 })
	seccomp["syscalls"] = append(rules, object{"names": answered, "action": "SCMP_ACT_NOTIFY"})
	seccomp["listenerPath"] = callsSocket
	return seccomp
}

// allows says whether a seccomp profile allows a call, whatever its arguments are.
func allows(seccomp object, call string) bool {
	rules, _ := seccomp["syscalls"].([]any)
	for _, one := range rules {
		rule := one.(object)
		names, _ := rule["names"].([]any)
		if slices.Contains(names, any(call)) {
			return rule["action"] == "SCMP_ACT_ALLOW"
		}
	}
	return seccomp["defaultAction"] == "SCMP_ACT_ALLOW"
}
