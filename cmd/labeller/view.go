package labeller

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/firstpick/firstpick/runner/pick"
)

const (
	minWidth, minHeight = 40, 12
	// maxToolRows is how many rows of tools are shown at once, otherRows how many rows
	// a frame has beside them at least.
	maxToolRows, otherRows = 5, 9
)

// An outcome is one that a key stands for.
type outcome struct {
	key  string
	kind pick.Kind
	text string
}

// outcomes are those without a name to type.
func outcomes() []outcome {
	return []outcome{
		{"d", pick.DIY, "diy"}, {"n", pick.None, "none"}, {"a", pick.Ambiguous, "ambiguous"},
		{"r", pick.Refused, "refused"}, {"t", pick.Truncated, "truncated"},
	}
}

// toolKeys are the keys of the first tools, in order.
func toolKeys() []string { return strings.Split("123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", "") }

// styles are the few colours of the view; none without colour.
type styles struct{ title, cursor, dim lipgloss.Style }

func newStyles(noColor bool) styles {
	base := lipgloss.NewStyle()
	if noColor {
		return styles{base, base, base}
	}
	return styles{base.Bold(true), base.Reverse(true), base.Faint(true)}
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	return v
}

// bodyHeight is how many rows of the trial are shown.
func (m *model) bodyHeight() int {
	return max(3, max(m.height, minHeight)-len(m.panel())-3)
}

func (m *model) draw() string {
	s := newStyles(m.cfg.NoColor)
	lines := []string{s.title.Render(m.clip(m.title())), s.dim.Render(strings.Repeat("─", m.columns()))}
	_, open := m.cfg.Session.Next()
	switch {
	case m.mode == modeHelp:
		lines = append(lines, m.fill(help(), m.bodyHeight())...)
	case !open:
		_, total := m.cfg.Session.Progress()
		lines = append(lines, m.fill([]string{fmt.Sprintf("All %d trials are labelled and stored.", total), "", "q quits, u takes the last label back."}, m.bodyHeight())...)
	default:
		lines = append(lines, m.body(s)...)
	}
	lines = append(lines, s.dim.Render(m.clip(m.rule())))
	for _, line := range m.panel() {
		lines = append(lines, m.clip(line))
	}
	return strings.Join(lines, "\n")
}

func (m *model) columns() int { return max(m.width, minWidth) }

func (m *model) title() string {
	done, total := m.cfg.Session.Progress()
	s := fmt.Sprintf("%d of %d labelled · %s · by %s · run %s", done, total, m.cfg.Category, m.cfg.Session.By(), m.cfg.Run)
	if m.quote != "" {
		s += " · quote attached"
	}
	return s
}

// body is the visible part of the trial.
func (m *model) body(s styles) []string {
	var out []string
	low, high := m.selected()
	for i := m.top; i < min(len(m.rows), m.top+m.bodyHeight()); i++ {
		line := "  " + m.rows[i].text
		if m.mode == modeQuote && low <= i && i <= high {
			line = s.cursor.Render("> " + m.rows[i].text)
		}
		out = append(out, line)
	}
	return m.fill(out, m.bodyHeight())
}

func (m *model) fill(lines []string, n int) []string {
	for i := range lines {
		lines[i] = m.clip(lines[i])
	}
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:n]
}

// rule separates the trial from the keys and says how much of it is below.
func (m *model) rule() string {
	text := ""
	if below := len(m.rows) - m.top - m.bodyHeight(); below > 0 {
		text = fmt.Sprintf(" %d lines below ", below)
	}
	return "──" + text + strings.Repeat("─", max(0, m.columns()-2-lipgloss.Width(text)))
}

// panel is what is below the trial: tools, outcomes, keys, a message.
func (m *model) panel() []string {
	lines := m.toolTable()
	var parts []string
	for _, o := range outcomes() {
		parts = append(parts, o.key+" "+o.text)
	}
	lines = append(lines, strings.Join(append(parts, "o other"), "   "), m.hints())
	return append(lines, m.message)
}

func (m *model) hints() string {
	switch m.mode {
	case modeSearch:
		return "tool: " + m.typed + "▏  ←→ choose, enter, esc"
	case modeOther:
		return "other: " + m.typed + "▏  enter stores, esc"
	case modeQuote:
		return "quote: ↑↓ move, space begins, enter attaches, esc"
	case modeLabel, modeHelp:
	}
	return "s skip  u undo  v quote  ←→ space mark  / search  ? help  q quit"
}

// toolTable lists the tools with keys and marks, in columns; of many it shows the rows
// around the cursor.
func (m *model) toolTable() []string {
	width := 0
	for _, t := range m.cfg.Tools {
		width = max(width, lipgloss.Width(t.Slug))
	}
	width += 6
	columns := max(1, m.columns()/width)
	rows := (len(m.cfg.Tools) + columns - 1) / columns
	shown := min(rows, maxToolRows, max(m.height, minHeight)-otherRows)
	first := max(0, min(m.tool/columns-shown/2, rows-shown))
	var out []string
	for r := first; r < first+shown; r++ {
		var line strings.Builder
		for i := r * columns; i < min((r+1)*columns, len(m.cfg.Tools)); i++ {
			cell := m.toolCell(i)
			line.WriteString(cell + strings.Repeat(" ", max(0, width-lipgloss.Width(cell))))
		}
		out = append(out, strings.TrimRight(line.String(), " "))
	}
	return out
}

func (m *model) toolCell(i int) string {
	key, cursor, slug := " ", " ", m.cfg.Tools[i].Slug
	if keys := toolKeys(); i < len(keys) {
		key = keys[i]
	}
	if i == m.tool {
		cursor = ">"
	}
	return cursor + key + [...]string{" ", "+", "-"}[m.marks[slug]] + slug
}

func (m *model) clip(s string) string {
	if lipgloss.Width(s) <= m.columns() {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && lipgloss.Width(string(r)) > m.columns()-1 {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

func help() []string {
	return []string{
		"1-9 A-Z     the answer picked this tool",
		"d n a r t   built its own, chose nothing, chose two or more, refused, was cut off",
		"o           it chose something that is not listed: type its name",
		"/           search a tool by typing; enter moves the cursor to it",
		"← → enter   move the cursor over the tools; pick the tool under it",
		"space       optional: mark the tool, + a viable option, - rejected",
		"v           optional: select lines of the answer as the quote that shows it",
		"↑ ↓ pgup pgdn home end   scroll",
		"s           skip: the trial comes again at the end",
		"u           undo the last label",
		"q           quit; the same command continues",
		"",
		"Label what the answer does, not what is right. Code and installs outweigh words.",
		"Each label is on disk before the next answer is shown. Any key closes this help.",
	}
}
