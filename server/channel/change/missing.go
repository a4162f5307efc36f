package change

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// NotFoundData describes a folder in which agents miss pages.
type NotFoundData struct {
	Folder    string    `json:"folder"` // host and path
	Pages     int64     `json:"pages"`  // different ones
	Misses    int64     `json:"misses"`
	Agents    []string  `json:"agents"`
	Examples  []string  `json:"examples"` // paths
	FirstSeen time.Time `json:"firstSeen"`
}

// Describe implements Data.
func (d NotFoundData) Describe() (string, []string) {
	details := []string{"Agents: " + list(d.Agents), fmt.Sprintf("First at %s. Examples:", show(d.FirstSeen))}
	for _, path := range d.Examples {
		details = append(details, "  "+Clean(path))
	}
	return fmt.Sprintf("Missing pages: agents requested %s below %s that do not exist, %s in 24 hours.", count(d.Pages, "page"), Clean(d.Folder), count(d.Misses, "time")), details
}

func notFound() Kind {
	return Kind{
		Alert: "not_found_cluster", Report: "new_not_found_cluster",
		Doc: fmt.Sprintf("A folder, the first two segments of a path, in which agents missed at least %d pages, or any %d times, within 24 hours, %d times as many as on a day of\nthe week before. Repeated when there was none for seven days. `folder` (host and path), `pages`, `misses`, `agents`, `examples` (paths), `firstSeen`.",
			clusterPages, clusterMisses, clusterTimes),
		Detect: detectNotFound, Over: absent(week), Page: "gaps",
		Sentence: func(r *Row, baseline time.Duration) string {
			return "New missing pages below " + r.Folder + ", requested " + compared(r, baseline) + "."
		},
	}
}

func detectNotFound(f *Facts) []Condition {
	if f.Traffic == nil {
		return nil
	}
	var out []Condition
	for _, c := range f.Traffic.Missing {
		if !c.Many() || !f.Traffic.exceeds(c.Misses, c.Before, clusterTimes) {
			continue
		}
		data := NotFoundData{Folder: mask(c.Host + c.Path), Pages: c.Pages, Misses: c.Misses, Agents: []string{}, Examples: []string{}, FirstSeen: c.FirstAt}
		data.Agents = append(data.Agents, c.Agents[:min(len(c.Agents), listMax)]...)
		for _, path := range c.Examples[:min(len(c.Examples), listMax)] {
			if path = mask(path); !slices.Contains(data.Examples, path) {
				data.Examples = append(data.Examples, path)
			}
		}
		row := Row{Host: c.Host, Folder: c.Path, Now: c.Misses, Before: c.Before, Since: c.FirstAt}
		out = append(out, Condition{Subject: data.Folder, Seen: f.Now, Data: data, Rows: []Row{row}})
	}
	sorting.StableFunc(out, func(a, b Condition) int { return cmp.Compare(b.Rows[0].Now, a.Rows[0].Now) })
	return out
}
