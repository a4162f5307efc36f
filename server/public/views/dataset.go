package views

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/render"
)

// cite is how to cite a board of a snapshot; empty without a snapshot.
func cite(in Input, b *analytics.Board) string { return citeOf(in, b, b.Name, b.URL) }

// citeOf is how to cite a part of a board, by its name and address.
func citeOf(in Input, b *analytics.Board, name, url string) string {
	title := name + ", which tools AI " + nounOf(b) + "s pick"
	switch first := picked(b); {
	case len(first) > 1 && !firstLeads(b, first[0], first[1]):
		title += ": no tool leads clearly: " + first[0].Tool + " " + cited(b, first[0]) + ", " + first[1].Tool + " " + cited(b, first[1])
	case len(first) > 0:
		title += ": " + first[0].Tool + " first with " + cited(b, first[0])
		if at := render.RankRange(b, first[0]); !render.Single(*b) && at != "1" {
			title += ", rank range " + at
		}
	}
	return citation(in, b, title, url)
}

// firstLeads reports whether the first tool of a board is ahead of the second. Differences on one prompt
// are not significant for others, so there the favourites of agents count.
func firstLeads(b *analytics.Board, first, second analytics.Standing) bool {
	return first.PickRate > second.PickRate && (!unproven(second, first.Slug) || render.Single(*b) && len(favourites(b)) > 0)
}

// citeTool is how to cite the rate of a tool, and citePair that of two.
func citeTool(in Input, b *analytics.Board, s analytics.Standing) string {
	return citation(in, b, s.Tool+" in "+b.Name+", how often AI "+nounOf(b)+"s pick it: "+cited(b, s), in.BaseURL+toolPath(s.Slug))
}

func citePair(in Input, b *analytics.Board, x, y analytics.Standing) string {
	return citation(in, b, x.Tool+" or "+y.Tool+" in "+b.Name+", which one AI "+nounOf(b)+"s pick: "+x.Tool+" "+cited(b, x)+", "+y.Tool+" "+cited(b, y), in.BaseURL+ComparePath(x.Slug, y.Slug))
}

// cited is the figure of a tool in a citation: 22.4% of 2,000 answers (95% CI 18.1%–27.4%).
func cited(b *analytics.Board, s analytics.Standing) string {
	text := rateText(s) + " of " + quantity(s.NTrials, "answer")
	if s.Picks == 0 {
		text = rateText(s) + " in " + quantity(s.NTrials, "answer")
	}
	if render.Single(*b) {
		return text + " to one prompt"
	}
	if ci := render.Interval(s.CILow, s.CIHigh); ci != "" {
		text += " (95% CI " + ci + ")"
	}
	return text
}

// citedUse is the figure of an observed tool of so many units in a citation: Flask 6.9% (95% CI 2.5%–17.7%).
func citedUse(tool string, u observed.Use, units int) string {
	if u.Uses == 0 {
		return tool + " not used"
	}
	text := tool + " " + useShare(u, units)
	if _, interval := render.UseRate(u, units); interval != "" {
		text += " (95% CI " + interval + ")"
	}
	return text
}

