package metrics

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// ticks is how many ticks a second of CPU time has in /proc, on all architectures of Linux.
const ticks = 100

// writeGo writes metrics of Go's runtime, with the names of Prometheus' client for Go.
func writeGo(x *exposition) {
	if info, ok := debug.ReadBuildInfo(); ok {
		x.add(gauge, "go_build_info", "Build information about the main Go module.", 1, "checksum", info.Main.Sum, "path", info.Main.Path, "version", info.Main.Version)
	}
	x.add(gauge, "go_info", "Information about the Go environment.", 1, "version", runtime.Version())
	x.add(gauge, "go_goroutines", "Number of goroutines that currently exist.", float64(runtime.NumGoroutine()))
	pauses := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&pauses)
	const gc = "go_gc_duration_seconds"
	x.head(summary, gc, "A summary of the stop-the-world pauses of garbage collection.")
	for i, q := range []string{"0", "0.25", "0.5", "0.75", "1"} {
		x.sample(gc, pauses.PauseQuantiles[i].Seconds(), "quantile", q)
	}
	x.sample(gc+"_sum", pauses.PauseTotal.Seconds())
	x.sample(gc+"_count", float64(pauses.NumGC))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for _, s := range []struct {
		kind, name, help string
		value            uint64
	}{
		{gauge, "alloc_bytes", "Bytes in allocated heap objects.", m.Alloc},
		{counter, "alloc_bytes_total", "Bytes allocated for heap objects, freed ones too.", m.TotalAlloc},
		{gauge, "sys_bytes", "Bytes obtained from the system.", m.Sys},
		{counter, "mallocs_total", "Heap objects allocated.", m.Mallocs},
		{counter, "frees_total", "Heap objects freed.", m.Frees},
		{gauge, "heap_alloc_bytes", "Bytes in allocated heap objects.", m.HeapAlloc},
		{gauge, "heap_sys_bytes", "Bytes of the heap obtained from the system.", m.HeapSys},
		{gauge, "heap_idle_bytes", "Bytes in unused spans of the heap.", m.HeapIdle},
		{gauge, "heap_inuse_bytes", "Bytes in used spans of the heap.", m.HeapInuse},
		{gauge, "heap_released_bytes", "Bytes of the heap returned to the system.", m.HeapReleased},
		{gauge, "heap_objects", "Allocated heap objects.", m.HeapObjects},
		{gauge, "stack_inuse_bytes", "Bytes in used spans of stacks.", m.StackInuse},
		{gauge, "next_gc_bytes", "Size of the heap at which the next garbage collection begins.", m.NextGC},
	} {
		x.add(s.kind, "go_memstats_"+s.name, s.help, float64(s.value))
	}
	x.add(gauge, "go_memstats_last_gc_time_seconds", "End of the last garbage collection, in Unix time.", float64(m.LastGC)/1e9)
}

// writeProcess writes metrics of the process out of /proc; none where there is no /proc.
func writeProcess(x *exposition) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" ")) // the name may have spaces
	fields := strings.Fields(string(rest))                                        // from the third of proc(5) on
	field := func(n int) float64 {
		if n-3 >= len(fields) {
			return 0
		}
		v, _ := strconv.ParseFloat(fields[n-3], 64)
		return v
	}
	x.add(gauge, "go_threads", "Number of OS threads.", field(20))
	x.add(counter, "process_cpu_seconds_total", "User and system CPU time, in seconds.", (field(14)+field(15))/ticks)
	x.add(gauge, "process_virtual_memory_bytes", "Size of the virtual memory.", field(23))
	x.add(gauge, "process_resident_memory_bytes", "Size of the resident memory.", field(24)*float64(os.Getpagesize()))
	if boot, ok := procValue("/proc/stat", "btime"); ok {
		x.add(gauge, "process_start_time_seconds", "Start of the process, in Unix time.", boot+field(22)/ticks)
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		x.add(gauge, "process_open_fds", "Number of open file descriptors.", float64(len(open)))
	}
	if most, ok := procValue("/proc/self/limits", "Max open files"); ok {
		x.add(gauge, "process_max_fds", "Maximum number of open file descriptors.", most)
	}
}

// procValue returns the number after a word at the start of a line.
func procValue(file, word string) (float64, bool) {
	text, err := os.ReadFile(file) //nolint:gosec // of /proc
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, word); ok {
			if fields := strings.Fields(rest); len(fields) > 0 {
				v, err := strconv.ParseFloat(fields[0], 64)
				return v, err == nil
			}
		}
	}
	return 0, false
}
