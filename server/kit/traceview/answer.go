package traceview

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

// A Command is a shell command of the agent.
type Command struct {
	Text []Piece
	Exit string // empty for 0
}

// A Source is a page of the web that the agent found or opened.
type Source struct {
	URL    string
	Opened bool
}

// A File is a changed file. Left counts the lines that are not shown.
type File struct {
	Path  string
	Deps  []Piece // that it names now and did not before
	Lines []Line
	Left  int
}

// A Line is an added line of a file.
type Line struct {
	Number int
	Text   []Piece
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
func (v *View) answer(a *trialset.Answer, quotes []quote) {
	text, left := cut(a.FinalText, textShown)
	v.Text = markProse(text, in(quotes, "finalText", anywhere), markup(text))
	if left > 0 {
		v.TextLeft = chart.Whole(int64(left)) + " bytes"
	}
	if text := string(a.Structured); text != "" && text != "null" {
		text, _ = cut(text, textShown)
		v.Structured = markText(text, in(quotes, "structured", anywhere))
	}
	for i, c := range a.Commands[:min(len(a.Commands), commandsShown)] {
		text, _ := cut(c.Cmd, commandShown)
		row := Command{Text: markText(text, in(quotes, "commands", func(e *trialset.Evidence) bool { return e.Index == i }))}
		switch {
		case c.Exit == nil:
			row.Exit = "unknown"
		case *c.Exit != 0:
			row.Exit = strconv.Itoa(*c.Exit)
		}
		v.Commands = append(v.Commands, row)
	}
	v.CommandsLeft = len(a.Commands) - len(v.Commands)
	for i, f := range a.Files[:min(len(a.Files), filesShown)] {
		v.Files = append(v.Files, newFile(&f, in(quotes, "files", func(e *trialset.Evidence) bool { return e.Index == i })))
	}
	v.FilesLeft = len(a.Files) - len(v.Files)
	for _, s := range a.Sources[:min(len(a.Sources), sourcesShown)] {
		url, _ := cut(s.URL, lineShown)
		v.Sources = append(v.Sources, Source{Visible(url), s.Opened})
	}
	v.SourcesLeft = len(a.Sources) - len(v.Sources)
	if a.Stop != "" {
		v.Stop = Of(stops(), a.Stop)
	}
	for _, n := range a.Notes {
		v.Notes = append(v.Notes, Visible(n))
	}
}

func newFile(f *trialset.FileChange, quotes []quote) File {
	row := File{Path: Visible(f.Path)}
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
		row.Lines = append(row.Lines, Line{n + 1, markText(text, here)})
	}
	return row
}

// link leads from the list of evidence to the marks that are on the page.
func (v *View) link() {
	shown := map[int]bool{}
	look := func(pieces []Piece) {
		for _, p := range pieces {
			for i, m := range p.Marks {
				p.Marks[i].First = m.First && !shown[m.Number] // ids are unique
				shown[m.Number] = true
			}
		}
	}
	look(v.Text)
	look(v.Structured)
	for _, c := range v.Commands {
		look(c.Text)
	}
	for _, f := range v.Files {
		look(f.Deps)
		for _, l := range f.Lines {
			look(l.Text)
		}
	}
	for i := range v.Evidence {
		if e := &v.Evidence[i]; shown[e.Number] {
			e.Link = "#e" + strconv.Itoa(e.Number)
		}
	}
}
