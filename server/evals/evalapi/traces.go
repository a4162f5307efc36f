package evalapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// The sizes of pages of traces. Whole ones are long.
const (
	wholeRows    = 20
	maxWholeRows = 200
	maxShortRows = trialset.MaxPage
	pageBytes    = 4 << 20 // of whole traces; a longer trace is a page alone
)

// form is the prefix of ETags of traces. Change it with the format of the responses.
const form = "1."

// traces answers with the trials of a run: as a page of JSON, as lines, or as a
// Parquet file.
func (h *Handler) traces(c *call) error {
	values, err := c.query("agent", "outcome", "picked", "prompt", "limit", "cursor", "fields", "format")
	if err != nil {
		return err
	}
	media, err := formatOf(c.r, values)
	if err != nil {
		return err
	}
	b, release, err := h.Evals.Results(c.r.Context(), c.Actor, c.param("runId"))
	if err != nil {
		return err
	}
	defer release()
	f, err := filter(values, &b.Manifest)
	if err != nil {
		return err
	}
	switch media {
	case parquet:
		return c.parquet(b, values)
	case ndjson:
		return h.heavy(c, func() error { return c.lines(b, f, values) })
	}
	return h.page(c, b, f, values)
}

// page writes a page of traces, with or without the transcripts.
func (h *Handler) page(c *call, b *bundle.Bundle, f trialset.Filter, values url.Values) error {
	short := values.Get("fields") == "summary"
	size, most := wholeRows, maxWholeRows
	if short {
		size, most = pageRows, maxShortRows
	}
	limit, err := rows(values, size, most)
	if err != nil {
		return err
	}
	switch values.Get("fields") {
	case "", "full", "summary":
	default:
		return apierr.InvalidRequest("fields is full or summary.")
	}
	if short {
		p, err := b.Traces(c.r.Context(), f, values.Get("cursor"), limit)
		if err != nil {
			return unread(err)
		}
		return c.ok(struct {
			Traces []trialset.Entry `json:"traces"`
			Next   *string          `json:"nextCursor"`
		}{p.Traces, h.next(c, values, p.Next)})
	}
	return h.heavy(c, func() error { return h.whole(c, b, f, values, limit) })
}

// whole answers with a page of whole traces.
func (h *Handler) whole(c *call, b *bundle.Bundle, f trialset.Filter, values url.Values, limit int) error {
	p, err := b.FullPage(c.r.Context(), f, values.Get("cursor"), limit, pageBytes)
	if err != nil {
		return unread(err)
	}
	data, err := join(p.Traces, h.next(c, values, p.Next))
	if err != nil {
		return err
	}
	return c.send(data, digest(data))
}

// join is a page of whole traces, which are JSON and long: they are not read again.
func join(traces []json.RawMessage, next *string) ([]byte, error) {
	cursor, err := json.Marshal(next)
	if err != nil {
		return nil, err
	}
	b := []byte(`{"traces":[`)
	for i, trace := range traces {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, trace...)
	}
	return append(append(append(b, `],"nextCursor":`...), cursor...), "}\n"...), nil
}

// trace answers with one trial.
func (h *Handler) trace(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	b, release, err := h.Evals.Results(c.r.Context(), c.Actor, c.param("runId"))
	if err != nil {
		return err
	}
	defer release()
	return h.heavy(c, func() error {
		data, err := b.Trace(c.r.Context(), c.param("trialId"))
		if err != nil {
			return unread(err)
		}
		data = append(data, '\n')
		return c.send(data, digest(data))
	})
}

// filter parses the filter of trials. Unknown names are refused where all names are
// known, so that a misspelt name does not look like zero results.
func filter(values url.Values, m *format.Manifest) (trialset.Filter, error) {
	f := trialset.Filter{Agent: values.Get("agent"), Outcome: values.Get("outcome"), Picked: values.Get("picked"), Prompt: values.Get("prompt")}
	var agents, prompts []string
	for _, a := range m.Agents {
		agents = append(agents, a.Name)
	}
	for _, p := range m.Eval.Prompts {
		prompts = append(prompts, p.ID)
	}
	for _, check := range []struct {
		name, value string
		known       []string
	}{{"agent", f.Agent, agents}, {"prompt", f.Prompt, prompts}, {"outcome", f.Outcome, trialset.Outcomes()}} {
		if check.value != "" && !slices.Contains(check.known, check.value) {
			e := apierr.InvalidRequest("The run has no such " + check.name + "; suggestions names some that there are.")
			if check.name == "outcome" {
				e.Description = "outcome is one of " + strings.Join(check.known, ", ") + "."
			}
			e.Suggestions = check.known[:min(len(check.known), 5)]
			return f, e
		}
	}
	return f, nil
}

// unread converts an error of a bundle to its API error.
func unread(err error) error {
	switch {
	case errors.Is(err, trialset.ErrCursor):
		return apierr.BadBody("invalid_cursor", "The cursor is not of this list. Begin again without one.")
	case errors.Is(err, trialset.ErrNotFound):
		return &apierr.Error{
			Status: http.StatusNotFound, Code: "trial_not_found",
			Description: "This run has no such trial. GET /api/v1/runs/{runId}/traces?fields=summary lists them.",
		}
	}
	return &apierr.Error{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 60, Cause: err,
		Description: "The results of this run cannot be read on this server now. The request id finds the cause in its log.",
	}
}

// tag is the ETag of a response from an immutable bundle: a hash of the request.
func tag(b *bundle.Bundle, question ...any) (string, error) {
	text, err := json.Marshal(question)
	return form + b.ID + "." + digest(text), err
}
