package attribution

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestStepsSayWhyATouchCountedOrNot(t *testing.T) {
	for name, c := range map[string]struct {
		story string
		model Model
		want  []Reason
	}{
		"the first counts":             {"touch -3d v1 ChatGPT tag\ntouch -2d v1 Claude tag\npaid 0 v1 4900 USD o1", First, []Reason{Counted, NotByModel}},
		"the last counts":              {"touch -3d v1 ChatGPT tag\ntouch -2d v1 Claude tag\npaid 0 v1 4900 USD o1", Last, []Reason{NotByModel, Counted}},
		"all count":                    {"touch -3d v1 ChatGPT tag\ntouch -2d v1 Claude tag\npaid 0 v1 4900 USD o1", Linear, []Reason{Counted, Counted}},
		"a crawl is reach":             {"crawl -1d v1 GPTBot\npaid 0 v1 100 USD o1", First, []Reason{OnlyReach}},
		"nothing says so":              {"view -1d v1 /docs/start\npaid 0 v1 100 USD o1", First, []Reason{NoEvidence}},
		"too long ago":                 {"touch -9d v1 ChatGPT tag\ntouch -1d v1 Claude tag\npaid 0 v1 100 USD o1", First, []Reason{TooEarly, Counted}},
		"afterwards":                   {"touch -1d v1 Claude tag\ntouch +1h v1 ChatGPT tag\npaid 0 v1 100 USD o1", Last, []Reason{Counted, TooLate}},
		"others are not on the way":    {"touch -1d v2 Claude tag\npaid 0 v1 100 USD o1", First, nil},
		"another device of the person": {"touch -1d v2 Claude tag\nbind -1d v2/ann\npaid 0 v1/ann 100 USD o1", First, []Reason{Counted}},
		"a shared device": {
			"touch -1d v1 Claude tag\nbind -1d v1/ann\nbind -1d v1/b\nbind -1d v1/c\nbind -1d v1/d\nbind -1d v1/e\nbind -1d v1/f\npaid 0 ann 100 USD o1",
			First, []Reason{SharedDevice},
		},
		"known as the person too long ago": {"bind -9d v1/ann\ntouch -1d v1 Claude tag\npaid 0 ann 100 USD o1", First, []Reason{OldBinding}},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t, c.story)
			steps := Steps(&s.conversions[0], s.touches, NewGraph(s.bindings), Options{Model: c.model, Lookback: MinLookback})
			var got []Reason
			for _, step := range steps {
				got = append(got, step.Why)
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("got %v, want %v", got, c.want)
				}
			}
		})
	}
}

func TestAnImpostorIsSaidToBeOne(t *testing.T) {
	s := tell(t, "touch -1d v1 ChatGPT tag\npaid 0 v1 100 USD o1")
	s.touches[0].Spoofed = true
	if steps := Steps(&s.conversions[0], s.touches, NewGraph(nil), Options{}); len(steps) != 1 || steps[0].Why != Impostor {
		t.Errorf("got %+v", steps)
	}
}

func TestTheMiddleOfVeryManyIsLeftOut(t *testing.T) {
	v := Conversion{ID: "c", Kind: Paid, Visitor: "v1", At: t0, Value: 1000, Currency: "USD"}
	var touches []Touch
	for i := range MaxTouches + 10 {
		touches = append(touches, Touch{Visitor: "v1", At: t0.Add(-time.Duration(i+1) * time.Minute), Family: "ChatGPT", Evidence: Tag, Class: classBrowser})
	}
	left := 0
	for _, s := range Steps(&v, touches, NewGraph(nil), Options{Model: Linear}) {
		if s.Why == LeftOut {
			left++
		}
	}
	if left != 10 {
		t.Errorf("%d are left out, want 10", left)
	}
}

// The parts of the touches are those of the families, whatever comes.
func TestStepsAddUpToTheShares(t *testing.T) {
	worlds(t, func(t *testing.T, _ *rand.Rand, s story, o Options) {
		o.From, o.To = time.Time{}, time.Time{}
		graph := NewGraph(s.bindings)
		for _, c := range Credit(s.conversions, s.touches, graph, o) {
			if c.Kind == Refund {
				continue
			}
			count, value := map[string]Count{}, map[string]int64{}
			competed := 0
			for _, step := range Steps(&c.Conversion, s.touches, graph, o) {
				if (step.Why == Counted) != (step.Count > 0) {
					t.Errorf("%s: %s has %d", c.ID, step.Why, step.Count)
				}
				if step.Why == Counted || step.Why == NotByModel {
					competed++
				}
				count[step.Family] += step.Count
				value[step.Family] += step.Value
			}
			if competed != len(c.Touches) && !o.IncludeNonAgent {
				t.Errorf("%s: %d steps competed, and %d touches", c.ID, competed, len(c.Touches))
			}
			for _, share := range c.Shares {
				if len(c.Touches) > 0 && (count[share.Family] != share.Count || value[share.Family] != share.Value) {
					t.Errorf("%s: steps give %q %d and %d, credit %d and %d", c.ID, share.Family, count[share.Family], value[share.Family], share.Count, share.Value)
				}
			}
		}
	})
}
