package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
)

// A stream that ends before its result is never an ordinary answer, wherever it is cut
// and however its program ended.
func TestCutStreams(t *testing.T) {
	t.Parallel()
	for name, s := range sources(t) {
		exits := []int{-1, 0, 1}
		if s.format == eval.KindAider {
			exits = exits[:1] // it has no result but its end; its exit status says nothing
		}
		all := strings.SplitAfter(s.stdout, "\n")
		for n := range len(all) {
			for _, exit := range exits {
				cut := source{format: s.format, stdout: strings.Join(all[:n], ""), exit: exit}
				got := cut.read(t)
				if o := got.Outcome; !got.ended && o.Fail == nil && o.Stop == "" {
					t.Errorf("%s cut at line %d, exit %d: an answer %q", name, n, exit, o.Final)
				}
			}
		}
	}
}

// A program that goes on after a result has to give another.
func TestCutAfterAResult(t *testing.T) {
	t.Parallel()
	for format, stdout := range map[string]string{
		eval.KindCursor: lines(cursorSays, `{"type":"result","subtype":"success","result":"Stripe."}`, `{"type":"thinking","subtype":"delta","text":"Or Paddle?"}`),
		eval.KindGoose:  lines(gooseSays, `{"type":"complete"}`, gooseSays),
		eval.KindCodex:  lines(codexSays, `{"type":"turn.completed"}`, `{"type":"turn.started"}`, codexSays),
	} {
		got := source{format: format, stdout: stdout, exit: -1}.read(t)
		if got.ended || got.Outcome.Fail == nil {
			t.Errorf("%s: %s", format, fmt.Sprintf("%+v", got.Outcome))
		}
	}
}
