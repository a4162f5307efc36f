package gather

import (
	"encoding/json"
	"slices"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func (t *Trial) entry() trialset.Entry {
	kind := trialset.Excluded
	if t.Valid {
		kind = string(t.outcome)
	}
	return trialset.Entry{
		ID: t.ID, Agent: t.Agent, Prompt: t.Prompt, Template: t.Template, Repeat: t.repeat,
		Outcome: kind, Picked: t.picked, Mismatch: t.mismatch, Unresolved: t.unresolved, CostUSD: t.costUSD, WallMS: max(0, t.wallMS),
	}
}

// trace returns a trial as its owner reads it.
func (g *Run) trace(t *Trial, a *journal.Answer, r *pick.Result) *trialset.Trace {
	tr := &trialset.Trace{
		Entry: t.entry(), PromptText: g.prompts[t.Prompt], Attempt: t.attempt, Attempts: append([]trialset.Attempt{}, t.failed...),
	}
	if !t.Valid {
		tr.Reason = t.Excluded
		return tr
	}
	tr.FinishedAt, tr.Answer, tr.Result = &t.At, encodeAnswer(a), encodeResult(r, &a.Transcript)
	return tr
}

func encodeResult(r *pick.Result, t *transcript.Transcript) *trialset.Result {
	out := &trialset.Result{
		Shortlist: list(r.Shortlist), Rejected: list(r.Rejected), Say: r.Say, Method: string(r.Method), Level: r.Level,
		Rule: r.Rule, FirstNamed: r.FirstNamed, Language: r.Language,
		Evidence: []trialset.Evidence{}, Extractor: r.Extractor, Catalog: r.Catalog,
	}
	for _, d := range r.Details { // of an import they may be any text
		if !slices.Contains(pick.DetailNames(), d.Name) || slices.Contains(out.Details, string(d.Name)) {
			continue
		}
		out.Details = append(out.Details, string(d.Name))
	}
	for _, e := range r.Evidence {
		out.Evidence = append(out.Evidence, placed(e, t))
	}
	return out
}

func encodeAnswer(a *journal.Answer) *trialset.Answer {
	t := &a.Transcript
	out := &trialset.Answer{
		FinalText: t.FinalText, Commands: []trialset.Command{}, Files: []trialset.FileChange{}, Structured: t.Structured, Stop: string(t.Stop),
		Notes: list(a.Notes), Model: a.Model, Manifest: a.Manifest, Tokens: encodeTokens(a),
	}
	if len(out.Structured) == 0 {
		out.Structured = json.RawMessage("null")
	}
	for _, c := range t.Commands {
		out.Commands = append(out.Commands, trialset.Command(c))
	}
	for _, s := range t.Sources {
		out.Sources = append(out.Sources, trialset.Source(s))
	}
	for _, f := range t.Diff {
		out.Files = append(out.Files, trialset.FileChange{Path: f.Path, AddedDeps: list(f.AddedDeps), Added: list(f.Added)})
	}
	if l := t.Listing; l != nil {
		out.Listing = encodeListing(l)
	}
	return out
}

func encodeListing(l *transcript.Listing) *trialset.Listing {
	return &trialset.Listing{Source: l.Source, Ecosystem: l.Ecosystem, Imports: list(l.Imports), Record: (*trialset.Record)(l.Record)}
}

func encodeTokens(a *journal.Answer) *trialset.Tokens {
	switch u := a.Usage; {
	case u != nil:
		return &trialset.Tokens{
			Input: u.In(), CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
			Output: u.Output, Reasoning: u.Reasoning, Searches: u.Searches,
		}
	case a.InTokens != 0 || a.OutTokens != 0:
		return &trialset.Tokens{Input: a.InTokens, Output: a.OutTokens}
	default:
		return nil
	}
}

// list returns v, or an empty list for nil: JSON then has [] instead of null.
func list(v []string) []string { return append([]string{}, v...) }