// citedParts has the figures of the first two tools of an observed board in a citation, in each language that
// its first sentence names, with what they are of; empty where nobody used a tool.
func citedParts(b *observed.Board) string {
	var parts []string
	for _, s := range claimed(b) {
		var figures []string
		for _, t := range s.Part.Tools[:min(2, len(s.Part.Tools))] {
			if t.Uses > 0 {
				figures = append(figures, citedUse(observedName(b, t.Slug), t.Use, s.Part.NUnits))
			}
		}
		if len(figures) > 0 {
			parts = append(parts, strings.Join(figures, ", ")+" of "+amongUnits(b, s.Part, s.Language)+citedDoubts(b, s.Part))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ". ")
}

// citeObserved is how to cite figures of an observed board.
func citeObserved(in Input, b *observed.Board, title, url string) string {
	if in.SnapshotID == "" {
		return ""
	}
	return fmt.Sprintf("firstpick: %s: %s. Data of %s, snapshot %s. %s. Source: %s", observed.Mark, title, render.Day(b.AsOf), in.SnapshotID, url, b.Cite())
}

func citation(in Input, b *analytics.Board, title, url string) string {
	if in.SnapshotID == "" {
		return ""
	}
	kind := ""
	if b.Synthetic {
		kind = " (simulated agents: not a measurement)"
	}
	if n := len(b.Agents); n > 1 && strings.Contains(title, "95% CI") {
		title += "; intervals for these " + quantity(n, nounOf(b))
	}
	text := fmt.Sprintf("firstpick: %s%s. Data of %s, snapshot %s. %s", title, kind, render.Day(b.AsOf), in.SnapshotID, url)
	if b.Study != "" && len(in.Notes) > 0 {
		text += ". Answers: " + strings.Join(in.Notes, "; ")
	}
	return text
}

// citeContrast is how to cite the claim of the first page, of a board and an observed one, with its cautions.
func citeContrast(in Input, c *contrast, b *analytics.Board, seen *observed.Board, cautions []string) string {
	if in.SnapshotID == "" {
		return ""
	}
	kind, sources := "", []string{seen.Cite()}
	if b.Synthetic {
		kind = " (simulated agents: not a measurement)"
	}
	if b.Study != "" {
		sources = append(slices.Clone(in.Notes), sources...)
	}
	return fmt.Sprintf("firstpick: %s%s %s %s. %s. Snapshot %s, %s. Sources: %s", c.Claim, kind, c.Base(), strings.Join(cautions, ". "), in.BaseURL+cmp.Or(c.Pair, boardPath(b.Category)), in.SnapshotID, in.BaseURL+SnapshotPath(in.SnapshotID), strings.Join(sources, "; "))
}

// A dataset is a board as search engines of data read it: Dataset of schema.org.
type dataset struct {
	Context     string     `json:"@context"`
	Type        string     `json:"@type"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	URL         string     `json:"url"`
	Identifier  string     `json:"identifier"`
	Version     string     `json:"version"`
	Date        string     `json:"dateModified,omitempty"`
	Free        bool       `json:"isAccessibleForFree"`
	Citation    string     `json:"citation"`
	Keywords    []string   `json:"keywords"`
	Measured    string     `json:"variableMeasured"`
	Creator     creator    `json:"creator"`
	Downloads   []download `json:"distribution"`
}

type creator struct {
	Type string `json:"@type"`
	Name string `json:"name"`
	URL  string `json:"url"`
}

type download struct {
	Type   string `json:"@type"`
	Format string `json:"encodingFormat"`
	URL    string `json:"contentUrl"`
}

// datasetOf describes a board; nil without a snapshot.
func datasetOf(in Input, b *analytics.Board) *dataset {
	if in.SnapshotID == "" {
		return nil
	}
	d := &dataset{
		Context: "https://schema.org", Type: "Dataset", Name: "Which tools AI agents pick: " + b.Name, URL: b.URL,
		Description: fmt.Sprintf("Pick rates of %d tools in %s, from %d trials. %s", b.Field, b.Name, b.NTrials, estimand(b)),
		Identifier:  in.BaseURL + "/snapshots/" + in.SnapshotID + "/manifest.json", Version: in.SnapshotID, Free: true, Citation: cite(in, b),
		Keywords: []string{"AI agents", "developer tools", b.Name}, Measured: "pick rate: share of valid trials in which an agent picks a tool",
		Creator: creator{"Organization", "firstpick", in.BaseURL},
	}
	if b.Synthetic {
		d.Description = "Simulated agents: not a measurement. " + d.Description
		d.Keywords = append(d.Keywords, "synthetic data")
	}
	if b.AsOf != nil {
		d.Date = b.AsOf.UTC().Format("2006-01-02")
	}
	board := in.BaseURL + "/api/public/leaderboard?category=" + b.Category
	d.Downloads = []download{
		{"DataDownload", "application/json", board}, {"DataDownload", "text/csv", board + "&format=csv"},
		{"DataDownload", "application/vnd.apache.parquet", in.BaseURL + "/snapshots/" + in.SnapshotID + "/trials.parquet"},
	}
	return d
}

// Parquet is the address of all trials of the snapshot; empty without one.
func (d boardPage) Parquet() string {
	if d.Dataset == nil {
		return ""
	}
	return d.Dataset.Downloads[2].URL
}

// boardData are the links to the data of a board behind a page of some of its tools.
type boardData struct {
	Name                            string // of the trials
	Trials, History, JSON, Category string
	Cite, ID                        string
	Part                            string // what Cite is of, where the page has another citation
}

// Data links the data of the tool's page.
func (d toolPlace) Data(slug string) boardData {
	return boardData{
		Name: "Its trials", Trials: d.Trials, History: HistoryPath(d.Category) + ToolQuery([]string{slug}), JSON: "/api/public/report?q=" + slug + "&category=" + d.Category, Category: d.Category,
		Cite: d.Cite, ID: "cite-" + d.Category,
	}
}

// JSON is the path of the comparison in the API.
func (c compareBoard) JSON(a, b string) string {
	return "/api/public/compare?" + url.Values{"a": {a}, "b": {b}, "category": {c.Category}}.Encode()
}

// Data links the data of a comparison. seen is its citation of real work.
func (c compareBoard) Data(a, b, seen string) boardData {
	d := boardData{Name: "All trials of the board", History: HistoryPath(c.Category) + ToolQuery([]string{a, b}), JSON: c.JSON(a, b), Category: c.Category, Cite: c.Cite, ID: "cite-" + c.Category}
	if seen != "" {
		d.Part = "the answers"
	}
	if c.HasTrials {
		d.Trials = TrialsPath(c.Category)
	}
	return d
}
