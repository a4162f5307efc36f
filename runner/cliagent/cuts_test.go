package cliagent

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent/process"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/transcript"
)

// TestCutStreams cuts every stream of the parsers' tests at every line: what is left
// is asked again, or kept with a mark, and never an ordinary answer.
func TestCutStreams(t *testing.T) {
	abbreviated := map[string]string{
		"claude": eval.KindClaudeCode, "claudejson": eval.KindClaudeCode, "gemini": eval.KindGeminiCLI, "geminijson": eval.KindGeminiCLI,
	}
	files, err := filepath.Glob("stream/testdata/*/*.jsonl")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d streams: %v", len(files), err)
	}
	answered := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".jsonl"), "_")
		lines := bytes.SplitAfter(text, []byte("\n"))
		for n := range lines {
			for _, exit := range []process.Exit{{Why: process.Exited, Code: -1, Signal: "killed"}, {Why: process.Exited}, {Why: process.Exited, Code: 1}} {
				for _, changed := range []bool{true, false} {
					w, _ := watching(t, cmp.Or(abbreviated[kind], kind), &heard{})
					for _, line := range lines[:n] {
						w.stdout(0, 0, bytes.TrimSuffix(line, []byte("\n")))
					}
					o := w.parser.End(exit.Code)
					infra := w.verdict(exit, &o)
					if infra == nil {
						infra = w.unfinished(exit, &o, changed)
					}
					switch {
					case w.parser.Ended() || !w.runs():
					case infra == nil && !o.Stop.Cut(), infra == nil && !changed && o.Stop == transcript.StopIncomplete:
						t.Errorf("%s cut at line %d, %+v, changed %t: an answer with stop %q", file, n, exit, changed, o.Stop)
					case infra == nil && o.Stop == transcript.StopIncomplete:
						answered++
					case infra != nil && infra.Reason == agent.ReasonCrashed && (!infra.Retry || !infra.Billed || changed && o.Answered):
						t.Errorf("%s cut at line %d, %+v, changed %t: %+v", file, n, exit, changed, infra)
					}
				}
			}
		}
	}
	if answered < 300 {
		t.Errorf("only %d cuts left an answer", answered)
	}
}

// A program without a form of its own that fails after it wrote its answer was not
// killed: its answer is kept, with the mark.
func TestFailedText(t *testing.T) {
	for code, kept := range map[int]bool{3: true, -1: false} {
		w, _ := watching(t, "text", &heard{})
		w.stdout(0, 0, []byte("Use Stripe."))
		exit := process.Exit{Why: process.Exited, Code: code}
		o := w.parser.End(code)
		infra := w.verdict(exit, &o)
		if infra == nil {
			infra = w.unfinished(exit, &o, false)
		}
		if (infra == nil) != kept || kept && o.Stop != transcript.StopIncomplete {
			t.Errorf("status %d: %v, stop %q", code, infra, o.Stop)
		}
	}
}
