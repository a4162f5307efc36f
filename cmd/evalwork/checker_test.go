package evalwork_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/server/evals/evals"
)

func newChecker(t testing.TB, p evalwork.Policy) *evalwork.Checker {
	t.Helper()
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	table, err := prices.Load(fixtures.Files())
	if err != nil {
		t.Fatal(err)
	}
	return &evalwork.Checker{Catalog: cat, Prices: table, Policy: p}
}

const priced = "price: {input_per_mtok: 1, output_per_mtok: 2}"

func TestWhatAnEvalMeans(t *testing.T) {
	c := newChecker(t, evalwork.Policy{Programs: true})
	got, issues := c.Check([]byte(asked(10,
		"{name: gpt, kind: openai-responses, model: gpt-x, max_tokens: 1000, "+priced+"}",
		"{name: own, kind: openai-chat, base_url: 'https://models.example/v1', model: m, max_tokens: 1000, "+priced+"}",
		"{name: keyed, kind: openai-chat, base_url: 'https://models.example/v1', model: m, api_key_env: MINE_API_KEY, max_tokens: 1000, "+priced+"}",
		"{name: claude, kind: claude-code, model: opus, trial_cost_usd: 0.5}", recorded)))
	if issues != nil {
		t.Fatalf("%+v", issues)
	}
	if got.Name != "own" || got.Trials != 50 || got.Prompts != 1 || got.Repeats != 10 || got.Synthetic || !cmp.Equal(got.Templates, []string{"none"}) {
		t.Errorf("%+v", got)
	}
	if !cmp.Equal(got.ProviderKeys, []string{"ANTHROPIC_API_KEY", "MINE_API_KEY", "OPENAI_API_KEY"}) {
		t.Errorf("keys: %v", got.ProviderKeys)
	}
	// At most 2,006 tokens in and 1,000 out, for three models; and half a dollar each for the program.
	if want := 10 * (3*(2006*1+1000*2)/1e6 + 0.5); got.WorstUSD == nil || *got.WorstUSD < want-1e-6 || *got.WorstUSD > want+1e-6 || got.ExpectedUSD != nil {
		t.Errorf("worst %v, want %v; expected %v", *got.WorstUSD, want, got.ExpectedUSD)
	}
	if want := (evals.AgentSummary{Name: "claude", Kind: "claude-code", Model: "opus"}); got.Agents[3] != want || len(got.Agents) != 5 {
		t.Errorf("%+v", got.Agents)
	}
}

func TestTheSameMeaningHasOneDigest(t *testing.T) {
	c := newChecker(t, evalwork.Policy{})
	digest := func(source string) string {
		t.Helper()
		got, issues := c.Check([]byte(source))
		if issues != nil {
			t.Fatalf("%+v", issues)
		}
		return got.Digest
	}
	yaml := digest(asked(10, recorded))
	json := digest("{\n\t\"name\": \"own\", \"category\": \"webserver\", \"repeats\": 10,\n\t\"prompts\": [{\"id\": \"webserver\", \"text\": \"Write an API \\u0073erver.\"}],\n" +
		"\t\"agents\": [{\"name\": \"gpt-4o-mini-2024-07-18\", \"kind\": \"recorded\", \"study\": \"twist-2025\"}]\n}")
	if yaml != json || yaml != digest("# a comment\n"+asked(10, recorded)) || yaml == digest(asked(11, recorded)) || len(yaml) != 64 {
		t.Errorf("%s, %s", yaml, json)
	}
}

