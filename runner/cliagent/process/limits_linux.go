package process

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A fileID identifies a file.
type fileID struct{ dev, ino uint64 }

// diskBlocks is the size of a file on disk; one with several names counts once.
func diskBlocks(info fs.FileInfo, seen map[fileID]bool) int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size()
	}
	if st.Nlink > 1 && !info.IsDir() {
		id := fileID{st.Dev, st.Ino}
		if seen[id] {
			return 0
		}
		seen[id] = true
	}
	return st.Blocks * 512
}

// measure adds up the usage of the processes below pid. Unreadable values count as
// zero, except for memory: there the larger, public value counts.
func measure(pid int, l Limits) usage {
	var u usage
	pids := below(pid, &u)
	u.processes = len(pids)
	var resident int64
	for _, pid := range pids {
		resident += residentBytes(pid)
	}
	open := map[fileID]bool{}
	var inMemory int64
	for _, pid := range pids {
		memory, disk := unnamedFiles(pid, open)
		inMemory += memory
		u.unlinked += disk
	}
	// The first value counts shared pages several times: it only decides whether the
	// expensive measurement is needed.
	if u.memory = resident + inMemory; l.MemoryMB > 0 && u.memory > int64(l.MemoryMB)<<20 {
		var private, shared int64
		for _, pid := range pids {
			p, s := proportionalBytes(pid)
			private, shared = private+p, shared+s
		}
		u.memory = private + max(shared, inMemory)
	}
	return u
}

// below returns the processes below pid, and counts their threads.
func below(pid int, u *usage) []int {
	found, known := childrenOf(pid, nil)
	if !known { // the kernel was built without these lists
		found = nil
		for _, d := range descendants(pid) {
			found = append(found, d.pid)
			entries, _ := os.ReadDir("/proc/" + strconv.Itoa(d.pid) + "/task")
			u.threads += len(entries)
		}
		return found
	}
	for i := 0; i < len(found); i++ {
		children, _ := childrenOf(found[i], &u.threads)
		found = append(found, children...)
	}
	return found
}

// childrenOf returns the children of a process; each of its threads has a list.
func childrenOf(pid int, threads *int) (out []int, known bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false
	}
	if threads != nil {
		*threads += len(entries)
	}
	for _, e := range entries {
		list, err := os.ReadFile(dir + e.Name() + "/children")
		if err != nil {
			continue
		}
		known = true
		for field := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				out = append(out, child)
			}
		}
	}
	return out, known
}

// residentBytes is the resident size of a process.
func residentBytes(pid int) int64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// proportionalBytes is a process's share of anonymous memory: its private memory,
// swapped memory included, and its part of shared memory.
func proportionalBytes(pid int) (private, shared int64) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return residentBytes(pid), 0
	}
	var all int64
	available := false
	for line := range bytes.Lines(data) {
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			continue
		}
		kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "Pss":
			all = kb << 10
		case "Pss_Anon":
			private, available = private+(kb<<10), true
		case "SwapPss":
			private += kb << 10
		case "Pss_Shmem":
			shared += kb << 10
		}
	}
	if !available { // before Linux 5.4
		return all, 0
	}
	return private, shared
}

// unnamedFiles is the size of a process's open files that are in no folder: in memory,
// and on disk.
func unnamedFiles(pid int, seen map[fileID]bool) (memory, disk int64) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	f, err := os.Open(dir)
	if err != nil {
		return 0, 0
	}
	names, _ := f.Readdirnames(-1) // the readable ones
	_ = f.Close()
	for _, name := range names {
		to, err := os.Readlink(dir + name)
		if err != nil || !strings.HasSuffix(to, " (deleted)") {
			continue
		}
		info, err := os.Stat(dir + name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || seen[fileID{st.Dev, st.Ino}] {
			continue
		}
		seen[fileID{st.Dev, st.Ino}] = true
		if strings.HasPrefix(to, "/memfd:") {
			memory += st.Blocks * 512
		} else {
			disk += st.Blocks * 512
		}
	}
	return memory, disk
}
