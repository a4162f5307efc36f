package labeller

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/firstpick/firstpick/runner/label"
	"github.com/firstpick/firstpick/runner/pick"
)

// A mode is what keys mean.
type mode int

const (
	modeLabel  mode = iota
	modeSearch      // typing the name of a tool
	modeOther       // typing the name of something else
	modeQuote       // selecting lines
	modeHelp
)

// A mark is the status of a tool that was not picked.
type mark int

const (
	markNone mark = iota
	markShortlist
	markRejected
)

// model is a bubbletea model. Keys arrive one at a time, and a label is stored before
// the next key is read.
type model struct {
	cfg           Config
	width, height int

	mode    mode
	lines   []string // of the trial
	rows    []row    // lines, wrapped to the width
	top     int      // first row shown
	tool    int      // the tool under the cursor
	marks   map[string]mark
	typed   string
	found   []int // tools that match what is typed
	row     int   // under the cursor, when selecting
	from    int   // where the selection begins; -1 before
	quote   string
	message string
	failed  error // that ended the program
}

// A row is a part of a line that fits the width.
type row struct {
	text string
	line int
}

func newModel(cfg Config) (*model, error) {
	m := &model{cfg: cfg, width: defaultWidth, height: defaultHeight}
	return m, m.load()
}

// load shows the next trial.
func (m *model) load() error {
	m.mode, m.top, m.tool, m.marks, m.typed, m.found, m.quote, m.lines = modeLabel, 0, 0, map[string]mark{}, "", nil, "", nil
	trial, ok := m.cfg.Session.Next()
	if ok {
		lines, err := m.cfg.Load(trial)
		if err != nil {
			return err
		}
		m.lines = lines
		if texts := m.cfg.Session.Differing(trial); texts != nil {
			m.lines = append([]string{"Labels differ: " + strings.Join(texts, ", "), ""}, lines...)
		}
	}
	m.wrap()
	return nil
}

func (m *model) wrap() {
	m.rows = m.rows[:0]
	for i, line := range m.lines {
		line = strings.ReplaceAll(line, "\t", "    ") // a tab has no width of its own
		for text := range strings.SplitSeq(lipgloss.Wrap(line, max(m.width, minWidth)-2, ""), "\n") {
			m.rows = append(m.rows, row{text, i})
		}
	}
	m.scroll(0)
}

// scroll moves the view by rows.
func (m *model) scroll(by int) {
	m.top = max(0, min(m.top+by, len(m.rows)-m.bodyHeight()))
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.wrap()
	case tea.PasteMsg:
		if m.mode == modeSearch || m.mode == modeOther {
			m.typeText(msg.Content)
		}
	case tea.KeyPressMsg:
		if quit := m.key(msg); quit || m.failed != nil {
			return m, tea.Quit
		}
	}
	return m, nil
}

// key handles a key and reports whether the person quits.
func (m *model) key(k tea.KeyPressMsg) bool {
	name := k.String()
	if name == "ctrl+c" {
		return true
	}
	m.message = ""
	if m.scrollKey(name) {
		return false
	}
	switch m.mode {
	case modeSearch, modeOther:
		m.typingKey(name, k.Text)
	case modeQuote:
		m.quoteKey(name)
	case modeHelp:
		m.mode = modeLabel
	case modeLabel:
		return m.labelKey(name)
	}
	return false
}

// scrollKey handles the keys that move the text in any mode.
func (m *model) scrollKey(name string) bool {
	page := max(1, m.bodyHeight()-2)
	switch {
	case name == "pgdown":
		m.scroll(page)
	case name == "pgup":
		m.scroll(-page)
	case name == "home":
		m.scroll(-len(m.rows))
	case name == "end":
		m.scroll(len(m.rows))
	case name == "down" && m.mode == modeLabel:
		m.scroll(1)
	case name == "up" && m.mode == modeLabel:
		m.scroll(-1)
	default:
		return false
	}
	return true
}

func (m *model) labelKey(name string) bool {
	_, open := m.cfg.Session.Next()
	switch name {
	case "q":
		return true
	case "u":
		m.undo()
		return false
	case "?":
		m.mode = modeHelp
		return false
	}
	if !open {
		return false
	}
	if i := slices.Index(toolKeys(), name); i >= 0 && i < len(m.cfg.Tools) {
		m.put(pick.Tool, m.cfg.Tools[i].Slug)
		return false
	}
	for _, o := range outcomes() {
		if o.key == name {
			m.put(o.kind, "")
			return false
		}
	}
	m.otherKey(name)
	return false
}

