package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// openDevice opens a device of the driver. No module of this kernel is behind nodes with the driver's own numbers: that such a node is there, and
// that the container may open it, is what can be seen.
func openDevice(path string) (*os.File, error) {
	file, err := os.Open(path)
	if errors.Is(err, unix.ENXIO) {
		return os.Open(os.DevNull)
	}
	return file, err
}

// openCards opens the GPUs that the container was given.
func openCards() ([]string, error) {
	paths, _ := filepath.Glob("/dev/nvidia[0-9]*")
	if len(paths) == 0 {
		return nil, errors.New("Failed to allocate device vector A (error code no CUDA-capable device is detected)!")
	}
	for _, path := range paths {
		if _, err := os.Open(path); err != nil {
			return nil, err
		}
		if err := openInstance(path); err != nil {
			return nil, err
		}
	}
	if _, err := openDevice("/dev/nvidia-uvm"); err != nil {
		return nil, fmt.Errorf("Failed to allocate device vector A (error code unknown error)! (%w)", err)
	}
	return paths, nil
}

// runVectorAdd is the CUDA sample of that name.
func runVectorAdd([]string) error {
	say("[Vector addition of 50000 elements]")
	if _, err := openCards(); err != nil {
		return err
	}
	if !moduleLoaded("nvidia") {
		return errors.New("Failed to allocate device vector A (error code system has unsupported display driver / cuda driver combination)!")
	}
	say("Copy input data from the host memory to the CUDA device\nCUDA kernel launch with 196 blocks of 256 threads")
	say("Copy output data from the CUDA device to the host memory\nTest PASSED\nDone")
	return nil
}

// runJob works with a GPU for that many seconds, or until it is told by SIGUSR1 that there is no more to do, and fails if its driver goes meanwhile.
func runJob(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: gpu-job SECONDS")
	}
	seconds, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	cards, err := openCards()
	if err != nil {
		return err
	}
	done := make(chan os.Signal, 1)
	signal.Notify(done, syscall.SIGUSR1)
	version := loadedVersion()
	say("works with %s, driver %s", strings.Join(cards, " "), version)
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	for ; time.Now().Before(end) && len(done) == 0; time.Sleep(100 * time.Millisecond) {
		if now := loadedVersion(); now != version {
			return fmt.Errorf("the driver was taken away: it is %q now", now)
		}
	}
	say("done")
	return nil
}
