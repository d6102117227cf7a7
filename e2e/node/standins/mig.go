package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MIG as the driver shows it in procfs (NVIDIA's MIG User Guide, "Device Nodes and Capabilities"): a minor number for each instance that there can be,
// and a file for each that there is.
const (
	migMinorsFolder    = driverFolder + "/nvidia-caps"
	capabilitiesFolder = driverFolder + "/nvidia/capabilities"
	capsFolder         = "/dev/nvidia-caps"
	migConfigMinor     = 1
	migMonitorMinor    = 2
	gpuInstances       = 15 // of a card, at most
	computeInstances   = 8  // of a GPU instance, at most
	modeOfConfig       = 0o400
	modeOfOthers       = 0o444
)

// The kinds of GPU instances of an H100 with 80 GB, and which numbers those of a kind get.
var migProfiles = map[string][]int{
	"1g.10gb": {7, 8, 9, 10, 11, 12, 13}, "2g.20gb": {3, 4, 5}, "3g.40gb": {1, 2}, "4g.40gb": {1}, "7g.80gb": {0},
}

// instance is a GPU instance with one compute instance, number 0, in it.
type instance struct {
	gpu, id       int
	profile, uuid string
}

func gpuInstanceMinor(gpu, id int) int {
	return migMonitorMinor + 1 + (gpu*gpuInstances+id)*(computeInstances+1)
}

// minors are those of the two devices that a container with the instance gets, beside that of the card.
func (i instance) minors() [2]int {
	first := gpuInstanceMinor(i.gpu, i.id)
	return [2]int{first, first + 1}
}

func (i instance) folder() string {
	return filepath.Join(capabilitiesFolder, fmt.Sprintf("gpu%d/mig/gi%d", i.gpu, i.id))
}

// layoutFile is where a card's layout is kept, for NVML of the test: it is there while MIG is enabled.
func layoutFile(g gpu) string {
	return filepath.Join(devicesFolder, g.address, "mig")
}

// layout is what a card is divided into, and whether MIG is enabled.
func layout(g gpu) ([]instance, bool) {
	text, err := os.ReadFile(layoutFile(g))
	var all []instance
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		one := instance{gpu: g.index}
		if n, _ := fmt.Sscan(line, &one.id, &one.profile, &one.uuid); n == 3 {
			all = append(all, one)
		}
	}
	return all, err == nil
}

func putLayout(g gpu, all []instance) error {
	var text strings.Builder
	for _, one := range all {
		fmt.Fprintf(&text, "%d %s %s\n", one.id, one.profile, one.uuid)
	}
	return overwrite(layoutFile(g), text.String())
}

// putCapability writes the file of a right: who may open the device of that number.
func putCapability(path string, minor, mode int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return overwrite(path, fmt.Sprintf("DeviceFileMinor: %d\nDeviceFileMode: %d\nDeviceFileModify: 1\n", minor, mode))
}

// showMIG is what a driver that has just been loaded says of that many cards, none of which is divided.
func showMIG(cards int) error {
	var text strings.Builder
	fmt.Fprintf(&text, "config %d\nmonitor %d\n", migConfigMinor, migMonitorMinor)
	for gpu := range 32 { // as many as the driver knows, whatever is there
		for id := range gpuInstances {
			minor := gpuInstanceMinor(gpu, id)
			fmt.Fprintf(&text, "gpu%d/gi%d/access %d\n", gpu, id, minor)
			for compute := range computeInstances {
				fmt.Fprintf(&text, "gpu%d/gi%d/ci%d/access %d\n", gpu, id, compute, minor+1+compute)
			}
		}
	}
	if err := os.MkdirAll(migMinorsFolder, 0o755); err != nil {
		return err
	}
	for gpu := range cards {
		if err := os.MkdirAll(filepath.Join(capabilitiesFolder, fmt.Sprintf("gpu%d/mig", gpu)), 0o755); err != nil {
			return err
		}
	}
	return errors.Join(overwrite(filepath.Join(migMinorsFolder, "mig-minors"), text.String()),
		putCapability(filepath.Join(capabilitiesFolder, "mig/config"), migConfigMinor, modeOfConfig),
		putCapability(filepath.Join(capabilitiesFolder, "mig/monitor"), migMonitorMinor, modeOfOthers))
}

// ---- nvidia-smi

const migUsage = "usage: nvidia-smi -i N -mig 0|1, nvidia-smi mig -i N -cgi PROFILE,… -C, nvidia-smi mig -i N -dci, nvidia-smi mig -i N -dgi"

