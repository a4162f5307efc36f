package eval_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

const sim = "kind: simulated, truth: {stripe: 1}"

func TestProblemsOfAnEvalAreToldExactly(t *testing.T) {
	chat := "kind: openai-chat, model: m, base_url: 'http://h/v1'"
	for name, tt := range map[string]struct{ old, new, want string }{
		"a near key":               {"repeats:", "repeat:", `e.yaml:3: unknown key "repeat" in file; did you mean repeats?`},
		"a repeat and a bit":       {"repeats: 3", "repeats: 3.7", `e.yaml:3: repeats: want a whole number from 1 to 100000, not "3.7"`},
		"no repeat":                {"repeats: 3", "repeats: 0", `e.yaml:3: repeats: want a whole number from 1 to 100000, not "0"`},
		"a nameless template":      {"repeats: 3", "templates: ['']", `e.yaml:3: template "" is not a valid name: want letters, digits and . _ / : -, at most 100`},
		"a template twice":         {"repeats: 3", "templates: [a, a]", `e.yaml:3: duplicate template "a" (first on line 3)`},
		"a prompt that is a word":  {"  - {id: p, text: Add payments.}", "  - p\n  - {id: q, text: a}", "e.yaml:5: prompts: want a mapping of keys to values"},
		"prompts without ids":      {"  - {id: p, text: Add payments.}", "  - text: a\n  - text: b", "e.yaml:5: id is missing\ne.yaml:6: id is missing"},
		"an empty prompt":          {"text: Add payments.", "text: ''", "e.yaml:5: text is empty"},
		"a family with a space":    {"text: Add payments.", "text: a, family: two words", `e.yaml:5: family: "two words" is not a valid name: want letters, digits and . _ / : -, at most 100`},
		"an empty family":          {"text: Add payments.", "text: a, family: ''", `e.yaml:5: family: "" is not a valid name: want letters, digits and . _ / : -, at most 100`},
		"a near tag":               {"text: Add payments.", "text: a, tags: {intend: build}", `e.yaml:5: unknown key "intend" in tags; did you mean intent?`},
		"a near value":             {"text: Add payments.", "text: a, tags: {intent: migrated}", `e.yaml:5: tag intent: unknown value "migrated"; did you mean migrate?`},
		"a value of no list":       {"text: Add payments.", "text: a, tags: {intent: win}", `e.yaml:5: tag intent: unknown value "win"; known: build, recommend, hosted, migrate`},
		"a list of values":         {"text: Add payments.", "text: a, tags: {ecosystem: [npm]}", `e.yaml:5: tag ecosystem: unknown value ""; known: npm, pypi, go, cargo, rubygems, composer, maven, nuget, docker, system`},
		"tags in a list":           {"text: Add payments.", "text: a, tags: [build]", "e.yaml:5: tags: want a mapping of keys to values"},
		"half a price":             {sim, chat + ", price: {input_per_mtok: 1}", "e.yaml:7: price: output_per_mtok is missing"},
		"a key for its name":       {sim, chat + ", api_key_env: sk-secret", "e.yaml:7: api_key_env: want the name of an environment variable, not the key"},
		"a password in an address": {sim, "kind: openai-chat, model: m, base_url: 'http://u:secret@h'", "e.yaml:7: base_url: leave user and password out; name the key's variable in api_key_env"},
		"no model":                 {sim, "kind: openai-chat, base_url: 'http://h'", "e.yaml:7: model is missing"},
		"a share below zero":       {"stripe: 1", "stripe: 1, diy: -1", `e.yaml:7: diy: want a number from 0 to 1e+09, not "-1"`},
		"all at once":              {"repeats: 3\nprompts:", "repeats: x\nseeds: 1\nprompts:", `e.yaml:3: repeats: want a whole number from 1 to 100000, not "x"` + "\n" + `e.yaml:4: unknown key "seeds" in file; did you mean seed?`},
	} {
		t.Run(name, func(t *testing.T) {
			in := strings.Replace(good, tt.old, tt.new, 1)
			got := ""
			if _, err := eval.Parse("e.yaml", []byte(in)); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	_, err := eval.Parse("e.yaml", bytes.Repeat([]byte("#"), eval.MaxSize+1))
	if want := "e.yaml: 4194305 bytes; an eval has at most 4194304"; err == nil || err.Error() != want {
		t.Errorf("a large file: %v", err)
	}
}

func TestWhatIsLeftOutHasItsDefault(t *testing.T) {
	e, err := eval.Parse("e.yaml", []byte(strings.Replace(good, "repeats: 3\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if e.Repeats != 1 || len(e.Templates) != 1 || e.Templates[0] != eval.NoTemplate || e.Trials() != 1 || !e.Synthetic() {
		t.Errorf("got %+v", e)
	}
}

func TestFamilyAndTags(t *testing.T) {
	e, err := eval.Parse("e.yaml", []byte(strings.Replace(good, "text: Add payments.", "text: a, family: f, tags: {persona: owner, ecosystem: go, intent: hosted}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	p := e.Prompts[0]
	if want := (eval.Tags{Ecosystem: "go", Intent: "hosted", Persona: "owner"}); p.FamilyName() != "f" || p.Tags != want {
		t.Errorf("got family %q, tags %+v", p.FamilyName(), p.Tags)
	}
	if p := (eval.Prompt{ID: "p"}); p.FamilyName() != "p" {
		t.Errorf("a prompt without family has the family %q", p.FamilyName())
	}
	for _, wrong := range []eval.Tags{{Intent: "win"}, {Ecosystem: "elm"}, {Persona: "boss"}} {
		if wrong.Check() == nil || p.Tags.Check() != nil {
			t.Errorf("Check of %+v: %v, of %+v: %v", wrong, wrong.Check(), p.Tags, p.Tags.Check())
		}
	}
}

func TestASimulatedAgentPicksWhatExists(t *testing.T) {
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	cat, _ := c.Category("payments")
	e, err := eval.Parse("e.yaml", []byte(strings.Replace(good, "stripe: 1", "stripe: 1, strip: 1, diy: 1, none: 1, refused: 1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if errs := e.Lint(cat); len(errs) != 1 || errs[0].Error() != `e.yaml:7: agent "s": "strip" is not a tool of category payments; did you mean stripe?` {
		t.Errorf("got %v", errs)
	}
}
