package progress

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
)

// maxLeaders is how many tools the view shows at most.
const maxLeaders = 12

// leaderLines is the board so far, in room lines.
func (f frame) leaderLines(t *tally, room int) []string {
	b := t.leaders.board
	lines := []string{"", f.dim.Render(clip("leaders", f.width))}
	if b == nil || b.NTrials == 0 {
		lines = append(lines, f.dim.Render(clip("none yet: the first answers come", f.width)))
		return lines[:min(len(lines), max(0, room))]
	}
	lines[1] = f.dim.Render(clip(fmt.Sprintf("leaders after %s answers, %s", thousands(b.NTrials), f.intervalText(b)), f.width))
	tail := []string{""}
	for _, line := range f.outcomes(b) {
		tail = append(tail, f.dim.Render(line))
	}
	rows := f.bars(b, max(1, min(maxLeaders, room-len(lines)-len(tail))))
	lines = append(append(lines, rows...), tail...)
	return lines[:min(len(lines), max(0, room))]
}

// intervalText says what the intervals of a board are worth.
func (f frame) intervalText(b *analytics.Board) string {
	switch {
	case b.NFamilies < 2:
		return "of one prompt: no interval"
	case slices.Contains(b.Warnings, analytics.Directional) && f.width >= 66:
		return fmt.Sprintf("95 %% intervals over %d prompts, early", b.NFamilies)
	default:
		return "95 % intervals"
	}
}

// bars are the tools of a board that were picked, the first of them, as rows: name, bar
// with interval, rate and interval.
func (f frame) bars(b *analytics.Board, most int) []string {
	tools := slices.DeleteFunc(slices.Clone(b.Tools), func(s analytics.Standing) bool { return s.Picks == 0 })
	if len(tools) == 0 {
		return []string{f.dim.Render(clip("no tool was picked yet", f.width))}
	}
	more := max(0, len(tools)-most)
	if more > 0 && most > 1 {
		more++ // the line that says so
	}
	tools = tools[:len(tools)-more]
	name, top := 0, 0.0
	for _, s := range tools {
		name, top = max(name, lipgloss.Width(clean(s.Slug))), max(top, s.PickRate, f.high(b, s))
	}
	name = min(name, max(6, f.width/3))
	const rate, interval = 7, 11 // "  38.2%", "  31.0–46.1"
	showInterval := b.NFamilies > 1 && f.width >= 44
	room := f.width - name - 1 - rate
	if showInterval {
		room -= interval
	}
	room = max(4, min(room, maxBar))
	scale := scaleOf(top)
	var lines []string
	for _, s := range tools {
		line := pad(clean(s.Slug), name) + " " + f.bar95(s, room, scale, b.NFamilies > 1) + fmt.Sprintf("%6.1f%%", stats.Percent(s.PickRate))
		if showInterval {
			line += f.dim.Render(fmt.Sprintf("%11s", fmt.Sprintf("%.1f–%.1f", stats.Percent(s.CILow), stats.Percent(s.CIHigh))))
		}
		lines = append(lines, clip(line, f.width))
	}
	if more > 0 {
		lines = append(lines, f.dim.Render(clip(fmt.Sprintf("+ %d more tools", more), f.width)))
	}
	return lines
}

func (f frame) high(b *analytics.Board, s analytics.Standing) float64 {
	if b.NFamilies < 2 {
		return s.PickRate
	}
	return s.CIHigh
}

// bar95 draws a rate: solid up to the low end of its interval, then to the rate, then to
// the high end. Without colours the marks tell them apart.
func (f frame) bar95(s analytics.Standing, room int, scale float64, interval bool) string {
	at := func(v float64) int { return max(0, min(room, int(v/scale*float64(room)+.5))) }
	rate := at(s.PickRate)
	low, high := rate, rate
	if interval {
		low, high = min(at(s.CILow), rate), max(at(s.CIHigh), rate)
	}
	return f.bar.Render(strings.Repeat("█", low)) + f.mid.Render(strings.Repeat("▓", rate-low)) +
		f.band.Render(strings.Repeat("▒", high-rate)) + f.track.Render(strings.Repeat("·", room-high))
}

// scaleOf is the rate at the right end of bars: few values, so that bars do not jump.
func scaleOf(top float64) float64 {
	for _, s := range []float64{.1, .25, .5, .75} {
		if top <= s {
			return s
		}
	}
	return 1
}

// outcomes are the outcomes of answers, those that occur, in lines that fit.
func (f frame) outcomes(b *analytics.Board) []string {
	o := b.Outcomes
	var parts []string
	for _, x := range []struct {
		name string
		n    int
	}{
		{"tool", o.Tool},
		{"built its own", o.DIY},
		{"other", o.Other},
		{"none", o.None},
		{"ambiguous", o.Ambiguous},
		{"refused", o.Refused},
		{"truncated", o.Truncated},
	} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s (%.0f%%)", x.name, thousands(x.n), math.Round(100*float64(x.n)/float64(max(1, b.NTrials)))))
		}
	}
	return f.flow(parts)
}

// flow sets parts in as few lines as fit, each with a dot between parts.
func (f frame) flow(parts []string) (lines []string) {
	for i, part := range parts {
		if last := len(lines) - 1; i > 0 && lipgloss.Width(lines[last])+3+lipgloss.Width(part) <= f.width {
			lines[last] += " · " + part
		} else {
			lines = append(lines, clip(part, f.width))
		}
	}
	return lines
}

// firsts is a row for each board: the tool that is picked most.
func (f frame) firsts(boards []analytics.Board) (lines []string) {
	var label, tool int
	for _, b := range boards {
		if len(b.Tools) > 0 {
			label, tool = max(label, lipgloss.Width(clean(b.Category))), max(tool, lipgloss.Width(clean(b.Tools[0].Slug)))
		}
	}
	label, tool = min(label, f.width/3), min(tool, f.width/3)
	room := min(f.width-label-tool-2-2-6, maxBar/2)
	for _, b := range boards {
		if len(b.Tools) == 0 {
			continue
		}
		s, bar := b.Tools[0], ""
		if room >= 4 {
			bar = f.bar95(s, room, 1, false) + " "
		}
		lines = append(lines, clip(f.dim.Render(pad(clean(b.Category), label))+"  "+pad(clean(s.Slug), tool)+"  "+bar+fmt.Sprintf("%5.1f%%", stats.Percent(s.PickRate)), f.width))
	}
	return lines
}
