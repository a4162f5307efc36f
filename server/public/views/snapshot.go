package views

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// SnapshotPath is the path of the page of a snapshot.
func SnapshotPath(id string) string { return "/snapshots/" + id }

// A Snapshot is a published snapshot in the list of all.
type Snapshot struct {
	ID                             string
	AsOf                           *time.Time // when its last trial finished
	PublishedAt                    time.Time
	Boards, Tools, Planned, Trials int
	Synthetic, Signed, Current     bool
	// Retracted is the reason of its retraction, Errata are its corrections.
	Retracted string
	Errata    []string
	// Entry is its place in the log; nil without one.
	Entry *int
}

// A Manifest is the part of the manifest of a snapshot that its page shows.
type Manifest struct {
	Generator string         `json:"generator"`
	Catalog   string         `json:"catalog"`
	Extractor string         `json:"extractor"`
	Evidence  string         `json:"evidence"`
	Embargo   bool           `json:"embargo"`
	Evals     []ManifestEval `json:"evals"`
	Notes     []string       `json:"notes"`
	Observed  []struct {
		Name string `json:"name"`
	} `json:"observed"`
	Files []struct {
		Path  string `json:"path"`
		Bytes int64  `json:"bytes"`
	} `json:"files"`
}

// A ManifestEval is an eval with the agents that it asked.
type ManifestEval struct {
	Name       string     `json:"name"`
	Category   string     `json:"category"`
	Prompts    []struct{} `json:"prompts"`
	Planned    int        `json:"planned"`
	Valid      int        `json:"valid"`
	Synthetic  bool       `json:"synthetic"`
	Imported   bool       `json:"imported"`
	Incomplete bool       `json:"incomplete"`
	Stopped    bool       `json:"stopped"`
	Agents     []struct {
		Name       string              `json:"name"`
		Asked      string              `json:"asked"`
		Reported   []string            `json:"reported"`
		Conditions []ManifestCondition `json:"conditions"`
	} `json:"agents"`
}

