package evalwork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/forecast"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/agents"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/server/evals/evals"
)

// evalName and catalogName are the file names of an eval and of an own catalogue in error
// messages.
const (
	evalName    = "eval"
	catalogName = "catalogue"
)

const (
	// maxIssues limits the issues in a response: a short eval can have an error in
	// every few bytes.
	maxIssues = 200
	// maxDoubts limits the warnings about prompts.
	maxDoubts = 20
	// maxShown is how much of a description lists show, in characters.
	maxShown = 1000
)

// A Checker validates evals for a server; see evals.Checker. It starts no programs, and sends
// no requests but to read the site of a product.
type Checker struct {
	Catalog *catalog.Catalog
	Prices  *prices.Table
	Policy  Policy
	Sites   Sites
}

// CheckPushed implements evals.PushChecker.
func (c *Checker) CheckPushed(source []byte) (evals.Checked, []evals.Issue) {
	pushed := *c
	pushed.Policy.elsewhere = true
	return pushed.Check(source)
}

// Check returns the parsed eval, or all its issues.
func (c *Checker) Check(source []byte) (evals.Checked, []evals.Issue) {
	e, keys, built, issues := c.read(source)
	names := slices.Sorted(maps.Keys(keys))
	if len(issues) > 0 {
		return evals.Checked{}, atMost(issues)
	}
	digest, err := bundle.EvalDigest(*e)
	if err != nil {
		return evals.Checked{}, []evals.Issue{{Message: err.Error()}}
	}
	category, _ := c.Catalog.Category(e.Category)
	f := forecast.Of(forecast.Input{Eval: e, Agents: built, Tools: len(category.Entries)})
	out := evals.Checked{Name: e.Name, Digest: digest, Summary: evals.Summary{
		Category: e.Category, Description: clip(e.Description, maxShown), Prompts: len(e.Prompts), Templates: e.Templates, Repeats: e.Repeats, Trials: e.Trials(),
		Synthetic: e.Synthetic(), ProviderKeys: append([]string{}, names...), KeyHosts: keys, WorstUSD: f.WorstUSD,
	}}
	out.Took = f.Duration()
	if f.Expected != nil {
		out.ExpectedUSD = &f.Expected.USD
	}
	for _, a := range e.Agents {
		out.Agents = append(out.Agents, evals.AgentSummary{Name: a.Name, Kind: a.Kind, Model: a.Model})
	}
	if out.Synthetic {
		out.Warnings = append(out.Warnings, "An agent is simulated: its answers are invented, and all figures are marked as synthetic.")
	}
	out.Warnings = append(out.Warnings, doubts(e, category)...)
	if out.Detectable = f.Power.Detectable; out.Detectable == nil {
		out.Warnings = append(out.Warnings, "These prompts cannot show that one tool is picked more often than another. Take more prompts.")
	}
	return out, nil
}

// Overlay returns a checker whose catalogue has a workspace's own entries, and that
// catalogue; or the issues of the entries.
func (c *Checker) Overlay(own []byte) (evals.Checker, *catalog.Catalog, []evals.Issue) {
	merged, err := overlay(c.Catalog, own)
	if err != nil {
		return nil, nil, atMost(issuesOf(err))
	}
	return &Checker{Catalog: merged, Prices: c.Prices, Policy: c.Policy, Sites: c.Sites}, merged, nil
}

// overlay lays own entries over a catalogue; without entries it is the same.
func overlay(base *catalog.Catalog, own []byte) (*catalog.Catalog, error) {
	if len(own) == 0 {
		return base, nil
	}
	return base.Overlay(catalogName, own)
}

// atMost limits a list of issues.
func atMost(issues []evals.Issue) []evals.Issue {
	if more := len(issues) - maxIssues; more > 0 {
		return append(issues[:maxIssues:maxIssues], evals.Issue{Message: fmt.Sprintf("and %d more", more)})
	}
	return issues
}

