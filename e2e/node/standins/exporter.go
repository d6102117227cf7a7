package main

import (
	"fmt"
	"net/http"
	"os"
	"syscall"
)

// runExporter serves metrics of the GPUs. Without a driver it ends at once.
func runExporter([]string) error {
	stop := told()
	library, err := openDevice("/dev/nvidiactl")
	if err != nil || !moduleLoaded("nvidia") {
		return fmt.Errorf("failed to initialize NVML: %v", err)
	}
	defer library.Close()
	http.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "OK") })
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		cards, _ := gpus()
		for _, g := range cards {
			fmt.Fprintf(w, "DCGM_FI_DEV_GPU_UTIL{gpu=%q,UUID=%q,Hostname=%q} 0\n", fmt.Sprint(g.index), g.uuid, os.Getenv("NODE_NAME"))
		}
	})
	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(os.Getenv("DCGM_EXPORTER_LISTEN"), nil) }()
	select {
	case <-stop:
		return nil
	case err := <-failed:
		return err
	}
}

// inode is that of a file, 0 of one that is not there.
func inode(path string) uint64 {
	var stat syscall.Stat_t
	if syscall.Stat(path, &stat) != nil {
		return 0
	}
	return stat.Ino
}
