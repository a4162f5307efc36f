package labeller

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"go.uber.org/goleak"

	"github.com/firstpick/firstpick/runner/label"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const answer = `PROMPT
Let people pay on our site.

ANSWER
Stripe is what I would take here. Paddle would also do: it is the merchant of record, which saves you the tax work, at the price of higher fees and of less control.

I would avoid Square.

--- command, exit 0
npm install stripe`

// A desk is a label file with a sample, on which sessions are played.
type desk struct {
	file  label.File
	tools []Tool
	clock time.Time
}

func newDesk(t *testing.T, trials, tools int) *desk {
	t.Helper()
	d := &desk{file: label.File{Path: filepath.Join(t.TempDir(), label.FileName), Run: "r1"}, clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for _, slug := range []string{"paddle", "square", "stripe"} {
		d.tools = append(d.tools, Tool{slug, strings.ToUpper(slug[:1]) + slug[1:]})
	}
	for i := range tools - 3 {
		d.tools = append(d.tools, Tool{fmt.Sprintf("tool-%02d", i), fmt.Sprintf("Tool %02d", i)})
	}
	s := label.Sample{Run: "r1", Seed: 1, Size: trials, Frame: 10 * trials}
	for i := range trials {
		s.Trials = append(s.Trials, label.Drawn{Trial: fmt.Sprintf("trial-%d", i), P: .1, Stratum: "s"})
	}
	if _, err := d.file.Begin(func() (label.Sample, error) { return s, nil }); err != nil {
		t.Fatal(err)
	}
	return d
}

// labels are those on disk, as trial, label and who made it.
func (d *desk) labels(t *testing.T) []string {
	t.Helper()
	set, err := d.file.Read()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range set.Labels {
		out = append(out, l.Trial+" "+l.Text()+" "+l.By)
	}
	return out
}

func (d *desk) config(t *testing.T, by string) Config {
	t.Helper()
	set, err := d.file.Read()
	if err != nil {
		t.Fatal(err)
	}
	s, err := label.NewSession(d.file, set, by, false, func() time.Time { return d.clock })
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Run: "r1", Category: "payments", Tools: d.tools, Session: s, NoColor: true,
		Load: func(trial string) ([]string, error) {
			return strings.Split(strings.Replace(answer, "PROMPT", "PROMPT of "+trial, 1), "\n"), nil
		},
	}
}

// play types keys into the program, in a terminal of a width, and returns its last frame.
func (d *desk) play(t *testing.T, cfg Config, width int, keys ...string) string {
	t.Helper()
	m, err := newModel(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var screen bytes.Buffer
	p := tea.NewProgram(m, tea.WithInput(nil), tea.WithOutput(&screen), tea.WithoutSignalHandler(), tea.WithWindowSize(width, 24))
	go func() {
		p.Send(tea.WindowSizeMsg{Width: width, Height: 24}) // the program sends its own at any time
		for _, k := range keys {
			p.Send(press(k))
		}
		p.Send(press("ctrl+c"))
	}()
	last, err := p.Run()
	if err != nil {
		t.Fatal(err)
	}
	if screen.Len() == 0 {
		t.Error("nothing was drawn")
	}
	return last.(*model).draw()
}

// press returns the message of a key as a terminal sends it.
func press(k string) tea.Msg {
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown,
		"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace,
	}
	switch {
	case k == "ctrl+c":
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	case k == "space":
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	case special[k] != 0:
		return tea.KeyPressMsg{Code: special[k]}
	case strings.HasPrefix(k, "paste:"):
		return tea.PasteMsg{Content: strings.TrimPrefix(k, "paste:")}
	}
	return tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
}

func typed(s string) []string { return strings.Split(s, "") }

func TestFrames(t *testing.T) {
	for name, tt := range map[string]struct {
		tools int
		keys  []string
	}{
		"first":   {3, nil},
		"marked":  {3, []string{"space", "right", "space", "space", "down", "down"}},
		"quote":   {3, []string{"v", "down", "down", "down", "down", "space", "down"}},
		"quoted":  {3, []string{"v", "down", "down", "down", "down", "enter"}},
		"search":  {80, append([]string{"/"}, typed("l 4")...)},
		"other":   {3, append([]string{"o"}, typed("Adyen")...)},
		"help":    {3, []string{"?"}},
		"stored":  {3, []string{"3"}},
		"end":     {3, []string{"3", "d"}},
		"unknown": {3, []string{"x"}},
	} {
		for _, width := range []int{80, 200} {
			d := newDesk(t, 2, tt.tools)
			golden(t, fmt.Sprintf("%s_%d", name, width), d.play(t, d.config(t, "ann"), width, tt.keys...))
		}
	}
}

