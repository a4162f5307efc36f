package cliagent

import "github.com/firstpick/firstpick/runner/eval"

// Host is where a program finds its model, and so where its key is meant to go, unless
// the eval names an address; empty where that is not known.
func Host(a eval.Agent) string {
	s, err := setupOf(a)
	if err != nil {
		return ""
	}
	return s.host
}
