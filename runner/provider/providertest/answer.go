package providertest

import (
	"fmt"

	"github.com/firstpick/firstpick/fixtures/prices"
)

const defaultText = "I would use Stripe for this: it takes cards and has good libraries."

// An answer is the model's answer before it is rendered in a format.
type answer struct {
	id       string
	do       Behavior
	text     string
	thoughts string
	calls    []toolCall
	usage    prices.Usage
}

func answerOf(q Request, s Step) answer {
	a := answer{id: fmt.Sprintf("fake_%06d", q.N), do: s.Do, text: s.Text, thoughts: s.Thoughts, usage: s.Usage}
	if a.text == "" {
		a.text = defaultText
	}
	if a.usage == (prices.Usage{}) {
		a.usage = DefaultUsage()
	}
	a.calls = callsOf(q, s.Calls)
	if q.asJSON && len(a.calls) == 0 {
		a.text = string(encode(q.shape.fill(nil)))
	}
	switch s.Do {
	case Refusal:
		a.text = "I can't help with that."
	case Blocked, Empty, EmptyLength:
		a.text = ""
	case Length:
		a.text = a.text[:len(a.text)/2]
	case Pause:
		a.text = ""
		a.usage.Searches = max(1, a.usage.Searches)
	default:
	}
	return a
}

// length reports whether the length limit ended the answer.
func (a answer) length() bool { return a.do == Length || a.do == EmptyLength }
