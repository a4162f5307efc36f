// Package forecast estimates an eval before it is run: how many trials,
// how much money and time, and which differences it will be able to show.
package forecast

import (
	"fmt"
	"math"
	"time"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
)

// Defaults without earlier measurements.
const (
	// assumedOutput is how many tokens an answer has: a few paragraphs.
	assumedOutput = 400
	bytesPerToken = 4
	// modelSeconds and programSeconds are how long a model and an agent CLI take for
	// one question.
	modelSeconds   = 10
	programSeconds = 120
)

// An Input holds the data of a forecast.
type Input struct {
	Eval *eval.Eval
	// Agents are the built agents by name; one that could not be built is absent.
	Agents map[string]agent.Agent
	// Past is the earlier usage of agents, by name.
	Past map[string]Past
	// Concurrency is the most requests at a time; 0 takes the eval's.
	Concurrency int
	// MemoryCapMB limits the memory of requests in flight on this machine; 0
	// for no bound.
	MemoryCapMB int
	// Tools is how many tools the category has.
	Tools int
	// Pilot is what earlier runs of the category show; nil without them.
	Pilot *Pilot
	// Detect is a difference, 0 to 1, whose designs are wanted; 0 without one.
	Detect float64
}

// A Past is the average usage of earlier trials of the same agent.
type Past struct {
	Trials  int
	Seconds float64
	// Priced counts trials whose cost is known; CostUSD is their mean, CostVar the
	// sample variance.
	Priced              int
	CostUSD, CostVar    float64
	InTokens, OutTokens float64
}

// Add pools other trials into it.
func (p *Past) Add(o Past) {
	both := func(n, m int, a, b float64) float64 {
		if n+m == 0 {
			return 0
		}
		return (float64(n)*a + float64(m)*b) / float64(n+m)
	}
	mean := both(p.Priced, o.Priced, p.CostUSD, o.CostUSD)
	if n := p.Priced + o.Priced; n > 1 {
		squares := float64(max(0, p.Priced-1))*p.CostVar + float64(p.Priced)*(p.CostUSD-mean)*(p.CostUSD-mean) +
			float64(max(0, o.Priced-1))*o.CostVar + float64(o.Priced)*(o.CostUSD-mean)*(o.CostUSD-mean)
		p.CostVar = squares / float64(n-1)
	}
	p.Seconds, p.InTokens, p.OutTokens = both(p.Trials, o.Trials, p.Seconds, o.Seconds),
		both(p.Trials, o.Trials, p.InTokens, o.InTokens), both(p.Trials, o.Trials, p.OutTokens, o.OutTokens)
	p.CostUSD, p.Trials, p.Priced = mean, p.Trials+o.Trials, p.Priced+o.Priced
}

