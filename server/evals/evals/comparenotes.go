package evals

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/publish/bundle/format"
)

// The codes of notes.
const (
	noteNoTrials  = "no_trials"
	noteUnpaired  = "unpaired"
	notePrompts   = "prompts"
	noteTemplates = "templates"
	noteAgents    = "agents"
	noteAgent     = "agent_changed"
	noteCatalog   = "catalog"
	noteExtractor = "extractor"
	noteCoverage  = "coverage"
	noteSynthetic = "synthetic"
)

// addNotes adds the other differences between two runs, and their effect on the
// comparison.
func addNotes(c *Comparison, base, run *measured) {
	c.Notes = []Note{}
	add := func(when bool, code, format string, args ...any) {
		if when {
			c.Notes = append(c.Notes, Note{Code: code, Message: fmt.Sprintf(format, args...)})
		}
	}
	was, is := base.manifest, run.manifest
	none := base.side.NTrials == 0 || run.side.NTrials == 0
	add(none, noteNoTrials, "One of the runs has no valid trial, so there is nothing to compare.")
	add(!none && !c.Paired, noteUnpaired,
		"Fewer than 10 prompts are in both runs, so whole rates are compared; a change must be larger to show.")
	before, now := c.OnlyInBase, c.OnlyInRun
	add(len(before.Prompts)+len(now.Prompts) > 0, notePrompts, "%d prompts of the base and %d of the run are not in the other with the same text.", len(before.Prompts), len(now.Prompts))
	add(!slices.Equal(was.Eval.Templates, is.Eval.Templates), noteTemplates, "The agents began with other projects: %s before, %s now.", words(was.Eval.Templates), words(is.Eval.Templates))
	add(len(before.Agents)+len(now.Agents) > 0, noteAgents, "The runs asked other agents; only in the base: %s; only in the run: %s.", words(before.Agents), words(now.Agents))
	for _, a := range c.Agents {
		add(len(a.Changed) > 0, noteAgent, "The agent %s changed: %s.", a.Agent, strings.Join(a.Changed, ", "))
	}
	add(otherCatalog(was, is), noteCatalog, "The catalogue changed%s; only in the base: %s; only in the run: %s.", ownVersions(base.side, run.side), words(before.Tools), words(now.Tools))
	add(was.Extractor != is.Extractor, noteExtractor, "The answers were read by other rules: extractor %s before, %s now.", was.Extractor, is.Extractor)
	add(math.Abs(base.side.Coverage-run.side.Coverage) >= 0.01, noteCoverage,
		"Of the planned trials %.0f %% were answered in the base and %.0f %% in the run.", 100*base.side.Coverage, 100*run.side.Coverage)
	add(was.Synthetic != is.Synthetic, noteSynthetic, "One of the runs asked simulated agents.")
}

// otherCatalog reports whether answers of two runs were read with different entries of
// their category. Runs with an own catalogue know the version of the category alone.
func otherCatalog(was, is *format.Manifest) bool {
	if was.CategoryVersion != "" && is.CategoryVersion != "" {
		return was.CategoryVersion != is.CategoryVersion
	}
	return was.Catalog != is.Catalog
}

// ownVersions names the versions of the own catalogue of two runs, where they differ.
func ownVersions(base, run Side) string {
	version := func(n int) string {
		if n == 0 {
			return "no own one"
		}
		return fmt.Sprintf("own version %d", n)
	}
	if base.CatalogVersion == run.CatalogVersion {
		return ""
	}
	return " (" + version(base.CatalogVersion) + " before, " + version(run.CatalogVersion) + " now)"
}

// changed lists the differences of an agent at the end of two runs. It ignores the
// price table, which does not affect responses.
func changed(was, is *format.Manifest, agent string) []string {
	a, ok1 := last(was, agent)
	b, ok2 := last(is, agent)
	out := []string{}
	if !ok1 || !ok2 {
		return out
	}
	for _, f := range []struct {
		name    string
		was, is any
	}{
		{"kind", a.Kind, b.Kind}, {"model", a.Model, b.Model}, {"endpoint", a.Endpoint, b.Endpoint}, {"version", a.Version, b.Version},
		{"program", a.Binary, b.Binary}, {"arguments", a.Args, b.Args}, {"environment", a.Env, b.Env}, {"web search", a.Web, b.Web},
		{"network", a.Network, b.Network}, {"sandbox", a.Sandbox, b.Sandbox}, {"setup", a.Purity, b.Purity}, {"sign-in", a.Auth, b.Auth},
		{"parameters", a.Parameters, b.Parameters}, {"templates", a.Templates, b.Templates},
	} {
		if fmt.Sprint(f.was) == fmt.Sprint(f.is) { // maps are printed in the order of their keys
			continue
		}
		if f.name == "model" || f.name == "version" {
			f.name += fmt.Sprintf(" %v (was %v)", f.is, f.was)
		}
		out = append(out, f.name)
	}
	return out
}

// last is the manifest of an agent at the end of a run.
func last(m *format.Manifest, agent string) (format.AgentManifest, bool) {
	for _, a := range m.Agents {
		if n := len(a.Manifests); a.Name == agent && n > 0 {
			return a.Manifests[n-1], true
		}
	}
	return format.AgentManifest{}, false
}

// words is a list for a sentence.
func words(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
