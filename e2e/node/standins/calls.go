package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// runc gives the listener of each container's seccomp filter to this socket.
const callsSocket = "/run/kernel.sock"

// As in linux/seccomp.h.
type notification struct {
	id        uint64
	pid       uint32
	flags     uint32
	call      int32
	arch      uint32
	at        uint64
	arguments [6]uint64
}

type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

type addFd struct {
	id          uint64
	flags       uint32
	source      uint32
	target      uint32
	targetFlags uint32
}

const (
	receiveCall = 0xc0502100
	sendAnswer  = 0xc0182101
	addAnswerFd = 0x40182103
	goOn        = 1
	addAndSend  = 2
	readAll     = 3 // SYSLOG_ACTION_READ_ALL
)

// answerCalls takes the calls of all containers, as long as the machine runs.
func answerCalls() error {
	os.Remove(callsSocket)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: callsSocket, Net: "unix"})
	if err != nil {
		return err
	}
	for {
		connection, err := listener.AcceptUnix()
		if err != nil {
			return err
		}
		if fd, err := receiveListener(connection); err != nil {
			say("a container's calls cannot be taken: %v", err)
		} else {
			go answerContainer(fd)
		}
		connection.Close()
	}
}

// receiveListener takes the file that runc sends, beside a text about the container.
func receiveListener(connection *net.UnixConn) (int, error) {
	text, control := make([]byte, 1<<16), make([]byte, 256)
	n, oob, _, _, err := connection.ReadMsgUnix(text, control)
	if err != nil {
		return -1, err
	}
	var state struct{ Fds []string }
	if err := json.Unmarshal(text[:n], &state); err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:oob])
	if err != nil || len(messages) != 1 {
		return -1, errors.New("no file came")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != len(state.Fds) {
		return -1, errors.New("other files came than were told")
	}
	for i, name := range state.Fds {
		if name == "seccompFd" {
			return fds[i], nil
		}
		unix.Close(fds[i])
	}
	return -1, errors.New("no listener came")
}

// answerContainer ends with the last process of the container.
func answerContainer(fd int) {
	defer unix.Close(fd)
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && err != unix.EINTR {
			return
		}
		if poll[0].Revents&unix.POLLHUP != 0 {
			return
		}
		var call notification
		if errno := control(fd, receiveCall, unsafe.Pointer(&call)); errno != 0 {
			continue
		}
		give(fd, &call)
	}
}

func control(fd int, request uintptr, argument unsafe.Pointer) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument))
	return errno
}

// give answers one call. Who has ended meanwhile hears nothing of it.
func give(fd int, call *notification) {
	reply := answer{id: call.id}
	switch call.call {
	case unix.SYS_OPENAT2:
		if giveModules(fd, call) {
			return
		}
		reply.flags = goOn
	case unix.SYS_DELETE_MODULE:
		name := textOf(call, call.arguments[0])
		errno := deleteModule(name)
		say("process %d unloads %s: %v", call.pid, name, errno)
		reply.errno = -int32(errno)
	case unix.SYS_SYSLOG:
		size, errno := giveLog(call)
		reply.value, reply.errno = size, -int32(errno)
	default:
		// Whoever loads a module here does not know that it has no GPU.
		reply.errno = -int32(unix.EPERM)
	}
	control(fd, sendAnswer, unsafe.Pointer(&reply))
}

// giveModules answers whoever opens the list of modules, by the path that Ostler has for it.
func giveModules(fd int, call *notification) bool {
	if textOf(call, call.arguments[1]) != "proc/modules" {
		return false
	}
	// Of struct open_how the first field is the flags.
	how := memoryOf(call, call.arguments[2], 8)
	if len(how) != 8 {
		return false
	}
	flags := *(*uint64)(unsafe.Pointer(&how[0]))
	// A descriptor that stands for a path alone cannot be given away: one to read from serves as well.
	file, err := unix.Open(modulesFile, unix.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(file)
	add := addFd{id: call.id, flags: addAndSend, source: uint32(file), targetFlags: uint32(flags) & unix.O_CLOEXEC}
	return control(fd, addAnswerFd, unsafe.Pointer(&add)) == 0
}

// giveLog is the call syslog(2) of a process with its capability, which may read what the log has now and nothing else.
func giveLog(call *notification) (int64, unix.Errno) {
	if call.arguments[0] != readAll || !mayReadLog(call.pid) {
		return 0, unix.EPERM
	}
	text, err := os.ReadFile(logFile)
	if err != nil {
		return 0, unix.EIO
	}
	if size := int(call.arguments[2]); len(text) > size {
		text = text[len(text)-size:]
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	memory, err := os.OpenFile(memoryFile(call), os.O_WRONLY, 0)
	if err != nil {
		return 0, unix.ESRCH
	}
	defer memory.Close()
	if _, err := memory.WriteAt(text, int64(call.arguments[1])); err != nil {
		return 0, unix.EFAULT
	}
	return int64(len(text)), 0
}

// mayReadLog says whether a process has CAP_SYSLOG.
func mayReadLog(pid uint32) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "\nCapEff:\t")
	line, _, _ := strings.Cut(rest, "\n")
	set, err := strconv.ParseUint(line, 16, 64)
	return err == nil && set&(1<<unix.CAP_SYSLOG) != 0
}

func memoryFile(call *notification) string {
	return fmt.Sprintf("/proc/%d/mem", call.pid)
}

func memoryOf(call *notification, address uint64, size int) []byte {
	file, err := os.Open(memoryFile(call))
	if err != nil {
		return nil
	}
	defer file.Close()
	data := make([]byte, size)
	n, _ := file.ReadAt(data, int64(address))
	return data[:n]
}

// textOf is a short text in the memory of the caller.
func textOf(call *notification, address uint64) string {
	data := memoryOf(call, address, 256)
	if end := bytes.IndexByte(data, 0); end >= 0 {
		return string(data[:end])
	}
	return ""
}

// deleteModule is the call of that name.
func deleteModule(name string) unix.Errno {
	if !moduleLoaded(name) || strings.ContainsRune(name, '/') {
		return unix.ENOENT
	}
	text, _ := os.ReadFile(filepath.Join(modulesFolder, name, "refcnt"))
	if strings.TrimSpace(string(text)) != "0" {
		return unix.EWOULDBLOCK
	}
	if unloadModule(name) != nil {
		return unix.EIO
	}
	return 0
}
