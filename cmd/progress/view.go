package progress

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
)

// styles are the few colours of the view; all zero without colour.
type styles struct{ title, bar, dim, bad lipgloss.Style }

func newStyles(noColor bool) styles {
	plain := lipgloss.NewStyle()
	if noColor {
		return styles{plain, plain, plain, plain}
	}
	return styles{
		title: plain.Bold(true), bar: plain.Foreground(lipgloss.Color("6")),
		dim: plain.Faint(true), bad: plain.Foreground(lipgloss.Color("1")),
	}
}

const (
	minWidth = 40
	maxBar   = 60
	minName  = 12
)

// render draws a tally at a width: one line of the whole, one line an agent.
func render(t *tally, width int, now time.Time, st styles) string {
	width = max(width, minWidth)
	lines := []string{st.title.Render(clip(title(t), width)), bar(t, width, st), clip(pace(t, now), width), ""}
	lines = append(lines, agentLines(t, width, now, st)...)
	for _, f := range t.failures {
		lines = append(lines, st.bad.Render(clip("! "+f, width)))
	}
	return strings.Join(lines, "\n") + "\n"
}

func title(t *tally) string {
	s := fmt.Sprintf("%s · %s · %d trials", t.run.Eval.Name, t.run.Eval.Category, t.run.Planned)
	if t.run.Synthetic {
		s += " · synthetic"
	}
	return s
}

func bar(t *tally, width int, st styles) string {
	label := fmt.Sprintf(" %d/%d %3d%%", t.finished(), t.run.Planned, 100*t.finished()/max(1, t.run.Planned))
	room := max(4, min(maxBar, width-len(label)))
	full := min(room, room*t.finished()/max(1, t.run.Planned))
	return st.bar.Render(strings.Repeat("█", full)) + st.dim.Render(strings.Repeat("░", room-full)) + label
}

func pace(t *tally, now time.Time) string {
	parts := []string{fmt.Sprintf("%.1f/s", t.rate(now))}
	if eta := t.eta(now); eta > 0 {
		parts = append(parts, "ETA "+eta.String())
	}
	parts = append(parts, fmt.Sprintf("spent $%.4f", t.spent))
	if t.attempts > 0 {
		parts = append(parts, fmt.Sprintf("%d failed attempts", t.attempts))
	}
	if t.excluded > 0 {
		parts = append(parts, fmt.Sprintf("%d excluded", t.excluded))
	}
	if t.stopped != "" {
		parts = append(parts, "stopped: "+t.stopped)
	}
	return strings.Join(parts, "   ")
}

func agentLines(t *tally, width int, now time.Time, st styles) []string {
	name := len("agent")
	for _, a := range t.agents {
		name = max(name, len([]rune(a.name)))
	}
	name = max(minName, min(name, width-48))
	head := fmt.Sprintf("%-*s %11s %6s %8s  %s", name, "agent", "done", "failed", "rate", "leading pick")
	lines := []string{st.dim.Render(clip(head, width))}
	elapsed := now.Sub(t.started).Seconds()
	for _, a := range t.agents {
		rate := 0.0
		if elapsed > 0 && !t.started.IsZero() {
			rate = float64(a.done) / elapsed
		}
		lead := ""
		if label, share := a.lead(); label != "" {
			lead = fmt.Sprintf("%s %.0f%%", label, 100*share)
		}
		line := fmt.Sprintf("%-*s %11s %6d %6.1f/s  %s", name, clip(a.name, name),
			fmt.Sprintf("%d/%d", a.already+a.done, a.planned), a.attempts+a.excluded, rate, lead)
		lines = append(lines, clip(strings.TrimRight(line, " "), width))
	}
	return lines
}

// clip cuts s to width columns, marking the cut.
func clip(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:max(0, width-1)]) + "…"
}
