package eval

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

// Builds is a command that runs in the work folder of a trial after the agent has ended, in the
// agent's sandbox and with its network. Its result changes no outcome.
type Builds struct {
	// Command is a line of shell.
	Command string `json:"command"`
	// TimeoutS limits its time, in seconds; 0 means DefaultBuildS.
	TimeoutS int `json:"timeout_s,omitempty"`
}

const (
	// DefaultBuildS is the default of Builds.TimeoutS.
	DefaultBuildS = 600
	maxBuild      = 4096 // bytes of the command
)

// parseBuilds reads a command, or a mapping of command and timeout.
func parseBuilds(n *strictyaml.Node) *Builds {
	if n == nil {
		return nil
	}
	b, at := &Builds{}, n
	if n.Scalar() {
		b.Command = n.String()
	} else {
		k := n.Keys("command", "timeout_s")
		b.Command, b.TimeoutS = require(n, k, "command"), k["timeout_s"].Int(0, 86_400)
		if k["command"] != nil {
			at = k["command"]
		}
	}
	switch {
	case strings.TrimSpace(b.Command) == "" && n.Scalar():
		at.Fail("builds is empty: want a command, such as npm test")
	case len(b.Command) > maxBuild || strings.ContainsRune(b.Command, 0):
		at.Fail("builds: want a command of at most %d bytes without zero bytes (got %d bytes)", maxBuild, len(b.Command))
	}
	return b
}

// setBuilds gives the command to the agents that work in a folder.
func (e *Eval) setBuilds(b *Builds) {
	e.Builds = b
	for i := range e.Agents {
		if e.Agents[i].CLI != nil {
			e.Agents[i].CLI.Builds = b
		}
	}
}

// lintBuilds returns an error if no agent works in a folder, and a warning for each one that
// does not.
func (e *Eval) lintBuilds() (errs, warnings []error) {
	if e.Builds == nil {
		return nil, nil
	}
	if !slices.ContainsFunc(e.Agents, func(a Agent) bool { return a.IsProgram() }) {
		return []error{e.fail(e.Line("builds"), "builds: no agent works in a folder; add an agent that is a program, such as kind %s, or remove builds", KindClaudeCode)}, nil
	}
	for _, a := range e.Agents {
		if !a.IsProgram() {
			warnings = append(warnings, e.fail(e.Line("builds"), "builds: agent %s (%s) does not work in a folder; its trials run no command", a.Name, a.Kind))
		}
	}
	return nil, warnings
}
