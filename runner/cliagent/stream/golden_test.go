package stream_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/eval"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A reading is what a stream comes to.
type reading struct {
	Exit    int            `json:"exit"`
	Events  []stream.Event `json:"events"`
	Outcome stream.Outcome `json:"outcome"`
	ended   bool
}

// A source is all that a program wrote.
type source struct {
	format               string
	stdout, stderr, file string
	exit                 int
}

// read takes a line every ten milliseconds, standard output first.
func (s source) read(t testing.TB) reading {
	t.Helper()
	got := reading{Exit: s.exit}
	p, err := cliagent.NewParser(s.format, func(e stream.Event) { got.Events = append(got.Events, e) })
	if err != nil {
		t.Fatal(err)
	}
	var at time.Duration
	err = stream.Lines(strings.NewReader(s.stdout), stream.MaxLine, func(off int64, line []byte, _ bool) {
		p.Line(at, off, line)
		at += 10 * time.Millisecond
	})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(s.stderr) {
		p.Stderr(at, []byte(strings.TrimSuffix(line, "\n")))
		at += 10 * time.Millisecond
	}
	if s.file != "" {
		p.File([]byte(s.file))
	}
	got.ended = p.Ended()
	got.Outcome = p.End(s.exit)
	return got
}

// lines is standard output of these lines.
func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

func fileText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// formatOf returns the kind of a stream: the first part of its file's name, or what that
// abbreviates.
func formatOf(t testing.TB, name string) string {
	t.Helper()
	kind, _, _ := strings.Cut(name, "_")
	kind = cmp.Or(map[string]string{
		"claude": eval.KindClaudeCode, "claudejson": eval.KindClaudeCode, "gemini": eval.KindGeminiCLI, "geminijson": eval.KindGeminiCLI,
	}[kind], kind)
	if k, ok := eval.KindNamed(kind); !ok || k.Class != eval.ClassProgram {
		t.Fatalf("%s: the name does not begin with the kind of an agent CLI", name)
	}
	return kind
}

// exitOf returns the exit status of the stream's program from the file NAME.exit, -1 where
// it was killed; 0 without the file.
func exitOf(t testing.TB, base string) int {
	t.Helper()
	text := strings.TrimSpace(fileText(t, base+".exit"))
	code, err := strconv.Atoi(cmp.Or(text, "0"))
	if err != nil {
		t.Fatalf("%s.exit: %v", base, err)
	}
	return code
}

func sources(t testing.TB) map[string]source {
	t.Helper()
	out := map[string]source{}
	for _, dir := range []string{"testdata/captured", "testdata/made"} {
		names, err := filepath.Glob(dir + "/*.jsonl")
		if err != nil || len(names) == 0 {
			t.Fatalf("no streams in %s: %v", dir, err)
		}
		texts, _ := filepath.Glob(dir + "/*.stdout.txt")
		for _, path := range append(names, texts...) {
			base := strings.TrimSuffix(strings.TrimSuffix(path, ".jsonl"), ".stdout.txt")
			name := filepath.Base(base)
			out[name] = source{
				format: formatOf(t, name), stdout: fileText(t, path), stderr: fileText(t, base+".stderr.txt"),
				file: fileText(t, base+".usage.json") + fileText(t, base+".analytics"), exit: exitOf(t, base),
			}
		}
	}
	return out
}

func TestGolden(t *testing.T) {
	t.Parallel()
	all := sources(t)
	for _, k := range eval.Kinds() {
		ofKind := func(s source) bool { return s.format == k.Name }
		if k.Class == eval.ClassProgram && !slices.ContainsFunc(slices.Collect(maps.Values(all)), ofKind) {
			t.Errorf("no stream of %s in testdata: capture one of a run that answers, one of a rejected key and one of a rate limit", k.Name)
		}
	}
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(s.read(t), "", " ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			path := "testdata/golden/" + name + ".json"
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want := fileText(t, path)
			if d := gocmp.Diff(want, string(got)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			// A golden file read back is the same reading.
			var back reading
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			again, _ := json.MarshalIndent(back, "", " ")
			if !bytes.Equal(append(again, '\n'), got) {
				t.Error("events do not survive JSON")
			}
		})
	}
	golden, _ := filepath.Glob("testdata/golden/*.json")
	if len(golden) != len(all) {
		t.Errorf("%d golden files for %d streams", len(golden), len(all))
	}
}
