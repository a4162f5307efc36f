package observed

import (
	facts "github.com/firstpick/firstpick/fixtures/observed"
)

// A Largest is the repository with most units of a part that has the warning OneRepository, and
// the part without it.
type Largest struct {
	Repo    string
	NUnits  int
	Without Part
}

// Recount counts, from the study and the category that the board was made of, what no document
// has: the agents of each language of a board that has several, the repositories of each tool in a
// language and by agent, its uses in one repository, what remains without the largest repository, and the
// difference of each pair of tools, also by agent.
func (b *Board) Recount(s *facts.Study, c Category) {
	all := tallyOf(s, c)
	b.Largest = all.largest()
	for i := range b.Tools {
		_, b.Tools[i].InOne = all.reposOf(b.Tools[i].Slug)
	}
	byLanguage := map[string]*tally{}
	for _, g := range all.split(language) {
		byLanguage[g.name] = g.tally
	}
	for i := range b.Languages {
		l := &b.Languages[i]
		t := byLanguage[l.Language]
		if t == nil {
			continue
		}
		for j := range l.Tools {
			l.Tools[j].Repos, l.Tools[j].InOne = t.reposOf(l.Tools[j].Slug)
		}
		if len(b.Languages) < 2 {
			b.Pairs = t.pairs(l.Part)
			t.together(b.Pairs)
			for _, g := range t.split(agent) {
				for j := range b.Agents {
					if a := &b.Agents[j]; a.Agent == g.name {
						a.Largest, a.Pairs = g.tally.largest(), g.tally.pairs(a.Part)
						for k := range a.Tools {
							a.Tools[k].Repos, a.Tools[k].InOne = g.tally.reposOf(a.Tools[k].Slug)
						}
					}
				}
			}
			continue
		}
		l.Largest, l.Pairs = t.largest(), t.pairs(l.Part)
		for _, g := range t.split(agent) {
			a := AgentBoard{g.name, g.tally.part()}
			a.Largest, a.Pairs = g.tally.largest(), g.tally.pairs(a.Part)
			l.Agents = append(l.Agents, a)
		}
	}
}

func language(u facts.Unit) string { return u.Language }

func agent(u facts.Unit) string { return u.Agent }

// dominated reports whether a repository has so many units that it decides the rates.
func (t *tally) dominated() bool {
	for _, n := range t.sizes {
		if 4*n > len(t.units) {
			return true
		}
	}
	return false
}

// largest returns the repository that dominates the units; nil where none does.
func (t *tally) largest() *Largest {
	if !t.dominated() {
		return nil
	}
	out := Largest{}
	for repo, i := range t.repos {
		if n := t.sizes[i]; n > out.NUnits || n == out.NUnits && repo < out.Repo {
			out.Repo, out.NUnits = repo, n
		}
	}
	var rest []facts.Unit
	for _, u := range t.units {
		if u.Repo != out.Repo {
			rest = append(rest, u)
		}
	}
	out.Without = newTally(t.category, rest).part()
	return &out
}
