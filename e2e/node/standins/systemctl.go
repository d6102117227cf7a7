package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Who keeps the machine's programs running (e2e/node/boot) writes their process numbers here, and reads from `restart` which to end.
const serviceFolder = "/run/service"

// runSystemctl is `systemctl restart NAME`, of a service that says when it is up: it returns once another process of it answers.
func runSystemctl(args []string) error {
	if len(args) != 2 || args[0] != "restart" {
		return errors.New("usage: systemctl restart NAME")
	}
	service := filepath.Join(serviceFolder, args[1])
	before, err := os.ReadFile(service)
	if err != nil {
		return err
	}
	asked, err := os.OpenFile(filepath.Join(serviceFolder, "restart"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer asked.Close()
	if _, err := asked.WriteString(args[1] + "\n"); err != nil {
		return err
	}
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if now, err := os.ReadFile(service); err != nil || string(now) == string(before) {
			continue
		}
		if answers(filepath.Join("/run", args[1], args[1]+".sock")) {
			return nil
		}
	}
	return errors.New(args[1] + " does not answer")
}

// answers says whether CRI-O is up: it listens long before, and says so to systemd when it has found its containers again.
func answers(socket string) bool {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: time.Second}
	answer, err := client.Get("http://crio/info")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
