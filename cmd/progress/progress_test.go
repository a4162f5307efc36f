package progress

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }

func demoRun() journal.Run {
	return journal.Run{ID: "r1", Planned: 60, Synthetic: true, Eval: eval.Eval{
		Name: "payments", Category: "payments",
		Agents: []eval.Agent{{Name: "rehearsal"}, {Name: "a-model-with-a-rather-long-name-2026-01-01"}, {Name: "claude"}},
	}}
}

// lanes are one of each phase that needs to be told apart.
func lanes() []runner.LaneStatus {
	return []runner.LaneStatus{
		{Name: "simulated", Agents: []string{"rehearsal"}, Phase: runner.PhaseSteady, InFlight: 6, Limit: 8, Max: 50, PerSecond: 20, Waiting: 4, Asked: 20},
		{
			Name: "openai a-model-with-a-rather-long-name-2026-01-01", Agents: []string{"a-model-with-a-rather-long-name-2026-01-01"}, Phase: runner.PhaseWaiting,
			Until: at(17), Reason: "rate limited", Limit: 4, Max: 50, Waiting: 19, Retrying: 3, Asked: 9, Limited: 5,
		},
		{Name: "anthropic claude", Agents: []string{"claude"}, Phase: runner.PhaseClosed, Reason: "auth: the key was refused; set ANTHROPIC_API_KEY", Max: 2, Waiting: 20, Asked: 1, Failed: 1},
	}
}

func status() *runner.Status {
	return &runner.Status{
		Lanes: lanes(), Planned: 60, Valid: 11, Excluded: 1, InFlight: 6, Concurrency: 50,
		SpentUSD: 1.25, ReservedUSD: 0.4, CapUSD: 5, SpentKnown: true, MemoryMB: 1200, MemoryCapMB: 8000,
	}
}

// feed plays a run of five seconds.
func feed(note func(runner.Event)) {
	cost := 0.0025
	note(runner.Event{Kind: runner.EventStart, At: start, Planned: 60})
	for i := range 10 {
		note(runner.Event{
			Kind: runner.EventResult, Trial: plan.Trial{Agent: "rehearsal", PromptID: "p1", Repeat: i + 1}, CostUSD: &cost,
			Result: &pick.Result{Kind: pick.Tool, Picked: []string{"stripe", "paddle"}[i%3%2]},
		})
	}
	note(runner.Event{Kind: runner.EventResult, Trial: plan.Trial{Agent: "a-model-with-a-rather-long-name-2026-01-01"}, Result: &pick.Result{Kind: pick.DIY}})
	for i := range 5 {
		note(runner.Event{Kind: runner.EventAttempt, Trial: plan.Trial{Agent: "rehearsal", PromptID: "p2", Repeat: i + 1}, Reason: "rate_limited"})
	}
	note(runner.Event{Kind: runner.EventExcluded, Trial: plan.Trial{Agent: "claude", PromptID: "p1", Repeat: 1}, Reason: "auth:\nthe key was \x1b[31mrefused"})
}

// fed is a run after five seconds, with a ranked board of its answers.
func fed(st *runner.Status) *tally {
	t := newTally(demoRun(), payments())
	note := func(e runner.Event) { t.note(e, at(5)) }
	feed(note)
	if st != nil {
		note(runner.Event{Kind: runner.EventStatus, Status: st})
	}
	return t
}

