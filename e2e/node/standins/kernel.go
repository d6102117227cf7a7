package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel of the machine, as files. /kernel of the machine is mounted over these, there and in each container. Only the program "kernel" writes
// the list of modules.
const (
	modulesFolder = "/sys/module"
	devicesFolder = "/sys/bus/pci/devices"
	driverFolder  = "/proc/driver"
	bootFile      = "/proc/sys/kernel/random/boot_id"
	kernelFolder  = "/kernel"
	modulesFile   = kernelFolder + "/modules"
	majorsFile    = kernelFolder + "/devices"
	logFile       = kernelFolder + "/log"
)

// The modules of a driver, those that use another first.
var driverModules = []string{"nvidia_modeset", "nvidia_uvm", "nvidia"}

// The major numbers that a module has once it is loaded, as NVIDIA's driver of branch 580 has them.
var driverMajors = map[string]string{
	"nvidia": "195 nvidia\n195 nvidiactl\n238 nvidia-caps\n", "nvidia_modeset": "195 nvidia-modeset\n", "nvidia_uvm": "508 nvidia-uvm\n",
}

// What of /kernel is mounted where. A kernel that is built without modules has no list of them. The bus has links to the devices.
var kernelMounts = map[string]string{
	"module": modulesFolder, "modules": "/proc/modules", "pci": devicesFolder, "driver": driverFolder, "boot_id": bootFile,
	"devices": "/proc/devices", "sys-devices": "/sys/devices",
}

type gpu struct {
	address string
	uuid    string
	index   int
}

// gpus are those on the bus, as the test put them there.
func gpus() ([]gpu, error) {
	entries, err := os.ReadDir(devicesFolder)
	if err != nil {
		return nil, err
	}
	var all []gpu
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(devicesFolder, entry.Name(), "uuid"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, gpu{entry.Name(), strings.TrimSpace(string(text)), len(all)})
	}
	return all, nil
}

// overwrite puts text into a file that is mounted somewhere, and so cannot be replaced. A reader never finds it empty.
func overwrite(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		return err
	}
	return file.Truncate(int64(len(text)))
}

func moduleLoaded(name string) bool {
	_, err := os.Stat(filepath.Join(modulesFolder, name, "refcnt"))
	return err == nil
}

func loadedVersion() string {
	text, _ := os.ReadFile(filepath.Join(modulesFolder, "nvidia", "version"))
	return strings.TrimSpace(string(text))
}

// openDevices is who has a device of the driver open, and how often: pid by pid. It sees the processes that /proc shows here.
func openDevices() map[int]int {
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	open := map[int]int{}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(filepath.Base(target), "nvidia") || !strings.HasSuffix(filepath.Dir(target), "/dev") {
			continue
		}
		pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
		open[pid]++
	}
	return open
}

// inUse says who keeps the modules, but for this process.
func inUse() bool {
	open := openDevices()
	delete(open, os.Getpid())
	return len(open) > 0
}

// loadModules is modprobe of the driver's modules.
func loadModules(version string) error {
	for i := len(driverModules) - 1; i >= 0; i-- {
		folder := filepath.Join(modulesFolder, driverModules[i])
		if err := os.MkdirAll(filepath.Join(folder, "holders"), 0o755); err != nil {
			return err
		}
		if driverModules[i] != "nvidia" {
			if err := os.Symlink("../../"+driverModules[i], filepath.Join(modulesFolder, "nvidia/holders", driverModules[i])); err != nil {
				return err
			}
		}
		if err := overwrite(filepath.Join(folder, "version"), version+"\n"); err != nil {
			return err
		}
		if err := overwrite(filepath.Join(folder, "refcnt"), "0\n"); err != nil {
			return err
		}
	}
	return showDriver(version)
}

