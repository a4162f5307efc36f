package cli

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
)

// Why says which rule decided or gave up, and what to do about an unresolved trial.
func TestWhyNamesTheRule(t *testing.T) {
	tests := map[string]struct {
		result pick.Result
		remote bool
		want   []string
		not    []string
	}{
		"a statement": {
			pick.Result{Kind: pick.Tool, Picked: "stripe", Method: pick.MethodStatement, Level: 2, Rule: "commits", FirstNamed: "adyen", Language: "de"}, false,
			[]string{"outcome  tool: stripe\n", `decided  statement, rule "commits", level 2 of 7`, "first    adyen is named before its rivals\n", "language de\n"},
			[]string{"next "},
		},
		"actions, by an extractor that names no rule": {
			pick.Result{Kind: pick.Tool, Picked: "stripe", Method: pick.MethodAction, Level: 6}, false,
			[]string{"decided  actions, level 6 of 7\n"}, []string{"rule", "first ", "language"},
		},
		"unresolved": {
			pick.Result{Kind: pick.Ambiguous, Unresolved: true, Method: pick.MethodStatement, Rule: "lone mention"}, false,
			[]string{"outcome  ambiguous (unresolved)\n", `the last that was tried is "lone mention"`, "firstpick extract judge r1 --with A,B", "firstpick label r1\n"},
			[]string{"statement"},
		},
		"unresolved on a server": {
			pick.Result{Kind: pick.Ambiguous, Unresolved: true, Rule: "lone mention"}, true, []string{"no rule applies"}, []string{"next "},
		},
		"nothing": {pick.Result{Kind: pick.None}, false, []string{"decided  nothing was chosen, level 0 of 7"}, nil},
		"a rule of no layer": {
			pick.Result{Kind: pick.Truncated, Rule: "open fence"}, false, []string{`decided  no layer, rule "open fence"`}, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := &history{Run: "r1", Result: &tt.result, remote: tt.remote}
			var b strings.Builder
			h.writeHead(&b)
			h.writeEvidence(&b)
			for _, want := range tt.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is missing in\n%s", want, b.String())
				}
			}
			for _, not := range tt.not {
				if strings.Contains(b.String(), not) {
					t.Errorf("%q is in\n%s", not, b.String())
				}
			}
		})
	}
}
