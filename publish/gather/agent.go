package gather

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/runner/journal"
)

// An Agent is what the journal says of an agent.
type Agent struct {
	// Manifests are as recorded, in the order of the run.
	Manifests []journal.Manifest

	spans   map[string]*Span  // by id of the manifest; empty for answers without one
	numbers map[string]string // of conditions, from 1, by id of the manifest
}

// A Span is the time from the first to the last answer, their number, and the models that
// the provider reported, sorted.
type Span struct {
	From, To time.Time
	Answers  int
	Models   []string
}

func (g *Run) agent(name string) *Agent {
	if g.Agents[name] == nil {
		g.Agents[name] = &Agent{spans: map[string]*Span{}}
	}
	return g.Agents[name]
}

// A Condition is a manifest under which there are answers; zero for those without one.
type Condition struct {
	journal.Manifest
	Span
}

// Conditions returns the conditions of the answers, in the order of the run.
func (a *Agent) Conditions() []Condition {
	var out []Condition
	a.numbers = map[string]string{}
	for _, m := range a.Manifests {
		id := m.ID()
		if s, ok := a.spans[id]; ok && a.numbers[id] == "" {
			out = append(out, Condition{m, *s})
			a.numbers[id] = strconv.Itoa(len(out))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.spans)) {
		if a.numbers[id] == "" {
			out = append(out, Condition{Span: *a.spans[id]})
			a.numbers[id] = strconv.Itoa(len(out))
		}
	}
	return out
}

// count counts an answer under its manifest; one that does not name it has the last.
func (a *Agent) count(answer *journal.Answer, at time.Time) {
	id := answer.Manifest
	if n := len(a.Manifests); id == "" && n > 0 {
		id = a.Manifests[n-1].ID()
	}
	s := a.spans[id]
	if s == nil {
		s = &Span{From: at, To: at}
		a.spans[id] = s
	}
	if at.Before(s.From) {
		s.From = at
	}
	if at.After(s.To) {
		s.To = at
	}
	s.Answers++
	if i, ok := slices.BinarySearch(s.Models, answer.Model); !ok && answer.Model != "" {
		s.Models = slices.Insert(s.Models, i, answer.Model)
	}
}
