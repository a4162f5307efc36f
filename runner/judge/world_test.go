package judge_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/judge"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/provider"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/runner/transcript"
)

// A world is a run with unresolved answers.
type world struct {
	t      *testing.T
	root   string
	cat    *catalog.Catalog
	reader *judge.Reader
}

const runID = "run-1"

// newWorld makes a run of category payments in which every answer is unresolved.
func newWorld(t *testing.T, answers []string) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir()}
	var err error
	if w.cat, err = catalog.Load(fixtures.Files(), "catalog"); err != nil {
		t.Fatal(err)
	}
	category, ok := w.cat.Category("payments")
	if !ok {
		t.Fatal("no category payments")
	}
	w.reader = judge.New(category)
	run := journal.Run{ID: runID, Planned: len(answers), Eval: eval.Eval{
		Name: "pay", Category: "payments", Prompts: []eval.Prompt{{ID: "p1", Text: "Take payments for my shop."}},
	}}
	j, err := journal.Create(w.root, run)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range answers {
		r := journal.Record{
			Kind: journal.KindResult, Trial: trialOf(i), At: time.Unix(1, 0), Attempt: 1,
			Answer: &journal.Answer{Transcript: transcript.Transcript{FinalText: text}}, Result: w.rules(),
		}
		if err := j.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return w
}

// rules is the result that the rules gave to every answer.
func (w *world) rules() *pick.Result {
	return &pick.Result{Kind: pick.Ambiguous, Unresolved: true, Rule: "last", Extractor: pick.Version, Catalog: w.cat.Version}
}

func trialOf(i int) plan.Trial {
	return plan.Trial{ID: fmt.Sprintf("%020d", i), Eval: "pay", Category: "payments", PromptID: "p1", Agent: "a", Template: "none", Repeat: 1}
}

