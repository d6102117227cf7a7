package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	driverPid    = "/run/nvidia/nvidia-driver.pid"
	driverState  = "/run/nvidia/nvidia-driver.state"
	driverRoot   = "/run/nvidia/driver"
	driverStatus = "/run/nvidia/validations/.driver-daemons-status"
)

// runDriver is the driver container: the first process of NVIDIA's image.
func runDriver(args []string) error {
	if len(args) != 1 || args[0] != "init" {
		return errors.New("usage: nvidia-driver init")
	}
	pid, err := os.OpenFile(driverPid, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	if unix.Flock(int(pid.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return errors.New("An instance of the NVIDIA driver is already running, aborting")
	}
	if err := overwrite(driverPid, strconv.Itoa(os.Getpid())+"\n"); err != nil {
		return err
	}
	stop := told()
	version, digest := os.Getenv("DRIVER_VERSION"), os.Getenv("DRIVER_CONFIG_DIGEST")
	stored, _ := os.ReadFile(driverState)
	if moduleLoaded("nvidia") && digest != "" && strings.TrimSpace(string(stored)) == digest {
		say("The modules of this driver are loaded already")
	} else if err := installDriver(version, stop); err != nil {
		return err
	}
	daemon, err := startDriver(digest)
	if err != nil {
		return err
	}
	say("Done, now waiting for signal")
	<-stop
	daemon.Close()
	return shutDown()
}

// installDriver takes as long as compiling does on a very fast machine.
func installDriver(version string, stop <-chan os.Signal) error {
	if inUse() {
		return errors.New("Could not unload NVIDIA driver kernel modules, driver is in use")
	}
	if err := unloadModules(); err != nil {
		return err
	}
	unmountRoot()
	say("Installing NVIDIA driver version %s", version)
	seconds, _ := strconv.Atoi(os.Getenv("STANDIN_SECONDS"))
	select {
	case <-stop:
		return errors.New("ended while it was installing")
	case <-time.After(time.Duration(seconds) * time.Second):
	}
	if why := os.Getenv("STANDIN_FAILS"); why != "" {
		return errors.New(why)
	}
	sayParameters()
	if err := loadModules(version); err != nil {
		return err
	}
	return makeDevices("/dev")
}

// sayParameters says what of the module's parameters was read, one in each line of /drivers/nvidia.conf (_get_module_params of nvidia-driver), and
// whether there is the token with which that fetches kernel packages of Ubuntu Pro (UBUNTU_PRO_TOKEN).
func sayParameters() {
	if lines, err := os.ReadFile("/drivers/nvidia.conf"); err == nil {
		say("Configuring nvidia module parameters in /etc/modprobe.d/nvidia.conf")
		say("options nvidia %s", strings.Join(strings.Fields(string(lines)), " "))
	}
	if os.Getenv("UBUNTU_PRO_TOKEN") != "" {
		say("A token of Ubuntu Pro is there")
	}
}

// deviceNames are the nodes that the driver's container makes for that many cards: those of nvidia-smi and nvidia-persistenced, and none of the
// modules nvidia-uvm and nvidia-modeset.
func deviceNames(cards int) []string {
	names := []string{"nvidiactl"}
	for i := range cards {
		names = append(names, fmt.Sprintf("nvidia%d", i))
	}
	return names
}

// makeDevices makes nodes that can be opened: they are those of /dev/null, the kernel here has no others.
func makeDevices(folder string) error {
	all, err := gpus()
	if err != nil {
		return err
	}
	for _, name := range deviceNames(len(all)) {
		err := unix.Mknod(filepath.Join(folder, name), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// startDriver shows the container's root to the node, and starts the daemon that keeps a device open.
func startDriver(digest string) (*os.File, error) {
	if err := makeDevices("/dev"); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(driverRoot, 0o755); err != nil {
		return nil, err
	}
	unmountRoot()
	// MS_REC|MS_BIND, as `mount --rbind`.
	if err := unix.Mount("/", driverRoot, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return nil, fmt.Errorf("%s: %w", driverRoot, err)
	}
	if err := os.MkdirAll(filepath.Dir(driverStatus), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(driverStatus, []byte("Ready\n"), 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(driverState, []byte(digest+"\n"), 0o644); err != nil {
		return nil, err
	}
	return os.Open("/dev/nvidia0")
}

func unmountRoot() {
	for unix.Unmount(driverRoot, unix.MNT_DETACH) == nil {
	}
}

// shutDown unloads, or hangs where a process uses the modules, as the image does.
func shutDown() error {
	say("Caught signal, shutting down")
	if inUse() {
		say("Could not unload NVIDIA driver kernel modules, driver is in use")
		select {}
	}
	if err := unloadModules(); err != nil {
		return err
	}
	unmountRoot()
	return os.Remove(driverPid)
}

// runSMI says what nvidia-smi says, of what is asked for here.
func runSMI(args []string) error {
	version := loadedVersion()
	if version == "" {
		say("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
		os.Exit(9)
	}
	facts := map[string]string{
		"driver_version": version, "name": "NVIDIA H100 80GB HBM3", "memory.total": "81559", "compute_cap": "9.0",
	}
	all, err := gpus()
	if err != nil {
		return err
	}
	switch {
	case isAboutMIG(args):
		return changeMIG(args, all)
	case len(args) > 0 && strings.HasPrefix(args[0], "--query-gpu="):
		var line []string
		for _, field := range strings.Split(strings.TrimPrefix(args[0], "--query-gpu="), ",") {
			line = append(line, facts[field])
		}
		say("%s", strings.Join(line, ", "))
	case len(args) > 0 && args[0] == "-q":
		say("Driver Version                            : %s\nCUDA Version                              : 13.0", version)
	default:
		for _, g := range all {
			say("GPU %d: %s (UUID: %s)", g.index, facts["name"], g.uuid)
		}
	}
	return nil
}