func isAboutMIG(args []string) bool {
	return len(args) > 0 && (args[0] == "mig" || slices.Contains(args, "-mig"))
}

// changeMIG is what nvidia-smi does with a card's layout.
func changeMIG(args []string, cards []gpu) error {
	args = slices.DeleteFunc(slices.Clone(args), func(word string) bool { return word == "mig" || word == "-C" })
	if len(args) < 3 || args[0] != "-i" {
		return errors.New(migUsage)
	}
	index, err := strconv.Atoi(args[1])
	if err != nil || index < 0 || index >= len(cards) {
		return fmt.Errorf("No devices were found: %q", args[1])
	}
	g := cards[index]
	before, enabled := layout(g)
	if args[2] == "-mig" && len(args) == 4 {
		return setMIG(g, args[3] == "1", len(before))
	}
	if !enabled {
		return errors.New("No MIG-enabled devices found.")
	}
	switch {
	case args[2] == "-cgi" && len(args) == 4:
		return createInstances(g, before, strings.Split(args[3], ","))
	case args[2] == "-dci":
		return nil // the GPU instance keeps its one compute instance until it goes
	case args[2] == "-dgi":
		return destroyInstances(g, before)
	}
	return errors.New(migUsage)
}

// setMIG enables or disables it. A card that is used cannot be changed, nor one that has instances.
func setMIG(g gpu, on bool, instances int) error {
	if instances > 0 {
		return errors.New("Unable to disable MIG Mode for GPU: In use by another client")
	}
	if on {
		return putLayout(g, nil)
	}
	return os.Remove(layoutFile(g))
}

func createInstances(g gpu, all []instance, profiles []string) error {
	for _, profile := range profiles {
		free := slices.IndexFunc(migProfiles[profile], func(id int) bool {
			return !slices.ContainsFunc(all, func(other instance) bool { return other.id == id })
		})
		if free < 0 {
			return fmt.Errorf("Unable to create a GPU instance on GPU %d using profile %s: Insufficient Resources", g.index, profile)
		}
		one := instance{gpu: g.index, id: migProfiles[profile][free], profile: profile}
		one.uuid = fmt.Sprintf("MIG-%d%07d-aaaa-5bbb-8ccc-0123456789ab", g.index, one.id)
		minors := one.minors()
		if err := errors.Join(putCapability(filepath.Join(one.folder(), "access"), minors[0], modeOfOthers),
			putCapability(filepath.Join(one.folder(), "ci0/access"), minors[1], modeOfOthers), makeCapabilities(minors)); err != nil {
			return err
		}
		all = append(all, one)
		say("Successfully created GPU instance ID %2d on GPU %2d using profile MIG %s", one.id, g.index, profile)
	}
	return putLayout(g, all)
}

func destroyInstances(g gpu, all []instance) error {
	for _, one := range all {
		if err := os.RemoveAll(one.folder()); err != nil {
			return err
		}
	}
	return putLayout(g, nil)
}

// makeCapabilities makes the nodes of an instance in the /dev of this container, as NVIDIA's programs do of what they open (nvidia-modprobe 610.43.03,
// modprobe-utils/nvidia-modprobe-utils.c, nvidia_cap_mknod).
func makeCapabilities(minors [2]int) error {
	if err := os.MkdirAll(capsFolder, 0o755); err != nil {
		return err
	}
	for _, minor := range minors {
		path := filepath.Join(capsFolder, fmt.Sprintf("nvidia-cap%d", minor))
		if err := unix.Mknod(path, unix.S_IFCHR|modeOfOthers, int(unix.Mkdev(238, uint32(minor)))); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// ---- CUDA

// openInstance opens an instance of a card that is divided: the container has to have both its devices. Of a whole card nothing more is needed.
func openInstance(card string) error {
	cards, err := gpus()
	if err != nil {
		return err
	}
	for _, g := range cards {
		if filepath.Base(card) != fmt.Sprintf("nvidia%d", g.index) {
			continue
		}
		all, enabled := layout(g)
		if !enabled {
			return nil
		}
		for _, one := range all {
			if opens(one.minors()) {
				say("MIG device %s (%s)", one.uuid, one.profile)
				return nil
			}
		}
	}
	return fmt.Errorf("%s: no instance of it is here (error code no CUDA-capable device is detected)", card)
}

func opens(minors [2]int) bool {
	for _, minor := range minors {
		file, err := openDevice(filepath.Join(capsFolder, fmt.Sprintf("nvidia-cap%d", minor)))
		if err != nil {
			return false
		}
		file.Close()
	}
	return true
}