// showDriver is what the driver tells in procfs, and that the cards are its.
func showDriver(version string) error {
	all, err := gpus()
	if err != nil {
		return err
	}
	for _, g := range all {
		folder := filepath.Join(driverFolder, "nvidia/gpus", g.address)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		text := fmt.Sprintf("Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t %s\nBus Location: \t %s\nDevice Minor: \t %d\n", g.uuid, g.address, g.index)
		if err := overwrite(filepath.Join(folder, "information"), text); err != nil {
			return err
		}
		if err := bindCard(g, "nvidia"); err != nil {
			return err
		}
	}
	if err := showMIG(len(all)); err != nil {
		return err
	}
	return overwrite(filepath.Join(driverFolder, "nvidia/version"), "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "+version+"  Release Build\n")
}

// bindCard writes what sysfs says of a card that has that driver, or none.
func bindCard(g gpu, driver string) error {
	text := fmt.Sprintf("PCI_CLASS=30200\nPCI_ID=10DE:2330\nPCI_SLOT_NAME=%s\n", g.address)
	if driver != "" {
		text = "DRIVER=" + driver + "\n" + text
	}
	return overwrite(filepath.Join(devicesFolder, g.address, "uevent"), text)
}

// unloadModules is rmmod of all that is loaded; no process may use them.
func unloadModules() error {
	for _, name := range driverModules {
		if err := unloadModule(name); err != nil {
			return err
		}
	}
	return nil
}

func unloadModule(name string) error {
	folder := filepath.Join(modulesFolder, name)
	if !moduleLoaded(name) {
		return nil
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	os.Remove(filepath.Join(modulesFolder, "nvidia/holders", name))
	if name == "nvidia" {
		os.RemoveAll(filepath.Join(driverFolder, "nvidia"))
		os.RemoveAll(migMinorsFolder)
		all, err := gpus()
		if err != nil {
			return err
		}
		for _, g := range all {
			os.Remove(layoutFile(g))
			if err := bindCard(g, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// countUsers writes which modules are loaded and how often each is referred to, when a device is opened that often.
func countUsers(opened int) error {
	var lines strings.Builder
	majors := "Character devices:\n  1 mem\n"
	for _, name := range driverModules {
		if !moduleLoaded(name) {
			continue
		}
		majors += driverMajors[name]
		count, users := 0, "-"
		if name == "nvidia" {
			holders, _ := os.ReadDir(filepath.Join(modulesFolder, "nvidia/holders"))
			count, users = opened+len(holders), ""
			for _, holder := range holders {
				users += holder.Name() + ","
			}
		}
		if err := overwrite(filepath.Join(modulesFolder, name, "refcnt"), strconv.Itoa(count)+"\n"); err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s 16384 %d %s Live 0x0000000000000000 (OE)\n", name, count, users)
	}
	if err := overwrite(majorsFile, majors); err != nil {
		return err
	}
	return overwrite(modulesFile, lines.String()+"overlay 212992 31 - Live 0x0000000000000000\n")
}

// countAlways counts who has the devices open, as the kernel would, as long as the machine runs.
func countAlways() error {
	for ; ; time.Sleep(250 * time.Millisecond) {
		opened := 0
		for _, times := range openDevices() {
			opened += times
		}
		if err := countUsers(opened); err != nil {
			return err
		}
	}
}

// runKernel is the kernel of the machine as far as GPUs matter.
func runKernel([]string) error {
	failed := make(chan error, 2)
	go func() { failed <- answerCalls() }()
	go func() { failed <- countAlways() }()
	return <-failed
}

// showKernel is a hook of the container runtime: it runs in the mounts of a container that is being made, before those become its root, and shows
// it the machine's kernel instead of the one that is there.
func showKernel([]string) error {
	var state struct{ Bundle string }
	if err := json.NewDecoder(os.Stdin).Decode(&state); err != nil {
		return err
	}
	var config struct{ Root struct{ Path string } }
	text, err := os.ReadFile(filepath.Join(state.Bundle, "config.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return err
	}
	root := config.Root.Path
	if !filepath.IsAbs(root) {
		root = filepath.Join(state.Bundle, root)
	}
	for from, to := range kernelMounts {
		if !exists(to) {
			continue
		}
		if err := unix.Mount(filepath.Join(kernelFolder, from), filepath.Join(root, to), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("%s: %w", to, err)
		}
	}
	return nil
}