func (m *model) otherKey(name string) {
	switch name {
	case "s":
		m.cfg.Session.Skip()
		m.failed = m.load()
	case "o":
		m.mode, m.typed = modeOther, ""
	case "/":
		m.mode = modeSearch
		m.typed = ""
		m.search()
	case "v":
		if len(m.rows) > 0 {
			m.mode, m.row, m.from = modeQuote, m.top, -1
		}
	case "left":
		m.tool = max(0, m.tool-1)
	case "right":
		m.tool = min(len(m.cfg.Tools)-1, m.tool+1)
	case "enter":
		m.put(pick.Tool, m.cfg.Tools[m.tool].Slug)
	case "space":
		slug := m.cfg.Tools[m.tool].Slug
		m.marks[slug] = (m.marks[slug] + 1) % (markRejected + 1)
	default:
		m.message = fmt.Sprintf("%s has no meaning; ? shows the keys", name)
	}
}

// put stores a label and shows the next trial.
func (m *model) put(kind pick.Kind, picked string) {
	l := label.Label{Outcome: kind, Picked: picked, Quote: m.quote}
	for _, t := range m.cfg.Tools {
		switch {
		case m.marks[t.Slug] == markShortlist:
			l.Shortlist = append(l.Shortlist, t.Slug)
		case m.marks[t.Slug] == markRejected && t.Slug != picked:
			l.Rejected = append(l.Rejected, t.Slug)
		}
	}
	slices.Sort(l.Shortlist)
	slices.Sort(l.Rejected)
	if err := m.cfg.Session.Put(l); err != nil {
		m.message = "not stored: " + err.Error()
		return
	}
	m.failed = m.load()
	m.message = "stored: " + l.Text()
}

func (m *model) undo() {
	undone, err := m.cfg.Session.Undo()
	switch {
	case err != nil:
		m.message = "not undone: " + err.Error()
	case !undone:
		m.message = "there is no label to undo"
	default:
		m.failed = m.load()
		m.message = "label withdrawn"
	}
}

// typingKey handles a key while a name is typed.
func (m *model) typingKey(name, text string) {
	switch name {
	case "esc":
		m.mode = modeLabel
	case "backspace":
		if r := []rune(m.typed); len(r) > 0 {
			m.typed = string(r[:len(r)-1])
			m.search()
		}
	case "enter":
		m.typedName()
	case "left", "up":
		m.step(-1)
	case "right", "down", "tab":
		m.step(1)
	default:
		m.typeText(text)
	}
}

func (m *model) typeText(text string) {
	m.typed += strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	m.search()
}

// search finds the tools whose name or slug contains what is typed.
func (m *model) search() {
	if m.mode != modeSearch {
		return
	}
	m.found = nil
	for i, t := range m.cfg.Tools {
		if strings.Contains(strings.ToLower(t.Name+"\n"+t.Slug), strings.ToLower(strings.TrimSpace(m.typed))) {
			m.found = append(m.found, i)
		}
	}
	if len(m.found) > 0 && !slices.Contains(m.found, m.tool) {
		m.tool = m.found[0]
	}
}

// step moves to another tool that was found.
func (m *model) step(by int) {
	if i := slices.Index(m.found, m.tool); m.mode == modeSearch && i >= 0 {
		m.tool = m.found[max(0, min(i+by, len(m.found)-1))]
	}
}

func (m *model) typedName() {
	name := strings.ToLower(strings.TrimSpace(m.typed))
	switch {
	case m.mode == modeSearch && len(m.found) == 0:
		m.message = "no tool has that name; esc, then o, for something else"
	case m.mode == modeSearch:
		m.mode = modeLabel // the cursor is on it: enter picks, space marks
		m.message = "enter picks it, space marks it"
	case name == "":
		m.message = "type what was chosen, or esc"
	case slices.ContainsFunc(m.cfg.Tools, func(t Tool) bool { return t.Slug == name || strings.ToLower(t.Name) == name }):
		m.message = name + " is a tool of the category: esc, then its key"
	default:
		m.put(pick.Other, name)
	}
}

// quoteKey handles a key while lines are selected.
func (m *model) quoteKey(name string) {
	switch name {
	case "esc", "q":
		m.mode = modeLabel
	case "down":
		m.row = min(len(m.rows)-1, m.row+1)
	case "up":
		m.row = max(0, m.row-1)
	case "space", "v":
		m.from = m.row
	case "enter":
		low, high := m.selected()
		m.quote = strings.TrimSpace(strings.Join(m.lines[m.rows[low].line:m.rows[high].line+1], "\n"))
		m.mode, m.message = modeLabel, "quote attached"
	}
	if m.row < m.top {
		m.scroll(m.row - m.top)
	} else if last := m.top + m.bodyHeight() - 1; m.row > last {
		m.scroll(m.row - last)
	}
}

// selected returns the first and the last row of the selection.
func (m *model) selected() (low, high int) {
	if m.from < 0 {
		return m.row, m.row
	}
	return min(m.from, m.row), max(m.from, m.row)
}
