package main

import (
	"slices"
	"strings"
	"testing"
)

const module = "github.com/firstpick/firstpick/"

// TestLayers checks the one rule of the layout, import only to your left, and
// the few that belong to it.
func TestLayers(t *testing.T) {
	layers := []string{"fixtures", "runner", "analytics", "publish", "server", "cmd"}
	hidden := []string{"runner", "analytics/trialstore", "analytics/duck", "publish"} // from the server
	owners := map[string][]string{
		"github.com/duckdb/duckdb-go/v2": {"analytics/duck"},
		"github.com/spf13/viper":         {"cmd/cli"},
		"github.com/spf13/cobra":         {"cmd/cli"},
		"charm.land/bubbletea/v2":        {"cmd/progress"},
		"modernc.org/sqlite":             {"server/state"},
		"github.com/jackc/pgx/v5":        {"server/state", "runner/queue"},
		"github.com/riverqueue/river":    {"runner/queue"},

		"github.com/prometheus/client_golang/prometheus": {"cmd/metrics"},
	}
	layer := func(path string) int {
		top, _, _ := strings.Cut(strings.TrimPrefix(path, module), "/")
		return slices.Index(layers, top)
	}
	for _, p := range goList(t, "-json=ImportPath,Imports", module+"...") {
		name := strings.TrimPrefix(p.ImportPath, module)
		if layer(p.ImportPath) < 0 {
			t.Errorf("%s lies outside the layers", name)
			continue
		}
		for _, imp := range p.Imports {
			ours, isOurs := strings.CutPrefix(imp, module)
			if isOurs && layer(imp) > layer(p.ImportPath) {
				t.Errorf("%s imports %s, which lies to its right", name, ours)
			}
			traffic := name == "server/trafficdb" && ours == "analytics/duck" // it has a file of its own
			if layers[layer(p.ImportPath)] == "server" && slices.Contains(hidden, ours) && !traffic {
				t.Errorf("%s imports %s; the server sees snapshots only", name, ours)
			}
			if allowed, owned := owners[imp]; owned && !slices.Contains(allowed, name) {
				t.Errorf("%s imports %s; only %v may", name, imp, allowed)
			}
			if isOurs && serverStep(name) >= 0 && serverStep(ours) >= serverStep(name) {
				t.Errorf("%s imports %s, which is not a step below it", name, ours)
			}
		}
	}
}

// serverStep is the step of a package inside the server: words, means, uses,
// routes, whole; -1 for packages elsewhere.
func serverStep(name string) int {
	steps := [][]string{
		{"server/reqctx", "server/identity", "server/secret", "server/outbound", "server/setup", "server/chart", "server/sse", "server/sunset", "server/tally", "server/route"},
		{"server/apierr", "server/event", "server/attribution"},
		{"server/reqbody"},
		{"server/web", "server/state", "server/trust", "server/mail", "server/agentid"},
		{"server/limit", "server/site", "server/bundle", "server/sitecheck", "server/keyring", "server/trafficdb", "server/traffic"},
		{"server/agents", "server/session", "server/collect", "server/reporter", "server/download", "server/alert", "server/sites", "server/evals", "server/toolset"},
		{"server/frame", "server/docs"},
		{"server/readapi", "server/pages", "server/openapi", "server/discovery", "server/agentapi", "server/signin", "server/claimpage", "server/collectapi", "server/docsite", "server/dashboard", "server/evalapi", "server/evalpages", "server/billing", "server/mcp", "server/directory"},
		{"server"},
	}
	return slices.IndexFunc(steps, func(step []string) bool { return slices.Contains(step, name) })
}
