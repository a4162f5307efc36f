package bundle

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// line returns a trial as its line of traces.zst.
func (g *gathered) line(t *plannedTrial) ([]byte, error) {
	tr, err := g.trace(t)
	if err != nil {
		return nil, fmt.Errorf("trial %s: %w", t.trial.ID, err)
	}
	line, err := content.JSON(tr)
	if err == nil && len(line) > format.LineBytes {
		err = fmt.Errorf("trial %s takes %d bytes; the limit is %d", tr.ID, len(line), format.LineBytes)
	}
	return line, err
}

func (g *gathered) trace(t *plannedTrial) (format.Trace, error) {
	tr := format.Trace{
		Entry: format.Entry{
			ID: t.trial.ID, Agent: t.trial.Agent, Prompt: t.trial.PromptID, Template: t.trial.Template, Repeat: t.trial.Repeat,
			Outcome: t.kind(), Picked: t.picked, Mismatch: t.mismatch, Unresolved: t.unresolved, CostUSD: t.costUSD, WallMS: max(0, t.wallMS),
		},
		PromptText: g.prompts[t.trial.PromptID], Attempt: t.attempt, Attempts: append([]format.Attempt{}, t.failed...),
	}
	if !t.valid {
		tr.Reason = t.excluded
		return tr, nil
	}
	tr.FinishedAt = &t.at
	var a journal.Answer
	var r pick.Result
	if err := errors.Join(g.buffer.get(t.answer, &a), g.buffer.get(t.result, &r)); err != nil {
		return tr, err
	}
	tr.Answer = encodeAnswer(&a)
	tr.Result = encodeResult(&r, &a.Transcript)
	return tr, nil
}

func encodeResult(r *pick.Result, t *transcript.Transcript) *format.Result {
	out := &format.Result{
		Shortlist: list(r.Shortlist), Rejected: list(r.Rejected), Say: r.Say, Method: string(r.Method), Level: r.Level,
		Rule: r.Rule, FirstNamed: r.FirstNamed, Language: r.Language,
		Evidence: []format.Evidence{}, Extractor: r.Extractor, Catalog: r.Catalog,
	}
	for _, e := range r.Evidence {
		out.Evidence = append(out.Evidence, placed(e, t))
	}
	return out
}

func encodeAnswer(a *journal.Answer) *format.Answer {
	t := &a.Transcript
	out := &format.Answer{
		FinalText: t.FinalText, Commands: []format.Command{}, Files: []format.FileChange{}, Structured: t.Structured, Stop: string(t.Stop),
		Notes: list(a.Notes), Model: a.Model, Manifest: a.Manifest, Tokens: encodeTokens(a),
	}
	if len(out.Structured) == 0 {
		out.Structured = json.RawMessage("null")
	}
	for _, c := range t.Commands {
		out.Commands = append(out.Commands, format.Command(c))
	}
	for _, s := range t.Sources {
		out.Sources = append(out.Sources, format.Source(s))
	}
	for _, f := range t.Diff {
		out.Files = append(out.Files, format.FileChange{Path: f.Path, AddedDeps: list(f.AddedDeps), Added: list(f.Added)})
	}
	if l := t.Listing; l != nil {
		out.Listing = &format.Listing{Source: l.Source, Ecosystem: l.Ecosystem, Imports: list(l.Imports)}
	}
	return out
}

func encodeTokens(a *journal.Answer) *format.Tokens {
	switch u := a.Usage; {
	case u != nil:
		return &format.Tokens{
			Input: u.In(), CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
			Output: u.Output, Reasoning: u.Reasoning, Searches: u.Searches,
		}
	case a.InTokens != 0 || a.OutTokens != 0:
		return &format.Tokens{Input: a.InTokens, Output: a.OutTokens}
	default:
		return nil
	}
}

// list returns v, or an empty list for nil: JSON then has [] instead of null.
func list(v []string) []string { return append([]string{}, v...) }

func encodeManifest(m journal.Manifest) format.AgentManifest {
	return format.AgentManifest{
		ID: m.ID(), Kind: m.Kind, Model: m.Model, Endpoint: m.Endpoint, Version: m.Version, Binary: m.Binary, Args: m.Args, Env: m.Env,
		Web: m.Web, Network: m.Network, Sandbox: m.Sandbox, Purity: m.Purity, Auth: m.Auth, Parameters: m.Parameters, Templates: m.Templates, Prices: m.Prices,
	}
}