// A ManifestCondition is how an agent was asked.
type ManifestCondition struct {
	Kind     string    `json:"kind"`
	Asked    string    `json:"asked"`
	Reported []string  `json:"reported"`
	Version  string    `json:"version"`
	Web      string    `json:"web"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Answers  int       `json:"answers"`
}

type snapshotLine struct {
	Snapshot
	Link, Day, Published string
}

func lineOfSnapshot(s Snapshot) snapshotLine {
	return snapshotLine{s, SnapshotPath(s.ID), render.Day(s.AsOf), s.PublishedAt.UTC().Format("2 January 2006, 15:04 UTC")}
}

// Snapshots renders the list of snapshots.
func (r *Renderer) Snapshots(list []Snapshot) (Page, error) {
	var d []snapshotLine
	for _, s := range list {
		d = append(d, lineOfSnapshot(s))
	}
	return r.page("snapshots", render.Head{
		Path: "/snapshots", Title: "Snapshots", Section: "boards",
		Description: fmt.Sprintf("All %s: dates, trials, signatures, retractions and errata. Each can be downloaded and verified.", quantity(len(list), "published snapshot")),
	}, d)
}

type snapshotPage struct {
	snapshotLine
	Evidence, Catalog, Extractor, Generator string
	Embargo, Served                         bool // Served: the pages show this snapshot
	Evals                                   []snapshotEval
	Agents                                  []snapshotAgent
	Files                                   []snapshotFile
	Observed                                []string
	Verify                                  string
}

type snapshotEval struct{ Name, Board, Link, Prompts, Agents, Trials, Note string }

// A snapshotAgent is an agent under one condition, on all boards together.
type snapshotAgent struct {
	Name, Title, Link, Kind, Asked, Reported, Version, Web, Dates, Answers, Boards string

	from, to time.Time
	answers  int
	boards   map[string]bool
}

// Snapshot renders the page of a snapshot.
func (r *Renderer) Snapshot(s Snapshot, m Manifest) (Page, error) {
	d := snapshotPage{
		snapshotLine: lineOfSnapshot(s), Evidence: evidence(m.Evidence), Catalog: m.Catalog, Extractor: m.Extractor, Generator: m.Generator, Embargo: m.Embargo,
		Served: s.ID == r.in.SnapshotID, Agents: r.conditions(m), Files: files(s, m), Verify: "firstpick verify " + r.in.BaseURL + " --snapshot " + s.ID,
	}
	for _, e := range m.Evals {
		d.Evals = append(d.Evals, r.evalOf(e))
	}
	for _, o := range m.Observed {
		d.Observed = append(d.Observed, o.Name)
	}
	return r.page("snapshot", render.Head{
		Path: d.Link, Title: "Snapshot " + d.ID, Section: "boards",
		Description: fmt.Sprintf("Snapshot %s: %s on %s, how each agent was asked, all files, and how to verify them.", s.ID, quantity(s.Trials, "trial"), quantity(s.Boards, "board")),
	}, d)
}

func (r *Renderer) evalOf(e ManifestEval) snapshotEval {
	out := snapshotEval{Name: e.Name, Board: e.Category, Prompts: chart.Whole(int64(len(e.Prompts))), Agents: fmt.Sprint(len(e.Agents)), Trials: chart.Whole(int64(e.Valid))}
	for i := range r.in.Boards {
		if b := &r.in.Boards[i]; b.Category == e.Category {
			out.Board, out.Link = b.Name, boardPath(b.Category)
		}
	}
	var notes []string
	for _, n := range []struct {
		on   bool
		text string
	}{{e.Synthetic, "synthetic"}, {e.Imported, "imported"}, {e.Incomplete, "incomplete"}, {e.Stopped, "stopped by its rule"}, {!e.Imported && e.Planned > e.Valid, "of " + chart.Whole(int64(e.Planned)) + " planned"}} {
		if n.on {
			notes = append(notes, n.text)
		}
	}
	out.Note = strings.Join(notes, ", ")
	return out
}

// conditions lists the agents, once for each way in which they were asked.
func (r *Renderer) conditions(m Manifest) []snapshotAgent {
	byKey := map[string]*snapshotAgent{}
	var order []*snapshotAgent
	for _, e := range m.Evals {
		for _, a := range e.Agents {
			all := a.Conditions
			if len(all) == 0 { // an older snapshot
				all = []ManifestCondition{{Asked: a.Asked, Reported: a.Reported}}
			}
			for _, c := range all {
				one := snapshotAgent{Name: render.AgentName(a.Name), Title: a.Name, Kind: c.Kind, Asked: cmp.Or(c.Asked, a.Asked), Reported: strings.Join(c.Reported, ", "), Version: c.Version, Web: c.Web}
				if slug := agentSlug(a.Name); r.agents[slug] != nil {
					one.Link = agentPath(slug)
				}
				key := strings.Join([]string{one.Title, one.Kind, one.Asked, one.Reported, one.Version, one.Web}, "\x00")
				known := byKey[key]
				if known == nil {
					one.boards, one.from = map[string]bool{}, c.From
					known = &one
					byKey[key], order = known, append(order, known)
				}
				known.answers, known.boards[e.Category] = known.answers+c.Answers, true
				if c.From.Before(known.from) {
					known.from = c.From
				}
				if c.To.After(known.to) {
					known.to = c.To
				}
			}
		}
	}
	sorting.StableFunc(order, func(a, b *snapshotAgent) int { return cmp.Compare(a.Title, b.Title) })
	out := make([]snapshotAgent, len(order))
	for i, a := range order {
		if a.Boards = quantity(len(a.boards), "board"); !a.to.IsZero() {
			if a.Dates = day(a.from); a.Dates != day(a.to) {
				a.Dates += " – " + day(a.to)
			}
			a.Answers = chart.Whole(int64(a.answers))
		}
		out[i] = *a
	}
	return out
}

// evidence describes a level of evidence.
func evidence(level string) string {
	switch level {
	case "full":
		return "full: each answer can be read"
	case "quotes":
		return "quotes: the passages that decided each outcome can be read"
	case "none":
		return "none: outcomes without quotes"
	}
	return "trials only: an older snapshot"
}
