package traffictest

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed fill.sql
var fillSQL string

// SQL returns a statement that puts the events from one place to another of
// Options.Events straight into table traffic.event. It makes other events than
// Rows, of the same kinds, many times faster: for benchmarks.
func SQL(o Options, from, to int) string {
	n := strconv.Itoa
	return strings.NewReplacer(
		"@from", n(from), "@to", n(to), "@seed", strconv.FormatUint(o.Seed, 10), "@events", n(o.Events), "@workspaces", n(o.Workspaces),
		"@end", strconv.FormatInt(o.End.UnixMicro(), 10), "@length", strconv.FormatInt(int64(o.Days)*86_400_000_000, 10),
	).Replace(fillSQL)
}
