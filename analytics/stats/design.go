package stats

import "math"

// A Design is a crossed table: prompt families in rows, agents in columns, and the number
// of trials in each cell. It says how much each trial counts in a rate:
//
//	theta = sum_a w_a (1/G_a) sum_g m_ga
//
// m_ga is the share of the trials of family g with agent a, G_a the number of families
// that agent a answered, w_a the weight of agent a. So agents count by their weights and
// the families of an agent equally, however often each was asked.
//
// A missing cell is not imputed: the agent's mean is over the families it answered. An
// agent without any trial drops out and the weights of the others are scaled to sum to 1.
type Design struct {
	families, agents int
	trials           []float64 // by cell, row by row
	weights          []float64 // by agent; sums to 1
	answered         []float64 // families by agent
	small            []float64 // corrects the influence of agents that answered few families
	least            int       // families of the agent that answered the fewest
	alike            float64   // effective trials where all trials of a family are alike
	critical         Critical
	few              Critical // of Population; zero with fewer than three agents
	// Trials is the number of trials, Effective that of equally weighted independent
	// trials with the same variance (Kish 1965): Trials if Balanced.
	Trials    int
	Effective float64
	// Balanced says that every trial counts the same.
	Balanced bool
	// Formulas2 compares as formulas 2 did (publish.Statistics): against a tool without a
	// pick a lead that passes the guard has the figures of the first test alone.
	Formulas2 bool
	ratio     bool // of NewRatio
}

// NewDesign makes the design of a table of trials, with one row per family, each with one
// number per agent. weights has one positive number per agent; nil means equal ones.
// Every family must have a trial.
func NewDesign(trials [][]int, weights []float64) *Design {
	return newDesign(trials, weights, NewCritical(len(trials)))
}

func newDesign(trials [][]int, weights []float64, critical Critical) *Design {
	d := &Design{families: len(trials), critical: critical, Balanced: true}
	if d.families == 0 {
		return d
	}
	d.agents = len(trials[0])
	d.trials, d.answered = make([]float64, d.families*d.agents), make([]float64, d.agents)
	for g, row := range trials {
		for a, n := range row {
			d.Trials += n
			d.trials[g*d.agents+a] = float64(n)
			if n > 0 {
				d.answered[a]++
			}
		}
	}
	d.setWeights(weights)
	d.least, d.alike = d.families, float64(d.families)
	for a, n := range d.answered {
		if d.weights[a] > 0 {
			d.least = min(d.least, int(n))
		}
	}
	d.critical = d.critical.of(d.least)
	d.small = make([]float64, d.agents)
	for a, n := range d.answered {
		if d.small[a] = 1; n > 1 && int(n) < d.families {
			g := float64(d.families)
			d.small[a] = math.Sqrt(n / (n - 1) * (g - 1) / g)
		}
	}
	if d.least >= 2 && d.asked() >= 3 {
		d.few = d.critical.of(min(d.least, d.asked()))
	}
	var squares, first float64
	for i, n := range d.trials {
		if d.weights[i%d.agents] == 0 {
			continue
		}
		w := d.weight(i)
		if first == 0 {
			first = w
		}
		d.Balanced = d.Balanced && n > 0 && math.Abs(w-first) <= 1e-12*first
		squares += n * w * w
	}
	d.Effective = 1 / squares
	if d.Balanced {
		d.Effective = float64(d.Trials)
	}
	return d
}

func (d *Design) setWeights(weights []float64) {
	d.weights = make([]float64, d.agents)
	sum := 0.0
	for a := range d.weights {
		if d.answered[a] > 0 {
			d.weights[a] = 1
			if weights != nil {
				d.weights[a] = weights[a]
			}
			sum += d.weights[a]
		}
	}
	for a := range d.weights {
		d.weights[a] /= sum
	}
}

// asked is the number of agents with a trial.
func (d *Design) asked() (n int) {
	for _, families := range d.answered {
		if families > 0 {
			n++
		}
	}
	return n
}

// Agent returns the design of one agent's trials, over the families that it answered.
func (d *Design) Agent(agent int) *Design {
	var rows [][]int
	for at := agent; at < len(d.trials); at += d.agents {
		if n := int(d.trials[at]); n > 0 {
			rows = append(rows, []int{n})
		}
	}
	return newDesign(rows, nil, d.critical.of(len(rows)))
}

// weight is how much one trial of a cell counts; over all trials it sums to 1.
func (d *Design) weight(cell int) float64 {
	a := cell % d.agents
	switch {
	case d.trials[cell] == 0:
		return 0
	case d.ratio:
		return 1 / d.Effective
	}
	return d.weights[a] / (d.answered[a] * d.trials[cell])
}

