package process

import (
	"fmt"
	"io/fs"
	"os"
	"time"
)

// pollEvery is how often a program's processes are measured. Folders are walked at most
// once a second and mostly a tenth of the time, but never after longer than folderLatest.
const (
	pollEvery      = 200 * time.Millisecond
	folderEvery    = time.Second
	folderIdle     = 10
	folderLatest   = 20 * time.Second
	entryOverhead  = 1 << 10 // bytes per file on disk in addition to its blocks
	threadsPerProc = 32
	// fileSlack lets one file grow beyond the disk limit, so that the measuring finds it.
	fileSlack = 1 << 20
)

// Limits limit the resources of a program and its descendants. They are
// measured, not reserved: a program may exceed them for a fraction of a second before it
// is killed. 0 means no limit. They need a supervisor.
type Limits struct {
	// MemoryMB limits the memory of all processes together: allocated and shared
	// memory, without mapped files, in MiB.
	MemoryMB int
	// Processes limits how many there are; they may have 32 times as many threads.
	Processes int
	// DiskMB limits the size of Folders, including deleted open files, in MiB. No
	// single file may become larger.
	DiskMB  int
	Folders []string
}

func (l Limits) any() bool { return l.MemoryMB > 0 || l.Processes > 0 || l.DiskMB > 0 }

// maxFile is the size limit of a file that the program writes; 0 means unlimited.
func (l Limits) maxFile() int64 {
	if l.DiskMB <= 0 {
		return 0
	}
	return int64(l.DiskMB)<<20 + fileSlack
}

// An excess is a limit that was exceeded.
type excess struct {
	why  Why
	text string
}

// usage is the resource usage of a program.
type usage struct {
	processes, threads int
	memory, unlinked   int64 // bytes
}

// over returns the limit that processes exceed, or nil.
func (l Limits) over(u usage) *excess {
	switch {
	case l.MemoryMB > 0 && u.memory > int64(l.MemoryMB)<<20:
		return &excess{Memory, fmt.Sprintf("its processes used %d MB of memory; the limit is %d MB (memory_mb)", u.memory>>20, l.MemoryMB)}
	case l.Processes > 0 && u.processes > l.Processes:
		return &excess{Processes, fmt.Sprintf("it ran %d processes at a time; the limit is %d (max_processes)", u.processes, l.Processes)}
	case l.Processes > 0 && u.threads > l.Processes*threadsPerProc:
		return &excess{Processes, fmt.Sprintf("it ran %d threads at a time; the limit is %d (32 for each of max_processes)", u.threads, l.Processes*threadsPerProc)}
	}
	return nil
}

// overDisk returns the excess of the folders and of files that are in no folder any more.
func (l Limits) overDisk(unlinked int64) *excess {
	if l.DiskMB <= 0 {
		return nil
	}
	limit := int64(l.DiskMB) << 20
	used := unlinked
	seen := map[fileID]bool{}
	for _, dir := range l.Folders {
		if used > limit {
			break
		}
		used += folderSize(dir, limit-used, seen)
	}
	if used <= limit {
		return nil
	}
	return &excess{Disk, fmt.Sprintf("it wrote %d MB or more into its folders; the limit is %d MB (disk_mb)", used>>20, l.DiskMB)}
}

// folderSize adds up the disk usage of a folder, until it exceeds enough. It follows no
// links. It opens a folder that the program closed, which would otherwise hide its
// contents.
func folderSize(dir string, enough int64, seen map[fileID]bool) (size int64) {
	if info, err := os.Lstat(dir); err == nil && closed(info) {
		_ = os.Chmod(dir, info.Mode().Perm()|readable) //nolint:gosec // a folder
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0
	}
	defer func() { _ = root.Close() }()
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil // deleted, or not readable
		}
		if info, err := d.Info(); err == nil {
			size += entryOverhead + diskBlocks(info, seen)
			if closed(info) {
				_ = root.Chmod(path, info.Mode().Perm()|readable)
			}
		}
		if size > enough {
			return fs.SkipAll
		}
		return nil
	})
	return size
}

// readable are the permissions to list a folder and to inspect its entries.
const readable fs.FileMode = 0o500

func closed(info fs.FileInfo) bool { return info.IsDir() && info.Mode()&readable != readable }

// watchLimits measures the program until done is closed. It sends the first excess.
func (r *run) watchLimits(done <-chan struct{}) <-chan *excess {
	if !r.Limits.any() || r.child.pid == 0 {
		return nil
	}
	found := make(chan *excess, 1)
	go func() {
		var walkAt time.Duration
		for {
			select {
			case <-done:
				return
			case <-r.clock.After(pollEvery):
			}
			u := measure(r.child.pid, r.Limits)
			over := r.Limits.over(u)
			if now := r.since(); over == nil && now >= walkAt {
				over = r.Limits.overDisk(u.unlinked)
				walkAt = r.since() + min(max(folderEvery, folderIdle*(r.since()-now)), folderLatest)
			}
			if over != nil {
				found <- over
				return
			}
		}
	}()
	return found
}
