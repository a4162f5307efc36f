package traceview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/publish/trialset"
)

// A Listing is what a study published of an answer without its text.
type Listing struct {
	Study   string
	Imports []Import
	Why     string // these imports have this outcome, in one sentence
	Record  *trialset.Record
	Commit  string // of the record, short
	// URL is the address of the record, Repository that of its repository without the scheme;
	// empty if unknown.
	URL, Repository string
}

// An Import is a library that the answer imported.
type Import struct {
	Name string
	// Role is what it is to the outcome: picked, rival or empty. Tool is its name in the list;
	// empty where it is not in the list.
	Role, Tool string
}

// Means says what an import is to the outcome.
func (i Import) Means() string {
	switch i.Role {
	case "picked":
		return i.Tool + ", the pick"
	case "rival":
		return i.Tool + ", a tool of this board"
	}
	return "not on this board"
}

// newListing returns the published listing of a trial; nil for any other answer.
func (v *View) newListing(t *trialset.Trace, named func(string) string) *Listing {
	l := t.Listing
	if l == nil && t.Answer != nil {
		l = t.Answer.Listing
	}
	if l == nil {
		return nil
	}
	out := &Listing{Study: Visible(l.Source)}
	for _, name := range l.Imports {
		row := Import{Name: Visible(name)}
		if slug := toolOf(t, name); slug != "" && slug == t.Picked && t.Outcome == "tool" {
			row.Role, row.Tool = "picked", named(slug)
		} else if t.Outcome != "other" && t.Result != nil && slices.Contains(t.Result.Shortlist, slug) {
			row.Role, row.Tool = "rival", named(slug)
		}
		out.Imports = append(out.Imports, row)
	}
	out.Why = out.reason(t, named)
	if l.Record != nil {
		r := *l.Record
		for _, s := range []*string{&r.Commit, &r.File, &r.SHA256, &r.Text, &r.Citation, &r.API, &r.Temperature, &r.System} {
			*s = Visible(*s)
		}
		out.Record, out.Commit = &r, string([]rune(r.Commit)[:min(shortCommit, len([]rune(r.Commit)))])
		if strings.HasPrefix(r.URL, "https://") && Visible(r.URL) == r.URL {
			out.URL = r.URL
			if repository, _, ok := strings.Cut(strings.TrimPrefix(r.URL, "https://"), "/blob/"); ok {
				out.Repository = repository
			}
		}
	}
	return out
}

const shortCommit = 7 // characters

// toolOf returns the tool that an import of a listing is evidence for.
func toolOf(t *trialset.Trace, name string) string {
	if t.Result == nil {
		return ""
	}
	for _, e := range t.Result.Evidence {
		if e.Kind == "listed" && e.Quote == name {
			return e.Tool
		}
	}
	return ""
}

// reason says why the imports have this outcome.
func (l *Listing) reason(t *trialset.Trace, named func(string) string) string {
	switch {
	case t.Outcome == "tool" && t.Result != nil && len(t.Result.Shortlist) < 2 && len(l.Imports) == 1:
		return fmt.Sprintf("%s counts as the pick: it is the only import.", named(t.Picked))
	case t.Outcome == "tool" && t.Result != nil && len(t.Result.Shortlist) < 2:
		return fmt.Sprintf("%s counts as the pick: no other import is a tool of this board.", named(t.Picked))
	case t.Outcome == "ambiguous":
		return "Two or more imports are tools of this board, so none counts as the pick."
	case len(l.Imports) == 0:
		return "No pick: the study lists no import beyond the standard library."
	case t.Outcome == "none" || t.Outcome == "other":
		return "No pick: no listed import is a tool of this board."
	}
	return ""
}
