package views

// The tables of a tool's page show their first rows; the others are behind a click, as a page on a phone is long.
const (
	shownRows  = 3
	leastFolds = 2 // rows: one alone is shown
)

// A tableOf is a table of a tool's page, or its rows behind a click.
type tableOf[T any] struct {
	Name   string // accessible
	Noun   string // of the first column: agent or model
	Tool   string // the page's
	Other  string // the heading of the rivals
	Single bool   // one prompt
	Lines  []T
	Folded bool
}

// fold splits a table.
func fold[T any](t tableOf[T]) []tableOf[T] {
	if len(t.Lines) < shownRows+leastFolds {
		return []tableOf[T]{t}
	}
	rest := t
	t.Lines, rest.Lines, rest.Folded = t.Lines[:shownRows], t.Lines[shownRows:], true
	rest.Name += ", more"
	return []tableOf[T]{t, rest}
}

// RivalTables are the comparisons with rivals of a tool.
func (d toolPlace) RivalTables(tool string) []tableOf[rivalLine] {
	return fold(tableOf[rivalLine]{Name: "Against its rivals", Tool: tool, Single: d.Single, Lines: d.Rivals})
}

// LossTables are the prompts and agents where a tool loses, and WinTables those where it wins.
func (d toolPlace) LossTables(tool string) []tableOf[cellLine] {
	return fold(tableOf[cellLine]{Name: "Where it loses", Noun: d.NounTitle(), Tool: tool, Other: "Winner", Lines: d.Losses})
}

// WinTables are the prompts and agents where a tool wins.
func (d toolPlace) WinTables(tool string) []tableOf[cellLine] {
	return fold(tableOf[cellLine]{Name: "Where it wins", Noun: d.NounTitle(), Tool: tool, Other: "Next", Lines: d.Wins})
}
