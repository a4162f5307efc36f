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
		"modernc.org/sqlite":             {"server/store/state"},
		"github.com/jackc/pgx/v5":        {"server/store/state", "runner/queue"},
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
			traffic := name == "server/channel/trafficdb" && ours == "analytics/duck" // it has a file of its own
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
		{"server/kit/reqctx", "server/store/identity", "server/kit/secret", "server/kit/safehttp", "server/channel/setup", "server/kit/chart", "server/kit/sse", "server/kit/sunset", "server/kit/route"},
		{"server/kit/apierr", "server/channel/event", "server/channel/attribution"},
		{"server/kit/reqbody"},
		{"server/kit/render", "server/store/state", "server/auth/trust", "server/kit/mail", "server/channel/agentid"},
		{"server/store/quota", "server/public/snapshotview", "server/evals/bundle", "server/channel/sitecheck", "server/auth/keyring", "server/channel/trafficdb", "server/channel/traffic"},
		{"server/auth/registrations", "server/auth/session", "server/channel/collect", "server/channel/reporter", "server/channel/download", "server/channel/alert", "server/channel/sites", "server/evals/evals", "server/public/tools"},
		{"server/console/layout", "server/public/docs"},
		{"server/public/readapi", "server/public/pages", "server/public/openapi", "server/auth/discovery", "server/auth/authapi", "server/auth/signin", "server/auth/claimpage", "server/channel/collectapi", "server/public/docsite", "server/console/dashboard", "server/evals/evalapi", "server/console/evalpages", "server/evals/billing", "server/public/mcp", "server/public/wellknown"},
		{"server"},
	}
	return slices.IndexFunc(steps, func(step []string) bool { return slices.Contains(step, name) })
}
