package importer_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/importer"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func builtIn(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const good = `{"agent":"a","category":"payments","prompt_id":"p","prompt":"x","repeat":1,"input":{"final_text":"I'd use Stripe."}}`

func TestBadLinesAreToldByNumber(t *testing.T) {
	c := builtIn(t)
	for name, tt := range map[string]struct{ line, want string }{
		"not JSON":          {"{", "line 2: malformed trial"},
		"unknown field":     {strings.Replace(good, `"agent"`, `"agnt"`, 1), `unknown field "agnt"`},
		"two values":        {good + good, "line 2: more than one JSON value"},
		"unknown category":  {strings.Replace(good, "payments", "paymnts", 1), `line 2: unknown category "paymnts"`},
		"no agent":          {strings.Replace(good, `"agent":"a",`, "", 1), "line 2: agent is missing"},
		"the same trial":    {good, `line 2: duplicate agent "a", prompt "p", repeat 1`},
		"another text":      {strings.Replace(strings.Replace(good, `"x"`, `"y"`, 1), `"repeat":1`, `"repeat":2`, 1), "has a different text on an earlier line"},
		"another family":    {strings.NewReplacer(`"repeat":1`, `"repeat":2,"family":"f"`).Replace(good), `line 2: prompt "p" has a different family or tags on an earlier line`},
		"a bad family":      {strings.Replace(good, `"repeat":1`, `"repeat":2,"family":"two words"`, 1), `line 2: family "two words" is not a valid name`},
		"a markup agent":    {strings.Replace(good, `"a"`, `"a<script>"`, 1), `line 2: agent "a<script>" is not a valid name: want letters, digits, spaces and . , _ / : + ( ) @ -, at most 100`},
		"a long agent":      {strings.Replace(good, `"a"`, `"`+strings.Repeat("a", 3<<20)+`"`, 1), `line 2: agent "` + strings.Repeat("a", 100) + `" is not a valid name`},
		"a path of prompts": {strings.Replace(good, `"p"`, `"../../p2"`, 1), `line 2: prompt_id "../../p2" is not a valid name`},
		"a path":            {strings.Replace(good, `"repeat"`, `"template":"../../../etc/passwd","repeat"`, 1), `line 2: template "../../../etc/passwd" is not a valid name`},
		"a list as a pick":  {outcome(`{"kind":"other","picked":"x,stripe"}`), `line 2: name "x,stripe" in the outcome is not valid: want a letter or digit, at most 200 bytes, and no comma, control or invisible character`},
		"an escape":         {outcome(`{"kind":"other","picked":"x\u001b[31m"}`), `line 2: name "x\x1b[31m" in the outcome is not valid`},
		"a hidden pick":     {outcome(`{"kind":"other","picked":"\u200b"}`), `in the outcome is not valid`},
		"a long pick":       {outcome(`{"kind":"other","picked":"` + strings.Repeat("Z", 5<<20) + `"}`), `line 2: name "` + strings.Repeat("Z", 100) + `" in`},
		"a list rejected":   {outcome(`{"kind":"tool","picked":"stripe","rejected":["a,b"]}`), `line 2: name "a,b" in the outcome is not valid`},
		"an unknown tag":    {strings.Replace(good, `"repeat":1`, `"repeat":2,"tags":{"intent":"bild"}`, 1), `line 2: tag intent: unknown value "bild"; did you mean build?`},
		"one text twice":    {strings.NewReplacer(`"p"`, `"q"`, `"x"`, `" X "`).Replace(good), `line 2: prompt "q" has the text of prompt "p" on line 1: the same text counts as one prompt`},
		"neither":           {strings.Replace(good, `,"input":{"final_text":"I'd use Stripe."}`, "", 1), "needs either input or outcome"},
		"unknown kind":      {outcome(`{"kind":"yes"}`), `unknown outcome kind "yes"`},
		"unknown pick":      {outcome(`{"kind":"tool","picked":"strip"}`), `unknown tool "strip" in category payments; did you mean stripe?`},
		"misspelt field":    {strings.Replace(good, "final_text", "finaltext", 1), `line 2: malformed trial: unknown field "finaltext"; did you mean input.final_text?`},
		"a foreign field":   {strings.Replace(good, `"repeat"`, `"zzz":1,"repeat"`, 1), `line 2: malformed trial: unknown field "zzz"`},
		"pick without tool": {outcome(`{"kind":"diy","picked":"stripe"}`), `outcome diy with picked "stripe"`},
		"bad shortlist":     {outcome(`{"kind":"none","shortlist":["x"]}`), `unknown tool "x" in the shortlist`},
		"near shortlist":    {outcome(`{"kind":"none","shortlist":["padle"]}`), `unknown tool "padle" in the shortlist, category payments; did you mean paddle?`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := importer.Read(strings.NewReader(good+"\n"+tt.line+"\n"), c, now)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := importer.Read(strings.NewReader("\n"), c, now); err == nil || !strings.Contains(err.Error(), "has no trials") {
		t.Errorf("an empty file: %v", err)
	}
}

func outcome(o string) string {
	return `{"agent":"b","category":"payments","prompt_id":"q","prompt":"y","repeat":1,"outcome":` + o + `}`
}

func TestALastLineWithoutNewlineCounts(t *testing.T) {
	b, err := importer.Read(strings.NewReader(good+"\r\n"+outcome(`{"kind":"tool","picked":"stripe"}`)), builtIn(t), now)
	if err != nil || b.Trials != 2 || len(b.Categories) != 1 || len(b.Categories[0].Eval.Agents) != 2 {
		t.Fatalf("%+v %v", b, err)
	}
	if got := b.Categories[0].Trials[1].Outcome.Shortlist; len(got) != 1 || got[0] != "stripe" {
		t.Errorf("a pick belongs to its shortlist: %v", got)
	}
}

func TestTheDigestIsThatOfTheAnswers(t *testing.T) {
	c, other := builtIn(t), outcome(`{"kind":"tool","picked":"stripe"}`)
	digest := func(lines ...string) string {
		t.Helper()
		b, err := importer.Read(strings.NewReader(strings.Join(lines, "\n")), c, now)
		if err != nil {
			t.Fatal(err)
		}
		return b.Categories[0].Digest
	}
	whole := digest(good, other)
	for name, tt := range map[string]struct {
		got  string
		same bool
	}{
		"the lines in another order":     {digest(other, good), true},
		"with the time that is left out": {digest(strings.Replace(good, `"repeat":1`, `"repeat":1,"at":"2026-05-01T00:00:00Z"`, 1), other), true},
		"with the default template":      {digest(strings.Replace(good, `"repeat":1`, `"repeat":1,"template":"none"`, 1), other), true},
		"one line less":                  {digest(good), false},
		"another answer":                 {digest(strings.Replace(good, "Stripe", "Paddle", 1), other), false},
	} {
		if (tt.got == whole) != tt.same {
			t.Errorf("%s: same is %t", name, !tt.same)
		}
	}
}

func TestPromptsWithoutATextAreNotTheSame(t *testing.T) {
	none := strings.Replace(good, `"prompt":"x",`, "", 1)
	if _, err := importer.Read(strings.NewReader(none+"\n"+strings.Replace(none, `"p"`, `"q"`, 1)), builtIn(t), now); err != nil {
		t.Error(err)
	}
}

func TestFamilyAndTagsAreImported(t *testing.T) {
	c := builtIn(t)
	b, err := importer.Read(strings.NewReader(strings.Replace(good, `"repeat":1`, `"family":"shop","tags":{"intent":"build"}`, 1)+"\n"+outcome(`{"kind":"none"}`)), c, now)
	if err != nil {
		t.Fatal(err)
	}
	payments, _ := c.Category("payments")
	root, part := t.TempDir(), b.Categories[0]
	part.Eval.Name = "e"
	j, err := journal.Create(root, journal.Run{ID: "r", Eval: part.Eval})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(part.Write(t.Context(), "e", j, pick.New(payments, c.Version)), j.Close()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	_, err = journal.Scan(root, "r", journal.Offset{}, func(rec journal.Record, _ journal.Offset) error {
		got[rec.Trial.PromptID] = rec.Trial.Family + " " + rec.Trial.Tags.Intent
		return nil
	})
	if err != nil || got["p"] != "shop build" || got["q"] != "q " {
		t.Errorf("family and intent by prompt: %q %v", got, err)
	}
}

func FuzzRead(f *testing.F) {
	c := builtIn(f)
	f.Add(good)
	f.Add(outcome(`{"kind":"tool","picked":"stripe","shortlist":["paddle"]}`))
	f.Fuzz(func(t *testing.T, in string) {
		b, err := importer.Read(strings.NewReader(in), c, now)
		if err != nil {
			return
		}
		n := 0
		for _, part := range b.Categories {
			n += len(part.Trials)
		}
		if n == 0 || n != b.Trials {
			t.Errorf("%d trials in parts, %d in all", n, b.Trials)
		}
	})
}
