package stream_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/eval"
)

// cursorText is a part of what Cursor's agent says.
func cursorText(text string) string {
	return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]}}`
}

// White space is no answer and no event of its own; between words it stays.
func TestCursorWhiteSpace(t *testing.T) {
	t.Parallel()
	result := `{"type":"result","subtype":"success","is_error":false,"result":""}`
	call := `{"type":"tool_call","subtype":"started","call_id":"t","tool_call":{"readToolCall":{"args":{"path":"a"}}}}`
	for name, c := range map[string]struct {
		stdout, final string
		texts         []string
		answered      bool
	}{
		"white space alone":              {lines(cursorText(`\n`), cursorText(` \t`), result), "", nil, false},
		"white space as the result":      {lines(`{"type":"result","subtype":"success","is_error":false,"result":"\n"}`), "", nil, false},
		"between two parts":              {lines(cursorText("Use"), cursorText(`\n\n`), cursorText("Stripe."), cursorText(`Use\n\nStripe.`), result), "Use\n\nStripe.", []string{"Use", "\n\nStripe."}, true},
		"before the first part":          {lines(cursorText(`\n`), cursorText("Stripe."), cursorText(`\nStripe.`), result), "\nStripe.", []string{"\nStripe."}, true},
		"behind the last part":           {lines(cursorText("Stripe."), cursorText(`\n`), cursorText(`Stripe.\n`), result), "Stripe.", []string{"Stripe."}, true},
		"after a call, as last message":  {lines(cursorText("Stripe."), call, cursorText(`\n`), result), "Stripe.", []string{"Stripe."}, true},
		"before a call, not of the next": {lines(cursorText("\\n"), call, cursorText(`Stripe.`), result), "Stripe.", []string{"Stripe."}, true},
	} {
		got := source{format: eval.KindCursor, stdout: c.stdout}.read(t)
		var texts []string
		for _, e := range got.Events {
			if e.Kind == stream.KindText {
				texts = append(texts, e.Text)
			}
		}
		if o := got.Outcome; o.Final != c.final || o.Answered != c.answered || (o.Fail == nil) != c.answered {
			t.Errorf("%s: %+v", name, o)
		}
		if strings.Join(texts, "|") != strings.Join(c.texts, "|") {
			t.Errorf("%s: texts %q, want %q", name, texts, c.texts)
		}
	}
}