// doubts returns what `firstpick lint` finds in the prompts of an eval that can be run.
func doubts(e *eval.Eval, category *catalog.Category) (out []string) {
	errs, warnings := e.LintStrict(category)
	for _, issue := range issuesOf(errors.Join(append(errs, warnings...)...)) {
		if len(out) == maxDoubts {
			return append(out, "The prompts have more problems; `firstpick lint` lists all.")
		}
		out = append(out, fmt.Sprintf("Line %d: %s.", issue.Line, issue.Message))
	}
	return out
}

// read parses an eval and builds its agents with placeholder keys. It returns the hosts
// of each key by key name, or the issues by line.
func (c *Checker) read(source []byte) (*eval.Eval, map[string][]string, map[string]agent.Agent, []evals.Issue) {
	if len(source) > evals.MaxSource {
		return nil, nil, nil, []evals.Issue{{Message: fmt.Sprintf("%d bytes; an eval has at most %d here", len(source), evals.MaxSource)}}
	}
	e, err := eval.Parse(evalName, source)
	wrong := &problems{eval: e, list: issuesOf(err)}
	if e == nil {
		return nil, nil, nil, wrong.list
	}
	category, known := c.Catalog.Category(e.Category)
	switch {
	case known:
		wrong.list = append(wrong.list, issuesOf(errors.Join(e.Lint(category)...))...)
	case err == nil:
		wrong.add("category", "no category %q in the catalogue; %s", e.Category, c.near(e.Category))
	}
	c.Policy.check(e, wrong)
	var keys map[string][]string
	var built map[string]agent.Agent
	if len(wrong.list) == 0 {
		keys, built = c.build(e, wrong)
	}
	sorting.StableFunc(wrong.list, func(a, b evals.Issue) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	return e, keys, built, slices.Compact(wrong.list)
}

// build builds the agents to find their costs and the keys that they look up. It
// returns the hosts of each key by key name.
func (c *Checker) build(e *eval.Eval, wrong *problems) (map[string][]string, map[string]agent.Agent) {
	keys := map[string][]string{}
	var at string
	lookUp := func(name string) string {
		if name == "PATH" {
			return ""
		}
		if i, found := slices.BinarySearch(keys[name], at); !found {
			keys[name] = slices.Insert(keys[name], i, at)
		}
		return "not-the-key"
	}
	deps := agents.Deps{
		Files: fixtures.Files(), Getenv: lookUp, Prices: c.Prices, Client: &http.Client{},
		Sleep: func(context.Context, time.Duration) error { return nil }, // no requests are sent
		Programs: func() (cliagent.Deps, error) {
			return cliagent.Deps{
				LookupEnv: func(name string) (string, bool) { v := lookUp(name); return v, v != "" },
				Root:      "/", Prices: c.Prices, Inert: true,
			}, nil
		},
	}
	built := map[string]agent.Agent{}
	for i, spec := range e.Agents {
		place := fmt.Sprintf("agents.%d", i)
		at = destination(spec)
		one, err := agents.Build(spec, deps)
		if err == nil {
			built[spec.Name] = one
			if !c.Policy.elsewhere {
				err = runner.CheckBudget(e, map[string]agent.Agent{spec.Name: one}, 1) // every run has a budget
			}
		}
		if err != nil {
			wrong.add(place, "%s", err)
		}
	}
	return keys, built
}

func (c *Checker) near(slug string) string {
	names := map[string]string{}
	for _, k := range c.Catalog.Categories {
		names[k.Slug] = k.Slug
	}
	if near := nearest.Names(slug, names, 3); len(near) > 0 {
		return nearest.DidYouMean(near)
	}
	return "there are " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// issuesOf splits joined errors into issues.
func issuesOf(err error) []evals.Issue {
	var at *strictyaml.Error
	joined, many := err.(interface{ Unwrap() []error }) //nolint:errorlint // splits joined errors
	switch {
	case err == nil:
		return nil
	case many:
		var out []evals.Issue
		for _, one := range joined.Unwrap() {
			out = append(out, issuesOf(one)...)
		}
		return out
	case errors.As(err, &at):
		return []evals.Issue{{Line: at.Line, Message: at.Msg}}
	default:
		return []evals.Issue{{Message: err.Error()}}
	}
}
