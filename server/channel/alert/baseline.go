package alert

import "slices"

// Baseline sets Before of the recent folders from those of the baseline, which lists the
// limit folders with most misses, in descending order. A folder missing from a full list
// counts as many misses as the last of the list.
func Baseline(recent, before []Folder, limit int) []Folder {
	unlisted := int64(0)
	if len(before) >= limit {
		unlisted = before[len(before)-1].Misses
	}
	for i := range recent {
		f := &recent[i]
		f.Before = unlisted
		if at := slices.IndexFunc(before, func(b Folder) bool { return b.Host == f.Host && b.Path == f.Path }); at >= 0 {
			f.Before = before[at].Misses
		}
	}
	return recent
}
