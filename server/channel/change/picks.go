package change

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// Picks are the facts about a workspace's own tool and its evals.
type Picks struct {
	// Since is when the workspace began to follow the tool: what was there before is no
	// news.
	Since time.Time
	// Tool is nil where none is chosen, or nothing is measured.
	Tool *picks.Measured
	// Failed are the evals whose newest run failed.
	Failed []FailedRun
}

// A FailedRun is a run that ended without results.
type FailedRun struct {
	EvalID, Eval, Run, Reason, URL string
	At                             time.Time
}

const (
	// pickMargin is how old news may be when a workspace begins to follow a tool: a night
	// is published hours after its last trial.
	pickMargin = day
	// notRepeated is how long a drop or a lead must not be shown before it may be news
	// again: evidence may waver around its threshold.
	notRepeated = 14 * day
	earlier     = 30   // nights before a drop
	coverageGap = 0.05 // of the planned trials
)

// pickDoc names the fields that all alerts about picks have.
const pickDoc = " `tool` and `category` (slugs), `source`\n(`public` for the published board, `own` for the workspace's evals), `synthetic` (of simulated agents), `url`"

// An ownTool begins the data of alerts about picks.
type ownTool struct {
	Tool      string `json:"tool"`
	Category  string `json:"category"`
	Source    string `json:"source"`
	Synthetic bool   `json:"synthetic"`
	URL       string `json:"url"`

	name, board string
}

func newOwnTool(m *picks.Measured) ownTool {
	return ownTool{m.Slug, m.Board.Category, m.Source, m.Board.Synthetic, m.URL, Clean(m.Standing().Tool), Clean(m.Board.Name)}
}

// where completes the details of an alert.
func (o *ownTool) where(details ...string) []string {
	source := "Measured: public board of " + o.board + "."
	if o.Source == picks.Own {
		source = "Measured: your own eval of " + o.board + "."
	}
	if o.Synthetic {
		source += " The agents are simulated."
	}
	return append(details, source, "Details: "+o.URL)
}

func (o *ownTool) subject(more ...string) string {
	return strings.Join(append([]string{o.Source, o.Category, o.Tool}, more...), " ")
}

// pickKinds returns the kinds about picks. A cause is sent once while it holds, and at most
// once a day: its alert stays open for a day or longer after it was last there.
func pickKinds() []Kind {
	return []Kind{pickDrop(), overtaken(), newModel(), coverageDrop(), runFailed()}
}

// gone returns an Over for alerts about picks.
func gone(d time.Duration) func(*Facts, time.Time) bool {
	return func(f *Facts, seen time.Time) bool { return f.Picks != nil && f.Now.Sub(seen) >= d }
}

// recent returns the measurement with at least one night; nil without.
func (f *Facts) recent() *picks.Measured {
	if f.Picks == nil || f.Picks.Tool == nil || f.Picks.Tool.Newest() == nil {
		return nil
	}
	return f.Picks.Tool
}

func (f *Facts) isNews(at time.Time) bool { return !at.Before(f.Picks.Since.Add(-pickMargin)) }

// PickDropData is the data of a pick_rate_drop alert.
type PickDropData struct {
	ownTool
	PickRate float64   `json:"pickRate"`
	CILow    float64   `json:"ciLow"`
	CIHigh   float64   `json:"ciHigh"`
	Before   float64   `json:"before"`
	Agent    string    `json:"agent"`
	E        float64   `json:"e"`
	Since    time.Time `json:"since"`
}

// Describe implements Data.
func (d PickDropData) Describe() (string, []string) {
	return fmt.Sprintf("Pick rate of %s dropped: %s, and %s before.", d.name, chart.Percent(d.PickRate), chart.Percent(d.Before)), d.where(
		fmt.Sprintf("95%% interval %s to %s. Shown since %s for %s (e-value %.3g).", chart.Percent(d.CILow), chart.Percent(d.CIHigh), show(d.Since), Clean(d.Agent), d.E))
}

