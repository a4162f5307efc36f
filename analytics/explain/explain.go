package explain

import (
	"cmp"
	"slices"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/pick/reason"
)

// New counts trials of one category. Domains are those of the tool.
func New(slug string, domains []string, trials []Trial) Report {
	r := Report{Slug: slug, Runs: []string{}, Tags: []Cut{}}
	for _, t := range trials {
		if !slices.Contains(r.Runs, t.Run) {
			r.Runs = append(r.Runs, t.Run)
		}
	}
	r.Counts = count(slug, trials)
	r.Reasons = groups(slug, trials)
	r.Switches = switches(slug, trials)
	r.Agents = cuts(slug, "", trials, func(t Trial) string { return t.Agent })
	for _, tag := range []struct {
		name string
		of   func(Trial) string
	}{
		{"ecosystem", func(t Trial) string { return t.Tags.Ecosystem }},
		{"intent", func(t Trial) string { return t.Tags.Intent }},
		{"persona", func(t Trial) string { return t.Tags.Persona }},
	} {
		r.Tags = append(r.Tags, cuts(slug, tag.name, trials, tag.of)...)
	}
	r.Sources = sites(slug, domains, trials)
	r.NSites = len(r.Sources)
	return r
}

func (t Trial) won(slug string) bool { return t.Outcome == string(pick.Tool) && t.Picked == slug }

// took is what an answer took.
func (t Trial) took() string { return cmp.Or(t.Picked, t.Outcome) }

func count(slug string, trials []Trial) Counts {
	c := Counts{NTrials: len(trials)}
	for _, t := range trials {
		switch {
		case t.won(slug):
			c.Picked++
		case !t.Considered:
			c.NotConsidered++
		case t.Rejected:
			c.Lost++
			c.Rejected++
		default:
			c.Lost++
		}
	}
	if c.Considered = c.Picked + c.Lost; c.Considered > 0 {
		rate := float64(c.Lost) / float64(c.Considered)
		c.RejectedRate = &rate
	}
	return c
}

// reasonsOf returns the reasons of an answer without the tool. Other counts only alone.
func reasonsOf(t Trial) (out []reason.Reason) {
	if !t.Considered {
		return []reason.Reason{NotConsidered}
	}
	for _, s := range t.Against {
		if !slices.Contains(out, s.Reason) {
			out = append(out, s.Reason)
		}
	}
	if len(out) > 1 {
		out = slices.DeleteFunc(out, func(r reason.Reason) bool { return r == reason.Other })
	}
	switch {
	case len(out) > 0:
		return out
	case t.Rejected:
		return []reason.Reason{reason.Other}
	}
	return []reason.Reason{NoReason}
}

// groups returns every reason that an answer gives, the most frequent first.
func groups(slug string, trials []Trial) []Group {
	of, without := map[reason.Reason]*Group{}, 0
	out := []Group{}
	for _, t := range trials {
		if t.won(slug) {
			continue
		}
		without++
		for _, why := range reasonsOf(t) {
			g := of[why]
			if g == nil {
				g = &Group{Reason: why, Quotes: []Quote{}}
				of[why] = g
			}
			g.NTrials++
			for _, s := range t.Against {
				if s.Reason == why {
					g.Quotes = append(g.Quotes, Quote{t.Run, t.ID, t.Agent, t.took(), s.Quote})
				}
			}
		}
	}
	for _, why := range append(reason.Reasons(), NoReason, NotConsidered) {
		if g := of[why]; g != nil {
			g.Share, g.NQuotes = float64(g.NTrials)/float64(without), len(g.Quotes)
			out = append(out, *g)
		}
	}
	sorting.StableFunc(out, func(a, b Group) int { return cmp.Compare(b.NTrials, a.NTrials) })
	return out
}

func switches(slug string, trials []Trial) []Switch {
	out := []Switch{}
	for _, t := range trials {
		if t.won(slug) {
			continue
		}
		i := slices.IndexFunc(out, func(s Switch) bool { return s.To == t.took() && s.Outcome == t.Outcome })
		if i < 0 {
			i = len(out)
			out = append(out, Switch{To: t.took(), Outcome: t.Outcome})
		}
		if t.Considered {
			out[i].Considered++
		} else {
			out[i].Rest++
		}
	}
	sorting.Func(out, func(a, b Switch) int {
		return cmp.Or(cmp.Compare(b.Considered, a.Considered), cmp.Compare(b.Rest, a.Rest), cmp.Compare(a.To, b.To), cmp.Compare(a.Outcome, b.Outcome))
	})
	return out
}

// cuts returns the counts of each value, in the order of the values. Answers without a value
// are left out.
func cuts(slug, tag string, trials []Trial, of func(Trial) string) []Cut {
	byValue := map[string][]Trial{}
	for _, t := range trials {
		if v := of(t); v != "" {
			byValue[v] = append(byValue[v], t)
		}
	}
	out := []Cut{}
	for v, some := range byValue {
		c := Cut{Tag: tag, Value: v, Counts: count(slug, some), Switches: switches(slug, some), Reasons: []Count{}}
		c.NSwitches = len(c.Switches)
		for _, g := range groups(slug, some) {
			c.Reasons = append(c.Reasons, Count{g.Reason, g.NTrials})
		}
		out = append(out, c)
	}
	sorting.Func(out, func(a, b Cut) int { return cmp.Compare(a.Value, b.Value) })
	return out
}
