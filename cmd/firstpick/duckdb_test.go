package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// linksDuckDB returns what links DuckDB, with the reason: packages, and the test
// binaries (.test) that get it from neither their package nor server/servertest.
// Everything else builds and tests without the C++ library.
func linksDuckDB() map[string]string {
	return map[string]string{
		"analytics/duck":                       "imports the driver",
		"analytics/trialstore":                 "trials in DuckDB",
		"server/channel/trafficdb":             "events in DuckDB",
		"server/channel/trafficdb/traffictest": "a trafficdb for tests",
		"server/channel/reporter":              "queries trafficdb",
		"publish":                              "reads trials, writes Parquet",
		"publish/audit":                        "recomputes a snapshot",
		"publish/bundle":                       "writes Parquet",
		"cmd/cli":                              "has all commands",
		"cmd/evalwork":                         "writes bundles",
		"cmd/firstpick":                        "has all commands",
		"cmd/firstpick/readme.test":            "runs the commands of the pages",
		"server/app":                           "opens trafficdb",
		"server/servertest":                    "starts server/app",
	}
}

// TestOnlyThesePackagesLinkDuckDB compares the list with the dependencies of every
// package and every test binary.
func TestOnlyThesePackagesLinkDuckDB(t *testing.T) {
	want, got := linksDuckDB(), map[string]bool{}
	for _, p := range goList(t, "-test", "-json=ImportPath,Deps", module+"...") {
		name := strings.TrimPrefix(p.ImportPath, module)
		if strings.Contains(name, " [") { // a package as a test binary compiles it
			continue
		}
		links := slices.ContainsFunc(p.Deps, func(d string) bool { return strings.HasPrefix(d, "github.com/duckdb/duckdb-go/v2") })
		tested, isTest := strings.CutSuffix(name, ".test")
		through := want[tested] != "" || want["server/servertest"] != "" && slices.Contains(p.Deps, module+"server/servertest")
		if links && (!isTest || !through) {
			got[name] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("packages that link DuckDB (- the list, + the dependencies):\n%s", diff)
	}
}
