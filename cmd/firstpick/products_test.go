package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/journal"
)

// productData is the real-answer set that developers and CI have beside the
// project; a user's machine does not.
const productData = "../../../shared/data/ai-product-bench"

type productAnswer struct {
	QueryID  string `json:"query_id"`
	Model    string `json:"model"`
	Run      int    `json:"run"`
	Response string `json:"response"`
	Products []struct {
		Brand string `json:"brand"`
		Rank  int    `json:"rank"`
	} `json:"products_mentioned"`
	category string
}

func readProducts(t *testing.T) []productAnswer {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(productData, "*_run_*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skip("no shared/data/ai-product-bench beside the project")
	}
	var out []productAnswer
	order := map[string]int{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var a productAnswer
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				t.Fatal(err)
			}
			if _, ok := order[a.QueryID]; !ok {
				order[a.QueryID] = len(order)
			}
			a.category = fmt.Sprintf("question-%02d", order[a.QueryID]/4+1) // four phrasings each
			out = append(out, a)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

func brandSlug(brand string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(brand), "-"), "-")
}

// writeCatalogue makes one category a question, its tools the brands that the
// data set finds in any answer to it.
func writeCatalogue(t *testing.T, dir string, answers []productAnswer) {
	t.Helper()
	brands := map[string]map[string]string{}
	for _, a := range answers {
		if brands[a.category] == nil {
			brands[a.category] = map[string]string{}
		}
		for _, p := range a.Products {
			if s := brandSlug(p.Brand); s != "" && brands[a.category][s] == "" {
				brands[a.category][s] = p.Brand
			}
		}
	}
	defined := map[string]bool{}
	for _, category := range slices.Sorted(maps.Keys(brands)) {
		var b strings.Builder
		fmt.Fprintf(&b, "category: {slug: %s, name: %s, domain: saas}\ntools:\n", category, category)
		for _, slug := range slices.Sorted(maps.Keys(brands[category])) {
			name, err := json.Marshal(brands[category][slug])
			if err != nil {
				t.Fatal(err)
			}
			if defined[slug] {
				fmt.Fprintf(&b, "  - {ref: \"%s\", aliases: [%s]}\n", slug, name)
				continue
			}
			defined[slug] = true
			fmt.Fprintf(&b, "  - {slug: \"%s\", name: %s}\n", slug, name)
		}
		if err := os.WriteFile(filepath.Join(dir, category+".yaml"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRealAnswersThroughTheWholePath imports 528 real answers, re-derives their picks and
// ranks them. The data set ranks the brands of an answer mostly by the order of appearance:
// the first one must be the brand that the extractor finds first. Most answers are lists for
// a shopper and choose nothing, so agreement of picks is no accuracy; it is logged, and of
// the picks a share must be the brand ranked first.
func TestRealAnswersThroughTheWholePath(t *testing.T) {
	answers := readProducts(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cat"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeCatalogue(t, filepath.Join(dir, "cat"), answers)
	gold := map[string]string{}
	var lines strings.Builder
	for _, a := range answers {
		line, err := json.Marshal(map[string]any{
			"agent": a.Model, "category": a.category, "prompt_id": a.QueryID, "prompt": a.QueryID, "repeat": a.Run,
			"input": map[string]any{"final_text": a.Response},
		})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		for _, p := range a.Products {
			if p.Rank == 1 {
				gold[fmt.Sprint(a.Model, a.QueryID, a.Run)] = brandSlug(p.Brand)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "answers.jsonl"), []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string { return must(t, firstpick(t, dir, append(args, "--catalog", "cat")...)) }
	if out := run("import", "answers.jsonl", "--eval", "products"); !strings.Contains(out, "imported 528 trials in 33 categories") {
		t.Fatal(out)
	}
	var list struct {
		Runs   []struct{ ID string }
		Trials []struct {
			ID, Agent, Outcome, Picked string
			PromptID                   string `json:"prompt_id"`
			Repeat                     int
		}
	}
	decode := func(args ...string) {
		out, err := firstpick(t, dir, append(args, "--catalog", "cat", "--json")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &list); err != nil {
			t.Fatal(err)
		}
	}
	decode("runs")
	first := firstNamed(t, filepath.Join(dir, ".firstpick", "runs"))
	for _, r := range list.Runs[:3] {
		if out := run("extract", "--run", r.ID); !strings.Contains(out, "0 outcomes changed") {
			t.Errorf("the same rules give another result: %s", out)
		}
	}
	if out := run("rank", "--csv"); strings.Count(out, "question-") < 100 {
		t.Errorf("ranks of 33 questions: %d lines", strings.Count(out, "\n"))
	}
	decode("trial", "--limit", "1000")
	confusion, agree, firsts, labelled := map[string]int{}, 0, 0, 0
	for _, tr := range list.Trials {
		want := gold[fmt.Sprint(tr.Agent, tr.PromptID, tr.Repeat)]
		switch {
		case want == "":
			confusion["none ranked first, extracted "+tr.Outcome]++
			continue
		case tr.Picked == want:
			agree++
			confusion["agree"]++
		case tr.Outcome == "tool":
			confusion["another brand"]++
		default:
			confusion[tr.Outcome]++
		}
		if first[tr.ID] == want {
			firsts++
		}
		labelled++
	}
	for _, k := range slices.Sorted(maps.Keys(confusion)) {
		t.Logf("%4d  %s", confusion[k], k)
	}
	blind := readBlind(t)
	got, right := map[string]int{}, 0
	for _, tr := range list.Trials {
		want, ok := blind[fmt.Sprint(tr.Agent, tr.PromptID, tr.Repeat)]
		if !ok {
			continue
		}
		got[want.Outcome+" is read as "+tr.Outcome]++
		switch {
		case tr.Outcome == "tool" && tr.Picked != want.Picked:
			t.Logf("%s %s run %d: picks %s, read blind as %s %s: %s", tr.PromptID, tr.Agent, tr.Repeat, tr.Picked, want.Outcome, want.Picked, want.Reason)
		case tr.Outcome == want.Outcome:
			right++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		t.Logf("%4d  %s", got[k], k)
	}
	t.Logf("%d of %d outcomes are read as a person read them", right, len(blind))
	t.Logf("agreement %d of %d (%.1f%%); named first %d", agree, labelled, 100*float64(agree)/float64(labelled), firsts)
	if len(list.Trials) != 528 || firsts*100 < labelled*firstFloor || agree*100 < (agree+confusion["another brand"])*pickFloor {
		t.Errorf("%d trials, %d of %d named first, %d picks agree, %d do not", len(list.Trials), firsts, labelled, agree, confusion["another brand"])
	}
}

// The shares, in per cent, that a change must not fall below.
const firstFloor, pickFloor = 85, 55

// A blindLabel is what a person read in one of 40 answers, drawn at random, without knowing
// what the extractor says.
type blindLabel struct {
	QueryID                 string `json:"query_id"`
	Model                   string
	Run                     int
	Outcome, Picked, Reason string
}

func readBlind(t *testing.T) map[string]blindLabel {
	t.Helper()
	file, err := os.ReadFile("testdata/real/read-blind.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]blindLabel{}
	for line := range strings.Lines(string(file)) {
		var l blindLabel
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprint(l.Model, l.QueryID, l.Run)] = l
	}
	return out
}

// firstNamed returns the tool that each answer in a folder of runs names first, by trial.
func firstNamed(t *testing.T, root string) map[string]string {
	t.Helper()
	runs, _, err := journal.List(root)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for _, run := range runs {
		if _, err := journal.Scan(root, run.ID, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
			if r.Kind == journal.KindResult {
				first[r.Trial.ID] = r.Result.FirstNamed
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return first
}
