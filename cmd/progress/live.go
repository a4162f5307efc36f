package progress

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner"
)

const (
	// frameEvery is how often the view is drawn.
	frameEvery = 100 * time.Millisecond
	// rankEvery is how often leaders are ranked; where that takes long, less often.
	rankEvery, rankShare = time.Second, 10
)

type (
	frameMsg struct{}
	closeMsg struct{}
	// boardMsg is a board of the first n answers, and how long it took.
	boardMsg struct {
		board analytics.Board
		n     int
		took  time.Duration
	}
	// controlMsg is the result of a key that controls the run.
	controlMsg struct {
		note   string
		status *runner.Status
	}
)

// model is the bubbletea side: the size, and what keys have chosen.
type model struct {
	v             *View
	width, height int
	ui            ui
	ranking       bool
	rankAt        time.Time // of the next ranking
	interrupted   bool
}

func newModel(v *View) model {
	return model{v: v, width: defaultWidth, height: defaultHeight, ui: ui{keys: v.cfg.In != nil, control: v.cfg.Control != nil, ranks: v.cfg.Category != nil}}
}

// Init implements tea.Model.
func (m model) Init() tea.Cmd {
	if m.v.cfg.In == nil { // no answer could be read
		return nextFrame()
	}
	return tea.Batch(nextFrame(), tea.RequestBackgroundColor)
}

func nextFrame() tea.Cmd {
	return tea.Tick(frameEvery, func(time.Time) tea.Msg { return frameMsg{} })
}

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.v.setSize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.v.setPalette(msg.IsDark())
	case tea.KeyPressMsg:
		return m.key(msg)
	case controlMsg:
		m.ui.note = msg.note
		if msg.status != nil {
			m.v.setStatus(msg.status)
		}
	case boardMsg:
		m.ranking = false
		m.rankAt = m.v.cfg.Now().Add(max(rankEvery, rankShare*msg.took))
		m.v.setBoard(msg)
	case frameMsg:
		var rank tea.Cmd
		m, rank = m.rank()
		return m, tea.Batch(nextFrame(), rank)
	case closeMsg:
		return m, tea.Quit
	}
	return m, nil
}

// rank begins to rank new answers, outside of the loop that draws.
func (m model) rank() (model, tea.Cmd) {
	now := m.v.cfg.Now()
	if m.ranking || now.Before(m.rankAt) {
		return m, nil
	}
	measured, n, ok := m.v.measurement()
	if !ok {
		return m, nil
	}
	m.ranking = true
	return m, func() tea.Msg {
		b := analytics.Rank(measured)
		return boardMsg{b, n, m.v.cfg.Now().Sub(now)}
	}
}

// View implements tea.Model.
func (m model) View() tea.View {
	v := tea.NewView(m.v.frame(m.width, m.height, m.ui))
	v.AltScreen, v.DisableBracketedPasteMode = true, true
	return v
}

// A screen is a terminal that is drawn on again and again.
type screen struct {
	p    *tea.Program
	done chan struct{} // closed when the terminal is given back
}

// newScreen takes the terminal until close, or until ctx ends: the rest of an interrupted run
// must be visible, and a second Ctrl-C a signal again.
func newScreen(ctx context.Context, v *View, opts ...tea.ProgramOption) *screen {
	cfg := &v.cfg
	opts = append(opts, tea.WithOutput(cfg.W), tea.WithInput(cfg.In), tea.WithoutSignalHandler(), tea.WithEnvironment(cfg.Environ))
	s := &screen{p: tea.NewProgram(newModel(v), opts...), done: make(chan struct{})}
	if cfg.Hide != nil {
		cfg.Hide() // what is typed would be drawn into the view
	}
	stop := context.AfterFunc(ctx, func() { s.p.Send(closeMsg{}) })
	go func() {
		defer close(s.done)
		last, err := s.p.Run()
		stop()
		if cfg.Show != nil {
			cfg.Show()
		}
		m, _ := last.(model)
		v.released(err, m.interrupted || ctx.Err() != nil)
		if m.interrupted && cfg.Interrupt != nil {
			cfg.Interrupt()
		}
	}()
	return s
}

func (s *screen) close() error {
	s.p.Send(closeMsg{})
	<-s.done
	return nil
}

// released says how the run goes on without a screen. A terminal that fails does not end a
// run: lines follow.
func (v *View) released(err error, interrupted bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case interrupted && v.tally.summary == nil && !v.tally.remote:
		_, _ = fmt.Fprintln(v.cfg.W, "stopping: answers that arrived are stored; Ctrl-C again ends at once")
	case err != nil:
		_, _ = fmt.Fprintln(v.cfg.W, "note: the live view ended:", err)
		v.lines = newLineView(&v.cfg)
	}
}

func (v *View) frame(width, height int, u ui) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return render(v.tally, frame{width: width, height: height, now: v.cfg.Now(), resume: v.cfg.Resume, remote: v.tally.remote, styles: newStyles(v.palette), ui: u})
}

func (v *View) measurement() (analytics.Measurement, int, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tally.leaders.measurement()
}

func (v *View) setBoard(b boardMsg) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tally.leaders.board, v.tally.leaders.ranked = &b.board, b.n
}

func (v *View) setStatus(st *runner.Status) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tally.status = st
}

func (v *View) setSize(width, height int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.size = [2]int{width, height}
}

func (v *View) setPalette(isDark bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.palette = light
	if isDark {
		v.palette = dark
	}
}
