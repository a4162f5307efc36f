package bundle

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// line returns a trial as its line of traces.zst.
func (g *gathered) line(t *held) ([]byte, error) {
	tr, err := g.trace(t)
	if err != nil {
		return nil, fmt.Errorf("trial %s: %w", t.trial.ID, err)
	}
	line, err := content.JSON(tr)
	if err == nil && len(line) > lineBytes {
		err = fmt.Errorf("trial %s takes %d bytes; at most %d are kept", tr.ID, len(line), lineBytes)
	}
	return line, err
}

func (g *gathered) trace(t *held) (Trace, error) {
	tr := Trace{
		ID: t.trial.ID, Agent: t.trial.Agent, Prompt: t.trial.PromptID, Template: t.trial.Template, Repeat: t.trial.Repeat,
		Outcome: t.kind(), Picked: t.picked, Mismatch: t.mismatch, CostUSD: t.costUSD, WallMS: max(0, t.wallMS),
		PromptText: g.prompts[t.trial.PromptID], Attempt: t.attempt, Attempts: append([]Attempt{}, t.failed...),
	}
	if !t.valid {
		tr.Reason = t.excluded
		return tr, nil
	}
	tr.FinishedAt = &t.at
	var a journal.Answer
	var r pick.Result
	if err := errors.Join(g.spool.get(t.answer, &a), g.spool.get(t.result, &r)); err != nil {
		return tr, err
	}
	tr.Answer = tellAnswer(&a)
	tr.Result = tellResult(&r, &a.Transcript)
	return tr, nil
}

func tellResult(r *pick.Result, t *transcript.Transcript) *Result {
	out := &Result{
		Shortlist: list(r.Shortlist), Rejected: list(r.Rejected), Say: r.Say, Method: string(r.Method), Level: r.Level,
		Evidence: []Evidence{}, Extractor: r.Extractor, Catalog: r.Catalog,
	}
	for _, e := range r.Evidence {
		out.Evidence = append(out.Evidence, placed(e, t))
	}
	return out
}

func tellAnswer(a *journal.Answer) *Answer {
	t := &a.Transcript
	out := &Answer{
		FinalText: t.FinalText, Commands: []Command{}, Files: []FileChange{}, Structured: t.Structured, Stop: string(t.Stop),
		Notes: list(a.Notes), Model: a.Model, Manifest: a.Manifest, Tokens: tellTokens(a),
	}
	if len(out.Structured) == 0 {
		out.Structured = json.RawMessage("null")
	}
	for _, c := range t.Commands {
		out.Commands = append(out.Commands, Command(c))
	}
	for _, s := range t.Sources {
		out.Sources = append(out.Sources, Source(s))
	}
	for _, f := range t.Diff {
		out.Files = append(out.Files, FileChange{f.Path, list(f.AddedDeps), list(f.Added)})
	}
	if l := t.Listing; l != nil {
		out.Listing = &Listing{l.Source, l.Ecosystem, list(l.Imports)}
	}
	return out
}

func tellTokens(a *journal.Answer) *Tokens {
	switch u := a.Usage; {
	case u != nil:
		return &Tokens{
			Input: u.In(), CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
			Output: u.Output, Reasoning: u.Reasoning, Searches: u.Searches,
		}
	case a.InTokens != 0 || a.OutTokens != 0:
		return &Tokens{Input: a.InTokens, Output: a.OutTokens}
	default:
		return nil
	}
}

// list is v, and an empty list for none: readers need not tell null from empty.
func list(v []string) []string { return append([]string{}, v...) }
