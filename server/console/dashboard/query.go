package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// noGoal is why a filter by goal does not apply to visits.
const noGoal = "visits have no goal"

// A query holds the parameters of a page, and is the only place that encodes them
// in URLs.
type query struct {
	traffic.Query
	kept url.Values // parameters that every link keeps
	now  time.Time
	sort string   // of tables: the key of a column, with a minus for descending order
	off  []string // filters that the page does not have
	idle []chip   // of these, those that are set, and stay set for the other pages
}

// readQuery reads the query of an address. Besides what the API knows, through
// names the last day, included, as people expect of a range of days.
// Days win over a window.
func readQuery(r *http.Request, now time.Time) (*query, error) {
	given, kept := r.URL.Query(), url.Values{}
	for _, name := range []string{"window", "from", "to", "tz", "model", "lookbackDays", "sort"} {
		if text := clip(given.Get(name)); text != "" {
			kept.Set(name, text)
		}
	}
	if day, err := time.Parse(time.DateOnly, given.Get("through")); err == nil {
		kept.Set("to", day.AddDate(0, 0, 1).Format(time.DateOnly))
	}
	if kept.Has("from") || kept.Has("to") {
		kept.Del("window")
	}
	q, err := traffic.ParseQuery(kept, now)
	for _, f := range filters(&q.Filter) {
		if *f.value = clip(given.Get(f.name)); *f.value != "" {
			kept.Set(f.name, *f.value)
		}
	}
	q.Hours = q.To.Sub(q.From) <= hoursUpTo
	return &query{Query: q, kept: kept, now: now, sort: kept.Get("sort")}, err
}

// hoursUpTo is how long a window may be for a chart of its hours: a day on which clocks are set
// back.
const hoursUpTo = 25 * time.Hour

// maxFilter is how many characters a filter has.
const maxFilter = 2000

func clip(text string) string {
	r := []rune(strings.TrimSpace(text))
	return string(r[:min(len(r), maxFilter)])
}

// A filterField is a filter as a parameter, with its label.
type filterField struct {
	name, label string
	value       *string
}

func filters(f *traffic.Filter) []filterField {
	return []filterField{{"agent", "Agent", &f.Agent}, {"path", "Page", &f.Page}, {"class", "Class", &f.Class}, {"assistant", "Assistant", &f.Assistant}, {"goal", "Goal", &f.Goal}}
}

// filtered reports whether visits are filtered. A goal is of conversions alone.
func (q *query) filtered() bool { return q.Filter != traffic.Filter{Goal: q.Filter.Goal} }

// agents reports whether a filter leaves out people, and so their conversions.
func (q *query) agents() bool { return q.Filter.Agent != "" || q.Filter.Class != "" }

// noVisits says that no visit of an agent is in the window, and why.
func (q *query) noVisits() string {
	switch f := q.Filter; {
	case f.Assistant != "" && f.Agent == "" && f.Page == "" && f.Class == "":
		return "No agent of " + f.Assistant + " visited in this window. Its own fetches for users count here; crawlers that train or index belong to no assistant."
	case q.filtered():
		return "No agent visits in this window match the filter."
	}
	return "No agent visits in this window."
}

// ignore leaves a filter out of the page alone: it stays in the links, and its chip says why it
// does not apply.
func (q *query) ignore(name, why string) {
	for _, f := range filters(&q.Filter) {
		if f.name == name && *f.value != "" {
			q.idle = append(q.idle, chip{Name: name, Label: f.label, Value: shown(f), Keeps: *f.value, Idle: why})
			*f.value = ""
		}
	}
	q.off = append(q.off, name)
}

// unfilter takes a filter out.
func (q *query) unfilter(name string) {
	for _, f := range filters(&q.Filter) {
		if f.name == name {
			*f.value = ""
			q.kept.Del(name)
		}
	}
	q.off = append(q.off, name)
}

// A filterInput is a field of the form for a filter of visits, with suggestions; Terms are the
// only values, where it has some.
type filterInput struct {
	filterField
	Options []string
	Terms   []term
}

// Name, Label and Value are for the template.
func (f filterInput) Name() string  { return f.name }
func (f filterInput) Label() string { return f.label }
func (f filterInput) Value() string { return *f.value }

// inputs returns the fields of the filters that the page has.
func (q *query) inputs() (out []filterInput) {
	for _, f := range filters(&q.Filter) {
		if !slices.Contains(q.off, f.name) {
			in := filterInput{filterField: f}
			if f.name == "class" {
				in.Terms = classes()
			}
			out = append(out, in)
		}
	}
	return out
}

// suggest offers what a report lists as values of the filters.
func (f *filter) suggest(r *traffic.Report) {
	s := &r.Source
	for i := range f.Inputs {
		var options []string
		switch f.Inputs[i].name {
		case "agent":
			for j := range s.Agents {
				options = append(options, s.Agents[j].Agent)
			}
		case "path":
			for j := range s.Pages {
				options = append(options, s.Pages[j].Host+s.Pages[j].Path)
			}
			if len(s.Pages) == 0 { // a page about people
				for j := range s.Landings {
					options = append(options, s.Landings[j].Host+s.Landings[j].Path)
				}
			}
		case "assistant":
			for j := range s.Referrals {
				options = append(options, s.Referrals[j].Agent)
			}
		case "goal":
			for _, k := range r.Outcome.Conversions {
				options = append(options, k.Kind)
			}
		}
		options = slices.DeleteFunc(options, func(name string) bool { return name == "" })
		f.Inputs[i].Options = options[:min(len(options), suggestions)]
	}
}

// suggestions is how many values a field of the form suggests.
const suggestions = 50

// A chip is a filter that is on, and the link that removes it. Idle says why it does not apply to
// the page; it is empty where it does. Then Keeps is the value for the other pages.
type chip struct{ Name, Label, Value, Remove, Idle, Keeps string }

