package progress

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/firstpick/firstpick/runner"
)

// controlTimeout bounds how long a key waits for the run.
const controlTimeout = 5 * time.Second

// A ui is what keys have chosen, and which of them there are.
type ui struct {
	keys, control, ranks    bool
	leaders, help, question bool
	note                    string // the result of the last key
}

// key acts on a pressed key.
func (m model) key(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	pressed := k.String()
	switch pressed {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+z":
		return m, tea.Suspend
	}
	if m.ui.question {
		switch pressed {
		case "y", "Y":
			return m.interrupt()
		case "n", "N", "q", "esc", "enter":
			m.ui.question = false
		}
		return m, nil
	}
	m.ui.note = ""
	switch pressed {
	case "?", "h":
		m.ui.help = !m.ui.help
	case "esc":
		m.ui.help = false
	case "tab", "l":
		m.ui.leaders = !m.ui.leaders && m.ui.ranks
	case "q":
		m.ui.question = true
	case "p", "space", "+", "=", "-":
		if m.ui.control {
			return m, m.v.control(pressed)
		}
	}
	return m, nil
}

// interrupt gives the terminal back and then acts like Ctrl-C.
func (m model) interrupt() (tea.Model, tea.Cmd) {
	m.interrupted = true
	return m, tea.Quit
}

// control returns the command of a key that controls the run.
func (v *View) control(pressed string) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(v.ctx, controlTimeout)
		defer cancel()
		note, err := v.steer(ctx, pressed)
		if err != nil {
			return controlMsg{note: err.Error()}
		}
		st, err := v.cfg.Control.Status(ctx)
		if err != nil { // it has ended
			return controlMsg{note: note}
		}
		return controlMsg{note, &st}
	}
}

func (v *View) steer(ctx context.Context, pressed string) (note string, err error) {
	c := v.cfg.Control
	st, err := c.Status(ctx)
	if err != nil {
		return "", err
	}
	switch pressed {
	case "+", "=":
		n := min(st.Concurrency+step(st.Concurrency), runner.MaxConcurrency)
		return fmt.Sprintf("concurrency %d", n), c.SetConcurrency(ctx, n)
	case "-":
		n := max(st.Concurrency-step(st.Concurrency-1), 1)
		return fmt.Sprintf("concurrency %d: what is above ends by itself", n), c.SetConcurrency(ctx, n)
	}
	if st.Paused {
		return "resumed", c.Resume(ctx)
	}
	return "paused: requests in flight end, no further ones begin", c.Pause(ctx)
}

// step is by how much a key changes the concurrency: about an eighth.
func step(n int) int { return max(1, n/8) }

// keyLine is the last line of a frame: a question, the result of a key, or the keys.
func (f frame) keyLine() string {
	switch {
	case !f.keys:
		return ""
	case f.question && f.remote:
		return f.hold.Render(clip("Stop watching? y/n   The run continues on the server.", f.width))
	case f.question:
		kept := "Answers are kept."
		if f.resume != "" {
			kept = "Answers are kept: " + f.resume + " continues it."
		}
		return f.hold.Render(clip("Stop the run? y/n   "+kept, f.width))
	case f.note != "":
		return f.hold.Render(clip(clean(f.note), f.width))
	}
	type entry struct{ key, what string }
	entries := []entry{{"?", "help"}, {"q", "stop"}} // the first where not all fit
	if f.control {
		entries = append(entries, entry{"p", "pause"})
	}
	if f.ranks && f.width < wideFrom {
		other := "leaders"
		if f.leaders {
			other = "providers"
		}
		entries = append(entries, entry{"tab", other})
	}
	if f.control {
		entries = append(entries, entry{"+ -", "concurrency"})
	}
	line, used := "", 0
	for _, e := range entries {
		between := strings.Repeat(" ", min(2, used))
		if used += len(between) + len(e.key) + 1 + len(e.what); used > f.width {
			break
		}
		line += between + f.key.Render(e.key) + " " + f.dim.Render(e.what)
	}
	return line
}

// helpLines explain the keys and the marks of the view.
func (f frame) helpLines() []string {
	lines := []string{"", "Keys", "  ?      this help"}
	if f.control {
		lines = append(lines, "  p      pause and resume", "  + -    more or fewer requests at a time")
	}
	if f.ranks && f.width < wideFrom {
		lines = append(lines, "  tab    leaders or providers")
	}
	lines = append(lines, "  q      stop; answers are kept", "  ^C     stop at once; again: kill", "  ^Z     suspend; fg continues")
	if f.ranks {
		lines = append(lines, "", "Leaders",
			"  "+f.bar.Render("█")+" surely picked this often",
			"  "+f.mid.Render("▓")+" up to the pick rate",
			"  "+f.band.Render("▒")+" up to the end of the 95 % interval")
	}
	for i := range lines {
		lines[i] = clip(lines[i], f.width)
	}
	return lines
}
