package progress

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/firstpick/firstpick/runner"
)

// frameEvery is how often the view is drawn.
const frameEvery = 100 * time.Millisecond

type (
	frameMsg time.Time
	closeMsg struct{}
)

// model is the bubbletea side: it owns the size, and draws the shared state.
type model struct {
	draw          func(width, height int) string
	width, height int
}

func (m model) Init() tea.Cmd { return nextFrame() }

func nextFrame() tea.Cmd {
	return tea.Tick(frameEvery, func(t time.Time) tea.Msg { return frameMsg(t) })
}

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case frameMsg:
		return m, nextFrame()
	case closeMsg:
		return m, tea.Quit
	}
	return m, nil
}

func (m model) View() tea.View { return tea.NewView(m.draw(m.width, m.height)) }

// A screen is a terminal that is drawn on again and again.
type screen struct {
	p    *tea.Program
	done chan error
	show func()
}

func newScreen(cfg Config, draw func(width, height int) string, opts ...tea.ProgramOption) *screen {
	// The program reads no keys and installs no signal handler: an interrupt
	// must reach the command's own context, not the view.
	opts = append(opts, tea.WithOutput(cfg.W), tea.WithInput(nil), tea.WithoutSignalHandler())
	s := &screen{p: tea.NewProgram(model{draw, defaultWidth, defaultHeight}, opts...), done: make(chan error, 1), show: cfg.Show}
	if cfg.Hide != nil {
		cfg.Hide() // what is typed would be drawn into the view
	}
	go func() {
		_, err := s.p.Run()
		s.done <- err
	}()
	return s
}

// Close draws the last frame and gives the terminal back.
func (s *screen) Close() error {
	s.p.Send(closeMsg{})
	err := <-s.done
	if s.show != nil {
		s.show()
	}
	return err
}

// live is a sink that draws on a terminal.
type live struct {
	*screen
	cfg    Config
	styles styles

	mu    sync.Mutex
	tally *tally
}

func newLive(cfg Config, opts ...tea.ProgramOption) *live {
	l := &live{cfg: cfg, styles: newStyles(cfg.NoColor), tally: newTally(cfg.Run)}
	l.screen = newScreen(cfg, l.frame, opts...)
	return l
}

func (l *live) frame(width, height int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return render(l.tally, frame{width: width, height: height, now: l.cfg.Now(), styles: l.styles})
}

// Event implements runner.Sink.
func (l *live) Event(_ context.Context, e runner.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally.note(e, l.cfg.Now())
	return nil
}
