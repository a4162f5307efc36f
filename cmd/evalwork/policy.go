package evalwork

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/templates"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/incumbent"
	"github.com/firstpick/firstpick/runner/project"
	"github.com/firstpick/firstpick/runner/provider"
	"github.com/firstpick/firstpick/server/evals/evals"
)

const (
	defaultMaxTrials  = 100_000 // of a run
	defaultMaxTimeout = 15 * time.Minute
	// maxAgents limits the time to check a short eval.
	maxAgents = 200
	// maxModel limits the model's name, in bytes: every progress event repeats it.
	maxModel = 200
)

// A Policy is what the operator allows in evals of workspaces. The zero Policy is safe
// for untrusted workspaces.
type Policy struct {
	// Programs lets agents be programs on the worker's machine.
	Programs bool
	// Private allows agents at private addresses and over http without TLS.
	Private bool
	// elsewhere is for evals of runs that were made elsewhere: what does not run here needs no
	// rule, but that the check itself reads no file.
	elsewhere bool
	// MaxTimeout limits the timeout of a request to a model; 0 means 15 minutes.
	MaxTimeout time.Duration
	// MaxTrials is the most trials of a run; 0 means 100,000.
	MaxTrials int
}

// problems collects the issues of an eval.
type problems struct {
	eval *eval.Eval
	list []evals.Issue
}

// add notes a problem at a key; see eval.Eval.Line.
func (p *problems) add(key, format string, args ...any) {
	p.list = append(p.list, evals.Issue{Line: p.eval.Line(key), Message: fmt.Sprintf(format, args...)})
}

// check reports what a local run allows and this service does not.
func (p Policy) check(e *eval.Eval, wrong *problems) {
	if most := cmp.Or(p.MaxTrials, defaultMaxTrials); e.Trials() > most {
		wrong.add("repeats", "%d trials; a run has at most %d here: use fewer prompts, agents or repeats", e.Trials(), most)
	}
	if len(e.Agents) > maxAgents {
		wrong.add("agents", "%d agents; an eval has at most %d here", len(e.Agents), maxAgents)
	}
	for _, condition := range e.Templates {
		name, tool := incumbent.Split(condition)
		if tool.Slug != "" && (e.Incumbent == nil || tool != *e.Incumbent) {
			name = condition // written so in the file
		}
		own := slices.ContainsFunc(e.Sources, func(s project.Source) bool { return s.Name == name }) // see below
		if name != eval.NoTemplate && !own && !slices.Contains(templates.Names(), name) {
			wrong.add("templates", "template %q is unknown; %s", name, nearest.Hint(name, templates.Names())) // as eval.Lint
		}
	}
	if len(e.Sources) > 0 && !p.elsewhere {
		wrong.add("templates", "own templates are not allowed on this service; use %s, or run the eval with firstpick run", eval.NoTemplate)
	}
	p.checkBuilds(e, wrong)
	for i := range e.Agents {
		p.checkAgent(&e.Agents[i], func(key, format string, args ...any) {
			at := fmt.Sprintf("agents.%d", i)
			if key != "" {
				at += "." + key
			}
			wrong.add(at, "agent %s: "+format, append([]any{e.Agents[i].Name}, args...)...)
		})
	}
}

// checkBuilds allows a command where programs are allowed.
func (p Policy) checkBuilds(e *eval.Eval, wrong *problems) {
	most := cmp.Or(p.MaxTimeout, defaultMaxTimeout)
	switch {
	case e.Builds == nil || p.elsewhere:
	case !p.Programs:
		wrong.add("builds", "builds is not allowed on this service, which runs no programs; remove it, or run the eval with firstpick run")
	case time.Duration(e.Builds.TimeoutS)*time.Second > most:
		wrong.add("builds", "builds: timeout_s must be at most %d here (got %d)", int(most.Seconds()), e.Builds.TimeoutS)
	}
}

func (p Policy) checkAgent(a *eval.Agent, fail func(key, format string, args ...any)) {
	switch {
	case a.File != "":
		fail("file", "file is not allowed on this service; use study, or import the file with firstpick import")
	case p.elsewhere && len(a.Model) <= maxModel:
		return
	case a.Kind == eval.KindCommand:
		fail("kind", "command is not allowed on this service; use a model behind an API")
	case a.IsProgram() && !p.Programs:
		fail("kind", "programs are not allowed on this service; use a model behind an API, or run the eval with firstpick run")
	case a.IsProgram():
		for key, set := range map[string]bool{"binary": a.CLI.Binary != "", "args": len(a.CLI.Args) > 0, "env": len(a.CLI.Env) > 0} {
			if set {
				fail(key, "%s is not allowed on this service; remove it", key)
			}
		}
		for key, c := range map[string]struct{ wants, most int }{
			"memory_mb": {a.CLI.MemoryMB, cliagent.DefaultMemoryMB}, "disk_mb": {a.CLI.DiskMB, cliagent.DefaultDiskMB},
			"max_processes": {a.CLI.MaxProcesses, cliagent.DefaultProcesses},
		} {
			if c.wants > c.most {
				fail(key, "%s must be at most %d here (got %d)", key, c.most, c.wants)
			}
		}
	}
	if len(a.Model) > maxModel {
		fail("model", "the model's name has %d bytes; at most %d are allowed", len(a.Model), maxModel)
	}
	if most := cmp.Or(p.MaxTimeout, defaultMaxTimeout); time.Duration(a.TimeoutS)*time.Second > most {
		fail("timeout_s", "timeout_s must be at most %d here (got %d)", int(most.Seconds()), a.TimeoutS)
	}
	if a.APIKeyEnv != "" && !evals.ProviderKeyName(a.APIKeyEnv) {
		fail("api_key_env", "%s is not a valid name of a provider key: use capital letters, digits and _, ending in _KEY, _TOKEN or _SECRET", a.APIKeyEnv)
	}
	address := a.BaseURL
	if a.IsModel() {
		address = provider.BaseURL(*a)
	}
	if u, err := url.Parse(address); !p.Private && address != "" && (err != nil || u.Scheme != "https") {
		fail("base_url", "base_url must be a public https URL (got %s)", address)
	}
}
