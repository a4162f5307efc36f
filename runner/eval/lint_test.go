package eval_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

// promptsEval parses an eval of a category with these lines of prompts; the first is line 4.
func promptsEval(t *testing.T, category string, prompts ...string) *eval.Eval {
	t.Helper()
	e, err := eval.Parse("e.yaml", []byte("name: e\ncategory: "+category+"\nprompts:\n"+strings.Join(prompts, "\n")+
		"\nagents:\n  - {name: s, kind: simulated, truth: {diy: 1}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func category(t *testing.T, slug string) *catalog.Category {
	t.Helper()
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	found, ok := c.Category(slug)
	if !ok {
		t.Fatalf("no category %s", slug)
	}
	return found
}

func TestBrandedPrompts(t *testing.T) {
	for name, tt := range map[string]struct{ category, text, want string }{
		"an alias":                        {"payments", "Add STRIPE to our shop.", `e.yaml:4: prompt "p" names Stripe ("STRIPE"): prompts stay unbranded, a name steers the answer`},
		"a package":                       {"orm", "Load rows with @prisma/client in Node.", `names Prisma ("`},
		"a package in a command":          {"webscraper", "Run pip install playwright and go on.", `names Playwright for Python ("playwright")`},
		"an ordinary word as code":        {"orm", "Load rows with `pg` in Node.", `names node-postgres ("pg")`},
		"an ordinary word":                {"orm", "Answer slow requests with less memory.", ""},
		"a word of every day":             {"orm", "Mind each ent in this forest.", ""},
		"that word in its context":        {"orm", "Load rows with ent in Go.", `names Ent ("ent")`},
		"a domain":                        {"search", "Index our docs as on https://www.vespa.ai/features.", `names Vespa ("`},
		"an API host":                     {"databases", "Our URL ends in x.psdb.cloud today.", `names PlanetScale ("psdb.cloud")`},
		"a longer host":                   {"databases", "Our URL ends in mypsdb.cloud today.", ""},
		"an outsider's name":              {"databases", "Host our PostgreSQL tables.", `names PostgreSQL ("PostgreSQL")`},
		"an outsider's package":           {"orm", "Replace better-sqlite3 in our app.", `names better-sqlite3 ("better-sqlite3")`},
		"a part of another package":       {"orm", "Replace my-drizzle-kit-fork in our app.", ""},
		"the same letters in a long word": {"observability", "Watch a sentryless gate.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			errs, _ := promptsEval(t, tt.category, fmt.Sprintf("  - {id: p, text: %q}", tt.text)).LintStrict(category(t, tt.category))
			switch err := errors.Join(errs...); {
			case tt.want == "" && err != nil:
				t.Errorf("got %v, want none", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestRunRefusesToolNamesOnly holds that an eval from before the stricter checks still runs.
func TestRunRefusesToolNamesOnly(t *testing.T) {
	e := promptsEval(t, "databases", "  - {id: a, text: Host our PostgreSQL tables for the shop.}", "  - {id: b, text: Host our PostgreSQL tables for the blog.}")
	if errs := e.Lint(category(t, "databases")); len(errs) != 0 {
		t.Errorf("Lint: %v", errs)
	}
	if errs, _ := e.LintStrict(category(t, "databases")); len(errs) != 3 {
		t.Errorf("LintStrict: %v, want two branded prompts and a near-duplicate", errs)
	}
}

func TestNearDuplicates(t *testing.T) {
	const task = "Our shop sells tea to customers in twelve countries. Take payments by card and by wallet, and refund them from the admin page."
	for name, tt := range map[string]struct {
		first, second string // fields of a prompt
		want          string
	}{
		"one word replaced":             {"text: " + task, "text: " + strings.Replace(task, "tea", "coffee", 1), `e.yaml:5: prompt "b" nearly repeats prompt "a" on line 4 (similarity 0.`},
		"punctuation and case":          {"text: " + task, "text: " + strings.ToUpper(strings.ReplaceAll(task, ",", "")), "(similarity 1.00, limit 0.30): ask for another task, or give both the same family"},
		"another task":                  {"text: " + task, "text: Bill our hosting customers by hour of use and remind those who pay late.", ""},
		"a common phrase":               {"text: " + task, "text: I rent out bicycles in one town and take payments by card on the street.", ""},
		"two phrasings of one family":   {"family: shop, text: " + task, "family: shop, text: " + strings.Replace(task, "in twelve countries", "abroad", 1), ""},
		"almost the text of the family": {"family: shop, text: " + task, "family: shop, text: " + task + " Now.", "limit 0.90): phrase it differently"},
	} {
		t.Run(name, func(t *testing.T) {
			row := func(id, fields string) string {
				before, text, _ := strings.Cut(fields, "text: ")
				return fmt.Sprintf("  - {id: %s, %stext: %q}", id, before, text)
			}
			errs, _ := promptsEval(t, "payments", row("a", tt.first), row("b", tt.second)).LintStrict(category(t, "payments"))
			switch err := errors.Join(errs...); {
			case tt.want == "" && err != nil:
				t.Errorf("got %v, want none", err)
			case tt.want != "" && (len(errs) != 1 || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestLeadingWords(t *testing.T) {
	for name, tt := range map[string]struct{ category, text, want string }{
		"a superlative":             {"payments", "What is the Best way to bill?", `e.yaml:4: prompt "p": "best" leads the answer: it asks for fame`},
		"a custom":                  {"payments", "Take cards as everyone uses them now.", `"everyone uses" leads the answer: it presents one choice as settled`},
		"a vendor's own praise":     {"payments", "Add a battle-tested checkout.", `"battle tested" leads the answer: vendors call themselves that`},
		"a class of few vendors":    {"payments", "Find a merchant of record for us.", `"merchant of record" leads the answer: few vendors`},
		"a company with a tool":     {"databases", "We run on AWS and want tables.", `"aws" leads the answer: it points to the products of that company`},
		"a company without a tool":  {"payments", "We run on AWS and want cards.", ""},
		"a word inside another one": {"payments", "Take payments from Bestville.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			errs, warnings := promptsEval(t, tt.category, fmt.Sprintf("  - {id: p, text: %q}", tt.text)).LintStrict(category(t, tt.category))
			got := errors.Join(warnings...)
			if len(errs) > 0 || (got == nil) != (tt.want == "") || got != nil && !strings.Contains(got.Error(), tt.want) {
				t.Errorf("got %v and errors %v, want %s", got, errs, tt.want)
			}
		})
	}
}

// FuzzLintStrict checks that any text is compared without failure, and that a prompt is
// reported against a second prompt with its text plus a word.
func FuzzLintStrict(f *testing.F) {
	f.Add("Add payments to the shop and send a receipt to the customer by mail.", "please")
	f.Add("支払いを追加してください", "\u200b")
	f.Add("İ ẞ \xff", "x")
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		f.Fatal(err)
	}
	payments, _ := c.Category("payments")
	f.Fuzz(func(t *testing.T, text, more string) {
		e := &eval.Eval{Prompts: []eval.Prompt{{ID: "a", Text: text}, {ID: "b", Text: text + " " + more}}}
		errs, _ := e.LintStrict(payments)
		if len(strings.Fields(text)) < 20 || len(strings.Fields(more)) != 1 || strings.ContainsAny(text+more, "-'._/") {
			return
		}
		for _, err := range errs {
			if strings.Contains(err.Error(), `prompt "b"`) {
				return
			}
		}
		t.Errorf("%q and the same with %q: %v", text, more, errs)
	})
}