func TestKeysMakeLabels(t *testing.T) {
	for name, tt := range map[string]struct {
		tools int
		keys  []string
		want  []string
	}{
		"a digit picks a tool":                   {3, []string{"3"}, []string{"trial-0 tool:stripe ann"}},
		"a capital picks a later tool":           {40, []string{"A"}, []string{"trial-0 tool:tool-06 ann"}},
		"a tool without a key is found":          {60, append(append([]string{"/"}, typed("tool 44")...), "enter", "enter"), []string{"trial-0 tool:tool-44 ann"}},
		"the second that is found":               {60, append(append([]string{"/"}, typed("tool 4")...), "down", "enter", "enter"), []string{"trial-0 tool:tool-41 ann"}},
		"the cursor picks":                       {3, []string{"right", "enter"}, []string{"trial-0 tool:square ann"}},
		"outcomes":                               {3, typed("dnart"), []string{"trial-0 diy ann", "trial-1 none ann", "trial-2 ambiguous ann", "trial-3 refused ann", "trial-4 truncated ann"}},
		"something else has a name":              {3, append(append([]string{"o"}, typed("Adyen")...), "enter"), []string{"trial-0 other ann"}},
		"something else without a name":          {3, []string{"o", "enter"}, nil},
		"something else that is a tool":          {3, append(append([]string{"o"}, typed("stripe")...), "enter"), nil},
		"a pasted name":                          {3, []string{"o", "paste:ady\nen", "enter"}, []string{"trial-0 other ann"}},
		"a paste is not keys":                    {3, []string{"paste:1d", "n"}, []string{"trial-0 none ann"}},
		"escape leaves":                          {3, []string{"o", "x", "esc", "d"}, []string{"trial-0 diy ann"}},
		"backspace":                              {3, append(append([]string{"/"}, typed("squx")...), "backspace", "enter", "enter"), []string{"trial-0 tool:square ann"}},
		"a search without a match":               {3, append(append([]string{"/"}, typed("zzz")...), "enter", "esc"), nil},
		"undo takes back":                        {3, []string{"1", "2", "u"}, []string{"trial-0 tool:paddle ann"}},
		"undo, then another":                     {3, []string{"1", "u", "d"}, []string{"trial-0 diy ann"}},
		"undo of nothing":                        {3, []string{"u"}, nil},
		"skipped trials come last":               {3, []string{"s", "1", "1", "1", "1", "d"}, []string{"trial-1 tool:paddle ann", "trial-2 tool:paddle ann", "trial-3 tool:paddle ann", "trial-4 tool:paddle ann", "trial-0 diy ann"}},
		"a digit without a tool":                 {3, []string{"9"}, nil},
		"no label after the last":                {3, typed("ddddddd"), []string{"trial-0 diy ann", "trial-1 diy ann", "trial-2 diy ann", "trial-3 diy ann", "trial-4 diy ann"}},
		"undo after the last":                    {3, append(typed("ddddd"), "u", "n"), []string{"trial-0 diy ann", "trial-1 diy ann", "trial-2 diy ann", "trial-3 diy ann", "trial-4 none ann"}},
		"the key that closes help says no more":  {3, []string{"?", "d"}, nil},
		"keys of a label do nothing in a search": {3, []string{"/", "d", "n"}, nil},
		"quit":                                   {3, []string{"1", "q"}, []string{"trial-0 tool:paddle ann"}},
	} {
		d := newDesk(t, 5, tt.tools)
		d.play(t, d.config(t, "ann"), 80, tt.keys...)
		if got := d.labels(t); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestMarksAndQuotesAreStored(t *testing.T) {
	d := newDesk(t, 2, 3)
	// paddle: option; square: rejected; a quote of two lines; stripe: pick
	d.play(t, d.config(t, "ann"), 80, "space", "right", "space", "space", "v", "down", "down", "down", "down", "space", "down", "down", "down", "down", "down", "enter", "3")
	set, err := d.file.Read()
	if err != nil {
		t.Fatal(err)
	}
	l := set.Labels[0]
	if !slices.Equal(l.Shortlist, []string{"paddle"}) || !slices.Equal(l.Rejected, []string{"square"}) || l.Picked != "stripe" || l.P != .1 || !l.At.Equal(d.clock) {
		t.Errorf("%+v", l)
	}
	if !strings.HasPrefix(l.Quote, "Stripe is what") || !strings.HasSuffix(l.Quote, "avoid Square.") || !strings.Contains(answer, l.Quote) {
		t.Errorf("the quote is not verbatim: %q", l.Quote)
	}
}

func TestLabellingIsBlind(t *testing.T) {
	d := newDesk(t, 3, 3)
	d.play(t, d.config(t, "ann"), 80, "1")
	if frame := d.play(t, d.config(t, "bob"), 200); strings.Contains(frame, "paddle ann") || strings.Contains(frame, "ann") || !strings.Contains(frame, "0 of 3") {
		t.Errorf("the second labeller sees the first:\n%s", frame)
	}
}

// TestAdjudication shows what labellers said, without their names, to who decides.
func TestAdjudication(t *testing.T) {
	d := newDesk(t, 3, 3)
	d.play(t, d.config(t, "ann"), 80, "1", "d", "n")
	d.play(t, d.config(t, "bob"), 80, "2", "d", "n")
	set, err := d.file.Read()
	if err != nil {
		t.Fatal(err)
	}
	cfg := d.config(t, "cat")
	if cfg.Session, err = label.NewSession(d.file, set, "cat", true, func() time.Time { return d.clock }); err != nil {
		t.Fatal(err)
	}
	frame := d.play(t, cfg, 80)
	if !strings.Contains(frame, "Labels differ: tool:paddle, tool:square") || !strings.Contains(frame, "0 of 1 labelled") || strings.Contains(frame, "ann") || strings.Contains(frame, "bob") {
		t.Errorf("%s", frame)
	}
	d.play(t, cfg, 80, "2")
	if set, err = d.file.Read(); err != nil || set.Settle()[0].Text() != "tool:square" || set.Settle()[0].Disputed {
		t.Errorf("%+v, %v", set.Settle()[0], err)
	}
}

func TestASessionContinues(t *testing.T) {
	d := newDesk(t, 3, 3)
	d.play(t, d.config(t, "ann"), 80, "1", "2", "q")
	if frame := d.play(t, d.config(t, "ann"), 80); !strings.Contains(frame, "2 of 3") || !strings.Contains(frame, "PROMPT of trial-2") {
		t.Errorf("%s", frame)
	}
	d.play(t, d.config(t, "ann"), 80, "u")
	if got := d.labels(t); !slices.Equal(got, []string{"trial-0 tool:paddle ann"}) {
		t.Errorf("undo of an earlier session: %v", got)
	}
}

func TestALabelThatCannotBeStoredIsNotPassedOver(t *testing.T) {
	d := newDesk(t, 2, 3)
	cfg := d.config(t, "ann")
	if err := os.Rename(d.file.Path, d.file.Path+".away"); err != nil {
		t.Fatal(err)
	}
	if frame := d.play(t, cfg, 80, "1"); !strings.Contains(frame, "not stored") || !strings.Contains(frame, "0 of 2") || !strings.Contains(frame, "PROMPT of trial-0") {
		t.Errorf("%s", frame)
	}
}

func TestATrialThatCannotBeReadEndsTheProgram(t *testing.T) {
	d := newDesk(t, 2, 3)
	cfg := d.config(t, "ann")
	load := cfg.Load
	cfg.Load = func(trial string) ([]string, error) {
		if trial == "trial-1" {
			return nil, errors.New("damaged")
		}
		return load(trial)
	}
	cfg.In, cfg.Out = strings.NewReader("1"), &bytes.Buffer{}
	err := Run(t.Context(), cfg, tea.WithWindowSize(80, 24))
	if err == nil || err.Error() != "damaged" {
		t.Errorf("%v", err)
	}
	if got := d.labels(t); len(got) != 1 {
		t.Errorf("the label before it: %v", got)
	}
}

// TestTheProgramReadsATerminal types bytes, as a terminal sends them.
func TestTheProgramReadsATerminal(t *testing.T) {
	d := newDesk(t, 5, 3)
	cfg := d.config(t, "ann")
	cfg.In, cfg.Out = strings.NewReader("3oadyen\rn\x1b[C\rq"), &bytes.Buffer{}
	if err := Run(t.Context(), cfg, tea.WithWindowSize(80, 24)); err != nil {
		t.Fatal(err)
	}
	if got := d.labels(t); !slices.Equal(got, []string{"trial-0 tool:stripe ann", "trial-1 other ann", "trial-2 none ann", "trial-3 tool:square ann"}) {
		t.Errorf("%v", got)
	}
}

// A frame that is larger than its terminal makes it scroll, and tears.
func TestAFrameFitsItsTerminal(t *testing.T) {
	for _, tools := range []int{3, 80} {
		d := newDesk(t, 2, tools)
		for width := minWidth; width < 220; width += 13 {
			for height := minHeight; height < 60; height += 5 {
				m, err := newModel(d.config(t, "a-labeller-with-a-rather-long-name"))
				if err != nil {
					t.Fatal(err)
				}
				m.Update(tea.WindowSizeMsg{Width: width, Height: height})
				lines := strings.Split(m.draw(), "\n")
				if len(lines) > height {
					t.Fatalf("%d tools, %d×%d: %d lines", tools, width, height, len(lines))
				}
				for _, line := range lines {
					if n := lipgloss.Width(line); n > width {
						t.Fatalf("%d×%d: line of %d columns: %q", width, height, n, line)
					}
				}
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	got = trimmed(got)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s\n got: %s\nwant: %s", path, got, want)
	}
}

func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
