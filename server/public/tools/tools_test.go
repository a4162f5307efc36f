package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/tools"
)

// schemas compiles the schemas of all tools, by name.
func schemas(t testing.TB) (in, out map[string]*jsonschema.Schema) {
	t.Helper()
	in, out = map[string]*jsonschema.Schema{}, map[string]*jsonschema.Schema{}
	compile := func(name string, raw []byte) *jsonschema.Schema {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource(name, doc); err != nil {
			t.Fatal(err)
		}
		return c.MustCompile(name)
	}
	for _, tool := range slices.Concat(tools.Tools(), tools.Own()) {
		in[tool.Name], out[tool.Name] = compile(tool.Name+".in", tool.InputSchema), compile(tool.Name+".out", tool.OutputSchema)
	}
	return in, out
}

func valid(t testing.TB, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s.Validate(v)
}

// Every answer is what the tool's schema promises, and says what it should.
func TestAnswers(t *testing.T) {
	s := sitetest.New(t, 1)
	_, out := schemas(t)
	answered := map[string]bool{"getMyAgents": true, "getChanges": true} // in TestMine, and of the archive
	for _, c := range []struct {
		tool, arguments string
		want            []string // parts of the answer
		failed          bool
	}{
		{"getLeaderboard", ``, []string{`"kind":"categories"`, `"slug":"payments"`, `"field":2`, `"url":"https://firstpick.example/?via=mcp-x"`}, false},
		{"getLeaderboard", `{"domain":"saas"}`, []string{`"kind":"categories"`}, false},
		{"getLeaderboard", `{"category":"payments","limit":2}`, []string{`"kind":"ranking"`, `"rank":2`, `"ciLow":`, `"field":`, `?via=mcp-x"`}, false},
		{"getLeaderboard", `{"category":"payments","limit":10.0}`, []string{`"rank":1`}, false},
		{"getLeaderboard", `{"category":"paymants"}`, []string{`"category_not_found"`, `"suggestions":["payments"`, `"query":"paymants"`}, true},
		{"getLeaderboard", `{"category":"Pay ments","limit":0,"x":1}`, []string{`"invalid_request"`, `"path":"/category"`, `"path":"/limit"`, `"path":"/x"`}, true},
		{"getLeaderboard", `[]`, []string{`"invalid_request"`, `JSON object`}, true},
		{"getPickRate", `{"tool":"flask"}`, []string{`"slug":"flask"`, `"pickRate":`, `"ciHigh":`, `"warnings":["directional"`}, false},
		{"getPickRate", `{"tool":" FLASK "}`, []string{`"slug":"flask"`}, false},
		{"getPickRate", `{"tool":"pypi:flask"}`, []string{`"tool_not_found"`, `"suggestions":["flask"]`}, true},
		{"getPickRate", `{"tool":"flaks"}`, []string{`"tool_not_found"`, `"flask"`}, true},
		{"getPickRate", `{}`, []string{`"path":"/tool","message":"is missing"`}, true},
		{"getPickRate", `{"tool":7}`, []string{`must be a string`}, true},
		{"getPickRate", `{"tool":"` + strings.Repeat("é", 201) + `"}`, []string{`more than 200`}, true},
		{"lookupTool", `{"query":"https://www.stripe.com/pricing"}`, []string{`"matchedOn":"domain"`, `"slug":"stripe"`, `"beatenBy":[{`, `?via=mcp-x"`}, false},
		{"lookupTool", `{"query":"pypi:flask"}`, []string{`"matchedOn":"package"`}, false},
		{"compareTools", `{"a":"stripe","b":"https://paddle.com"}`, []string{`"category":"payments"`, `"diff":0,"significant":false,"byAgent":[{"agent":"m"`, `"report_url":"https://firstpick.example/api/public/report?q=paddle"`, `?via=mcp-x"`}, false},
		{"compareTools", `{"a":"flask","b":"django"}`, []string{`"diff":-0.184242,"significant":false,"ciLow":-0.221958,"ciHigh":0.538012`}, false},
		{"compareTools", `{"a":"django","b":"flask","category":"webserver"}`, []string{`"diff":0.184242,"significant":false,"ciLow":-0.538012,"ciHigh":0.221958`}, false},
		{"compareTools", `{"a":"stripe","b":"npm:stripe"}`, []string{`"path":"/b","message":"names the same tool as a: stripe"`}, true},
		{"compareTools", `{"a":"stripe","b":"flask"}`, []string{`"category_not_found"`}, true},
		{"compareTools", `{"a":"stripe","b":"paddle","category":"paymants"}`, []string{`"category_not_found"`, `"suggestions":["payments"`}, true},
		{"compareTools", `{"a":"stripe"}`, []string{`"path":"/b"`}, true},
		{"lookupTools", `{"packages":["stripe@14.1.0","npm:stripe","flask==3.0","pkg:pypi/Flask@3.0?x=1","left-pad","npm:@clerk/nextjs@^5"]}`, []string{
			`"packages":["stripe@14.1.0","npm:stripe"],"tool":"Stripe"`, `"packages":["flask==3.0","pkg:pypi/Flask@3.0?x=1"]`, `"unknown":["left-pad"]`, `"unmeasured":["npm:@clerk/nextjs@^5"]`, `"beatenBy":[]`,
		}, false},
		{"lookupTools", `{"packages":["",7]}`, []string{`must be a list of strings`}, true},
		{"lookupTools", `{"packages":["x",""]}`, []string{`"path":"/packages/1"`}, true},
		{"lookupTools", `{"packages":[]}`, []string{`must have 1 to 200 items (got 0)`}, true},
		{"lookupTool", `{"query":"<script>&"}`, []string{`"query":"\u003cscript\u003e&"`}, true},
	} {
		got := tools.Call{Tool: c.tool, Arguments: json.RawMessage(c.arguments), Via: "mcp-x"}.Answer(s)
		for _, part := range c.want {
			if !strings.Contains(string(got.JSON), part) {
				t.Errorf("%s %s: no %s in %s", c.tool, c.arguments, part, got.JSON)
			}
		}
		if got.Failed != c.failed {
			t.Errorf("%s %s: failed %v: %s", c.tool, c.arguments, got.Failed, got.JSON)
		}
		if err := valid(t, out[c.tool], got.JSON); !got.Failed && err != nil {
			t.Errorf("%s %s: %v", c.tool, c.arguments, err)
		}
		answered[c.tool] = answered[c.tool] || !got.Failed
		if strings.Contains(string(got.JSON), "\n") || strings.Contains(string(got.JSON), `\u0026`) {
			t.Errorf("%s %s: not one plain line: %s", c.tool, c.arguments, got.JSON)
		}
	}
	for _, tool := range tools.Tools() {
		if !answered[tool.Name] {
			t.Errorf("no case has an answer of %s", tool.Name)
		}
	}
	many := `{"q":1`
	for i := range 5000 {
		many += fmt.Sprintf(`,"%d":1`, i)
	}
	if got := (tools.Call{Tool: "lookupTool", Arguments: json.RawMessage(many + "}")}).Answer(s); !got.Failed || len(got.JSON) > 4096 {
		t.Errorf("%d bytes about 5001 arguments that there are not", len(got.JSON))
	}
	plain := tools.Call{Tool: "lookupTool", Arguments: json.RawMessage(`{"query":"stripe"}`)}.Answer(s)
	if strings.Contains(string(plain.JSON), "via=") {
		t.Errorf("a tag that nobody asked for: %s", plain.JSON)
	}
}

