package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/plan"
)

const (
	// defaultMaxTokens limits a reply, reasoning included, if the agent sets no limit.
	defaultMaxTokens = 4096
	// replyTokens and bytesPerToken are the assumptions of the expected cost.
	replyTokens, bytesPerToken = 250, 4
	// sizeStep is the step of prompt sizes, in bytes: worst cases are computed for each.
	sizeStep = 1 << 10
	// batch is how many extractions are appended at a time.
	batch = 512
)

// A Judge is a model that reads answers.
type Judge struct {
	Name   string
	Spec   eval.Agent
	Agent  agent.Agent
	Vendor string
}

// Spec returns the configuration of an agent as a judge: it reads what it is sent and
// nothing else, and the budget is that of the judging.
func Spec(a eval.Agent) eval.Agent {
	a.WebSearch, a.MaxCostUSD = nil, 0
	a.MaxTokens = cmp.Or(a.MaxTokens, defaultMaxTokens)
	return a
}

// CheckVendors returns an error unless two judges are of different vendors.
func CheckVendors(specs []eval.Agent) error {
	if len(specs) != 2 {
		return fmt.Errorf("want two judges, got %d", len(specs))
	}
	if a, b := VendorOf(specs[0]), VendorOf(specs[1]); a == b {
		return fmt.Errorf("%s and %s are both of %s: models of one vendor make the same mistakes", specs[0].Model, specs[1].Model, a)
	}
	return nil
}

// A Session asks two judges about a run.
type Session struct {
	*Survey
	Journal     *journal.Journal
	Judges      []Judge
	Concurrency int
	MaxCostUSD  float64
	Sinks       []runner.Sink
	// Nonce returns 26 random letters and digits.
	Nonce func() string
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	// Backoff is that of runner.Runner.
	Backoff time.Duration

	requests map[string]request

	mu       sync.Mutex
	prepared map[string]*prepared // by request; until its result
}

// A prepared is a prompt that is kept on disk.
type prepared struct {
	*prompt
	at journal.RawRef
}

// An Estimate is what the missing judgements may cost.
type Estimate struct {
	Requests int `json:"requests"`
	// ExpectedUSD and WorstUSD are nil if a price is unknown.
	ExpectedUSD *float64 `json:"expected_usd"`
	WorstUSD    *float64 `json:"worst_usd"`
}

// Estimate adds up the missing requests.
func (s *Session) Estimate() Estimate {
	var e Estimate
	expected, worst := 0.0, 0.0
	known := true
	type kind struct {
		judge *Judge
		class int
	}
	worsts := map[kind]*float64{}
	for _, q := range s.missing(s.Judges) {
		e.Requests++
		k := kind{q.judge, sizeClass(q.size)}
		most, seen := worsts[k]
		if !seen {
			most = q.judge.worst(k.class)
			worsts[k] = most
		}
		priced, ok := q.judge.Agent.(interface{ Price() *prices.Price })
		if most == nil || !ok || priced.Price() == nil {
			known = false
			continue
		}
		worst += *most
		expected += priced.Price().Cost(prices.Usage{Input: q.size / bytesPerToken, Output: replyTokens})
	}
	if known {
		e.ExpectedUSD, e.WorstUSD = &expected, &worst
	}
	return e
}

// worst is the highest cost of a prompt of a size class.
func (j *Judge) worst(class int) *float64 {
	return j.Agent.Worst(agent.Task{Prompt: strings.Repeat(" ", class*sizeStep)})
}

// sizeClass rounds a size up to steps.
func sizeClass(bytes int) int { return (bytes + sizeStep - 1) / sizeStep }

// Requests describes the missing requests as a run, for displays.
func (s *Session) Requests() journal.Run {
	run := journal.Run{ID: s.Plan.ID, Planned: len(s.missing(s.Judges)), Eval: eval.Eval{Name: s.Plan.Eval.Name + ", judges", Category: s.Plan.Eval.Category}}
	for _, j := range s.Judges {
		run.Eval.Agents = append(run.Eval.Agents, eval.Agent{Name: agentName(j.Name), Kind: j.Spec.Kind, Model: j.Spec.Model})
	}
	return run
}