func pickDrop() Kind {
	return Kind{
		Alert: "pick_rate_drop",
		Doc:   fmt.Sprintf("The measurements show that agents pick the tool less often, by the sequential test of `firstpick history`. Repeated when no drop was shown for 14\ndays. %s, `pickRate`, `ciLow`, `ciHigh`, `before` (mean of up to %d\nmeasurements before `since`), `agent` (`all agents`, or the one that shows it), `e` (e-value), `since`.", pickDoc, earlier),
		Detect: func(f *Facts) []Condition {
			m := f.recent()
			if m == nil {
				return nil
			}
			shown, ok := m.Drop()
			if !ok || !f.isNews(shown.Since) {
				return nil
			}
			s := m.Standing()
			before, _ := m.Earlier(shown.Since, earlier)
			d := PickDropData{newOwnTool(m), s.PickRate, s.CILow, s.CIHigh, before, shown.Agent, shown.E, shown.Since}
			return []Condition{{Subject: d.subject(), Seen: f.Now, Data: d}}
		},
		Over: gone(notRepeated),
	}
}

// OvertakenData is the data of a rival_overtook alert.
type OvertakenData struct {
	ownTool
	Rival     string    `json:"rival"`
	PickRate  float64   `json:"pickRate"`
	RivalRate float64   `json:"rivalRate"`
	E         float64   `json:"e"`
	Since     time.Time `json:"since"`

	rivalName string
}

// Describe implements Data.
func (d OvertakenData) Describe() (string, []string) {
	return fmt.Sprintf("%s overtook %s: picked in %s of the answers, %s in %s.", d.rivalName, d.name, chart.Percent(d.RivalRate), d.name, chart.Percent(d.PickRate)),
		d.where(fmt.Sprintf("Shown since %s (e-value %.3g). Before, the measurements showed %s ahead.", show(d.Since), d.E, d.name))
}

func overtaken() Kind {
	return Kind{
		Alert: "rival_overtook",
		Doc:   "A rival that was behind the tool is ahead of it: the measurements showed the one and then the other, by a sequential test. One alert for each rival;\nrepeated when it was not shown for 14 days. " + strings.TrimSpace(pickDoc) + ", `rival` (slug),\n`pickRate`, `rivalRate`, `e` (e-value), `since`.",
		Detect: func(f *Facts) []Condition {
			m := f.recent()
			if m == nil {
				return nil
			}
			var out []Condition
			for _, o := range m.Overtaken() {
				if !f.isNews(o.Since) {
					continue
				}
				rival := m.Rival(o.By)
				d := OvertakenData{newOwnTool(m), o.By, m.Standing().PickRate, rival.PickRate, o.E, o.Since, Clean(rival.Tool)}
				out = append(out, Condition{Subject: d.subject(o.By), Seen: f.Now, Data: d})
			}
			return out
		},
		Over: gone(notRepeated),
	}
}

// NewModelData is the data of a new_model alert.
type NewModelData struct {
	ownTool
	Agent  string `json:"agent"`
	Model  string `json:"model"`
	Before string `json:"before"`
}

// Describe implements Data.
func (d NewModelData) Describe() (string, []string) {
	if d.Before == "" {
		return fmt.Sprintf("New agent in the measurements of %s: %s.", d.name, Clean(d.Agent)), d.where("Model: "+Clean(d.Model)+".", "Its answers are not compared with earlier ones.")
	}
	return fmt.Sprintf("Another model answers for agent %s in the measurements of %s.", Clean(d.Agent), d.name),
		d.where("Model: "+Clean(d.Model)+", before "+Clean(d.Before)+".", "Its answers are not compared with earlier ones.")
}

func newModel() Kind {
	return Kind{
		Alert: "new_model",
		Doc:   "An agent that no earlier measurement of the tool's category had, or another model behind a known one: once for each." + pickDoc + ",\n`agent`, `model`, `before` (the model before; empty for a new agent).",
		Detect: func(f *Facts) []Condition {
			m := f.recent()
			if m == nil || !f.isNews(m.Newest().At) {
				return nil
			}
			var out []Condition
			add := func(d NewModelData) {
				out = append(out, Condition{Subject: d.subject(d.Agent, d.Model), Seen: f.Now, Data: d})
			}
			last := m.Newest()
			if len(m.Nights) > 1 { // on the first one all are new
				for _, a := range last.Delta.NewAgents {
					add(NewModelData{newOwnTool(m), a.Agent, a.To, ""})
				}
			}
			for _, a := range last.Delta.NewModels {
				add(NewModelData{newOwnTool(m), a.Agent, a.To, a.From})
			}
			return out
		},
	}
}