// What the schema takes is answered or not found; what it refuses is refused.
func FuzzArguments(f *testing.F) {
	s := sitetest.New(f, 1)
	in, out := schemas(f)
	for _, seed := range []string{`{}`, `{"category":"payments","limit":50}`, `{"limit":1e1}`, `{"limit":51}`, `{"tool":""}`, `{"query":"stripe"}`, `{"domain":null}`, `{"category":""}`, `null`, `{"tool":"a","tool":1}`, `{"a":"stripe","b":"paddle"}`, `{"packages":["stripe"]}`} {
		for _, name := range []string{"getLeaderboard", "getPickRate", "lookupTool", "compareTools", "lookupTools"} {
			f.Add(name, seed)
		}
	}
	f.Fuzz(func(t *testing.T, name, arguments string) {
		schema := in[name]
		if schema == nil || !tools.OfSite(name) || !json.Valid([]byte(arguments)) || arguments == "null" {
			return
		}
		got := tools.Call{Tool: name, Arguments: json.RawMessage(arguments)}.Answer(s)
		refused := strings.Contains(string(got.JSON), `"error":"invalid_request"`)
		if err := valid(t, schema, []byte(arguments)); (err != nil) != refused && !blank(arguments) {
			t.Errorf("%s %s: the schema says %v, the answer %s", name, arguments, err, got.JSON)
		}
		if !got.Failed {
			if err := valid(t, out[name], got.JSON); err != nil {
				t.Errorf("%s %s: %v", name, arguments, err)
			}
		}
	})
}

