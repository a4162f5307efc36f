package gather

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/redact"
	"github.com/firstpick/firstpick/runner/transcript"
)

// A Policy is what of a trial is published. Published trials have no failed attempts and no
// number of the answered one, which depends on the publisher's network and machine; no
// reasons beyond their code; no texts of prompts; no notes of the runner. Cost and
// duration come with the answer.
type Policy struct {
	Level trialset.Level
	// Synthetic marks the trials of a run that asked simulated agents.
	Synthetic bool

	redact *redact.Redactor
	known  map[string]bool // slugs of the catalogue
}

// NewPolicy returns a policy that redacts keys, tokens and e-mail addresses by their
// shape. The runner does so too, but imported answers were never there.
func NewPolicy(level trialset.Level, synthetic bool, cat *catalog.Catalog) *Policy {
	p := &Policy{level, synthetic, redact.New(), map[string]bool{}}
	for _, c := range cat.Categories {
		for _, e := range c.Entries {
			p.known[e.Tool.Slug] = true
		}
		for _, o := range c.Outside {
			p.known[o.Slug] = true
		}
	}
	return p
}

// The most bytes of a published text. Longer ones are cut, with a note in the answer; a
// longer structured answer is left out, because half of it is no JSON.
const (
	mostQuote      = 4 << 10 // 300 bytes without markdown
	mostName       = 200     // of names in results, which imports may give freely
	mostList       = 200     // names in a list, pieces of evidence; not bytes
	mostStructured = 16 << 10
	mostText       = 64 << 10 // the final message
	mostActions    = 64 << 10 // commands and sources
	mostFiles      = 128 << 10
)

var publicCode = lazyregexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

func (p *Policy) trace(t *Trial, agent *Agent, a *journal.Answer, r *pick.Result) *trialset.Trace {
	tr := &trialset.Trace{Entry: t.entry(), Attempts: []trialset.Attempt{}, Synthetic: p.Synthetic}
	redacted, changed := &a.Transcript, false
	if p.Level != trialset.None {
		redacted, changed = p.transcript(redacted)
	}
	if changed {
		p.dropSecrets(&tr.Entry, r, &a.Transcript, redacted)
	}
	tr.Picked, r.Shortlist = p.Picked(tr.Outcome, tr.Picked, r.Shortlist)
	if p.Level != trialset.Full {
		tr.CostUSD, tr.WallMS = nil, 0
	}
	if !t.Valid {
		if tr.Reason = Code(t.Excluded); !publicCode.MatchString(tr.Reason) {
			tr.Reason = "other"
		}
		return tr
	}
	tr.FinishedAt, tr.Attempt = &t.At, 1
	published := redacted
	if p.Level == trialset.Full {
		cut := *a
		cut.Notes = nil
		published, cut.Notes = bounded(redacted)
		cut.Transcript, cut.Model = *published, p.Name(a.Model)
		cut.Manifest = agent.numbers[a.Manifest]
		tr.Answer = encodeAnswer(&cut)
	} else if l := redacted.Listing; p.Level == trialset.Quotes && l != nil && l.Record != nil { // a study published it before
		short, _ := bounded(&transcript.Transcript{Listing: redacted.Listing})
		tr.Listing = encodeListing(short.Listing)
	}
	tr.Result = p.result(r, redacted, published, changed)
	return tr
}

// result returns a result whose quotes are in redacted and whose places are in published.
func (p *Policy) result(r *pick.Result, redacted, published *transcript.Transcript, changed bool) *trialset.Result {
	public := *r
	if p.Level == trialset.None && r.Method == pick.MethodGiven { // of an import all may be free text
		public = pick.Result{Method: r.Method, Level: r.Level}
	}
	public.Shortlist, public.Rejected, public.Say, public.FirstNamed = r.Shortlist, p.tools(r.Rejected), p.tool(r.Say), p.tool(r.FirstNamed)
	public.Rule, public.Language = p.Name(public.Rule), p.Name(public.Language)
	public.Extractor, public.Catalog = p.Name(public.Extractor), p.Name(public.Catalog)
	evidence := public.Evidence[:min(len(public.Evidence), mostList)]
	public.Evidence = make([]pick.Evidence, 0, len(evidence))
	for _, e := range evidence {
		e.Tool, e.Kind, e.Path, e.Quote = p.tool(e.Tool), p.Name(e.Kind), p.redact.Text(e.Path), p.redact.Text(e.Quote)
		public.Evidence = append(public.Evidence, e)
	}
	out := encodeResult(&public, published)
	for i := range out.Evidence {
		e := &out.Evidence[i]
		// A quote may end within a secret that is no longer recognised by its part.
		if p.Level == trialset.None || changed && !contains(redacted, e.Quote) {
			e.Quote = ""
		}
		if p.Level == trialset.None {
			e.Path, e.Index, e.Line = "", 0, 0
		}
		if e.In == trialset.InFiles && e.Line > 0 {
			added := published.Diff[e.Index].Added
			if changed { // a private key of several lines is now one
				e.Line = 1 + slices.IndexFunc(added, func(l string) bool { return e.Quote != "" && strings.Contains(l, e.Quote) })
			}
			if e.Line > len(added) {
				e.In, e.Index = "", 0 // it was cut
			}
		}
		e.Quote, e.Path = cutText(e.Quote, mostQuote), cutText(e.Path, mostQuote)
	}
	return out
}

