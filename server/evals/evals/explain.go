package evals

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// NoExplanation is the code of the error of results without explanations.
const NoExplanation = "no_explanation"

// maxSuggestions is how many near names an error carries.
const maxSuggestions = 5

// Explain returns why answers of a run did not pick a tool of its category, which is named
// by slug, name, domain or package. It is a 409 no_results for a run without results, a 404
// no_explanation for one of an older program, and a 404 tool_not_found with suggestions for
// an unknown tool.
func (s *Service) Explain(ctx context.Context, a Actor, runID, tool string) (*Explanation, error) {
	e, err := s.Explanations(ctx, a, runID)
	if err != nil {
		return nil, err
	}
	return e.Of(tool)
}

// Explanations returns why answers of a run did not pick each tool of its category, with
// the errors of Explain.
func (s *Service) Explanations(ctx context.Context, a Actor, runID string) (*Explanations, error) {
	b, release, err := s.Results(ctx, a, runID)
	if err != nil {
		return nil, err
	}
	defer release()
	e, err := b.Explanations()
	if errors.Is(err, bundle.ErrNoExplanations) {
		return nil, missing(NoExplanation, "The results of this run do not say why a tool was not picked: an older version of the program wrote them. Run the eval again; the results of the new run do.")
	} else if err != nil {
		return nil, s.unreadable(runID, b.ID, err)
	}
	return &Explanations{run: runID, Manifest: &b.Manifest, all: e}, nil
}

// Explanations are those of a run.
type Explanations struct {
	// Manifest is that of the results.
	Manifest *format.Manifest

	run string
	all *format.Explanations
}

// Tools returns those with an explanation, by slug.
func (e *Explanations) Tools() []catalog.Ref { return e.all.Tools }

// Reports returns the explanations in the order of Tools, without the id of the run.
func (e *Explanations) Reports() []Explanation { return e.all.Reports }

// Of returns the explanation of a tool. The error is a 404 tool_not_found.
func (e *Explanations) Of(tool string) (*Explanation, error) {
	index := catalog.NewIndex(e.all.Tools)
	ref, ok := index.Lookup(tool)
	i := slices.IndexFunc(e.all.Reports, func(r Explanation) bool { return r.Slug == ref.Slug })
	if !ok || i < 0 {
		return nil, apierr.ToolNotFound("The run measured no tool of this name. Names are matched exactly: slug, name, domain or package.", index.Suggest(strings.ToLower(tool), maxSuggestions))
	}
	r := e.all.Reports[i]
	r.Runs = []string{e.run}
	for _, g := range r.Reasons {
		for i := range g.Quotes {
			g.Quotes[i].Run = e.run
		}
	}
	return &r, nil
}

// Followed returns the slug of the tool that the workspace follows; empty if absent.
func (s *Service) Followed(ctx context.Context, a Actor) (string, error) {
	if err := a.may(ScopeRead); err != nil {
		return "", err
	}
	w, err := s.DB.Read().PickWatch(ctx, a.Workspace.ID)
	if err != nil {
		return "", s.fail(err)
	}
	return w.Tool, nil
}
