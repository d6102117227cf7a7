package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const criTable = `[plugins."io.containerd.grpc.v1.cri"`

// runToolkit is the container toolkit: it puts a runtime onto the machine, tells containerd of it and restarts that. Unless it is to do only that,
// it takes it out again when it is told to end.
func runToolkit([]string) error {
	if runtime := os.Getenv("RUNTIME"); runtime != "containerd" {
		return fmt.Errorf("the runtime here is containerd, not %q", runtime)
	}
	stop := told()
	if err := installRuntime(filepath.Join(os.Getenv("ROOT"), "toolkit")); err != nil {
		return err
	}
	if err := configureRuntime(); err != nil {
		return err
	}
	if err := restartRuntime(); err != nil {
		return err
	}
	if os.Getenv("NO_DAEMON") == "true" {
		return nil
	}
	fmt.Fprintln(os.Stderr, `level=info msg="Waiting for signal"`)
	<-stop
	if err := os.Remove(os.Getenv("RUNTIME_DROP_IN_CONFIG")); err != nil {
		return err
	}
	return restartRuntime()
}

// installRuntime begins by removing what an earlier one has put there, as the toolkit does.
func installRuntime(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	file, err := os.OpenFile(filepath.Join(folder, "nvidia-container-runtime"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, self); err != nil {
		return err
	}
	return file.Close()
}

// configureRuntime writes a drop-in with a copy of the whole table of the plugin, since containerd before 2.1 replaces tables by key, and the line
// that has it read.
func configureRuntime() error {
	path := os.Getenv("RUNTIME_CONFIG")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	config := string(text)
	if !strings.HasPrefix(config, "imports") {
		folder := filepath.Dir(os.Getenv("RUNTIME_DROP_IN_CONFIG_HOST_PATH"))
		if err := os.WriteFile(path, []byte(fmt.Sprintf("imports = [%q]\n%s", folder+"/*.toml", config)), 0o644); err != nil {
			return err
		}
	}
	at := strings.Index(config, criTable)
	if at < 0 {
		return errors.New(path + " has no table of the CRI plugin")
	}
	cri := config[at:]
	if os.Getenv("NVIDIA_RUNTIME_SET_AS_DEFAULT") == "true" {
		cri = strings.Replace(cri, `default_runtime_name = "runc"`, `default_runtime_name = "nvidia"`, 1)
	}
	if os.Getenv("CDI_ENABLED") == "true" {
		cri = strings.Replace(cri, "restrict_oom_score_adj", "enable_cdi = true\n  restrict_oom_score_adj", 1)
	}
	runtime := filepath.Join(os.Getenv("ROOT"), "toolkit", "nvidia-container-runtime")
	return os.WriteFile(os.Getenv("RUNTIME_DROP_IN_CONFIG"), []byte(fmt.Sprintf(`version = 2
%s
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
      BinaryName = %q
`, cri, runtime)), 0o644)
}

// restartRuntime signals the process behind the socket: containerd ends, and the machine's service manager starts it again.
func restartRuntime() error {
	if os.Getenv("RUNTIME_RESTART_MODE") == "none" {
		return nil
	}
	connection, err := net.Dial("unix", os.Getenv("RUNTIME_SOCKET"))
	if err != nil {
		return err
	}
	defer connection.Close()
	raw, err := connection.(*net.UnixConn).SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	say("restarting the runtime, process %d", peer.Pid)
	if err := unix.Kill(int(peer.Pid), unix.SIGHUP); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond)
	return nil
}
