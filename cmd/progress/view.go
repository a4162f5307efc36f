package progress

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

const (
	minWidth  = 20
	minHeight = 8
	maxBar    = 60
	minName   = 12
	minLane   = 8 // of the provider that takes longest
	// wideFrom is the narrowest terminal that shows leaders next to providers.
	wideFrom = 110
	gap      = 3 // columns between them
)

// A frame is where a tally is drawn: the size in columns and lines, the time, the
// colours, and what keys have chosen.
type frame struct {
	width, height int
	now           time.Time
	resume        string // the command that continues the run
	remote        bool
	styles
	ui
}

// render draws a tally: the whole run, its lanes, its agents and why things failed, and
// its leaders. Rows that do not fit are counted instead of shown.
func render(t *tally, f frame) string {
	f.width, f.height = max(f.width, minWidth), max(f.height, minHeight)
	lines := f.head(t)
	room := f.height - len(lines) - 1
	switch {
	case f.help:
		help := f.helpLines()
		lines = append(lines, help[:min(len(help), room)]...)
	case f.ranks && f.width >= wideFrom:
		left, right := f, f
		right.width = min(76, f.width*9/20)
		left.width = f.width - right.width - gap
		lines = append(lines, beside(left.body(t, room), left.width, right.leaderLines(t, room))...)
	case f.leaders:
		lines = append(lines, f.leaderLines(t, room)...)
	default:
		lines = append(lines, f.body(t, room)...)
	}
	if keys := f.keyLine(); keys != "" {
		for len(lines) < f.height-1 {
			lines = append(lines, "")
		}
		lines = append(lines, keys)
	}
	return strings.Join(lines, "\n")
}

// body is lanes, agents and failures in room lines.
func (f frame) body(t *tally, room int) (lines []string) {
	lanes, agents, failed := f.laneTable(t), f.agentTable(t), f.failureLines(t)
	rooms := share(room, len(lanes.blocks)+lanes.extra(), len(agents.blocks)+agents.extra(), len(failed.blocks)+failed.extra())
	for i, part := range []section{lanes, agents, failed} {
		lines = append(lines, part.fit(rooms[i], f)...)
	}
	return lines
}

// beside sets two columns of lines next to each other.
func beside(left []string, width int, right []string) []string {
	out := make([]string, max(len(left), len(right)))
	for i := range out {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out[i] = l
		if r != "" {
			out[i] = l + strings.Repeat(" ", max(0, width+gap-lipgloss.Width(l))) + r
		}
	}
	return out
}

func (f frame) head(t *tally) []string {
	lines := []string{f.title.Render(clip(title(t), f.width)), f.progressBar(t.finished(), t.run.Planned)}
	parts := []string{fmt.Sprintf("%.1f/s", t.rate(nil, f.now))}
	if st := t.status; st != nil {
		if t.remote {
			parts = append(parts, fmt.Sprintf("%d in flight", st.InFlight))
		} else {
			parts = append(parts, fmt.Sprintf("%d of %d in flight", st.InFlight, st.Concurrency))
		}
		if st.Paused {
			parts[0] = "PAUSED"
		}
	}
	if t.phase != "" {
		parts[0] = clean(t.phase)
	}
	e, at := t.eta(f.now), len(parts)
	e.known = e.known && e.left > 0
	if e.known {
		parts = append(parts, "ETA "+short(e.left))
	}
	if t.excluded > 0 {
		parts = append(parts, fmt.Sprintf("%d excluded", t.excluded))
	}
	if t.stopped != "" {
		parts = append(parts, "stopped: "+t.stopped)
	}
	lane := clean(e.lane)
	if room := f.width - lipgloss.Width(strings.Join(parts, "   ")+" ()"); lane != "" && e.known && room >= min(lipgloss.Width(lane), minLane) {
		parts[at] += " (" + clip(lane, room) + ")"
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
	s := fmt.Sprintf("%s · %s · %s trials", clean(t.run.Eval.Name), clean(t.run.Eval.Category), thousands(t.run.Planned))
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
	return clip(f.bar.Render(strings.Repeat("█", full))+f.track.Render(strings.Repeat("░", room-full))+label, f.width)
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
		f.track.Render(strings.Repeat("░", room-spent-held)) + " " + text
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
func clip(s string, width int) string { return ansi.Truncate(s, width, "…") }

// pad fills s up to width columns, cutting it where it is longer.
func pad(s string, width int) string {
	s = clip(s, width)
	return s + strings.Repeat(" ", max(0, width-lipgloss.Width(s)))
}

// thousands prints a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && n > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
