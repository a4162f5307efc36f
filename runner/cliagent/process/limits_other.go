//go:build !linux

package process

import "io/fs"

type fileID struct{}

func diskBlocks(info fs.FileInfo, _ map[fileID]bool) int64 { return info.Size() }

// measure is implemented on Linux only; elsewhere there is no supervisor, and no limit
// applies.
func measure(int, Limits) usage { return usage{} }