// The caller's own answer keeps its schema with much, little and nothing in it.
func TestMine(t *testing.T) {
	_, out := schemas(t)
	at := "2026-11-21T09:00:00Z"
	full := &traffic.Report{
		Window: traffic.Window{From: "2026-10-22T00:00:00Z", To: at}, Health: traffic.Health{LastEventAt: &at},
		Outcome: traffic.Outcome{
			AtLeast: true, Conversions: []traffic.KindOutcome{{Kind: "signup", Total: 7, AgentDriven: 2.5, Assisted: 1}},
			Revenue:   []traffic.RevenueOutcome{{Currency: "USD", Total: "10.00", AgentDriven: "2.00", Refunded: "0.00"}},
			TopAgents: []traffic.AgentOutcome{{Agent: "chatgpt", Conversions: 2.5, Revenue: []traffic.Money{{Currency: "USD", Amount: "2.00"}}}, {Agent: "claude"}},
		},
		Source: traffic.Source{Agents: []traffic.AgentSource{{Agent: "GPTBot", Class: "training", Touches: 9, Verified: 8, Spoofed: 1}}, Pages: []traffic.PageSource{{Host: "acme.dev", Path: "/docs", Touches: 4}}},
	}
	for _, c := range []struct{ arguments, want string }{
		{`{}`, `"rows":[{"key":"GPTBot","class":"training","touches":9,"verified":8,"spoofed":1}]`},
		{`{"groupBy":"page","period":"7d"}`, `"rows":[{"key":"acme.dev/docs","touches":4}]`},
		{`{"groupBy":"conversion","limit":1}`, `"rows":[{"key":"signup","conversions":7,"agentDriven":2.5,"assisted":1}],"credited":[{"agent":"chatgpt"`},
		{`{"groupBy":"x","period":"1y","limit":101}`, `"path":"/period"`},
	} {
		q, wrong := tools.ReadMine([]byte(c.arguments))
		if wrong != nil {
			if !wrong.Failed || !strings.Contains(string(wrong.JSON), c.want) {
				t.Errorf("%s: %s", c.arguments, wrong.JSON)
			}
			continue
		}
		for i, r := range []*traffic.Report{full, {}} {
			got := tools.Mine(q, r, "quiet-otter", "https://firstpick.example/workspaces/quiet-otter")
			if err := valid(t, out["getMyAgents"], got.JSON); err != nil || i == 0 && !strings.Contains(string(got.JSON), c.want) {
				t.Errorf("%s: %v\n%s", c.arguments, err, got.JSON)
			}
		}
	}
}

// blank says that a text is of spaces alone, which a schema cannot tell.
func blank(arguments string) bool {
	var a map[string]any
	_ = json.Unmarshal([]byte(arguments), &a) // it was valid
	for _, v := range a {
		if s, ok := v.(string); ok && s != "" && strings.TrimSpace(s) == "" {
			return true
		}
	}
	return false
}

// Tools are described as a client needs it: every argument, both schemas closed or
// complete, titles of their own, and none that changes anything.
func TestDefinitions(t *testing.T) {
	tools := tools.Tools()
	for _, tool := range tools {
		if tool.Public() == (tool.Name == "getMyAgents") {
			t.Errorf("%s needs a credential, or none: %t", tool.Name, tool.Public())
		}
		described(t, tool)
		for _, other := range tools {
			if other.Name != tool.Name && other.Name != "getMyAgents" && !strings.Contains(tool.Description, other.Name) {
				t.Errorf("%s does not say when to use %s", tool.Name, other.Name)
			}
		}
		if a := tool.Annotations; !a.ReadOnly || a.Destructive || !a.Idempotent || a.OpenWorld || a.Title != tool.Title || len(tool.Title) <= len(tool.Name) {
			t.Errorf("%s: %+v", tool.Name, a)
		}
	}
}

// described fails for a tool without a description of fit length, or with an argument that
// has none.
func described(t *testing.T, tool tools.Tool) {
	t.Helper()
	var schema struct {
		Closed     *bool `json:"additionalProperties"`
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Closed == nil || *schema.Closed {
		t.Errorf("%s takes any argument", tool.Name)
	}
	for name, p := range schema.Properties {
		if p.Description == "" {
			t.Errorf("%s: %s is not described", tool.Name, name)
		}
	}
	if words := len(strings.Fields(tool.Description)); words < 60 || words > 130 {
		t.Errorf("%s: described in %d words", tool.Name, words)
	}
}
