package evalpages

import (
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// Limits of a page of a trial; the download is complete.
const (
	textShown     = 200_000 // bytes of the answer
	commandsShown = 200
	commandShown  = 2_000 // bytes of one
	filesShown    = 60
	linesShown    = 400 // of a file
	lineShown     = 2_000
	sourcesShown  = 200
)

type commandRow struct {
	Text []piece
	Exit string // empty for 0
}

// A sourceRow is a page of the web that the agent found or opened.
type sourceRow struct {
	URL    string
	Opened bool
}

type fileRow struct {
	Path  string
	Deps  []piece // that it names now and did not before
	Lines []fileLine
	Left  int
}

type fileLine struct {
	Number int
	Text   []piece
}

// in returns the quotes of one part of an answer.
func in(quotes []quote, part string, fits func(*trialset.Evidence) bool) []quote {
	var out []quote
	for _, q := range quotes {
		if q.In == part && fits(q.Evidence) {
			out = append(out, q)
		}
	}
	return out
}

func anywhere(*trialset.Evidence) bool { return true }

// answer fills in the answer of the agent, with the evidence marked.
func (d *traceData) answer(a *trialset.Answer, quotes []quote) {
	text, left := cut(a.FinalText, textShown)
	d.Text = markText(text, in(quotes, "finalText", anywhere))
	if left > 0 {
		d.TextLeft = chart.Whole(int64(left)) + " bytes"
	}
	if text := string(a.Structured); text != "" && text != "null" {
		text, _ = cut(text, textShown)
		d.Structured = markText(text, in(quotes, "structured", anywhere))
	}
	for i, c := range a.Commands[:min(len(a.Commands), commandsShown)] {
		text, _ := cut(c.Cmd, commandShown)
		row := commandRow{Text: markText(text, in(quotes, "commands", func(e *trialset.Evidence) bool { return e.Index == i }))}
		switch {
		case c.Exit == nil:
			row.Exit = "unknown"
		case *c.Exit != 0:
			row.Exit = strconv.Itoa(*c.Exit)
		}
		d.Commands = append(d.Commands, row)
	}
	d.CommandsLeft = len(a.Commands) - len(d.Commands)
	for i, f := range a.Files[:min(len(a.Files), filesShown)] {
		d.Files = append(d.Files, newFile(&f, in(quotes, "files", func(e *trialset.Evidence) bool { return e.Index == i })))
	}
	d.FilesLeft = len(a.Files) - len(d.Files)
	if l := a.Listing; l != nil {
		d.Study = visible(l.Source)
		d.Imports = markText(strings.Join(l.Imports, ", "), in(quotes, "listing", anywhere))
	}
	for _, s := range a.Sources[:min(len(a.Sources), sourcesShown)] {
		url, _ := cut(s.URL, lineShown)
		d.Sources = append(d.Sources, sourceRow{visible(url), s.Opened})
	}
	d.SourcesLeft = len(a.Sources) - len(d.Sources)
	if a.Stop != "" {
		d.Stop = of(stops(), a.Stop)
	}
	for _, n := range a.Notes {
		d.Notes = append(d.Notes, visible(n))
	}
}

func newFile(f *trialset.FileChange, quotes []quote) fileRow {
	row := fileRow{Path: visible(f.Path)}
	if len(f.AddedDeps) > 0 {
		row.Deps = markText(strings.Join(f.AddedDeps, ", "), in(quotes, "files", func(e *trialset.Evidence) bool { return e.Kind == "manifest" }))
	}
	for n, line := range f.Added {
		var here []quote
		for _, q := range quotes {
			if q.Line == n+1 || q.Line == 0 && q.Quote != "" && strings.Contains(line, q.Quote) {
				here = append(here, q)
			}
		}
		if n >= linesShown && len(here) == 0 { // evidence is always shown
			row.Left++
			continue
		}
		text, _ := cut(line, lineShown)
		row.Lines = append(row.Lines, fileLine{n + 1, markText(text, here)})
	}
	return row
}

// link leads from the list of evidence to the marks that are on the page.
func (d *traceData) link() {
	shown := map[int]bool{}
	look := func(pieces []piece) {
		for _, p := range pieces {
			for i, m := range p.Marks {
				p.Marks[i].First = m.First && !shown[m.Number] // ids are unique
				shown[m.Number] = true
			}
		}
	}
	look(d.Text)
	look(d.Structured)
	look(d.Imports)
	for _, c := range d.Commands {
		look(c.Text)
	}
	for _, f := range d.Files {
		look(f.Deps)
		for _, l := range f.Lines {
			look(l.Text)
		}
	}
	for i := range d.Evidence {
		if e := &d.Evidence[i]; shown[e.Number] {
			e.Link = "#e" + strconv.Itoa(e.Number)
		}
	}
}
