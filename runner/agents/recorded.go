package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/fixtures/study"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/transcript"
)

func newRecorded(a eval.Agent, d Deps) (agent.Agent, error) {
	if a.File != "" {
		return openRecord(a)
	}
	s, err := study.Load(d.Files, a.Study)
	if err != nil {
		return nil, err
	}
	r := &studied{offline: newOffline(a), tasks: map[taskKey]studiedTask{}}
	for _, t := range s.Tasks {
		for _, m := range t.Models {
			if m.Name == a.Name {
				r.tasks[taskKey{t.Category, t.PromptID}] = studiedTask{t.RecordedAt, expand(t.Category, m)}
			}
		}
	}
	if len(r.tasks) == 0 {
		return nil, fmt.Errorf("study %s has no model of this name", a.Study)
	}
	r.model, r.study, r.ecosystem = a.Name, s.Name, s.Ecosystem
	return r, nil
}

// studied replays the answers of one model of a study.
type studied struct {
	offline
	model            string
	study, ecosystem string
	tasks            map[taskKey]studiedTask
}

type taskKey struct{ category, prompt string }

type studiedTask struct {
	at      time.Time
	answers [][]string // the imports of every answer
}

// expand expands counts of equal answers into a list. The study does not publish their
// order, so a hash decides: any prefix is a fair, reproducible sample.
func expand(category string, m study.Model) [][]string {
	type keyed struct {
		key     uint64
		index   int
		imports []string
	}
	var all []keyed
	for _, a := range m.Answers {
		for range a.Count {
			key := hash(0, category, m.Name, strconv.Itoa(len(all)))
			all = append(all, keyed{key, len(all), a.Imports})
		}
	}
	slices.SortFunc(all, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.index, b.index))
	})
	out := make([][]string, len(all))
	for i, a := range all {
		out[i] = a.imports
	}
	return out
}

func (r *studied) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) {
	if err := ctx.Err(); err != nil {
		return agent.Reply{}, err
	}
	task := r.tasks[taskKey{t.Trial.Category, t.Trial.PromptID}]
	n := t.Trial.Repeat
	if n < 1 || n > len(task.answers) {
		return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonNoAnswer, Err: fmt.Errorf("repeat %d of %d: %w", n, len(task.answers), errNoRecord)}
	}
	listing := &transcript.Listing{Source: r.study, Ecosystem: r.ecosystem, Imports: task.answers[n-1]}
	answer := journal.Answer{Model: r.model, Transcript: transcript.Transcript{Listing: listing}}
	return agent.Reply{Answer: answer, At: task.at}, nil
}
