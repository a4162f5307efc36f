package progress

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
)

// styles are the few colours of the view; all base without colour.
type styles struct{ title, bar, hold, dim, bad lipgloss.Style }

func newStyles(noColor bool) styles {
	base := lipgloss.NewStyle()
	if noColor {
		return styles{base, base, base, base, base}
	}
	return styles{
		title: base.Bold(true), bar: base.Foreground(lipgloss.Color("6")), hold: base.Foreground(lipgloss.Color("3")),
		dim: base.Faint(true), bad: base.Foreground(lipgloss.Color("1")),
	}
}

const (
	minWidth  = 40
	minHeight = 8
	maxBar    = 60
	minName   = 12
)

// A frame is where a tally is drawn: the size in columns and lines, the time, the
// colours.
type frame struct {
	width, height int
	now           time.Time
	styles
}

// render draws a tally: the whole run, its lanes, its agents and why things
// failed. Rows that do not fit are counted instead of shown: a terminal
// that scrolls would tear the view.
func render(t *tally, f frame) string {
	f.width, f.height = max(f.width, minWidth), max(f.height, minHeight)
	lines := f.head(t)
	lanes, agents, failed := f.laneTable(t), f.agentTable(t), f.failureLines(t)
	rooms := share(f.height-1-len(lines), len(lanes.blocks)+lanes.extra(), len(agents.blocks)+agents.extra(), len(failed.blocks)+failed.extra())
	for i, part := range []section{lanes, agents, failed} {
		lines = append(lines, part.fit(rooms[i], f)...)
	}
	return strings.Join(lines, "\n") + "\n"
}

func (f frame) head(t *tally) []string {
	lines := []string{f.title.Render(clip(title(t), f.width)), f.progressBar(t.finished(), t.run.Planned)}
	parts := []string{fmt.Sprintf("%.1f/s", t.rate(nil, f.now))}
	if st := t.status; st != nil {
		parts = append(parts, fmt.Sprintf("%d of %d under way", st.InFlight, st.Concurrency))
		if st.Paused {
			parts[0] = "PAUSED"
		}
	}
	if t.excluded > 0 {
		parts = append(parts, fmt.Sprintf("%d excluded", t.excluded))
	}
	if t.stopped != "" {
		parts = append(parts, "stopped: "+t.stopped)
	}
	if e := t.eta(f.now); e.known && e.left > 0 {
		s := "ETA " + short(e.left)
		if e.lane != "" {
			s += " (" + clean(e.lane) + ")"
		}
		parts = append(parts, s)
	}
	lines = append(lines, clip(strings.Join(parts, "   "), f.width), f.moneyBar(t.purse()))
	if st := t.status; st != nil && st.MemoryMB > 0 {
		s := fmt.Sprintf("memory %d MB", st.MemoryMB)
		if st.MemoryCapMB > 0 {
			s += fmt.Sprintf(" of %d", st.MemoryCapMB)
		}
		lines = append(lines, clip(s, f.width))
	}
	return lines
}

func title(t *tally) string {
	s := fmt.Sprintf("%s · %s · %d trials", t.run.Eval.Name, t.run.Eval.Category, t.run.Planned)
	if t.run.Shard != nil {
		s += fmt.Sprintf(" · shard %d of %d", t.run.Shard.Index, t.run.Shard.Of)
	}
	if t.run.Synthetic {
		s += " · synthetic"
	}
	return s
}

func (f frame) progressBar(done, planned int) string {
	label := fmt.Sprintf(" %d/%d %3d%%", done, planned, 100*done/max(1, planned))
	room := f.barRoom(label)
	full := cells(room, float64(done), float64(planned))
	return f.bar.Render(strings.Repeat("█", full)) + f.dim.Render(strings.Repeat("░", room-full)) + label
}

// moneyBar draws the spent and reserved parts of the budget; without a budget it
// is text only.
func (f frame) moneyBar(p purse) string {
	text := p.String()
	room := f.barRoom(" " + text)
	if p.capped == 0 || room < minName {
		return clip(text, f.width)
	}
	spent := cells(room, p.spent, p.capped)
	held := cells(room, p.spent+p.reserved, p.capped) - spent
	return f.bar.Render(strings.Repeat("█", spent)) + f.hold.Render(strings.Repeat("▒", held)) +
		f.dim.Render(strings.Repeat("░", room-spent-held)) + " " + text
}

func (f frame) barRoom(label string) int { return max(4, min(maxBar, f.width-lipgloss.Width(label))) }

// cells is how many of a bar's cells part of a whole fills.
func cells(room int, part, whole float64) int {
	if whole <= 0 {
		return 0
	}
	return max(0, min(room, int(float64(room)*part/whole)))
}

// clip cuts s to width columns, marking the cut.
func clip(s string, width int) string {
	if lipgloss.Width(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		if w := lipgloss.Width(string(r)); used+w > width-1 {
			return s[:i] + "…"
		} else {
			used += w
		}
	}
	return s
}

// pad fills s up to width columns, cutting it where it is longer.
func pad(s string, width int) string {
	s = clip(s, width)
	return s + strings.Repeat(" ", max(0, width-lipgloss.Width(s)))
}
