package progress

import (
	"bytes"
	"context"
	"errors"
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/firstpick/firstpick/runner"
)

// A controlled run notes what it is ordered to do.
type controlled struct {
	status runner.Status
	err    error
}

func (c *controlled) Status(context.Context) (runner.Status, error) { return c.status, nil }

func (c *controlled) Pause(context.Context) error { c.status.Paused = true; return c.err }

func (c *controlled) Resume(context.Context) error { c.status.Paused = false; return c.err }

func (c *controlled) SetConcurrency(_ context.Context, n int) error {
	c.status.Concurrency = n
	return c.err
}

func press(k string) tea.KeyPressMsg {
	switch k {
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "ctrl+c":
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	case "ctrl+z":
		return tea.KeyPressMsg{Code: 'z', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
}

// keyed is a view of 80 columns on which keys are pressed, with what they do.
func keyed(t *testing.T, c Controller, keys ...string) (m model, last tea.Msg) {
	t.Helper()
	v := New(t.Context(), Config{
		W: &bytes.Buffer{}, In: strings.NewReader(""), TTY: true, Run: demoRun(), Category: payments(), Control: c, Resume: "firstpick run --resume r1",
		Now: func() time.Time { return at(5) },
	})
	v.tally = measured()
	m = newModel(v)
	send := func(msg tea.Msg) tea.Cmd {
		next, cmd := m.Update(msg)
		m = next.(model)
		return cmd
	}
	send(tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, k := range keys {
		last = nil
		if cmd := send(press(k)); cmd != nil {
			last = cmd()
			send(last)
		}
	}
	return m, last
}

func TestKeys(t *testing.T) {
	for name, tt := range map[string]struct {
		keys       []string
		want, lack []string // on the screen
	}{
		"at first":                    {nil, []string{"provider  ", "? help", "p pause", "tab leaders", "+ - concurrency", "q stop"}, []string{"leaders after"}},
		"tab shows leaders":           {[]string{"tab"}, []string{"leaders after", "stripe", "tab providers"}, []string{"provider  "}},
		"tab goes back":               {[]string{"tab", "tab"}, []string{"provider  "}, []string{"leaders after"}},
		"? explains":                  {[]string{"?"}, []string{"pause and resume", "95 % interval"}, []string{"provider  "}},
		"? again, or esc, is enough":  {[]string{"?", "?", "?", "esc"}, []string{"provider  "}, []string{"pause and resume"}},
		"q asks":                      {[]string{"q"}, []string{"Stop the run? y/n", "firstpick run --resume r1"}, []string{"? help"}},
		"n goes on":                   {[]string{"q", "n"}, []string{"? help"}, []string{"Stop the run?"}},
		"other keys do not answer it": {[]string{"q", "x", "p"}, []string{"Stop the run?"}, []string{"paused"}},
		"p pauses":                    {[]string{"p"}, []string{"PAUSED", "paused: requests in flight end"}, nil},
		"p again resumes":             {[]string{"p", "p"}, []string{"resumed"}, []string{"PAUSED"}},
		"+ allows more":               {[]string{"+"}, []string{"of 9 in flight", "concurrency 9"}, nil},
		"- allows fewer":              {[]string{"-", "-"}, []string{"of 6 in flight"}, nil},
		"- stops at one":              {slices.Repeat([]string{"-"}, 20), []string{"of 1 in flight"}, nil},
		"unknown keys do nothing":     {[]string{"x", "\x1b"}, []string{"? help"}, nil},
	} {
		m, _ := keyed(t, &controlled{status: runner.Status{Concurrency: 8}}, tt.keys...)
		got := m.View().Content
		for _, want := range tt.want {
			if !strings.Contains(ansi.Strip(got), want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
		for _, lack := range tt.lack {
			if strings.Contains(ansi.Strip(got), lack) {
				t.Errorf("%s: %q in\n%s", name, lack, got)
			}
		}
	}
}

func TestWhatARunRefusesIsShown(t *testing.T) {
	m, _ := keyed(t, &controlled{err: errors.New("the run\x1b[2J has ended")}, "p")
	if got := ansi.Strip(m.View().Content); !strings.Contains(got, "the run [2J has ended") && !strings.Contains(got, "has ended") {
		t.Errorf("no error in\n%s", got)
	}
}

func TestKeysThatEndTheView(t *testing.T) {
	for _, keys := range [][]string{{"ctrl+c"}, {"q", "y"}, {"?", "q", "ctrl+c"}} {
		m, last := keyed(t, &controlled{}, keys...)
		if _, quit := last.(tea.QuitMsg); !quit || !m.interrupted {
			t.Errorf("%q: %T, interrupted %v", keys, last, m.interrupted)
		}
	}
	if _, last := keyed(t, nil, "ctrl+z"); last != tea.Suspend() {
		t.Errorf("ctrl+z: %T", last)
	}
	if m, _ := keyed(t, nil, "p", "+"); m.ui.note != "" || strings.Contains(m.View().Content, "pause") {
		t.Errorf("a run without control: %q", m.View().Content)
	}
}

func TestTheBackgroundDecidesOnColours(t *testing.T) {
	m, _ := keyed(t, nil)
	for bg, want := range map[color.Color]palette{color.White: light, color.Black: dark} {
		m.Update(tea.BackgroundColorMsg{Color: bg})
		if m.v.palette != want {
			t.Errorf("%v: palette %d", bg, m.v.palette)
		}
	}
}

func TestLeadersAreRankedBesideTheView(t *testing.T) {
	m, _ := keyed(t, nil)
	m.v.tally.leaders.board, m.v.tally.leaders.ranked = nil, 0
	m, rank := m.rank()
	if again, second := m.rank(); rank == nil || second != nil || !again.ranking {
		t.Fatal("one ranking at a time")
	}
	next, _ := m.Update(rank())
	m = next.(model)
	if m.v.tally.leaders.board == nil || m.v.Leader() != "stripe" {
		t.Error("no board")
	}
	if _, third := m.rank(); third != nil {
		t.Error("ranked again without a new answer")
	}
}

// live is a view that draws, with what it wrote and whether Ctrl-C was sent.
type live struct {
	*View
	out         bytes.Buffer
	interrupted bool
}

func startLive(ctx context.Context, in string) *live {
	l := &live{}
	cfg := Config{W: &l.out, TTY: true, Run: demoRun(), Category: payments(), Now: func() time.Time { return at(5) }, Interrupt: func() { l.interrupted = true }, Environ: []string{"NO_COLOR=1"}}
	if in != "" {
		cfg.In = strings.NewReader(in)
	}
	l.View = newView(ctx, cfg, tea.WithWindowSize(120, 24))
	return l
}

func (l *live) feed(t *testing.T, st *runner.Status) {
	t.Helper()
	feed(func(e runner.Event) {
		if err := l.Event(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	})
	if err := l.Event(t.Context(), runner.Event{Kind: runner.EventStatus, Status: st}); err != nil {
		t.Fatal(err)
	}
}

const leaveAltScreen = "\x1b[?1049l"

func TestALiveViewGivesTheTerminalBack(t *testing.T) {
	for name, end := range map[string]func(*live, context.CancelFunc){
		"the run ends":       func(l *live, _ context.CancelFunc) { _ = l.Close() },
		"an interrupt":       func(l *live, cancel context.CancelFunc) { cancel(); <-l.screen.done },
		"both at once":       func(l *live, cancel context.CancelFunc) { cancel(); _ = l.Close() },
		"it is closed twice": func(l *live, _ context.CancelFunc) { _ = l.Close(); _ = l.Close() },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		l := startLive(ctx, "")
		l.feed(t, status())
		end(l, cancel)
		_ = l.Close()
		cancel()
		if got := l.out.String(); !strings.Contains(got, "12/60") || strings.Count(got, leaveAltScreen) != 1 || l.interrupted {
			t.Errorf("%s: interrupted %v, %q", name, l.interrupted, got)
		}
	}
}

func TestCtrlCIsSentOnWhenTheTerminalIsBack(t *testing.T) {
	l := startLive(t.Context(), "?\x03")
	l.feed(t, status())
	<-l.screen.done
	if got := l.out.String(); !l.interrupted || !strings.HasSuffix(got, "Ctrl-C again ends at once\n") {
		t.Errorf("interrupted %v, %q", l.interrupted, got)
	}
}

func TestAShortRunLeavesTheScreenAlone(t *testing.T) {
	l := startLive(t.Context(), "")
	l.cfg.Now = func() time.Time { return at(.5) }
	l.feed(t, status())
	if err := l.Close(); err != nil || l.out.Len() > 0 {
		t.Errorf("%v, %q", err, l.out.String())
	}
}
