package cli

import (
	"os"
	"strconv"
	"strings"
)

// memoryShare is how much of the memory that is free the programs of a run may be
// reckoned to take.
const memoryShare = 0.7

// memoryCapMB returns the memory limit of a run's programs in MB; 0, no limit, if the
// system does not report its free memory.
func memoryCapMB() int {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return int(memoryShare * float64(availableMB(string(data))))
}

// availableMB reads MemAvailable of /proc/meminfo.
func availableMB(meminfo string) int {
	for line := range strings.Lines(meminfo) {
		value, ok := strings.CutPrefix(line, "MemAvailable:")
		if !ok {
			continue
		}
		kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		if err != nil {
			return 0
		}
		return kb >> 10
	}
	return 0
}