// Run asks what is missing, and stores the results that two judgements decide, also when
// it ends early. The journal keeps every reply before it counts.
func (s *Session) Run(ctx context.Context) (runner.Summary, error) {
	missing := s.missing(s.Judges)
	s.requests, s.prepared = map[string]request{}, map[string]*prepared{}
	var trials []plan.Trial
	classes := map[int]bool{}
	for _, q := range missing {
		s.requests[q.id] = q
		t := requestTrial(q.trial, q.id, q.judge.Name)
		t.PromptID = strconv.Itoa(sizeClass(q.size))
		classes[sizeClass(q.size)] = true
		trials = append(trials, t)
	}
	ev := &eval.Eval{Name: s.Plan.Eval.Name, Category: s.Plan.Eval.Category, Repeats: 1, Templates: []string{eval.NoTemplate}}
	for class := range classes {
		ev.Prompts = append(ev.Prompts, eval.Prompt{ID: strconv.Itoa(class)})
	}
	agents := map[string]agent.Agent{}
	for i := range s.Judges {
		j := &s.Judges[i]
		spec := j.Spec
		spec.Name = agentName(j.Name)
		ev.Agents = append(ev.Agents, spec)
		agents[spec.Name] = &asker{Agent: j.Agent, judge: j, session: s}
	}
	r := &runner.Runner{
		Eval: ev, Category: s.reader.category, Agents: agents, Journal: &framed{s.Journal, s}, Sinks: s.Sinks,
		Concurrency: s.Concurrency, MaxCostUSD: s.MaxCostUSD, StatusEvery: time.Second, Backoff: s.Backoff, Now: s.Now, Sleep: s.Sleep,
	}
	sum, err := r.Run(ctx, trials, s.progress)
	if sum.RunID != "" {
		s.progress.SpentUSD, s.progress.LostUSD = sum.SpentUSD, sum.AtMostUSD-sum.SpentUSD
	}
	return sum, errors.Join(err, s.settle(context.WithoutCancel(ctx)))
}

// settle stores the results of complete pairs of judgements.
func (s *Session) settle(ctx context.Context) error {
	var records []journal.Record
	for _, id := range s.order {
		it := s.items[id]
		if it == nil || !it.result.Unresolved {
			continue
		}
		result := apply(s.kept.pair(id, it.binding), it.result)
		if result.Unresolved && result.Rule == it.result.Rule {
			continue
		}
		it.result = result
		records = append(records, journal.Record{Kind: journal.KindExtraction, Trial: it.trial, At: s.Now().UTC(), Result: &result})
	}
	for part := range slices.Chunk(records, batch) {
		if err := s.Journal.Append(ctx, part...); err != nil {
			return err
		}
	}
	return nil
}

// An asker is a judge as an agent of a run of requests.
type asker struct {
	agent.Agent
	judge   *Judge
	session *Session
}

// Worst implements agent.Agent: tasks of one size class have one worst case.
func (a *asker) Worst(t agent.Task) *float64 {
	class, err := strconv.Atoi(t.Trial.PromptID)
	if err != nil {
		return nil
	}
	return a.judge.worst(class)
}

// Ask implements agent.Agent. The prompt is on disk before it is sent.
func (a *asker) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) {
	q := a.session.requests[t.Trial.ID]
	p, err := a.session.prepare(ctx, q)
	if err != nil {
		return agent.Reply{}, err
	}
	t.System, t.Prompt = p.system, p.user
	reply, err := a.Agent.Ask(ctx, t)
	if err != nil {
		return reply, err
	}
	v := a.session.reader.verdict(p.prompt, &reply.Answer)
	reply.Result = &v
	return reply, nil
}

// prepare builds and keeps the prompt of a request. Attempts of one request share it.
func (s *Session) prepare(ctx context.Context, q request) (*prepared, error) {
	s.mu.Lock()
	p := s.prepared[q.id]
	s.mu.Unlock()
	if p != nil {
		return p, nil
	}
	r, err := s.Journal.ReadAt(q.at)
	if err != nil {
		return nil, err
	}
	p = &prepared{prompt: s.reader.prompt(s.subject(r), q.judge.Spec.Model, s.Nonce)}
	if p.at, err = s.Journal.Put(ctx, p.text()); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prepared[q.id] = p
	return p, nil
}

// A framed journal stores the records of requests as judgements of the judged run.
type framed struct {
	*journal.Journal
	session *Session
}

// Append implements runner.Journal.
func (f *framed) Append(ctx context.Context, records ...journal.Record) error {
	records = slices.Clone(records)
	for i := range records {
		if records[i].Kind != journal.KindManifest {
			records[i] = f.session.frame(records[i])
		}
	}
	if err := f.Journal.Append(ctx, records...); err != nil {
		return err
	}
	f.session.mu.Lock()
	defer f.session.mu.Unlock()
	for i := range records {
		f.session.kept.Add(records[i])
		if of := records[i].Judgement; of != nil && (of.Step == journal.KindResult || of.Step == journal.KindExcluded) {
			delete(f.session.prepared, of.Request)
		}
	}
	return nil
}

// frame returns a record about a request as a judgement of the answer's trial.
func (s *Session) frame(r journal.Record) journal.Record {
	q := s.requests[r.Trial.ID]
	of := &journal.Judgement{Step: r.Kind, Request: q.id, Judge: q.judge.Name, Vendor: q.judge.Vendor, Binding: q.binding}
	if r.Kind == journal.KindResult {
		s.mu.Lock()
		if p := s.prepared[q.id]; p != nil {
			of.Prompt = &p.at
		}
		s.mu.Unlock()
	}
	r.Kind, r.Trial, r.Judgement = journal.KindJudgement, q.trial, of
	return r
}
