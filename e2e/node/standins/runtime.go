package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

type object = map[string]any

// Which files of the driver's root a container with a device gets, and where. NVIDIA's runtime mounts libraries by their long names and makes links.
var driverFiles = map[string]string{
	"/usr/bin/nvidia-smi":                         "/standin/standin",
	"/usr/lib/x86_64-linux-gnu/libcuda.so.1":      "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
	"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
}

// runRuntime is the runtime that the toolkit installs: runc, with the devices for a container that asks for them. Where no driver is loaded it is
// runc and nothing more, without a word.
func runRuntime(args []string) error {
	if slices.Contains(args, "create") && moduleLoaded("nvidia") {
		if err := giveDevices(filepath.Join(bundleOf(args), "config.json")); err != nil {
			return err
		}
	}
	return become("/opt/bin/runc", args)
}

func become(program string, args []string) error {
	return syscall.Exec(program, append([]string{program}, args...), os.Environ())
}

func bundleOf(args []string) string {
	if at := slices.Index(args, "--bundle"); at >= 0 && at+1 < len(args) {
		return args[at+1]
	}
	return "."
}

// giveDevices adds to a container's specification the devices that its environment names.
func giveDevices(path string) error {
	spec, err := readSpec(path)
	if err != nil {
		return err
	}
	names, err := visible(spec)
	if err != nil || len(names) == 0 {
		return err
	}
	linux := spec["linux"].(object)
	devices, _ := linux["devices"].([]any)
	for _, name := range names {
		devices = append(devices, object{"path": "/dev/" + name, "type": "c", "major": 1, "minor": 3, "fileMode": 0o666, "uid": 0, "gid": 0})
	}
	linux["devices"] = devices
	mounts, _ := spec["mounts"].([]any)
	for destination, source := range driverFiles {
		if exists(driverRoot + source) {
			mounts = append(mounts, object{"destination": destination, "type": "bind", "source": driverRoot + source, "options": []string{"bind", "ro"}})
		}
	}
	spec["mounts"] = mounts
	return writeSpec(path, spec)
}

func readSpec(path string) (spec object, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return spec, json.Unmarshal(text, &spec)
}

func writeSpec(path string, spec object) error {
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// visible are the devices for a container, from NVIDIA_VISIBLE_DEVICES.
func visible(spec object) ([]string, error) {
	asked := ""
	environment, _ := spec["process"].(object)["env"].([]any)
	for _, variable := range environment {
		if value, is := strings.CutPrefix(variable.(string), "NVIDIA_VISIBLE_DEVICES="); is {
			asked = value
		}
	}
	if asked == "" || asked == "void" || asked == "none" {
		return nil, nil
	}
	all, err := gpus()
	if err != nil {
		return nil, err
	}
	names := deviceNames(0)
	// Without a word where the driver's root has none, as NVIDIA's does.
	if exists(driverRoot + "/dev/nvidia-uvm") {
		names = append(names, "nvidia-uvm")
	}
	for _, g := range all {
		if asked == "all" || slices.Contains(strings.Split(asked, ","), g.uuid) {
			names = append(names, fmt.Sprintf("nvidia%d", g.index))
		}
	}
	return names, nil
}

func exists(path string) bool {
	return unix.Access(path, unix.F_OK) == nil
}