// measured is a run with answers of all agents to eight prompts.
func measured() *tally {
	run := demoRun()
	run.Planned = 360
	t := newTally(run, payments())
	note := func(e runner.Event) { t.note(e, at(5)) }
	note(runner.Event{Kind: runner.EventStart, At: start})
	cost := 0.004
	for i := range 240 {
		r := &pick.Result{Kind: pick.Tool, Picked: []string{"stripe", "paddle", "stripe", "adyen", "stripe", "paddle", "mollie", "stripe", "braintree"}[(i*i/7+i)%9]}
		if i%11 == 0 {
			r = &pick.Result{Kind: pick.DIY}
		}
		note(runner.Event{
			Kind: runner.EventResult, Result: r, CostUSD: &cost,
			Trial: plan.Trial{Eval: "payments", Agent: t.agents[i%3].name, PromptID: fmt.Sprintf("p%d", i/3%8), Repeat: i / 24},
		})
	}
	for i := range 7 {
		note(runner.Event{Kind: runner.EventAttempt, Trial: plan.Trial{Agent: t.agents[i%2].name, PromptID: "p2", Repeat: i}, Reason: "rate_limited: HTTP 429"})
	}
	note(runner.Event{Kind: runner.EventExcluded, Trial: plan.Trial{Agent: "claude", PromptID: "p1", Repeat: 1}, Reason: "auth"})
	note(runner.Event{Kind: runner.EventStatus, Status: status()})
	t.leaders.rank()
	return t
}

func payments() *catalog.Category {
	c := &catalog.Category{Slug: "payments", Name: "Payments"}
	for _, slug := range []string{"adyen", "braintree", "mollie", "paddle", "stripe"} {
		c.Entries = append(c.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: slug, Name: slug}})
	}
	return c
}

// sized is a frame in which everything is shown that a terminal has.
func sized(width, height int) frame {
	return frame{
		width: width, height: height, now: at(5), resume: "firstpick run --resume r1", styles: newStyles(unknown),
		ui: ui{keys: true, control: true, ranks: true},
	}
}

func draw(t *tally, width, height int) string {
	return ansi.Strip(render(t, sized(width, height))) + "\n"
}

func TestFrames(t *testing.T) {
	for _, width := range []int{40, 80, 120, 200} {
		golden(t, fmt.Sprintf("frame_%d", width), draw(fed(status()), width, 40))
		golden(t, fmt.Sprintf("leaders_%d", width), func() string {
			f := sized(width, 24)
			f.leaders = true
			return ansi.Strip(render(measured(), f)) + "\n"
		}())
	}
	many := status()
	for i := range 12 {
		many.Lanes = append(many.Lanes, runner.LaneStatus{Name: fmt.Sprintf("ollama m%d", i), Phase: runner.PhaseSlowStart, InFlight: 1, Limit: 2, Max: 8, Waiting: 5})
	}
	golden(t, "frame_80x24", draw(fed(many), 80, 24))
	paused := status()
	paused.Paused, paused.SpentKnown = true, false
	golden(t, "frame_paused", draw(fed(paused), 80, 40))
	golden(t, "frame_before_status", draw(fed(nil), 80, 40))
}

// TestColours has a frame and a summary as terminals get them that show many colours, few
// or none, on either background.
func TestColours(t *testing.T) {
	for name, tt := range map[string]struct {
		profile colorprofile.Profile
		palette palette
	}{
		"true_dark":  {colorprofile.TrueColor, dark},
		"true_light": {colorprofile.TrueColor, light},
		"256":        {colorprofile.ANSI256, unknown},
		"16":         {colorprofile.ANSI, unknown},
		"no_color":   {colorprofile.ASCII, unknown},
	} {
		f := sized(120, 24)
		f.styles = newStyles(tt.palette)
		var b strings.Builder
		w := colorprofile.Writer{Forward: &b, Profile: tt.profile}
		if _, err := w.Write([]byte(render(measured(), f) + "\n" + f.summary(measured()))); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if name == "no_color" && regexp.MustCompile(`\x1b\[[0-9;]*[34][0-9]`).MatchString(got) {
			t.Errorf("colours without colour: %q", got)
		}
		golden(t, "colour_"+name, got)
	}
}

// TestColoursAreLegible: text has a contrast of 4.5 with its background (WCAG 2.2, 1.4.3), of 3
// where the background is unknown, and bars have 3 where they are not decoration.
func TestColoursAreLegible(t *testing.T) {
	white, black := color.RGBA{255, 255, 255, 255}, color.RGBA{18, 18, 18, 255}
	for p, backgrounds := range map[palette][]color.Color{dark: {black}, light: {white}, unknown: {white, black}} {
		s, text := newStyles(p), 4.5
		if p == unknown {
			text = 3
		}
		for _, on := range backgrounds {
			for name, style := range map[string]lipgloss.Style{"dim": s.dim, "hold": s.hold, "bad": s.bad, "key": s.key} {
				if c := contrast(style.GetForeground(), on); c < text {
					t.Errorf("palette %d: %s has contrast %.1f on %v", p, name, c, on)
				}
			}
			if c := contrast(s.bar.GetForeground(), on); c < 3 {
				t.Errorf("palette %d: bar has contrast %.1f on %v", p, c, on)
			}
		}
	}
}

