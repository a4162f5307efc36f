package eval_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

const good = `name: e
category: payments
repeats: 3
prompts:
  - {id: p, text: Add payments.}
agents:
  - {name: s, kind: simulated, truth: {stripe: 1}}
`

func TestBadEvalsNameFileAndLine(t *testing.T) {
	for name, tt := range map[string]struct{ old, new, want string }{
		"unknown key":        {"repeats: 3", "repeat: 3", `e.yaml:3: unknown key "repeat"`},
		"not a number":       {"repeats: 3", "repeats: many", `e.yaml:3: repeats: want a whole number from 1`},
		"no prompts":         {"prompts:\n  - {id: p, text: Add payments.}", "prompts: []", "prompts: want at least one"},
		"no name":            {"name: e\n", "", "name is missing"},
		"prompt twice":       {"  - {id: p, text: Add payments.}", "  - {id: p, text: a}\n  - {id: p, text: b}", `e.yaml:6: duplicate prompt id "p"`},
		"unknown kind":       {"kind: simulated, truth: {stripe: 1}", "kind: psychic", `e.yaml:7: agent kind "psychic" is unknown`},
		"no truth":           {", truth: {stripe: 1}", "", "truth is missing: shares by tool slug"},
		"another kind's key": {"truth: {stripe: 1}", "truth: {stripe: 1}, model: x", `unknown key "model"`},
		"no address":         {"kind: simulated, truth: {stripe: 1}", "kind: openai-chat, model: m, base_url: here", `base_url: "here" is not an http`},
		"recorded nowhere":   {"kind: simulated, truth: {stripe: 1}", "kind: recorded", "a recorded agent needs exactly one of study, file"},
		"too many trials":    {"repeats: 3", "repeats: 100000\ntemplates: [" + strings.Repeat("a,", 0) + strings.Join(letters(300), ",") + "]", "one eval plans at most"},
	} {
		t.Run(name, func(t *testing.T) {
			in := strings.Replace(good, tt.old, tt.new, 1)
			_, err := eval.Parse("e.yaml", []byte(in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := eval.Parse("e.yaml", nil); err == nil || !strings.Contains(err.Error(), "e.yaml: the file is empty") {
		t.Errorf("an empty file: %v", err)
	}
}

func letters(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "t" + strings.Repeat("x", i)
	}
	return out
}

func TestPromptsStayUnbranded(t *testing.T) {
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	cat, _ := c.Category("webserver")
	e, err := eval.Parse("e.yaml", []byte(strings.NewReplacer("payments.", "a Flask API.", "stripe", "flask").Replace(good)))
	if err != nil {
		t.Fatal(err)
	}
	if errs := e.Lint(cat); len(errs) != 1 || !strings.Contains(errs[0].Error(), `e.yaml:5: prompt "p" names Flask`) {
		t.Errorf("got %v", errs)
	}
}

// TestSchemaAgreesWithTheParser checks the built-in evals, the example and a bad
// one against the schema that editors use.
func TestSchemaAgreesWithTheParser(t *testing.T) {
	schema := compiled(t)
	names, err := fs.Glob(fixtures.Files(), "evals/*.yaml")
	if err != nil || len(names) != 5 {
		t.Fatalf("%v %v", names, err)
	}
	tagged := strings.Replace(good, "text: Add payments.", "text: Add payments., family: f, tags: {ecosystem: npm, intent: build, persona: owner}", 1)
	weighted := good + "weights: {s: 2.5}\nframe: requests to add payments to a web application\n"
	inputs := []string{good, tagged, weighted}
	for _, name := range names {
		data, err := fs.ReadFile(fixtures.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, string(data))
	}
	check := func(in string) error {
		var v any
		if err := yaml.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		inst, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(inst)
	}
	for _, in := range inputs {
		if _, err := eval.Parse("e.yaml", []byte(in)); err != nil {
			t.Error(err)
		}
		if err := check(in); err != nil {
			t.Error(err)
		}
	}
	for name, in := range map[string]string{
		"an unknown key":   strings.Replace(good, "repeats", "repeat", 1),
		"an unknown tag":   strings.Replace(tagged, "intent", "intend", 1),
		"an unknown value": strings.Replace(tagged, "build", "win", 1),
		"no weight at all": strings.Replace(weighted, "2.5", "0", 1),
		"two lines":        strings.Replace(weighted, "requests to", `"requests\nto`, 1) + `"`,
		"a full stop":      strings.Replace(weighted, "application", "application.", 1),
	} {
		if check(in) == nil {
			t.Errorf("the schema lets %s pass", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("name: &a x\ncategory: *a")
	f.Fuzz(func(t *testing.T, in string) {
		e, err := eval.Parse("e.yaml", []byte(in))
		if err == nil && (e.Trials() < 1 || e.Name == "") {
			t.Errorf("parsed %+v", e)
		}
	})
}