func TestAllThatIsWrongIsToldWithLines(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		policy evalwork.Policy
		want   []string
	}{
		"several problems of a file": {
			"name: own\ncategry: webserver\nprompts:\n  - {id: p}\nagents:\n  - {name: a, kind: nothing}\n", evalwork.Policy{},
			[]string{"1: category is missing", `2: unknown key "categry" in file; did you mean category?`, "4: text is missing", `6: agent kind "nothing" is unknown`},
		},
		"no such category":          {strings.Replace(asked(1, recorded), "webserver", "webservers", 1), evalwork.Policy{}, []string{`2: no category "webservers" in the catalogue; did you mean webserver`}},
		"a prompt with a name":      {strings.Replace(asked(1, recorded), "an API", "a Flask", 1), evalwork.Policy{}, []string{`5: prompt "webserver" names Flask`}},
		"a study without the model": {asked(1, "{name: nobody, kind: recorded, study: twist-2025}"), evalwork.Policy{}, []string{"7: agent nobody: study twist-2025 has no model of this name"}},
		"an unknown price":          {asked(1, "{name: m, kind: openai-chat, base_url: 'https://m.example', model: m}"), evalwork.Policy{}, []string{"7: agent m: a budget needs a known maximum cost per attempt"}},
		"a file of this machine":    {asked(1, recorded, "{name: f, kind: recorded, file: /etc/passwd}"), evalwork.Policy{}, []string{"8: agent f: file is not allowed on this service"}},
		"a program":                 {asked(1, "{name: c, kind: claude-code, model: opus, trial_cost_usd: 1}"), evalwork.Policy{}, []string{"7: agent c: programs are not allowed on this service"}},
		"a program of one's own": {
			asked(1, "{name: c, kind: claude-code, model: opus, trial_cost_usd: 1, binary: sh, args: [-c], env: [HOME]}", "{name: d, kind: command, command: [sh]}"), evalwork.Policy{Programs: true},
			[]string{"7: agent c: args is not allowed on this service", "7: agent c: binary is not allowed on this service", "7: agent c: env is not allowed on this service", "8: agent d: command is not allowed on this service"},
		},
		"a program that wants all of the machine": {
			asked(1, "{name: c, kind: claude-code, model: opus, trial_cost_usd: 1, memory_mb: 4097, disk_mb: 20000, max_processes: 5000}"), evalwork.Policy{Programs: true},
			[]string{"7: agent c: disk_mb must be at most 10240 here (got 20000)", "7: agent c: max_processes must be at most", "7: agent c: memory_mb must be at most"},
		},
		"plain http and this machine": {
			asked(1, model("m", "http://models.example"), "{name: o, kind: ollama, model: m}", "{name: p, kind: claude-code, model: opus, base_url: 'http://10.0.0.1', trial_cost_usd: 1, api_key_env: A_KEY, price: {input_per_mtok: 1, output_per_mtok: 1}}"), evalwork.Policy{Programs: true},
			[]string{"7: agent m: base_url must be a public https URL", "8: agent o: base_url must be a public https URL (got http://localhost:11434)", "9: agent p: base_url must be a public https URL"},
		},
		"a variable not for keys":  {asked(1, "{name: m, kind: openai-chat, base_url: 'https://m.example', model: m, api_key_env: PATH, max_tokens: 1, "+priced+"}"), evalwork.Policy{}, []string{"7: agent m: PATH is not a valid name of a provider key"}},
		"too many trials":          {asked(100_000, recorded, "{name: sim, kind: simulated, truth: {diy: 1}}"), evalwork.Policy{}, []string{"3: 200000 trials; a run has at most 100000 here"}},
		"too many agents":          {manyAgents(201), evalwork.Policy{}, []string{"6: 201 agents; an eval has at most 200 here"}},
		"a model's name of a page": {asked(1, "{name: m, kind: openai-chat, base_url: 'https://m.example', model: "+strings.Repeat("m", 201)+", max_tokens: 1, "+priced+"}"), evalwork.Policy{}, []string{"7: agent m: the model's name has 201 bytes"}},
		"builds without programs":  {strings.Replace(asked(1, recorded), "repeats: 1", "builds: make", 1), evalwork.Policy{}, []string{"3: builds is not allowed on this service", "3: builds: no agent works in a folder"}},
		"builds that take too long": {
			strings.Replace(asked(1, "{name: c, kind: claude-code, model: opus, trial_cost_usd: 1}"), "repeats: 1", "builds: {command: make, timeout_s: 901}", 1), evalwork.Policy{Programs: true},
			[]string{"3: builds: timeout_s must be at most 900 here (got 901)"},
		},
		"own templates":          {strings.Replace(asked(1, recorded), "repeats: 1", "templates: [{name: shop, dir: shop}]", 1), evalwork.Policy{Programs: true}, []string{"3: own templates are not allowed on this service"}},
		"an incumbent":           {strings.Replace(asked(1, recorded), "repeats: 1", "incumbent: flask\ntemplates: [none, fastapi-service]", 1), evalwork.Policy{}, nil},
		"an incumbent in a name": {strings.Replace(asked(1, recorded), "repeats: 1", "templates: ['fastapi-service:flask']", 1), evalwork.Policy{}, []string{`3: template "fastapi-service:flask" is unknown`}},
		"an unknown template":    {strings.Replace(asked(1, recorded), "repeats: 1", "templates: [none, nothing]", 1), evalwork.Policy{}, []string{`3: template "nothing" is unknown`}},
		"too long":               {asked(1, recorded) + "#" + strings.Repeat(".", 256<<10), evalwork.Policy{}, []string{"0: 2623"}},
		"not YAML":               {"name: a\nb: c: d", evalwork.Policy{}, []string{"2: not YAML"}},
		"nothing":                {"", evalwork.Policy{}, []string{"0: the file is empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, issues := newChecker(t, c.policy).Check([]byte(c.source))
			var got []string
			for _, i := range issues {
				got = append(got, fmt.Sprintf("%d: %s", i.Line, i.Message))
			}
			same := slices.EqualFunc(got, c.want, strings.HasPrefix)
			if !same {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestAnswersStayShort keeps a short eval from a long answer, and lists from repeating
// long texts.
func TestAnswersStayShort(t *testing.T) {
	c := newChecker(t, evalwork.Policy{})
	_, issues := c.Check([]byte("name: a\n" + strings.Repeat("x: 1\n", 10_000)))
	if n := len(issues); n != 201 || !strings.HasPrefix(issues[n-1].Message, "and ") {
		t.Errorf("%d problems are told; the last: %+v", n, issues[n-1])
	}
	got, issues := c.Check([]byte("description: " + strings.Repeat("ä", 100_000) + "\n" + asked(1, recorded)))
	if issues != nil || len([]rune(got.Description)) != 1000 {
		t.Errorf("a description of %d bytes, %+v", len(got.Description), issues)
	}
}

// TestDoubtfulPromptsAreWarnings keeps an eval with similar or leading prompts runnable.
func TestDoubtfulPromptsAreWarnings(t *testing.T) {
	const text = "Write a server for bookings of rooms in a small hotel"
	source := strings.Replace(asked(1, recorded), "Write an API server.}", text+".}\n  - {id: again, text: "+text+" of the best kind.}", 1)
	got, issues := newChecker(t, evalwork.Policy{}).Check([]byte(source))
	if issues != nil {
		t.Fatalf("%+v", issues)
	}
	warnings := strings.Join(got.Warnings, "\n")
	for _, want := range []string{`Line 6: prompt "again" nearly repeats prompt "webserver" on line 5`, `Line 6: prompt "again": "best" leads the answer`} {
		if !strings.Contains(warnings, want) {
			t.Errorf("no warning %s in\n%s", want, warnings)
		}
	}
	for i := range 50 {
		source = strings.Replace(source, "agents:\n", fmt.Sprintf("  - {id: p%d, text: %s %d.}\nagents:\n", i, text, i), 1)
	}
	if got, _ = newChecker(t, evalwork.Policy{}).Check([]byte(source)); len(got.Warnings) > 25 {
		t.Errorf("%d warnings", len(got.Warnings))
	}
}

func manyAgents(n int) string {
	agents := make([]string, n)
	for i := range agents {
		agents[i] = fmt.Sprintf("{name: a%d, kind: simulated, truth: {diy: 1}}", i)
	}
	return asked(1, agents...)
}

// TestALargeEvalIsCheckedSoon keeps one request from holding a server: a quarter of a
// megabyte of prompts took twelve seconds when each was matched by rules of its own.
func TestALargeEvalIsCheckedSoon(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: a\ncategory: hosting\nagents:\n  - {name: sim, kind: simulated, truth: {diy: 1}}\nprompts:\n")
	for i := 0; b.Len() < evals.MaxSource-100; i++ {
		fmt.Fprintf(&b, "  - {id: p%d, text: where do I put it %d}\n", i, i)
	}
	checker := newChecker(t, evalwork.Policy{}) // loads the catalogue
	var took, parse time.Duration
	for range 3 { // a busy machine may stop one
		began := time.Now()
		if _, err := eval.Parse("eval", []byte(b.String())); err != nil {
			t.Fatal(err)
		}
		parsed := time.Now()
		if _, issues := checker.Check([]byte(b.String())); issues != nil {
			t.Fatalf("%+v", issues)
		}
		if took, parse = time.Since(parsed), parsed.Sub(began); took <= 25*parse {
			return
		}
	}
	t.Errorf("checked in %s, parsed in %s", took, parse)
}

// FuzzCheck feeds the checker whatever strangers send: it says what is wrong, or what
// the eval means, and never both or neither.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"", "{}", asked(2, recorded), asked(2, model("m", "https://m.example")), asked(2, "{name: c, kind: aider, model: gpt-x}"), "{\"name\": \"\\ud83d\"}", "a: &a [*a]"} {
		f.Add([]byte(s))
	}
	c := newChecker(f, evalwork.Policy{Programs: true, MaxTrials: 1000})
	f.Fuzz(func(t *testing.T, source []byte) {
		got, issues := c.Check(source)
		if (got.Digest == "") != (len(issues) > 0) || len(issues) == 0 && (got.Trials < 1 || got.Trials > 1000 || got.Name == "") {
			t.Errorf("%+v, %+v", got, issues)
		}
		for _, i := range issues {
			if i.Message == "" || i.Line < 0 {
				t.Errorf("%+v", i)
			}
		}
	})
}
