package stream_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/eval"
)

func FuzzClaude(f *testing.F)   { fuzz(f, eval.KindClaudeCode) }
func FuzzCodex(f *testing.F)    { fuzz(f, eval.KindCodex) }
func FuzzGemini(f *testing.F)   { fuzz(f, eval.KindGeminiCLI) }
func FuzzOpenCode(f *testing.F) { fuzz(f, eval.KindOpenCode) }
func FuzzCopilot(f *testing.F)  { fuzz(f, eval.KindCopilot) }
func FuzzCursor(f *testing.F)   { fuzz(f, eval.KindCursor) }
func FuzzGoose(f *testing.F)    { fuzz(f, eval.KindGoose) }
func FuzzAider(f *testing.F)    { fuzz(f, eval.KindAider) }
func FuzzText(f *testing.F)     { fuzz(f, cliagent.FormatText) }

func fuzz(f *testing.F, format string) {
	for _, s := range sources(f) {
		if s.format == format {
			f.Add(s.stdout, s.stderr, s.file, s.exit)
			f.Add(s.stdout, s.stderr, "", 0)
		}
	}
	f.Add(geminiSays, "Error", "{}", 0)
	f.Fuzz(func(t *testing.T, stdout, stderr, file string, exit int) {
		s := source{format: format, stdout: stdout, stderr: stderr, file: file, exit: exit}
		got := s.read(t)
		checkReading(t, s, got)
		if format != eval.KindAider && format != cliagent.FormatText {
			checkGarbage(t, s, got)
		}
	})
}

// checkReading checks what holds of every stream.
func checkReading(t *testing.T, s source, got reading) {
	t.Helper()
	finals, errs := 0, 0
	for i, e := range got.Events {
		if e.Seq != i+1 {
			t.Fatalf("event %d is number %d", i, e.Seq)
		}
		if e.RawOff < 0 || e.RawLen < 0 || e.RawOff+e.RawLen > int64(len(s.stdout)) || e.At < 0 {
			t.Fatalf("event %+v lies outside", e)
		}
		switch e.Kind {
		case stream.KindFinal:
			finals++
		case stream.KindError:
			errs++
		case stream.KindToolCall, stream.KindToolResult, stream.KindFileChange, stream.KindWeb:
			if e.Tool == nil || e.Tool.Name == "" {
				t.Fatalf("event %+v has no tool", e)
			}
		case stream.KindRetry:
			if e.Retry == nil {
				t.Fatalf("event %+v has no retry", e)
			}
			e.Retry.Signal(time.Unix(0, 0))
		default:
		}
	}
	o := got.Outcome
	if (o.Fail == nil) != (finals == 1) || finals > 1 {
		t.Fatalf("%d last messages, failure %+v", finals, o.Fail)
	}
	if o.Fail != nil {
		if errs == 0 || !slices.Contains(reasons(), o.Fail.Reason) {
			t.Fatalf("failure %+v, %d errors", o.Fail, errs)
		}
	}
	if len(o.Final) > stream.MaxFinal {
		t.Fatal("the last message is too large")
	}
	if u := o.Usage; u != nil && min(u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Searches) < 0 {
		t.Fatalf("usage %+v", u)
	}
	if o.CostUSD != nil && *o.CostUSD < 0 {
		t.Fatalf("cost %v", *o.CostUSD)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var back reading
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
}

// The reasons that a stream can tell.
func reasons() []string {
	return []string{
		agent.ReasonNetwork, agent.ReasonTimeout, agent.ReasonRateLimited, agent.ReasonServer, agent.ReasonMalformed, agent.ReasonConflict,
		agent.ReasonAuth, agent.ReasonQuota, agent.ReasonNotFound, agent.ReasonBadRequest, agent.ReasonCrashed, agent.ReasonNotStarted,
	}
}

// checkGarbage writes between the lines what is no JSON object: nothing may change
// but where the lines lie.
func checkGarbage(t *testing.T, s source, want reading) {
	t.Helper()
	var b strings.Builder
	for line := range strings.SplitSeq(s.stdout, "\n") {
		b.WriteString("npm notice\n{\"type\":\n[1]\n" + line + "\n\xff}\n\n")
	}
	s.stdout = b.String()
	got := s.read(t)
	place := cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".RawOff" || name == ".At"
	}, cmp.Ignore())
	if d := cmp.Diff(want.Events, got.Events, place); d != "" {
		t.Fatal(d)
	}
	if d := cmp.Diff(want.Outcome, got.Outcome); d != "" {
		t.Fatal(d)
	}
}

// The line that an event names is the one it came from.
func TestRawOffsets(t *testing.T) {
	t.Parallel()
	all := sources(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		checkReading(t, s, s.read(t))
		for _, e := range s.read(t).Events {
			if e.RawLen == 0 {
				continue
			}
			raw := s.stdout[e.RawOff : e.RawOff+e.RawLen]
			if strings.Contains(raw, "\n") || (e.RawOff > 0 && s.stdout[e.RawOff-1] != '\n') {
				t.Errorf("%s: event %d lies in %q", name, e.Seq, raw)
			}
			if e.Tool != nil && e.Tool.ID != "" && !strings.Contains(raw, e.Tool.ID) {
				t.Errorf("%s: event %d is not of %q", name, e.Seq, raw)
			}
		}
	}
}

// Line keeps nothing of the bytes it is given.
func TestLineIsReused(t *testing.T) {
	t.Parallel()
	for name, s := range sources(t) {
		want := s.read(t)
		got := reading{Exit: s.exit}
		p, err := cliagent.NewParser(s.format, func(e stream.Event) { got.Events = append(got.Events, e) })
		if err != nil {
			t.Fatal(err)
		}
		var at time.Duration
		err = stream.Lines(strings.NewReader(s.stdout), stream.MaxLine, func(off int64, line []byte, _ bool) {
			buf := bytes.Clone(line)
			p.Line(at, off, buf)
			clear(buf)
			at += 10 * time.Millisecond
		})
		if err != nil {
			t.Fatal(err)
		}
		n := len(got.Events)
		if d := cmp.Diff(want.Events[:n], got.Events, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for name, s := range sources(b) {
		if strings.Contains(name, "_") || strings.HasSuffix(name, "json") {
			continue
		}
		b.Run(name, func(b *testing.B) {
			all := strings.Repeat(s.stdout, 1+1<<20/len(s.stdout))
			b.SetBytes(int64(len(all)))
			b.ReportAllocs()
			for b.Loop() {
				p, err := cliagent.NewParser(s.format, func(stream.Event) {})
				if err != nil {
					b.Fatal(err)
				}
				_ = stream.Lines(strings.NewReader(all), stream.MaxLine, func(off int64, line []byte, _ bool) { p.Line(0, off, line) })
				p.End(0)
			}
		})
	}
}
