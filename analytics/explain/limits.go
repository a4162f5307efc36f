package explain

// Limits are the greatest numbers of entries of the lists of a Report.
type Limits struct {
	Quotes   int // of a reason
	Sites    int
	Pages    int // of a site
	Switches int // of an agent or tag; those of the report stay
}

// Limit shortens the lists. NQuotes, NSites, NPages and NSwitches keep the whole numbers.
func (r *Report) Limit(l Limits) {
	for i := range r.Reasons {
		cut(&r.Reasons[i].Quotes, l.Quotes)
	}
	cut(&r.Sources, l.Sites)
	for i := range r.Sources {
		cut(&r.Sources[i].Pages, l.Pages)
	}
	for _, cuts := range [][]Cut{r.Agents, r.Tags} {
		for i := range cuts {
			cut(&cuts[i].Switches, l.Switches)
		}
	}
}

func cut[T any](list *[]T, most int) { *list = (*list)[:min(most, len(*list))] }
