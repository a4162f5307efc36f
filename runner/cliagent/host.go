package cliagent

import "github.com/firstpick/firstpick/runner/eval"

// Host returns the host of a program's model, which receives its key; empty if unknown.
func Host(a eval.Agent) string {
	s, err := setupOf(a)
	if err != nil {
		return ""
	}
	return s.host
}
