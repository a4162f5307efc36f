package progress

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/firstpick/firstpick/analytics"
)

const (
	// topTools is how many tools a summary shows.
	topTools = 5
	// maxSummary is the widest summary: longer lines are hard to read.
	maxSummary = 100
	// maxProblems is how many kinds of failure a summary explains.
	maxProblems = 6
)

// Summarize prints the result of a run that has ended: leaders, outcomes, agents, cost,
// duration and problems. board is nil for the one of the run's events.
func (v *View) Summarize(board *analytics.Board) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if board == nil {
		v.tally.leaders.rank()
	} else {
		v.tally.leaders.board = board
		v.tally.run.Synthetic = v.tally.run.Synthetic || board.Synthetic // a server's run does not say it
	}
	return v.print(v.page().summary(v.tally))
}

// Boards prints the first tool of each board.
func (v *View) Boards(boards []analytics.Board) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	lines := v.page().firsts(boards)
	if len(lines) == 0 {
		return nil
	}
	return v.print(strings.Join(lines, "\n") + "\n")
}

// Next prints the commands that follow.
func (v *View) Next(commands ...string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.page()
	return v.print(strings.Join(f.next(commands), "\n") + "\n")
}

// Leader is the tool that is picked most; empty if none was, or before Summarize.
func (v *View) Leader() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if b := v.tally.leaders.board; b != nil && len(b.Tools) > 0 && b.Tools[0].Picks > 0 {
		return b.Tools[0].Slug
	}
	return ""
}

// page is the frame of a text that stays on the terminal.
func (v *View) page() frame {
	width := v.size[0]
	if width == 0 && v.cfg.TTY && v.cfg.Width != nil { // the run ended before it was drawn
		width = v.cfg.Width()
	}
	if width == 0 {
		width = defaultWidth
	}
	return frame{width: max(minWidth, min(width, maxSummary)), now: v.cfg.Now(), styles: newStyles(v.palette)}
}

// print writes a text with the colours that its destination has.
func (v *View) print(text string) error {
	w := colorprofile.NewWriter(v.cfg.W, v.cfg.Environ)
	if !v.cfg.TTY {
		w.Profile = colorprofile.NoTTY
	}
	_, err := io.WriteString(w, text)
	return err
}

func (f frame) summary(t *tally) string {
	lines := append([]string{"", f.title.Render(clip(title(t), f.width))}, f.result(t)...)
	if agents := f.agentCosts(t); len(agents) > 0 {
		lines = append(append(lines, ""), agents...)
	}
	if problems := f.problems(t); len(problems) > 0 {
		lines = append(append(lines, ""), problems...)
	}
	lines = append(append(lines, ""), f.flow(t.bill(f.now))...)
	return strings.Join(lines, "\n") + "\n"
}

// result is the top of the board with its outcomes.
func (f frame) result(t *tally) []string {
	b := t.leaders.board
	if b == nil || b.NTrials == 0 {
		if t.leaders.category != nil {
			return []string{"", "no answers yet"}
		}
		return nil
	}
	lines := append([]string{""}, f.bars(b, topTools+1)...)
	lines = append(lines, f.dim.Render(clip(fmt.Sprintf("%s answers, %s", thousands(b.NTrials), f.intervalText(b)), f.width)))
	return append(append(lines, ""), f.outcomes(b)...)
}

// agentCosts is a row for each agent: its answers, failures and cost.
func (f frame) agentCosts(t *tally) []string {
	if len(t.agents) == 0 {
		return nil
	}
	columns := []column{{"answers", 8, 0, false}, {"excluded", 8, 60, false}, {"errors", 6, 50, false}, {"cost", 9, 0, false}, {"each", 9, 70, false}}
	shown := columns[:0:0]
	for _, c := range columns {
		if c.from <= f.width {
			shown = append(shown, c)
		}
	}
	names := []string{"agent"}
	for _, a := range t.agents {
		names = append(names, clean(a.name))
	}
	lead := column{width: 0}
	if f.width >= leadFrom {
		lead.width = 20
	}
	name := f.nameWidth(names, append(shown, lead))
	line := func(name int, label string, values map[string]string, lead string) string {
		cells := make([]string, len(shown))
		for i, c := range shown {
			cells[i] = values[c.name]
		}
		s := row(name, label, shown, cells)
		if f.width >= leadFrom {
			s += "  " + lead
		}
		return clip(strings.TrimRight(s, " "), f.width)
	}
	heads := map[string]string{}
	for _, c := range shown {
		heads[c.name] = c.name
	}
	lines := []string{f.dim.Render(line(name, "agent", heads, "picks first"))}
	for _, a := range t.agents {
		values := map[string]string{
			"answers": thousands(a.answers()), "excluded": fmt.Sprint(a.excluded), "errors": fmt.Sprint(a.attempts), "cost": a.cost(), "each": "-",
		}
		if a.spent > 0 && a.answers() > 0 {
			values["each"] = USD(a.spent / float64(a.answers()))
		}
		first := ""
		if label, share := a.lead(); label != "" {
			first = fmt.Sprintf("%.0f%% %s", math.Round(100*share), clean(label))
		}
		lines = append(lines, line(name, clean(a.name), values, first))
	}
	return lines
}

// problems are the kinds of failure, each with what to do.
func (f frame) problems(t *tally) (lines []string) {
	add := func(style lipgloss.Style, s string) { lines = append(lines, style.Render(clip(s, f.width))) }
	kinds := t.failures.kinds()
	for i, x := range kinds {
		if i == maxProblems {
			add(f.dim, fmt.Sprintf("+ %d more kinds of failure", len(kinds)-i))
			break
		}
		add(f.bad, fmt.Sprintf("! %d× %s (%s)", x.count, x.reason, strings.Join(x.agents, ", ")))
		if a := advice(x.kind()); a != "" {
			add(f.dim, "  └ "+a)
		}
	}
	return lines
}

// bill is how long the run took and what it cost.
func (t *tally) bill(now time.Time) []string {
	if !t.ended.IsZero() {
		now = t.ended
	}
	var parts []string
	if !t.started.IsZero() {
		parts = append(parts, "took "+short(now.Sub(t.started)))
	}
	p := t.purse()
	if s := t.summary; s != nil {
		p = purse{s.SpentUSD, max(0, s.AtMostUSD-s.SpentUSD), p.capped, p.known}
	}
	money := "spent " + USD(p.spent)
	if p.capped > 0 {
		money += " of " + USD(p.capped)
	}
	if !p.known {
		money += " and an unknown amount"
	}
	if p.reserved > 0 {
		money += fmt.Sprintf(", at most %s: some requests have no known cost", USD(p.spent+p.reserved))
	}
	return append(parts, money)
}

// next lists commands in lines that fit.
func (f frame) next(commands []string) []string {
	lines := []string{"next: " + commands[0]}
	for _, c := range commands[1:] {
		if last := len(lines) - 1; lipgloss.Width(lines[last])+3+len(c) <= f.width {
			lines[last] += " · " + c
		} else {
			lines = append(lines, "      "+c)
		}
	}
	return lines
}