// A Money is an expected sum with its 95 % range, in US dollars.
type Money struct {
	USD  float64 `json:"usd"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Forecast is the estimate of an eval.
type Forecast struct {
	Eval      string  `json:"eval"`
	Category  string  `json:"category"`
	Prompts   int     `json:"prompts"`
	Templates int     `json:"templates"`
	Repeats   int     `json:"repeats"`
	Trials    int     `json:"trials"`
	Agents    []Agent `json:"agents"`
	// Expected and WorstUSD are sums of the agents; null where that of any is not
	// known.
	Expected    *Money   `json:"expected"`
	WorstUSD    *float64 `json:"worstUSD"`
	Concurrency int      `json:"concurrency"`
	// Seconds is how long the run takes where no limit of a provider slows it down.
	Seconds float64 `json:"seconds"`
	Power   Power   `json:"power"`
	// Detect is nil unless Input.Detect asks for it.
	Detect *Detection `json:"detect,omitempty"`
}

// An Agent is one agent's part.
type Agent struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Model  string `json:"model,omitempty"`
	Web    string `json:"web,omitempty"`
	Effort string `json:"effort,omitempty"`
	Trials int    `json:"trials"`
	// Expected is null where neither a price nor earlier costs are known.
	Expected *Money `json:"expected"`
	// WorstUSD is null where the most that a trial may cost is not known; a run with a
	// budget refuses such an agent.
	WorstUSD *float64 `json:"worstUSD"`
	// SecondsPerTrial is expected.
	SecondsPerTrial float64 `json:"secondsPerTrial"`
	// Basis says where the expectations come from.
	Basis string `json:"basis"`
}

// Of makes the forecast.
func Of(in Input) Forecast {
	e := in.Eval
	f := Forecast{
		Eval: e.Name, Category: e.Category, Prompts: len(e.Prompts), Templates: len(e.Templates), Repeats: e.Repeats, Trials: e.Trials(),
		Concurrency: in.Concurrency, Expected: &Money{}, WorstUSD: new(float64),
	}
	if f.Concurrency == 0 {
		f.Concurrency = e.Concurrency
	}
	if f.Concurrency == 0 {
		f.Concurrency = runner.DefaultConcurrency
	}
	all, slowest := 0.0, 0.0
	var spread float64 // squares of half ranges
	for i := range e.Agents {
		a := in.agent(&e.Agents[i])
		f.Agents = append(f.Agents, a)
		total := a.SecondsPerTrial * float64(a.Trials)
		rounds := math.Ceil(float64(a.Trials) / float64(in.atATime(&e.Agents[i], f.Concurrency)))
		all, slowest = all+total, max(slowest, rounds*a.SecondsPerTrial)
		f.WorstUSD = plus(f.WorstUSD, a.WorstUSD)
		switch {
		case a.Expected == nil:
			f.Expected = nil
		case f.Expected != nil:
			f.Expected.USD += a.Expected.USD
			spread += (a.Expected.High - a.Expected.USD) * (a.Expected.High - a.Expected.USD)
		}
	}
	if f.Expected != nil {
		half := math.Sqrt(spread)
		f.Expected.Low, f.Expected.High = max(0, f.Expected.USD-half), f.Expected.USD+half
	}
	f.Seconds = max(all/float64(f.Concurrency), slowest)
	f.Power = in.power()
	if in.Detect > 0 {
		f.Detect = in.detection(&f)
	}
	return f
}

func plus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

// atATime is the most requests to an agent at a time.
func (in Input) atATime(a *eval.Agent, concurrency int) int {
	n := concurrency
	if a.MaxConcurrency > 0 {
		n = min(n, a.MaxConcurrency)
	}
	if built := in.Agents[a.Name]; built != nil {
		p := built.Profile()
		if p.Lane.Max > 0 {
			n = min(n, p.Lane.Max)
		}
		if in.MemoryCapMB > 0 && p.MemoryMB > 0 {
			n = min(n, in.MemoryCapMB/p.MemoryMB)
		}
	}
	return max(1, n)
}

// priced is an agent with a known price.
type priced interface{ Price() *prices.Price }

func (in Input) agent(spec *eval.Agent) Agent {
	e := in.Eval
	a := Agent{
		Name: spec.Name, Kind: spec.Kind, Model: spec.Model, Web: web(spec), Effort: spec.Effort,
		Trials: len(e.Prompts) * len(e.Templates) * e.Repeats, SecondsPerTrial: modelSeconds,
	}
	if spec.IsProgram() {
		a.SecondsPerTrial = programSeconds
	}
	built := in.Agents[spec.Name]
	switch {
	case built == nil:
	case built.Profile().Paid:
		a.WorstUSD = in.worst(spec.Name, built)
	default:
		a.WorstUSD = new(float64)
	}
	past := in.Past[spec.Name]
	a.Basis = fmt.Sprintf("assumed: %.0f s per request", a.SecondsPerTrial)
	if past.Trials > 0 {
		a.SecondsPerTrial = past.Seconds
		a.Basis = fmt.Sprintf("measured in %d trials", past.Trials)
	}
	switch {
	case spec.Kind == eval.KindRecorded:
		a.SecondsPerTrial, a.Expected, a.Basis = 0, &Money{}, "recorded answers"
	case spec.Kind == eval.KindSimulated:
		a.SecondsPerTrial, a.Expected, a.Basis = float64(spec.LatencyMS)/1000, &Money{}, "simulated"
	case built != nil && !built.Profile().Paid:
		a.Expected = &Money{}
	case past.Priced > 0:
		a.Expected = past.total(a.Trials)
	default:
		a.Expected = in.assume(spec, built, past, &a.Basis)
	}
	return a
}

// total is the cost of n further trials, with the 95 % range of their sum
// (normal approximation of the sum of n and of the error of the mean).
func (p Past) total(n int) *Money {
	k := float64(n)
	half := stats.Z975 * k * math.Sqrt(p.CostVar*(1/k+1/float64(p.Priced)))
	return &Money{k * p.CostUSD, max(0, k*p.CostUSD-half), k*p.CostUSD + half}
}

// assume reckons the cost from tokens: those of earlier trials, or of a short answer.
// It is nil without a price, and for programs that were never run: how often they
// ask their model, is unknown.
func (in Input) assume(spec *eval.Agent, built agent.Agent, past Past, basis *string) *Money {
	if spec.IsProgram() && past.Trials == 0 {
		*basis += "; what it costs is unknown until a trial was run"
		return nil
	}
	p, ok := built.(priced)
	if !ok || p.Price() == nil {
		*basis += "; the price is unknown"
		return nil
	}
	usd := 0.0
	for _, prompt := range in.Eval.Prompts {
		u := prices.Usage{Input: int(past.InTokens), Output: int(past.OutTokens)}
		if past.Trials == 0 {
			u = prices.Usage{Input: len(prompt.Text)/bytesPerToken + 1, Output: assumedOutput}
		}
		usd += p.Price().Cost(u) * float64(len(in.Eval.Templates)*in.Eval.Repeats)
	}
	if past.Trials == 0 {
		*basis += fmt.Sprintf(", %d tokens written", assumedOutput)
	}
	return &Money{usd, usd, usd}
}

// worst sums the most that each trial may cost.
func (in Input) worst(name string, a agent.Agent) *float64 {
	e := in.Eval
	sum := new(float64)
	for _, t := range tasksOf(e, name) {
		usd := a.Worst(t)
		if usd == nil {
			return nil
		}
		*sum += *usd * float64(e.Repeats)
	}
	return sum
}

func web(a *eval.Agent) string {
	switch {
	case a.WebSearch == nil:
		return ""
	case *a.WebSearch:
		return "on"
	default:
		return "off"
	}
}

// Duration is Seconds as a duration, a century at most.
func (f Forecast) Duration() time.Duration {
	const century = 100 * 365 * 24 * 3600
	return time.Duration(min(f.Seconds, century) * float64(time.Second))
}
