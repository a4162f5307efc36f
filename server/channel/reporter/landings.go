package reporter

import (
	"cmp"
	"context"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// landings fills in all landing pages: their conversions are added before the list is cut.
func (s *Service) landings(ctx context.Context, workspace string, w trafficdb.Window, out *traffic.Source) error {
	pages, err := s.DB.Landings(ctx, workspace, w, trafficdb.Page{Limit: trafficdb.MaxRows})
	for _, p := range pages {
		out.Landings = append(out.Landings, traffic.Landing{
			Host: p.Host, Path: p.Path, Landings: p.Landings, Visitors: p.Visitors, Assistants: p.Families, Kinds: map[string]float64{}, Revenue: []traffic.Money{},
		})
	}
	return err
}

// addLandings adds the conversions that are credited to visits to each page, and the pages
// of which the visits are all older than the window.
func addLandings(pages []traffic.Landing, credited []attribution.Credited, q *traffic.Query) []traffic.Landing {
	at := make(map[string]int, len(pages))
	for i := range pages {
		at[pages[i].Host+pages[i].Path] = i
	}
	for _, t := range attribution.Landings(credited, q.Model) {
		name := t.Host + t.Path
		if !q.Filter.OnPage(t.Host, t.Path) {
			continue
		}
		i, known := at[name]
		if !known {
			if q.Filter.Agent != "" || q.Filter.Class != "" { // people have neither
				continue
			}
			i = len(pages)
			pages = append(pages, traffic.Landing{Host: t.Host, Path: t.Path, Assistants: t.Families})
		}
		pages[i].Conversions, pages[i].Kinds, pages[i].Revenue = share(t.Conversions), counts(t.Kinds), revenue(t.Revenue)
	}
	sorting.StableFunc(pages, func(a, b traffic.Landing) int {
		return cmp.Or(cmp.Compare(b.Landings, a.Landings), cmp.Compare(b.Conversions, a.Conversions))
	})
	return pages[:min(len(pages), q.Rows())]
}
