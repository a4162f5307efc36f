package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/eval"
)

type gotLine struct {
	off  int64
	text string
	cut  bool
}

func collect(t testing.TB, r io.Reader, limit int) ([]gotLine, error) {
	t.Helper()
	var got []gotLine
	err := stream.Lines(r, limit, func(off int64, line []byte, cut bool) {
		got = append(got, gotLine{off, string(line), cut})
	})
	return got, err
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70_000) // above the reader's buffer
	for _, c := range []struct {
		in    string
		limit int
		want  []gotLine
	}{
		{"", 5, nil},
		{"a", 5, []gotLine{{0, "a", false}}},
		{"a\n", 5, []gotLine{{0, "a", false}}},
		{"\n\nb", 5, []gotLine{{0, "", false}, {1, "", false}, {2, "b", false}}},
		{"abcde\nf\n", 5, []gotLine{{0, "abcde", false}, {6, "f", false}}},
		{"abcdef\ng\n", 5, []gotLine{{0, "", true}, {7, "g", false}}},
		{"a\nbcdefg", 5, []gotLine{{0, "a", false}, {2, "", true}}},
		{long + "\nb", 70_000, []gotLine{{0, long, false}, {70_001, "b", false}}},
		{long + "\nb", 69_999, []gotLine{{0, "", true}, {70_001, "b", false}}},
		{long + "\n" + long + "y\nb\r\n", 70_000, []gotLine{{0, long, false}, {70_001, "", true}, {140_003, "b\r", false}}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.HalfReader(strings.NewReader(c.in))} {
			got, err := collect(t, r, c.limit)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%.20q at most %d: %.200v %v", c.in, c.limit, got, err)
			}
		}
	}
	broken := errors.New("pipe broke")
	got, err := collect(t, io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 5)
	if !errors.Is(err, broken) || len(got) != 2 || got[1].text != "b" {
		t.Errorf("%v %v", got, err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb\n", 3)
	f.Add(strings.Repeat("x", 65_537)+"\n\n", 65_536)
	f.Fuzz(func(t *testing.T, in string, limit int) {
		if limit < 0 {
			return
		}
		got, err := collect(t, strings.NewReader(in), limit)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(in, "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		var off int64
		for i, l := range got {
			if l.off != off || l.cut != (len(want[i]) > limit) || (!l.cut && l.text != want[i]) {
				t.Fatalf("line %d: %+v", i, l)
			}
			off += int64(len(want[i])) + 1
		}
	})
}

// endless repeats a text up to a size, and notes the most memory in use.
type endless struct {
	text []byte
	left int
	seen int
	peak uint64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && n < e.left {
		c := copy(p[n:min(len(p), e.left)], e.text[(e.seen+n)%len(e.text):])
		n += c
	}
	if before := e.seen >> 24; (e.seen+n)>>24 != before {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		e.peak = max(e.peak, m.HeapAlloc)
	}
	e.seen += n
	e.left -= n
	return n, nil
}

// Whatever a program writes, memory stays bounded. Not parallel: it measures.
func TestBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds; run without -short")
	}
	const much = 200 << 20
	filler := strings.Repeat("x", 4000)
	n := 0
	for _, c := range []struct {
		name, format string
		text         func() string
		size         int
		check        func(*testing.T, stream.Outcome)
	}{
		{"one line", eval.KindClaudeCode, func() string { return "{" }, much, nil},
		{"one line of text", cliagent.FormatText, func() string { return "x" }, much, nil},
		{"garbage", eval.KindCodex, func() string { return "{\"type\":\"item\xff" + filler + "\n}{\n[]\nnull\n" }, much, nil},
		{"garbage as text", cliagent.FormatText, func() string { return filler + "\n\n\xff\n" }, much, func(t *testing.T, o stream.Outcome) {
			if len(o.Final) > stream.MaxFinal || len(o.Final) < stream.MaxFinal-8000 || len(o.Notes) != 1 {
				t.Errorf("%d bytes, notes %q", len(o.Final), o.Notes)
			}
		}},
		{"garbage for aider", eval.KindAider, func() string { return filler + "\nTokens: 1 sent, 2 received.\nlitellm.X: y\n" }, much, nil},
		{"calls that never end", eval.KindClaudeCode, func() string {
			n++
			return fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t%d-%s","name":"Bash"}]}}`+"\n", n, filler)
		}, 20 << 20, func(t *testing.T, o stream.Outcome) {
			if len(o.Notes) != 1 {
				t.Errorf("notes %q", o.Notes)
			}
		}},
		{"text without end", eval.KindGeminiCLI, func() string {
			return `{"type":"message","role":"assistant","content":"` + strings.Repeat("é", 2001) + `"}` + "\n"
		}, 20 << 20, func(t *testing.T, o stream.Outcome) {
			if len(o.Final) > stream.MaxFinal || len(o.Final) < stream.MaxFinal-1 || !strings.HasSuffix(o.Final, "é") {
				t.Errorf("%d bytes", len(o.Final))
			}
		}},
		{"commands", eval.KindCodex, func() string {
			return `{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"` + filler + `","aggregated_output":"` + strings.Repeat("y", 100_000) + `","exit_code":0}}` + "\n"
		}, 60 << 20, func(t *testing.T, o stream.Outcome) {
			if got := len(o.Commands) * len(filler); got > stream.MaxCommands || got < stream.MaxCommands-len(filler) || len(o.Notes) != 1 {
				t.Errorf("%d bytes, notes %q", got, o.Notes)
			}
		}},
		{"stderr", eval.KindGeminiCLI, nil, 20 << 20, func(t *testing.T, o stream.Outcome) {
			if len(o.Fail.Message) > 4<<10 {
				t.Errorf("a message of %d bytes", len(o.Fail.Message))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			events := 0
			p, err := cliagent.NewParser(c.format, func(e stream.Event) {
				events++
				if e.Tool != nil && (len(e.Tool.Output) > stream.MaxOutput || len(e.Tool.Args) > stream.MaxOutput) {
					t.Error("an event is too large")
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			take := p.Line
			text := []byte("Attempt 1 failed: Error " + filler + "\n")
			if c.text == nil {
				take = func(_ time.Duration, _ int64, line []byte) { p.Stderr(0, line) }
			} else {
				// Texts that differ come as one long text.
				var b bytes.Buffer
				for b.Len() < 1<<20 || c.name == "calls that never end" && b.Len() < c.size {
					b.WriteString(c.text())
				}
				text = b.Bytes()
			}
			r := &endless{text: text, left: c.size}
			cuts := 0
			err = stream.Lines(r, stream.MaxLine, func(off int64, line []byte, cut bool) {
				if cut {
					cuts++
				} else {
					take(0, off, line)
				}
			})
			if err != nil || r.seen != c.size {
				t.Fatalf("%d of %d bytes: %v", r.seen, c.size, err)
			}
			if strings.HasPrefix(c.name, "one line") != (cuts == 1) {
				t.Errorf("%d lines were cut", cuts)
			}
			o := p.End(0)
			if c.check != nil {
				c.check(t, o)
			}
			if grown := int64(r.peak) - int64(before.HeapAlloc); grown > 128<<20 {
				t.Errorf("%d MiB of memory", grown>>20)
			}
		})
	}
}