// CoverageDropData is the data of a coverage_drop alert.
type CoverageDropData struct {
	ownTool
	MissingAgents  []string `json:"missingAgents"`
	MissingPrompts []string `json:"missingPrompts"`
	Coverage       *float64 `json:"coverage"`
	Before         *float64 `json:"before"`
}

// Describe implements Data.
func (d CoverageDropData) Describe() (string, []string) {
	var lost, details []string
	if n := len(d.MissingAgents); n > 0 {
		lost = append(lost, count(int64(n), "agent"))
		details = append(details, "Agents: "+list(d.MissingAgents))
	}
	if n := len(d.MissingPrompts); n > 0 {
		lost = append(lost, count(int64(n), "prompt"))
		details = append(details, "Prompts: "+list(d.MissingPrompts[:min(n, listMax)]))
	}
	if d.Coverage != nil && d.Before != nil {
		text := fmt.Sprintf("%s of the planned trials are valid, and %s before.", chart.Percent(*d.Coverage), chart.Percent(*d.Before))
		if len(lost) == 0 {
			return "Coverage of " + d.name + " fell: " + text, d.where("Rates of fewer trials are less certain.")
		}
		details = append(details, text)
	}
	return "Coverage of " + d.name + " fell: " + strings.Join(lost, " and ") + " missing.", d.where(details...)
}

func coverageDrop() Kind {
	return Kind{
		Alert: "coverage_drop",
		Doc:   "Agents or prompts of the measurement before are missing in the newest one, or the share of valid trials fell by five points." + pickDoc + ",\n`missingAgents`, `missingPrompts`, `coverage` and `before` (valid / planned trials; null where unknown).",
		Detect: func(f *Facts) []Condition {
			m := f.recent()
			if m == nil || !f.isNews(m.Newest().At) {
				return nil
			}
			delta := &m.Newest().Delta
			known := delta.Coverage >= 0 && delta.CoverageBefore >= 0
			if len(delta.MissingAgents)+len(delta.MissingPrompts) == 0 && (!known || delta.CoverageBefore-delta.Coverage < coverageGap) {
				return nil
			}
			d := CoverageDropData{ownTool: newOwnTool(m), MissingAgents: append([]string{}, delta.MissingAgents...), MissingPrompts: append([]string{}, delta.MissingPrompts...)}
			if known {
				d.Coverage, d.Before = &delta.Coverage, &delta.CoverageBefore
			}
			return []Condition{{Subject: d.subject(), Seen: f.Now, Data: d}}
		},
		Over: gone(day),
	}
}

// RunFailedData is the data of a run_failed alert.
type RunFailedData struct {
	Eval   string    `json:"eval"`
	Run    string    `json:"run"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	URL    string    `json:"url"`
}

// Describe implements Data.
func (d RunFailedData) Describe() (string, []string) {
	details := []string{"Ended at " + show(d.At) + ".", "Details: " + d.URL}
	if d.Reason != "" {
		details = append([]string{"Reason: " + Clean(d.Reason)}, details...)
	}
	return "A run of eval " + Clean(d.Eval) + " failed.", details
}

func runFailed() Kind {
	return Kind{
		Alert: "run_failed",
		Doc:   "The newest run of one of the workspace's evals failed. One alert for each eval; repeated when a later run of it was good for a day, and then one failed.\n`eval` (its name), `run`, `reason`, `at`, `url`.",
		Detect: func(f *Facts) []Condition {
			if f.Picks == nil {
				return nil
			}
			var out []Condition
			for _, r := range f.Picks.Failed {
				if f.isNews(r.At) {
					out = append(out, Condition{Subject: r.EvalID, Seen: f.Now, Data: RunFailedData{r.Eval, r.Run, r.Reason, r.At, r.URL}})
				}
			}
			return out
		},
		Over: gone(day),
	}
}