func contrast(a, b color.Color) float64 {
	light := func(c color.Color) float64 {
		r, g, b, _ := c.RGBA()
		sum := 0.0
		for i, v := range []uint32{r, g, b} {
			x := float64(v) / 0xffff
			if x <= .04045 {
				x /= 12.92
			} else {
				x = math.Pow((x+.055)/1.055, 2.4)
			}
			sum += x * [3]float64{.2126, .7152, .0722}[i]
		}
		return sum
	}
	x, y := light(a), light(b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

// A frame that is larger than its terminal makes it scroll, and tears.
func TestAFrameFitsItsTerminal(t *testing.T) {
	many := status()
	for range 3 {
		many.Lanes = append(many.Lanes, many.Lanes...)
	}
	whole := measured()
	whole.status = many
	for width := minWidth; width <= 220; width += 9 {
		for height := minHeight; height <= 60; height += 1 + height/20 {
			f := sized(width, height)
			f.leaders, f.help, f.question = width%2 == 0, width%5 == 0, width%3 == 0
			got := ansi.Strip(render(whole, f)) + "\n"
			if n := strings.Count(got, "\n"); n > height {
				t.Fatalf("%d×%d: %d lines:\n%s", width, height, n, got)
			}
			for line := range strings.Lines(got) {
				if n := lipgloss.Width(strings.TrimRight(line, "\n")); n > width {
					t.Fatalf("%d×%d: line of %d columns: %q", width, height, n, line)
				}
			}
		}
	}
}

func TestWhatOthersWroteDoesNotSteerTheTerminal(t *testing.T) {
	evil := status()
	evil.Lanes[2].Reason, evil.Lanes[2].Name = "a\x1b[2Jb\r\nc", "x\x07y"
	for _, width := range []int{40, 80, 200} {
		if got := draw(fed(evil), width, 40); strings.ContainsAny(got, "\x1b\x07\r") {
			t.Errorf("control characters in %q", got)
		}
	}
}

func TestPlainLines(t *testing.T) {
	for _, ci := range []bool{false, true} {
		var buf bytes.Buffer
		now := start
		s := New(t.Context(), Config{W: &buf, Run: demoRun(), Category: payments(), Now: func() time.Time { return now }, CI: ci, TTY: ci})
		send := func(e runner.Event) {
			if err := s.Event(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		feed(send)
		for range 21 {
			now = now.Add(time.Second)
			send(runner.Event{Kind: runner.EventStatus, Status: status()})
		}
		send(runner.Event{Kind: runner.EventEnd, At: now, Summary: &runner.Summary{Stopped: "budget", SpentUSD: 1.25, AtMostUSD: 1.5}})
		if err := errors.Join(s.Close(), s.Summarize(nil), s.Next("firstpick rank", "firstpick trial --picked "+s.Leader())); err != nil {
			t.Fatal(err)
		}
		golden(t, "plain", buf.String())
	}
}

func TestNothingIsShownOfAQuietRunButItsSummary(t *testing.T) {
	var buf bytes.Buffer
	s := New(t.Context(), Config{W: &buf, TTY: true, Quiet: true, Run: demoRun(), Now: func() time.Time { return at(9) }})
	feed(func(e runner.Event) { _ = s.Event(t.Context(), e) })
	_ = s.Event(t.Context(), runner.Event{Kind: runner.EventStatus, Status: status()})
	if err := s.Close(); err != nil || buf.Len() > 0 {
		t.Errorf("%v, %q", err, buf.String())
	}
	if err := s.Summarize(nil); err != nil || !strings.Contains(buf.String(), "5× rate_limited (rehearsal)") {
		t.Errorf("%v, %q", err, buf.String())
	}
}

// A run that ends before it is drawn has its summary in the width of the terminal.
func TestASummaryFitsWithoutALiveView(t *testing.T) {
	var buf bytes.Buffer
	s := New(t.Context(), Config{W: &buf, TTY: true, Run: demoRun(), Category: payments(), Now: func() time.Time { return at(9) }, Width: func() int { return 40 }})
	feed(func(e runner.Event) { _ = s.Event(t.Context(), e) })
	if err := errors.Join(s.Close(), s.Summarize(nil)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(ansi.Strip(buf.String())) {
		if n := lipgloss.Width(strings.TrimRight(line, "\n")); n > 40 {
			t.Errorf("line of %d columns: %q", n, line)
		}
	}
}

func TestSummaries(t *testing.T) {
	for _, width := range []int{20, 40, 80, 100} {
		f := sized(width, 24)
		ta := measured()
		ta.note(runner.Event{Kind: runner.EventEnd, At: at(3700), Summary: &runner.Summary{SpentUSD: 1.25, AtMostUSD: 1.25}}, at(3700))
		next := strings.Join(f.next([]string{"firstpick rank", "firstpick trial --picked stripe", "firstpick publish"}), "\n") + "\n"
		got := ansi.Strip(f.summary(ta)) + next
		for line := range strings.Lines(strings.TrimSuffix(got, next)) {
			if n := lipgloss.Width(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("line of %d columns: %q", n, line)
			}
		}
		golden(t, fmt.Sprintf("summary_%d", width), got)
	}
}

func TestATieIsLedByTheToolOfTheBars(t *testing.T) {
	view := New(t.Context(), Config{W: &bytes.Buffer{}, Quiet: true, Run: demoRun(), Category: payments(), Now: func() time.Time { return at(5) }})
	for _, r := range []*pick.Result{{Kind: pick.DIY}, {Kind: pick.None}, {Kind: pick.Tool, Picked: "stripe"}, {Kind: pick.Tool, Picked: "paddle"}} {
		_ = view.Event(t.Context(), runner.Event{Kind: runner.EventResult, Trial: plan.Trial{Agent: "rehearsal", PromptID: "p1"}, Result: r})
	}
	if err := view.Summarize(nil); err != nil {
		t.Fatal(err)
	}
	if label, share := view.tally.agents[0].lead(); label != view.Leader() || label != "paddle" || share != 0.25 {
		t.Errorf("the agent picks %q (%v) first, the bars begin with %q", label, share, view.Leader())
	}
}

func TestASmallBudgetIsNotZero(t *testing.T) {
	for usd, want := range map[float64]string{0.0012: "cap_usd=0.0012 ", 0.5: "cap_usd=0.5000 ", 5: "cap_usd=5.00 "} {
		st := status()
		st.CapUSD = usd
		if got := fed(st).line(at(5)); !strings.Contains(got, want) {
			t.Errorf("%v: want %q in %s", usd, want, got)
		}
	}
}

func TestAResumedRunRanksAllItsAnswers(t *testing.T) {
	view := New(t.Context(), Config{W: &bytes.Buffer{}, Quiet: true, Run: demoRun(), Category: payments(), Now: func() time.Time { return at(5) }})
	cost := 0.5
	for range 20 {
		view.Earlier(plan.Trial{Agent: "rehearsal", PromptID: "p1"}, &pick.Result{Kind: pick.Tool, Picked: "adyen"}, &cost)
	}
	feed(func(e runner.Event) { _ = view.Event(t.Context(), e) })
	if err := view.Summarize(nil); err != nil {
		t.Fatal(err)
	}
	if a := view.tally.agents[0]; view.Leader() != "adyen" || view.tally.leaders.board.NTrials != 31 || a.answers() != 30 || a.spent < 10 {
		t.Errorf("leader %q of %d answers, agent %+v", view.Leader(), view.tally.leaders.board.NTrials, a)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
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