// shown is the value of a filter as people read it.
func shown(f filterField) string {
	if f.name == "class" {
		return class(*f.value).Name
	}
	return *f.value
}

// chips returns the filters that are on.
func (q *query) chips(path string) (out []chip) {
	for _, f := range filters(&q.Filter) {
		if *f.value != "" {
			out = append(out, chip{Name: f.name, Label: f.label, Value: shown(f), Remove: q.link(path, f.name, "")})
		}
	}
	if q.custom() {
		out = append(out, chip{Name: "through", Label: "Days", Value: q.span(), Remove: q.link(path, "from", "", "to", "")})
	}
	for _, c := range q.idle {
		c.Remove = q.link(path, c.Name, "")
		out = append(out, c)
	}
	return out
}

// link returns an address with the query, some of it changed; an empty value
// takes a name out.
func (q *query) link(path string, changes ...string) string {
	v := url.Values{}
	for name, list := range q.kept {
		v[name] = list
	}
	for i := 0; i+1 < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
		if changes[i+1] == "" {
			v.Del(changes[i])
		}
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// A choice is a link that is on or off.
type choice struct {
	Key, Name, Link, Means string
	On                     bool
}

// windows returns the links to the usual windows.
func (q *query) windows(path string) []choice {
	var out []choice
	for _, days := range []string{"7", "30", "90"} {
		on := q.kept.Get("window") == days+"d" || days == "30" && !q.kept.Has("window") && !q.custom()
		out = append(out, choice{Name: days + " days", Link: q.link(path, "window", days+"d", "from", "", "to", ""), On: on})
	}
	return out
}

// models returns the links to the models.
func (q *query) models(path string) []choice {
	var out []choice
	for _, m := range models() {
		key := m.Key
		if attribution.Model(key) == attribution.First {
			key = "" // which needs no saying
		}
		out = append(out, choice{Key: m.Key, Name: m.Name, Link: q.link(path, "model", key), Means: m.Means, On: string(q.Model) == m.Key})
	}
	return out
}

func (q *query) custom() bool { return q.kept.Has("from") || q.kept.Has("to") }

// span returns the window in words.
func (q *query) span() string {
	if !q.custom() {
		days := int(q.To.Sub(q.From) / (24 * time.Hour))
		return "The last " + chart.Count(days, "day", "days")
	}
	from, through := q.From.In(q.TZ).Format("2 Jan 2006"), q.To.Add(-time.Microsecond).In(q.TZ).Format("2 Jan 2006")
	if from == through {
		return from
	}
	return from + " – " + through
}

// before names the period of the same length before the window.
func (q *query) before() string {
	return "the " + chart.Count(max(int64(q.To.Sub(q.From).Round(24*time.Hour)/(24*time.Hour)), 1), "day", "days") + " before"
}

// lookback returns the lookback in days.
func (q *query) lookback() string { return strconv.Itoa(int(q.Lookback / (24 * time.Hour))) }

// widest is the longest window.
const widest = 400 * 24 * time.Hour

// A filter is the form that changes the query.
type filter struct {
	Path, Window, From, Through, TZ, Lookback, Span string // Span is empty where Windows show it
	Sort                                            string // of tables
	Problem, Field                                  string // what is wrong, and its first word: a field; empty for nothing
	Only                                            string // of conversions
	Model                                           term
	Windows, Models                                 []choice
	Lookbacks                                       []choice
	Zones                                           []string
	Wider                                           *choice // window; nil for the widest
	Chips                                           []chip  // filters of visits
	Inputs                                          []filterInput
	Covers                                          string // names the inputs: an agent, page or assistant
	Clear                                           string // the page without them
}

func (q *query) filter(path string) filter {
	f := filter{
		Path: path, Window: q.kept.Get("window"), Sort: q.sort, TZ: q.TZ.String(), Lookback: q.lookback(), Span: q.span(), Model: of(models(), string(q.Model)),
		Windows: q.windows(path), Models: q.models(path), Zones: layout.Zones(),
		Chips: q.chips(path), Inputs: q.inputs(), Clear: q.link(path, "agent", "", "path", "", "class", "", "assistant", "", "goal", ""),
	}
	if slices.ContainsFunc(f.Windows, func(c choice) bool { return c.On }) {
		f.Span = "" // the chosen window is shown beside the filter
	}
	f.Covers = covers(f.Inputs)
	if q.To.Sub(q.From) < widest {
		f.Wider = &choice{Name: "the last 400 days", Link: q.link(path, "window", "400d", "from", "", "to", "")}
	}
	if q.custom() {
		f.From = q.From.In(q.TZ).Format(time.DateOnly)
		f.Through = q.To.Add(-time.Microsecond).In(q.TZ).Format(time.DateOnly)
	}
	known := false
	for _, days := range []string{"7", "30", "90"} {
		f.Lookbacks = append(f.Lookbacks, choice{Name: days, On: days == f.Lookback})
		known = known || days == f.Lookback
	}
	if !known {
		f.Lookbacks = append(f.Lookbacks, choice{Name: f.Lookback, On: true})
	}
	return f
}

// covers names in a sentence the fields that filter all numbers.
func covers(inputs []filterInput) string {
	var names []string
	for _, f := range inputs {
		if f.name != "goal" {
			names = append(names, strings.ToLower(f.label))
		}
	}
	if len(names) == 0 {
		return ""
	}
	article := "A "
	if strings.ContainsAny(names[0][:1], "aeiou") {
		article = "An "
	}
	if n := len(names) - 1; n > 0 {
		names = []string{strings.Join(names[:n], ", "), names[n]}
	}
	return article + strings.Join(names, " or ")
}
