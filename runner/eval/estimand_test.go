package eval_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
)

// twoAgents is an eval of the agents gpt and opus, and more lines from line 9 on.
func twoAgents(more string) string {
	return strings.Replace(good, "  - {name: s, ", "  - {name: gpt, kind: simulated, truth: {stripe: 1}}\n  - {name: opus, ", 1) + more
}

func TestWeightsAndFrame(t *testing.T) {
	want := map[string]float64{"gpt": 3, "opus": 0.5}
	const frame = "requests to add payments to a web application"
	for name, in := range map[string]string{
		"YAML": twoAgents("weights: {opus: 0.5, gpt: 3}\nframe: >-\n  requests to add payments\n  to a web application\n"),
		"JSON": `{"name": "e", "category": "payments", "prompts": [{"id": "p", "text": "Add payments."}],
			"weights": {"gpt": 3, "opus": 5e-1}, "frame": " ` + frame + ` ",
			"agents": [{"name": "gpt", "kind": "simulated", "truth": {"diy": 1}}, {"name": "opus", "kind": "simulated", "truth": {"diy": 1}}]}`,
	} {
		e, err := eval.Parse("e", []byte(in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !maps.Equal(e.Weights, want) || e.Frame != frame {
			t.Errorf("%s: weights %v, frame %q", name, e.Weights, e.Frame)
		}
	}
	if e, err := eval.Parse("e", []byte(good)); err != nil || e.Weights != nil || e.Frame != "" {
		t.Errorf("without both: %+v %v", e, err)
	}
}

func TestProblemsOfWeightsAndFrame(t *testing.T) {
	for more, want := range map[string]string{
		"weights: {gpt: 1}":                        `e.yaml:9: weights: agent "opus" has no weight; name every agent, or leave weights out`,
		"weights:\n  gpt: 1\n  opus: 1\n  opsu: 1": `e.yaml:12: weights: no agent is named "opsu"; did you mean opus?`,
		"weights: {gpt: 1, opus: 0}":               `e.yaml:9: opus: want a number from 1e-06 to 1e+06, not "0"`,
		"weights: {gpt: 1, opus: .inf}":            `e.yaml:9: opus: want a number from 1e-06 to 1e+06, not ".inf"`,
		"weights: {gpt: 1, opus: .nan}":            `e.yaml:9: opus: want a number from 1e-06 to 1e+06, not ".nan"`,
		"weights: {gpt: 1, opus: 1, gpt: 2}":       `e.yaml:9: duplicate key "gpt" (first on line 9)`,
		"frame: ''":                                `e.yaml:9: frame is empty: want what the prompts stand for, or leave frame out`,
		"frame: Web shops.":                        `e.yaml:9: frame: leave out the full stop; frame ends the sentence "prompts as if drawn from ..."`,
		"frame: \"two\\nlines\"":                   `e.yaml:9: frame: want one line of printable text`,
		"frame: " + strings.Repeat("é", 101):       `e.yaml:9: frame: 202 bytes; want at most 200`,
		"frame: [web shops]":                       "e.yaml:9: frame: want a text",
	} {
		if _, err := eval.Parse("e.yaml", []byte(twoAgents(more+"\n"))); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", more, err, want)
		}
	}
}
