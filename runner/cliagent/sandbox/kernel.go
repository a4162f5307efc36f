package sandbox

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// kernelSettings are files of /proc that change the machine. Programs may read them.
var kernelSettings = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/bus", "/proc/fs", "/proc/irq"}

// kernelFiles reveal the machine and the memory of other processes. Container runtimes
// mask the same files.
var kernelFiles = []string{
	"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list",
	"/sys/devices/virtual/powercap", "/sys/firmware",
}

// mask lays an empty folder over a folder, and an empty file over a file.
func mask(path string) []string {
	if isDir(path) {
		return []string{"--tmpfs", path, "--remount-ro", path}
	}
	return []string{"--ro-bind", os.DevNull, path}
}

func existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			out = append(out, path)
		}
	}
	return out
}

// nobody returns the user without files.
func nobody() *User {
	const usual = 65534
	u, err := user.Lookup("nobody")
	if err != nil {
		return &User{usual, usual}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil || uid <= 0 {
		return &User{usual, usual}
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil || gid <= 0 {
		gid = usual
	}
	return &User{uid, gid}
}

// closed returns the outermost folder above dir that other users cannot enter. Once it
// is hidden, nobody can reach dir.
func closed(dir string) []string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	var out []string
	for parent := filepath.Dir(real); parent != "/" && parent != "."; parent = filepath.Dir(parent) {
		if info, err := os.Stat(parent); err == nil && info.Mode()&0o001 == 0 {
			out = []string{parent}
		}
	}
	return out
}
