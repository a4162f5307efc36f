package analytics

// A FieldRate is the share of observed units, pull requests or commits, that use a tool. It
// is not a pick rate: nobody asked these agents to choose.
type FieldRate struct {
	// Observed is true: no trial is behind these figures.
	Observed bool    `json:"observed"`
	UseRate  float64 `json:"useRate"`
	// CILow to CIHigh is the 95 % interval with repositories as clusters.
	CILow  float64 `json:"ciLow"`
	CIHigh float64 `json:"ciHigh"`
	Uses   int     `json:"uses"`
	NUnits int     `json:"nUnits"`
	NRepos int     `json:"nRepos"`
	// URL is the observed board.
	URL string `json:"url"`
}

// A FieldAgreement says how far the ranks of a board agree with those of the observed board
// of its category.
type FieldAgreement struct {
	Observed bool `json:"observed"`
	// Tau is Kendall's tau-b of pick rates and use rates, -1 to 1. CILow to CIHigh is its
	// 95 % bootstrap interval over prompt families and repositories; -1 to 1 with one
	// prompt family.
	Tau    float64 `json:"tau"`
	CILow  float64 `json:"ciLow"`
	CIHigh float64 `json:"ciHigh"`
	// Tools is how many are on both boards and on one of them above 0.
	Tools int    `json:"tools"`
	URL   string `json:"url"`
}

func (f *FieldRate) withBase(base string) *FieldRate {
	if f = copyOfValue(f); f != nil {
		f.URL = base + f.URL
	}
	return f
}

func (f *FieldAgreement) withBase(base string) *FieldAgreement {
	if f = copyOfValue(f); f != nil {
		f.URL = base + f.URL
	}
	return f
}

// Resample returns the number of prompt families of a measurement, and a function for a
// bootstrap: the pick rates of the category's tools, in its order, where family i counts
// draws[i] times. An agent without a trial in the drawn families drops out.
func (m Measurement) Resample() (families int, rates func(draws []int) []float64) {
	slugs := make([]string, len(m.Category.Entries))
	for i, e := range m.Category.Entries {
		slugs[i] = e.Tool.Slug
	}
	t := newTally(slugs, m.Cells, m.Design)
	agents := len(t.agents)
	return len(t.families), func(draws []int) []float64 {
		out := make([]float64, len(slugs))
		weights := 0.0
		for a := range agents {
			answered := 0
			for g, n := range draws {
				if t.trials[g*agents+a] > 0 {
					answered += n
				}
			}
			if answered == 0 {
				continue
			}
			w := t.design.AgentWeight(a)
			weights += w
			for i, picks := range t.picks {
				sum := 0.0
				for g, n := range draws {
					if at := g*agents + a; n > 0 && t.trials[at] > 0 {
						sum += float64(n) * float64(picks[at]) / float64(t.trials[at])
					}
				}
				out[i] += w * sum / float64(answered)
			}
		}
		for i := range out {
			if weights > 0 {
				out[i] /= weights
			}
		}
		return out
	}
}
