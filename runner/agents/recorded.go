package agents

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
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
				r.tasks[taskKey{t.Category, t.PromptID}] = studiedTask{t.RecordedAt, expand(s, &t, &m)}
			}
		}
	}
	if len(r.tasks) == 0 {
		return nil, fmt.Errorf("study %s has no model of this name", a.Study)
	}
	r.model = a.Name
	return r, nil
}

// studied replays the answers of one model of a study.
type studied struct {
	offline
	model string
	tasks map[taskKey]studiedTask
}

type taskKey struct{ category, prompt string }

type studiedTask struct {
	at      time.Time
	answers []*transcript.Listing
}

// expand expands counts of equal answers into a list. The study does not publish their
// order, so a hash decides: any prefix is a fair, reproducible sample.
func expand(s *study.Study, t *study.Task, m *study.Model) []*transcript.Listing {
	type keyed struct {
		key     uint64
		index   int
		listing *transcript.Listing
	}
	var all []keyed
	of := 0
	for _, a := range m.Answers {
		of += a.Count
	}
	for _, a := range m.Answers {
		l := listing(s, t, m, &a, of)
		for range a.Count {
			key := hash(0, t.Category, m.Name, strconv.Itoa(len(all)))
			all = append(all, keyed{key, len(all), l})
		}
	}
	sorting.Func(all, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.index, b.index))
	})
	out := make([]*transcript.Listing, len(all))
	for i, a := range all {
		out[i] = a.listing
	}
	return out
}

// listing is what the study published of equal answers, of all answers of a model to a task.
func listing(s *study.Study, t *study.Task, m *study.Model, a *study.Answers, of int) *transcript.Listing {
	l := &transcript.Listing{Source: s.Name, Ecosystem: s.Ecosystem, Imports: a.Imports}
	if a.Line > 0 {
		l.Record = &transcript.Record{
			URL: s.LineURL(t, a.Line), Commit: s.Commit, File: t.File, SHA256: t.SHA256, Line: a.Line, Text: a.Text(), Answers: a.Count, Of: of,
			Citation: s.Note(), API: m.API, Temperature: s.Temperature, System: s.SystemPrompt,
		}
	}
	return l
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
	answer := journal.Answer{Model: r.model, Transcript: transcript.Transcript{Listing: task.answers[n-1]}}
	return agent.Reply{Answer: answer, At: task.at}, nil
}
