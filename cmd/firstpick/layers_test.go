package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/firstpick/firstpick/"

// layout returns the places of packages, lowest first: the stages of the pipeline, and
// the groups of the server. A package imports only from its own place and lower ones.
func layout() []string {
	return []string{
		"fixtures", "runner", "analytics", "publish",
		"server/kit", "server/store", "server/channel", "server/auth", "server/evals", "server/console", "server/public", "server", "server/app", "server/servertest",
		"cmd",
	}
}

// hidden returns what the server must not import: it serves what was published.
func hidden() []string {
	return []string{"runner", "publish", "analytics/trialstore", "analytics/duck"}
}

// shown returns what the server may import all the same: the formats of the files that
// it reads.
func shown() []string { return []string{"publish/bundle/format", "publish/trialset"} }

// exceptions returns the imports that break a rule, each with its reason.
func exceptions() map[string]string {
	return map[string]string{
		"server/channel/trafficdb → analytics/duck":         "events have a DuckDB file of their own",
		"server/evals/bundle → runner/pick":                 "its cells hold outcomes",
		"server/public/snapshotview/sitetest → runner/pick": "a test helper that ranks outcomes",
		"server/servertest → runner/eval":                   "its checker of evals is that of the worker, without keys and prices",
		"server/servertest → runner/plan":                   "likewise",
		"cmd/bench → server/store/state/statetest":          "it measures the program on a PostgreSQL cluster of its own",
	}
}

// owners returns the modules that few packages may import.
func owners() map[string][]string {
	return map[string][]string{
		"github.com/duckdb/duckdb-go":         {"analytics/duck"},
		"github.com/spf13/viper":              {"cmd/cli"},
		"github.com/spf13/cobra":              {"cmd/cli"},
		"charm.land/bubbletea":                {"cmd/progress", "cmd/labeller"},
		"modernc.org/sqlite":                  {"server/store/state"},
		"github.com/jackc/pgx":                {"server/store/state", "runner/queue"},
		"github.com/riverqueue/river":         {"runner/queue"},
		"github.com/golang-jwt/jwt":           {"server/auth/keyring", "server/auth/trust"},
		"github.com/prometheus/client_golang": {"cmd/metrics"},
		"github.com/minio/minio-go":           {"publish/storage"},
	}
}

// within reports whether a package is a prefix or below it. The package server is not
// one of its groups: its own place has no packages below it.
func within(name, prefix string) bool {
	return name == prefix || prefix != "server" && strings.HasPrefix(name, prefix+"/")
}

func below(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return within(name, p) })
}

// isHelper reports whether a package is for tests: statetest, servertest/contract.
func isHelper(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return part != "test" && strings.HasSuffix(part, "test") })
}

// violations returns what is wrong with the imports of packages, in order. Test files
// do not count.
func violations(packages []listed, allowed map[string]string) []string {
	var out []string
	used := map[string]bool{}
	place := func(name string) int {
		return slices.IndexFunc(layout(), func(p string) bool { return within(name, p) })
	}
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module)
		if place(name) < 0 {
			out = append(out, fmt.Sprintf("%s: no stage or group of the layout", name))
			continue
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module)
			var rule string
			switch {
			case !ours:
				if owner := owned(path); owner != nil && !below(name, owner) {
					rule = fmt.Sprintf("only %v may", owner)
				}
			case place(imported) > place(name):
				rule = layout()[place(imported)] + " is above " + layout()[place(name)]
			case strings.HasPrefix(name+"/", "server/") && below(imported, hidden()) && !below(imported, shown()):
				rule = "the server sees published results only"
			case isHelper(imported) && !isHelper(name):
				rule = "it is for tests"
			}
			if edge := name + " → " + imported; rule != "" {
				if used[edge] = true; allowed[edge] == "" {
					out = append(out, edge+": "+rule)
				}
			}
		}
	}
	for _, edge := range slices.Sorted(maps.Keys(allowed)) {
		if !used[edge] {
			out = append(out, edge+": an exception that nothing needs")
		}
	}
	slices.Sort(out)
	return out
}

// owned returns the packages that may import a path; nil for a path that all may.
func owned(path string) []string {
	for prefix, names := range owners() {
		if strings.HasPrefix(path, prefix) {
			return names
		}
	}
	return nil
}

// TestLayers checks the imports of all packages.
func TestLayers(t *testing.T) {
	packages := goList(t, "-json=ImportPath,Imports", module+"...")
	if len(packages) < 100 {
		t.Fatalf("only %d packages", len(packages))
	}
	for _, v := range violations(packages, exceptions()) {
		t.Error(v)
	}
}