func (w *world) survey() *judge.Survey {
	w.t.Helper()
	s, err := judge.Read(w.root, runID, w.reader, judge.Versions{Extractor: pick.Version, Catalog: w.cat.Version})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// A model is a fake judge behind HTTP.
type model struct {
	name   string
	server *providertest.Server
}

// serve starts a fake judge: claude-* speaks Anthropic's format, others OpenAI's.
func serve(t *testing.T, name string, script providertest.Script) model {
	t.Helper()
	s := providertest.New(script)
	t.Cleanup(s.Close)
	return model{name, s}
}

// USD per million tokens: an answer of DefaultUsage costs 1200 * 1 + 60 * 10 micro-dollars.
const (
	inUSD, outUSD = 1.0, 10.0
	answerUSD     = (1200*inUSD + 60*outUSD) / 1e6
)

func (m model) judge(t *testing.T) judge.Judge {
	t.Helper()
	spec := eval.Agent{
		Name: m.name, Kind: eval.KindOpenAIChat, Model: m.name, BaseURL: m.server.URL + "/v1", MaxTokens: 200,
		Price: &eval.Price{InputPerMTok: inUSD, OutputPerMTok: outUSD},
	}
	if strings.HasPrefix(m.name, "claude") {
		spec.Kind, spec.BaseURL = eval.KindAnthropic, m.server.URL
	}
	spec = judge.Spec(spec)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	a, err := provider.New(spec, provider.Deps{Getenv: func(string) string { return "key" }, Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return judge.Judge{Name: m.name, Spec: spec, Agent: a, Vendor: judge.VendorOf(spec)}
}

// ask runs a session of two judges with a budget.
func (w *world) ask(maxUSD float64, a, b model) (judge.Report, runner.Summary) {
	w.t.Helper()
	s := w.survey()
	j, err := journal.Open(w.root, runID)
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	var mu sync.Mutex
	session := &judge.Session{
		Survey: s, Journal: j, Judges: []judge.Judge{a.judge(w.t), b.judge(w.t)}, Concurrency: 8, MaxCostUSD: maxUSD,
		Nonce: func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("CODE%022d", n)
		},
		Now: time.Now, Sleep: sleep, Backoff: time.Millisecond,
	}
	sum, err := session.Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		w.t.Fatal(err)
	}
	return w.survey().Report(), sum
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// results returns the latest result of every answer.
func (w *world) results() []pick.Result {
	w.t.Helper()
	out := map[string]pick.Result{}
	w.scan(func(r journal.Record) {
		if r.Kind == journal.KindResult || r.Kind == journal.KindExtraction {
			out[r.Trial.ID] = *r.Result
		}
	})
	list := make([]pick.Result, len(out))
	for i := range list {
		list[i] = out[trialOf(i).ID]
	}
	return list
}

func (w *world) scan(take func(journal.Record)) {
	w.t.Helper()
	_, err := journal.Scan(w.root, runID, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		take(r)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

var listed = regexp.MustCompile(`(?m)^(\d+)\. (.+)$`)

// numberOf returns the number of the option whose label begins so; 0 if absent.
func numberOf(q providertest.Request, label string) int {
	for _, m := range listed.FindAllStringSubmatch(q.System, -1) {
		if strings.HasPrefix(m[2], label) {
			n, _ := strconv.Atoi(m[1])
			return n
		}
	}
	return 0
}

// reply is a judge's reply in the form that is asked for.
func reply(choice int, quote string) providertest.Step {
	text, err := json.Marshal(map[string]any{"choice": choice, "quote": quote})
	if err != nil {
		panic(err)
	}
	return providertest.Step{Text: string(text)}
}

// body returns the answer in a request.
func body(q providertest.Request) string {
	_, rest, _ := strings.Cut(q.Prompt, "\n")
	text, _, _ := strings.Cut(rest, "\nEND CODE")
	return text
}

// sentence returns the line of an answer that holds a text.
func sentence(q providertest.Request, holding string) string {
	for line := range strings.Lines(body(q)) {
		if strings.Contains(line, holding) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

var caseNumber = regexp.MustCompile(`case (\d+)\.`)

// caseOf returns the number of the answer in a request.
func caseOf(q providertest.Request) int {
	m := caseNumber.FindStringSubmatch(q.Prompt)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// rivals are tools that every made answer mentions.
var rivals = []string{"Stripe", "Paddle", "Adyen", "Braintree"}

// answer is the text of case i: it mentions all rivals, so that any of them can be quoted,
// and commits to that of the case in words that only a reader understands.
func answer(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This is case %d.\n", i)
	for n, name := range rivals {
		if n == i%len(rivals) {
			fmt.Fprintf(&b, "All told, %s carries the day for your shop.\n", name)
		} else {
			fmt.Fprintf(&b, "%s has its friends and a long list of features.\n", name)
		}
	}
	return b.String()
}

func answers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = answer(i)
	}
	return out
}

// faithful reads every case right, but for a share of errors of its own: then it chooses
// another rival, or nothing, and quotes a sentence that supports it.
func faithful(name string, errorRate float64) providertest.Script {
	return func(q providertest.Request) providertest.Step {
		i := caseOf(q)
		sum := sha256.Sum256([]byte(name + "/" + strconv.Itoa(i)))
		rng := rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
		right := i % len(rivals)
		choice := right
		if rng.Float64() < errorRate {
			choice = (right + 1 + rng.IntN(len(rivals))) % (len(rivals) + 1)
		}
		if choice == len(rivals) {
			return reply(numberOf(q, "nothing"), sentence(q, "features"))
		}
		return reply(numberOf(q, rivals[choice]), sentence(q, rivals[choice]))
	}
}

func slug(name string) string { return strings.ToLower(name) }

// precision returns the share of right picks among resolved answers, and their number.
func (w *world) precision() (right, resolved int) {
	for i, r := range w.results() {
		if r.Unresolved {
			continue
		}
		resolved++
		if r.Kind == pick.Tool && r.Picked == slug(rivals[i%len(rivals)]) {
			right++
		}
	}
	return right, resolved
}

// asked counts the requests that a server answered, by case.
func asked(m model) map[int]int {
	out := map[int]int{}
	for _, q := range m.server.Requests() {
		out[caseOf(q)]++
	}
	return out
}
