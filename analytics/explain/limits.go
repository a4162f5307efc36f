package explain

// Limits are the greatest numbers of entries of the lists of a Report.
type Limits struct {
	Quotes   int // of a reason
	Sites    int
	Pages    int // of a site
	Switches int // of an agent or tag
	Taken    int // switches of the report
	Cuts     int // agents, and tags
}

// Limit shortens all lists that have no greatest length. Of quotes with one text, the first
// comes before other texts, and the rest behind. NQuotes, NSites, NPages and NSwitches keep
// the whole numbers.
func (r *Report) Limit(l Limits) {
	for i := range r.Reasons {
		r.Reasons[i].Quotes = distinctFirst(r.Reasons[i].Quotes)
		cut(&r.Reasons[i].Quotes, l.Quotes)
	}
	cut(&r.Sources, l.Sites)
	for i := range r.Sources {
		cut(&r.Sources[i].Pages, l.Pages)
	}
	cut(&r.Switches, l.Taken)
	cut(&r.Agents, l.Cuts)
	cut(&r.Tags, l.Cuts)
	for _, cuts := range [][]Cut{r.Agents, r.Tags} {
		for i := range cuts {
			cut(&cuts[i].Switches, l.Switches)
		}
	}
}

func cut[T any](list *[]T, most int) { *list = (*list)[:min(most, len(*list))] }

// distinctFirst moves quotes whose text was quoted before to the end.
func distinctFirst(quotes []Quote) []Quote {
	first, again := []Quote{}, []Quote{}
	seen := map[string]bool{}
	for _, q := range quotes {
		if seen[q.Text] {
			again = append(again, q)
		} else {
			first = append(first, q)
		}
		seen[q.Text] = true
	}
	return append(first, again...)
}