// Weight is how much one trial of a family and an agent counts, 0 to 1.
func (d *Design) Weight(family, agent int) float64 { return d.weight(family*d.agents + agent) }

// AgentWeight is the weight of an agent, 0 to 1; 0 without a trial.
func (d *Design) AgentWeight(agent int) float64 { return d.weights[agent] }

// Families is the number of rows.
func (d *Design) Families() int { return d.families }

// An Estimate is a weighted mean of scores with what its uncertainty is made of.
type Estimate struct {
	Value float64
	// ByAgent holds the agents' means over their families; not a number without trials.
	ByAgent []float64
	// Influence holds each family's contribution to the error of Value, linearised; the
	// sum of their squares estimates its variance.
	Influence []float64
	cells     []float64 // means by cell
}

// Estimate computes theta for sums of scores by cell, row by row. Where trials count the
// same it is the sum of scores by the number of trials, without other rounding.
func (d *Design) Estimate(sums []int) Estimate {
	all := make([]float64, d.agents+d.families+len(sums))
	e := Estimate{ByAgent: all[:d.agents:d.agents], cells: all[d.agents+d.families:]}
	e.Influence = all[d.agents:][:d.families:d.families]
	total := 0
	for i, s := range sums {
		total += s
		if n := d.trials[i]; n > 0 {
			e.cells[i] = float64(s) / n
			e.ByAgent[i%d.agents] += e.cells[i] / d.answered[i%d.agents]
		}
	}
	for a, mean := range e.ByAgent {
		if d.answered[a] == 0 {
			e.ByAgent[a] = math.NaN()
			continue
		}
		e.Value += d.weights[a] * mean
	}
	for i, m := range e.cells {
		if d.ratio {
			e.ByAgent[0] = float64(total) / d.Effective
			e.Influence[i] = d.leverage(i) * (m - e.ByAgent[0])
		} else if a := i % d.agents; d.trials[i] > 0 {
			e.Influence[i/d.agents] += d.weights[a] / d.answered[a] * d.small[a] * (m - e.ByAgent[a])
		}
	}
	if d.Balanced && d.Trials > 0 {
		e.Value = float64(total) / float64(d.Trials)
	} else if e.Value > 1-1e-12 { // what rounding leaves where all trials agree
		e.Value = 1
	}
	return e
}

// SE is the standard error of an estimate with families as clusters, sqrt(G/(G-1) sum
// e_g^2) (Miller 2024, arXiv 2411.00640, with the small-sample factor; an agent that
// answered fewer families has its own). It is not a number where an agent answered fewer
// than two families, and exactly 0 where all families have the same mean.
func (d *Design) SE(influence []float64) float64 {
	if d.least < 2 {
		return math.NaN()
	}
	g := float64(d.families)
	sum := 0.0
	for _, e := range influence {
		sum += e * e
	}
	se := math.Sqrt(sum * g / (g - 1))
	if se < 1e-12 { // what rounding leaves of means that are the same
		return 0
	}
	return se
}

// A Rate is a share with its 95 % interval.
type Rate struct {
	Value    float64
	Interval Interval
	// NEff is the number of independent trials that would say as much; NStar shrinks it
	// for the degrees of freedom. Both are 0 with fewer than two families.
	NEff, NStar float64
}

// Rate is the rate of an estimate whose scores are 0 and 1. The interval is Wilson's on
// NStar = NEff (z / t)^2 trials, with NEff = p(1-p) / SE^2 and Student's t on G-1 degrees
// of freedom (Korn and Graubard 1998); G is the number of families of the agent that
// answered the fewest. Where all trials agree the data hold no design effect, and the worst
// one is taken: every family counts as one trial. Where families have the same share and
// trials differ, trials are taken as independent. NEff of a single agent is at most its
// trials. With one family the interval is [0, 1].
func (d *Design) Rate(e Estimate) Rate {
	r := Rate{Value: math.Max(0, math.Min(1, e.Value)), Interval: Interval{0, 1}}
	se := d.SE(e.Influence)
	if math.IsNaN(se) {
		return r
	}
	r.NEff = d.nEff(r.Value, se)
	r.NStar = d.critical.shrink(r.NEff)
	r.Interval = Wilson(r.Value*r.NStar, r.NStar)
	return r
}

func (d *Design) nEff(p, se float64) float64 {
	flat := p * (1 - p)
	if flat == 0 {
		return d.alike
	}
	if se == 0 {
		return d.Effective
	}
	if n := flat / (se * se); n < d.Effective || d.asked() > 1 {
		return n
	}
	return d.Effective
}

// fewPositive bounds the families with a success below which a rate has too little to
// estimate its design effect from: 5, and a quarter of all families.
const fewPositive = 5.0