// TestArchitectureNamesPackages checks that ARCHITECTURE.md names every package but helpers
// of tests, and that the paths of packages in it exist.
func TestArchitectureNamesPackages(t *testing.T) {
	data, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(data), "## Files on disk")
	var names []string
	for _, p := range goList(t, "-json=ImportPath", module+"...") {
		name := strings.TrimPrefix(p.ImportPath, module)
		names = append(names, "/"+name)
		unnamed := []string{"cmd/firstpick/readme", "cmd/ship/bench", "cmd/agentcollect/bench", "server/channel/agentid/gen"} // tests and a generator
		if !isHelper(name) && !slices.Contains(unnamed, name) && !regexp.MustCompile(`\b`+path.Base(name)+`\b`).MatchString(text) {
			t.Errorf("%s is not named", name)
		}
	}
	for _, m := range regexp.MustCompile("`([a-z]+(/[a-z]+)+)`").FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, "/"+m[1]) }) {
			t.Errorf("%s is no package", m[1])
		}
	}
}

// TestViolationsAreFound plants an import at a time.
func TestViolationsAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		from, to string
		allowed  string
		want     []string
	}{
		"to the left":                    {"server/evals/evals", "server/store/state", "", nil},
		"within a group":                 {"server/channel/collectapi", "server/channel/collect", "", nil},
		"to the right":                   {"runner/journal", "analytics/stats", "", []string{"runner/journal → analytics/stats: analytics is above runner"}},
		"up a group":                     {"server/evals/evalapi", "server/public/snapshotview", "", []string{"server/evals/evalapi → server/public/snapshotview: server/public is above server/evals"}},
		"a group imports the server":     {"server/public/pages", "server", "", []string{"server/public/pages → server: server is above server/public"}},
		"the server imports its app":     {"server", "server/app", "", []string{"server → server/app: server/app is above server"}},
		"a hidden package":               {"server", "runner", "", []string{"server → runner: the server sees published results only"}},
		"below a hidden package":         {"server", "runner/journal", "", []string{"server → runner/journal: the server sees published results only"}},
		"of a group":                     {"server/console/dashboard", "publish/bundle", "", []string{"server/console/dashboard → publish/bundle: the server sees published results only"}},
		"the format of a file":           {"server/evals/bundle", "publish/trialset", "", nil},
		"of the assembly":                {"server/app", "analytics/trialstore", "", []string{"server/app → analytics/trialstore: the server sees published results only"}},
		"another name begins alike":      {"server/app", "analytics/ducks", "", nil},
		"an unlisted package":            {"server/extra", "server/kit/apierr", "", []string{"server/extra: no stage or group of the layout"}},
		"an unlisted stage":              {"tools", "fixtures", "", []string{"tools: no stage or group of the layout"}},
		"a helper of tests":              {"cmd/cli", "server/servertest/contract", "", []string{"cmd/cli → server/servertest/contract: it is for tests"}},
		"a helper in a helper":           {"server/servertest", "server/store/state/statetest", "", nil},
		"a driver":                       {"server/store/quota", "github.com/jackc/pgx/v5/pgxpool", "", []string{"server/store/quota → github.com/jackc/pgx/v5/pgxpool: only [server/store/state runner/queue] may"}},
		"its owner":                      {"server/store/state", "github.com/jackc/pgx/v5/pgxpool", "", nil},
		"a package of its owner":         {"server/store/state/statetest", "github.com/jackc/pgx/v5/stdlib", "", nil},
		"a neighbour of its owner":       {"cmd/clients", "github.com/spf13/cobra", "", []string{"cmd/clients → github.com/spf13/cobra: only [cmd/cli] may"}},
		"an exception":                   {"server", "runner/journal", "server → runner/journal", nil},
		"an exception for another":       {"server", "runner/merge", "server → runner/journal", []string{"server → runner/journal: an exception that nothing needs", "server → runner/merge: the server sees published results only"}},
		"an exception for what is right": {"cmd/cli", "runner", "cmd/cli → runner", []string{"cmd/cli → runner: an exception that nothing needs"}},
	} {
		t.Run(name, func(t *testing.T) {
			allowed := map[string]string{}
			if test.allowed != "" {
				allowed[test.allowed] = "a reason"
			}
			to := test.to
			if !strings.Contains(to, ".") {
				to = module + to
			}
			got := violations([]listed{{ImportPath: module + test.from, Imports: []string{"fmt", to}}}, allowed)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
