// Command standin is every program that a GPU node of the test has and that would need a GPU: NVIDIA's driver container, container toolkit and its
// runtime, device plugin, exporter and CUDA samples, and the kernel modules. It is called by the names of those. It behaves as they do where a
// cluster notices: what they wait for, leave behind, refuse and how they end.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

var programs = map[string]func(args []string) error{
	"kernel":                   runKernel,
	"kernel-hook":              showKernel,
	"runc":                     runRunc,
	"nvidia-driver":            runDriver,
	"nvidia-smi":               runSMI,
	"nvidia-toolkit":           runToolkit,
	"nvidia-container-runtime": runRuntime,
	"nvidia-device-plugin":     runPlugin,
	"dcgm-exporter":            runExporter,
	"sample":                   runVectorAdd,
	"gpu-job":                  runJob,
	"pause":                    runPause,
	"chroot":                   runChroot,
	"cat":                      runCat,
	"systemctl":                runSystemctl,
}

func main() {
	name, args := filepath.Base(os.Args[0]), os.Args[1:]
	run, known := programs[name]
	if !known && len(args) > 0 {
		name, args = args[0], args[1:]
		run, known = programs[name]
	}
	if !known {
		fmt.Fprintf(os.Stderr, "standin: there is no %q\n", name)
		os.Exit(2)
	}
	if err := run(args); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// told returns a channel that has something when the process is told to end.
func told() <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	return signals
}

// say prints a line as the programs do, unbuffered.
func say(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
}

// runPause keeps the namespaces of a pod.
func runPause([]string) error {
	<-told()
	return nil
}

// runChroot is busybox' program of that name.
func runChroot(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: chroot FOLDER PROGRAM…")
	}
	if err := errors.Join(syscall.Chroot(args[0]), os.Chdir("/")); err != nil {
		return err
	}
	program, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	return syscall.Exec(program, args[1:], os.Environ())
}

// runCat is the program that NVIDIA's runtime asks for the list of modules. Where this kernel has no such list, it says what the machine's has.
func runCat(args []string) error {
	for _, path := range args {
		if path == "/proc/modules" {
			path = modulesFile
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		os.Stdout.Write(text)
	}
	return nil
}