// transcript returns a redacted copy, and whether anything was found.
func (p *Policy) transcript(t *transcript.Transcript) (_ *transcript.Transcript, changed bool) {
	text := func(s string) string {
		out := p.redact.Text(s)
		changed = changed || out != s
		return out
	}
	lines := func(list []string) []string { // a private key takes several
		all := strings.Join(list, "\n")
		if out := text(all); out != all {
			return strings.Split(out, "\n")
		}
		return list
	}
	out := *t
	out.FinalText = text(t.FinalText)
	out.Commands, out.Sources, out.Diff = slices.Clone(t.Commands), slices.Clone(t.Sources), slices.Clone(t.Diff)
	for i := range out.Commands {
		out.Commands[i].Cmd = text(out.Commands[i].Cmd)
	}
	for i := range out.Sources {
		out.Sources[i].URL = text(out.Sources[i].URL)
	}
	for i := range out.Diff {
		f := &out.Diff[i]
		f.Path, f.Added, f.AddedDeps = text(f.Path), lines(f.Added), lines(f.AddedDeps)
	}
	if l := t.Listing; l != nil {
		out.Listing = &transcript.Listing{Source: text(l.Source), Ecosystem: text(l.Ecosystem), Imports: lines(l.Imports), Record: l.Record.Map(text)}
	}
	if len(t.Structured) > 0 {
		out.Structured = []byte(text(strings.ToValidUTF8(string(t.Structured), "\uFFFD")))
	}
	return &out, changed
}

// contains reports whether a text is anywhere in a transcript.
func contains(t *transcript.Transcript, s string) bool {
	return anyText(t, func(text string) bool { return strings.Contains(text, s) })
}

// anyText reports whether in holds for a text of the transcript.
func anyText(t *transcript.Transcript, in func(string) bool) bool {
	return in(t.FinalText) || in(string(t.Structured)) || slices.ContainsFunc(t.Commands, func(c transcript.Command) bool { return in(c.Cmd) }) ||
		slices.ContainsFunc(t.Diff, func(f transcript.FileChange) bool {
			return slices.ContainsFunc(f.Added, in) || slices.ContainsFunc(f.AddedDeps, in)
		}) || t.Listing != nil && slices.ContainsFunc(t.Listing.Imports, in)
}

// bounded returns a transcript of bounded size, and what is not in it.
func bounded(t *transcript.Transcript) (*transcript.Transcript, []string) {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	out := *t
	if out.FinalText = cutText(t.FinalText, mostText); len(out.FinalText) < len(t.FinalText) {
		note("Published: the first %d of %d bytes of the final message.", len(out.FinalText), len(t.FinalText))
	}
	if len(t.Structured) > mostStructured {
		out.Structured = nil
		note("Not published: the structured answer of %d bytes; the limit is %d.", len(t.Structured), mostStructured)
	}
	left := mostActions
	out.Commands = bound(t.Commands, &left, func(c transcript.Command) transcript.Command {
		c.Cmd = take(c.Cmd, &left)
		return c
	})
	out.Sources = bound(t.Sources, &left, func(s transcript.Source) transcript.Source {
		s.URL = take(s.URL, &left)
		return s
	})
	if left <= 0 {
		note("Published: the first %d bytes of commands and sources.", mostActions)
	}
	left = mostFiles
	line := func(s string) string { return take(s, &left) }
	out.Diff = bound(t.Diff, &left, func(f transcript.FileChange) transcript.FileChange {
		return transcript.FileChange{Path: take(f.Path, &left), AddedDeps: bound(f.AddedDeps, &left, line), Added: bound(f.Added, &left, line)}
	})
	if l := t.Listing; l != nil {
		out.Listing = &transcript.Listing{
			Source: take(l.Source, &left), Ecosystem: take(l.Ecosystem, &left), Imports: bound(l.Imports, &left, line),
			Record: l.Record.Map(func(s string) string { return cutText(s, mostQuote) }),
		}
	}
	if left <= 0 {
		note("Published: the first %d bytes of files.", mostFiles)
	}
	return &out, notes
}

// bound shortens each item until nothing is left of the budget.
func bound[T any](list []T, left *int, short func(T) T) []T {
	out := list[:0:0]
	for _, v := range list {
		if *left <= 0 {
			break
		}
		*left -= 16 // its JSON
		out = append(out, short(v))
	}
	return out
}

// take returns as much of a text as is left.
func take(s string, left *int) string {
	out := cutText(s, max(0, *left))
	*left -= len(s)
	return out
}

// cutText returns the first bytes of a text, whole characters.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