// Borrow corrects the intervals of the rare rates of a board. A tool that few families pick
// shows no design effect of its own, although trials of a family are as alike for it as for
// others. So its variance is drawn towards that of the board, which has NEff = the sum of
// p(1-p) over that of SE^2, of all tools, and at most one trial per family: wholly where no family picks the tool, and the
// less the more do, down to not at all with fewPositive. So a tool that was never picked
// does not look better than its neighbours. NEff never grows by it, but for rates of 0.
func (d *Design) Borrow(estimates []Estimate, rates []Rate) {
	var flat, variance float64
	for i, r := range rates {
		if se := d.SE(estimates[i].Influence); se > 0 {
			flat, variance = flat+r.Value*(1-r.Value), variance+se*se
		}
	}
	if d.least < 2 || variance == 0 {
		return
	}
	few := math.Min(fewPositive, float64(d.families)/4)
	board := min(flat/variance, d.Effective, d.alike)
	for i := range rates {
		r := &rates[i]
		own := float64(d.positive(estimates[i])) / few // how much of it is its own
		if own >= 1 || own > 0 && r.NEff <= board {
			continue
		}
		r.NEff = board
		if own > 0 {
			r.NEff = 1 / (own/d.nEff(r.Value, d.SE(estimates[i].Influence)) + (1-own)/board)
		}
		r.NStar = d.critical.shrink(r.NEff)
		r.Interval = Wilson(r.Value*r.NStar, r.NStar)
	}
}

// positive counts the families with a success.
func (d *Design) positive(e Estimate) (n int) {
	for g := range d.families {
		for a := range d.agents {
			if e.cells[g*d.agents+a] > 0 {
				n++
				break
			}
		}
	}
	return n
}

// Population is the 95 % interval for agents like these: agents are clusters too. Its
// variance is V_family + V_agent - V_cell (Cameron, Gelbach and Miller 2011), at least
// V_family, with Student's t on min(G, A) - 1 degrees of freedom. ok is false with fewer
// than three agents or two families.
func (d *Design) Population(e Estimate) (ci Interval, ok bool) {
	if d.few.clusters == 0 {
		return ci, false
	}
	byFamily, byAgent, cells, n := make([]float64, d.families), make([]float64, d.agents), 0.0, 0.0
	for i, m := range e.cells {
		a := i % d.agents
		if d.trials[i] == 0 {
			continue
		}
		v := d.weights[a] / d.answered[a] * (m - e.Value)
		byFamily[i/d.agents] += v
		byAgent[a] += v
		cells, n = cells+v*v, n+1
	}
	g, k := float64(d.families), float64(d.asked())
	variance := g/(g-1)*squares(byFamily) + k/(k-1)*squares(byAgent) - n/(n-1)*cells
	own := d.SE(e.Influence)
	p := math.Max(0, math.Min(1, e.Value))
	nEff := d.nEff(p, own)
	if variance > own*own {
		nEff = math.Min(nEff, p*(1-p)/variance)
	}
	nStar := d.few.shrink(nEff)
	if p == 0 || p == 1 {
		nStar = d.few.shrink(math.Min(g, k))
	}
	return Wilson(p*nStar, nStar), true
}

func squares(v []float64) (sum float64) {
	for _, x := range v {
		sum += x * x
	}
	return sum
}

// WithoutAgent returns the range of Value when each agent in turn is left out; ok is false
// with fewer than two agents.
func (d *Design) WithoutAgent(e Estimate) (out Interval, ok bool) {
	out = Interval{math.Inf(1), math.Inf(-1)}
	for a, w := range d.weights {
		if w > 0 && w < 1 {
			out.include((e.Value - w*e.ByAgent[a]) / (1 - w))
			ok = true
		}
	}
	return out, ok
}

// WithoutFamily returns the range of Value when each family in turn is left out; ok is
// false with fewer than two families.
func (d *Design) WithoutFamily(e Estimate) (out Interval, ok bool) {
	out = Interval{math.Inf(1), math.Inf(-1)}
	if d.families < 2 {
		return out, false
	}
	for g := range d.families {
		var value, weights float64
		for a, w := range d.weights {
			n, mean := d.answered[a], e.ByAgent[a]
			if i := g*d.agents + a; d.trials[i] > 0 {
				n, mean = n-1, (n*mean-e.cells[i])/(n-1)
			}
			if n > 0 {
				value, weights = value+w*mean, weights+w
			}
		}
		out.include(value / weights)
	}
	return out, true
}

func (i *Interval) include(v float64) {
	v = math.Max(0, math.Min(1, v))
	i.Low, i.High = math.Min(i.Low, v), math.Max(i.High, v)
}
