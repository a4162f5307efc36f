package trafficdb_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// A ledger counts slowly and plainly what the reports count in SQL.
type ledger struct {
	rows []trafficdb.Row // of one workspace, all of them
	w    trafficdb.Window
}

// touches returns the touches in the window for which all conditions hold.
func (l ledger) touches(conditions ...func(*trafficdb.Row) bool) []*trafficdb.Row {
	var out []*trafficdb.Row
next:
	for i := range l.rows {
		r := &l.rows[i]
		if r.Type != event.Touch || !l.holds(r.At) || !l.selects(r) {
			continue
		}
		for _, c := range conditions {
			if !c(r) {
				continue next
			}
		}
		out = append(out, r)
	}
	return out
}

func (l ledger) selects(r *trafficdb.Row) bool {
	f := l.w.Filter
	return r.Path != "/firstpick-test" && (f.Agent == "" || strings.EqualFold(f.Agent, r.Agent)) && (f.Page == "" || f.Page == r.Host+r.Path || f.Page == "/docs/part1/*" && strings.HasPrefix(r.Path, "/docs/part1/")) && (f.Assistant == "" || f.Assistant == cmp.Or(r.Family, r.Agent, attribution.OtherAgent)) && (f.Class == "" || f.Class == r.Class)
}

func (l ledger) holds(at time.Time) bool { return !at.Before(l.w.From) && at.Before(l.w.To) }

func headline(r *trafficdb.Row) bool { return agentid.Class(r.Class).Headline() }
func genuine(r *trafficdb.Row) bool  { return r.Verdict != "ip_mismatch" }
func people(r *trafficdb.Row) bool {
	return r.Class == "browser" || r.Class == "none" || r.Class == ""
}
func sent(r *trafficdb.Row) bool { return r.Evidence != "" }

// groups puts rows into groups.
func groups[K comparable](rows []*trafficdb.Row, key func(*trafficdb.Row) K) map[K][]*trafficdb.Row {
	out := map[K][]*trafficdb.Row{}
	for _, r := range rows {
		out[key(r)] = append(out[key(r)], r)
	}
	return out
}

func last(rows []*trafficdb.Row) (at time.Time) {
	for _, r := range rows {
		if r.At.After(at) {
			at = r.At
		}
	}
	return at
}

func agentNames(rows []*trafficdb.Row) []string {
	var out []string
	for name := range groups(rows, func(r *trafficdb.Row) string { return r.Agent }) {
		if name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), 20)]
}

func classCounts(rows []*trafficdb.Row) map[string]int64 {
	out := map[string]int64{}
	for _, r := range rows {
		out[r.Class]++
	}
	return out
}

func (l ledger) agents() []trafficdb.Agent {
	var out []trafficdb.Agent
	for k, rows := range groups(l.touches(headline), func(r *trafficdb.Row) [3]string { return [3]string{r.Agent, r.Operator, r.Class} }) {
		a := trafficdb.Agent{Agent: k[0], Operator: k[1], Class: k[2], Touches: int64(len(rows)), FirstAt: rows[0].At, LastSeen: last(rows)}
		pages := map[[2]string]bool{}
		for _, r := range rows {
			if r.At.Before(a.FirstAt) {
				a.FirstAt = r.At
			}
			switch r.Verdict {
			case "verified_ip", "verified_dns", "verified_signature":
				a.Verified++
			case "ip_mismatch":
				a.Spoofed++
			case "unverifiable":
				a.Unverifiable++
			case "stale_data":
				a.Stale++
			case "no_ip":
				a.NoIP++
			}
			if !genuine(r) {
				continue
			}
			if r.Status > 0 {
				a.Answered++
			}
			if r.Status > 0 && r.Status < 400 {
				a.OK++
			}
			if r.Status < 400 {
				pages[[2]string{r.Host, r.Path}] = true
			}
		}
		a.Pages = int64(len(pages))
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b trafficdb.Agent) int {
		return cmp.Or(cmp.Compare(b.Touches, a.Touches), strings.Compare(a.Agent, b.Agent), strings.Compare(a.Operator, b.Operator), strings.Compare(a.Class, b.Class))
	})
	return out
}

func (l ledger) pages() []trafficdb.PageRead {
	var out []trafficdb.PageRead
	got := l.touches(headline, genuine, func(r *trafficdb.Row) bool { return r.Status < 400 })
	for k, rows := range groups(got, func(r *trafficdb.Row) [2]string { return [2]string{r.Host, r.Path} }) {
		out = append(out, trafficdb.PageRead{Host: k[0], Path: k[1], Touches: int64(len(rows)), ByClass: classCounts(rows), Agents: agentNames(rows), LastAt: last(rows)})
	}
	slices.SortFunc(out, func(a, b trafficdb.PageRead) int {
		return cmp.Or(cmp.Compare(b.Touches, a.Touches), strings.Compare(a.Host, b.Host), strings.Compare(a.Path, b.Path))
	})
	return out
}

func gapKind(r *trafficdb.Row) string {
	switch s := r.Status; {
	case s == 404 || s == 410:
		if strings.HasSuffix(r.Path, ".md") || strings.HasSuffix(r.Path, "/llms.txt") || strings.HasSuffix(r.Path, "/llms-full.txt") {
			return traffic.GapMissingText
		}
		return traffic.GapNotFound
	case s == 401 || s == 403 || s == 429:
		return traffic.GapBlocked
	case s >= 500 && s < 600:
		return traffic.GapFailed
	}
	return ""
}

func (l ledger) gaps() []trafficdb.Gap {
	type key struct {
		kind       string
		status     int
		host, path string
	}
	var out []trafficdb.Gap
	missed := l.touches(headline, genuine, func(r *trafficdb.Row) bool { return gapKind(r) != "" })
	for k, rows := range groups(missed, func(r *trafficdb.Row) key { return key{gapKind(r), r.Status, r.Host, r.Path} }) {
		g := trafficdb.Gap{Kind: k.kind, Status: k.status, Host: k.host, Path: k.path, Touches: int64(len(rows)), Agents: agentNames(rows), LastAt: last(rows)}
		for _, r := range rows {
			if r.Class == "user_fetch" || r.Class == "agentic_browser" || r.Class == "coding_agent" {
				g.Asked++
			}
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b trafficdb.Gap) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(b.Touches, a.Touches), strings.Compare(a.Host, b.Host), strings.Compare(a.Path, b.Path), cmp.Compare(a.Status, b.Status))
	})
	return out
}

func (l ledger) referrals() []trafficdb.Referral {
	var out []trafficdb.Referral
	for family, rows := range groups(l.touches(people, genuine, sent), func(r *trafficdb.Row) string { return cmp.Or(r.Family, r.Agent, attribution.OtherAgent) }) {
		ref := trafficdb.Referral{Family: family, Landings: int64(len(rows)), AtLeast: true, Evidence: map[string]int64{}, LastAt: last(rows)}
		known := map[string]bool{}
		for _, r := range rows {
			ref.Evidence[r.Evidence]++
			if r.Visitor != "" {
				known[r.Visitor] = true
			}
		}
		ref.Visitors = int64(len(known))
		out = append(out, ref)
	}
	slices.SortFunc(out, func(a, b trafficdb.Referral) int {
		return cmp.Or(cmp.Compare(b.Landings, a.Landings), strings.Compare(a.Family, b.Family))
	})
	return out
}

func (l ledger) landings() []trafficdb.Landing {
	var out []trafficdb.Landing
	for page, rows := range groups(l.touches(people, genuine, sent), func(r *trafficdb.Row) [2]string { return [2]string{r.Host, r.Path} }) {
		landing := trafficdb.Landing{Host: page[0], Path: page[1], Landings: int64(len(rows))}
		known, families := map[string]bool{}, map[string]bool{}
		for _, r := range rows {
			if families[cmp.Or(r.Family, r.Agent, attribution.OtherAgent)] = true; r.Visitor != "" {
				known[r.Visitor] = true
			}
		}
		landing.Visitors, landing.Families = int64(len(known)), slices.Sorted(maps.Keys(families))
		out = append(out, landing)
	}
	slices.SortFunc(out, func(a, b trafficdb.Landing) int {
		return cmp.Or(cmp.Compare(b.Landings, a.Landings), strings.Compare(a.Host, b.Host), strings.Compare(a.Path, b.Path))
	})
	return out
}

func (l ledger) trend() []trafficdb.Day {
	tz := l.w.TZ
	if tz == nil {
		tz = time.UTC
	}
	days := map[string]*trafficdb.Day{}
	var order []string
	of := func(at time.Time) *trafficdb.Day {
		name := at.In(tz).Format(traffic.TrendLayout(l.w.Hours))
		if days[name] == nil {
			days[name] = &trafficdb.Day{Day: name, ByClass: map[string]int64{}}
			order = append(order, name)
		}
		return days[name]
	}
	for at := l.w.From; at.Before(l.w.To); at = at.Add(time.Minute) {
		of(at)
	}
	for _, r := range l.touches(headline, genuine) {
		d := of(r.At)
		d.ByClass[r.Class]++
		if r.Status < 400 {
			d.Reads++
		}
		if gapKind(r) != "" && slices.Contains([]string{"user_fetch", "agentic_browser", "coding_agent"}, r.Class) {
			d.Failed++
		}
	}
	for _, r := range l.touches(people, genuine, sent) {
		of(r.At).Referrals++
	}
	for i := range l.rows {
		if r := &l.rows[i]; r.Type == event.Convert && r.Kind != "refund" && (r.Kind != "test" || r.OrderID != "firstpick-test") && l.holds(r.At) && l.w.Filter == (traffic.Filter{}) {
			of(r.At).Conversions++
		}
	}
	var out []trafficdb.Day
	for _, name := range order {
		out = append(out, *days[name])
	}
	return out
}

func (l ledger) noise() map[string]int64 {
	out := map[string]int64{}
	for _, r := range l.touches() {
		switch {
		case !genuine(r):
			out[traffic.NoiseSpoofed]++
		case !headline(r) && r.Class != "browser" && r.Class != "none" && r.Class != "":
			out[r.Class]++
		}
	}
	return out
}

// story returns all that attribution could be given.
func (l ledger) story() (c []attribution.Conversion, t []attribution.Touch, b []attribution.Binding) {
	for i := range l.rows {
		r := &l.rows[i]
		if r.Visitor != "" && r.Identity != "" {
			b = append(b, attribution.Binding{Visitor: r.Visitor, Identity: r.Identity, At: r.At})
		}
		switch r.Type {
		case event.Convert:
			c = append(c, attribution.Conversion{ID: r.ID, Kind: r.Kind, Visitor: r.Visitor, Identity: r.Identity, At: r.At,
				Value: r.Value, Currency: r.Currency, OrderID: r.OrderID, RefundOf: r.RefundOf})
		case event.Touch:
			t = append(t, attribution.Touch{ID: r.ID, At: r.At, Visitor: r.Visitor, Identity: r.Identity, Family: r.Family, Agent: r.Agent,
				Class: r.Class, Evidence: r.Evidence, Host: r.Host, Path: r.Path, Referrer: r.Referrer, Spoofed: !genuine(r)})
		case event.Identify:
		}
	}
	return c, t, b
}

// never returns the pages that were never got.
func (l ledger) never(pages []trafficdb.PageRef) []trafficdb.PageRef {
	plain := func(path string) string { return strings.TrimSuffix(strings.TrimRight(path, "/"), ".md") }
	got := l.touches(headline, genuine, func(r *trafficdb.Row) bool { return r.Status < 400 })
	return slices.DeleteFunc(slices.Clone(pages), func(p trafficdb.PageRef) bool {
		return slices.ContainsFunc(got, func(r *trafficdb.Row) bool {
			return (r.Host == "" || r.Host == p.Host) && plain(r.Path) == plain(p.Path)
		})
	})
}

// facts recounts what changes are detected from.
func (l ledger) facts() change.Facts {
	t := &change.Traffic{From: l.w.From, To: l.w.To}
	out := change.Facts{Now: l.w.To, Traffic: t}
	base, weekAgo := ledger{nil, l.w}, ledger{nil, l.w}
	base.w.From, base.w.To = l.w.From.Add(-change.Baseline(l.w.To.Sub(l.w.From))), l.w.From
	weekAgo.w.From, weekAgo.w.To = l.w.From.AddDate(0, 0, -7), l.w.To.AddDate(0, 0, -7)
	live := func(r *trafficdb.Row) bool { return !r.Backfill }
	spoofed := func(r *trafficdb.Row) bool { return !genuine(r) }
	in := func(w ledger) func(*trafficdb.Row) bool {
		return func(r *trafficdb.Row) bool { return live(r) && w.holds(r.At) }
	}
	now, before := in(l), in(base)
	only := func(rows []*trafficdb.Row, conditions ...func(*trafficdb.Row) bool) (out []*trafficdb.Row) {
		for _, r := range rows {
			if !slices.ContainsFunc(conditions, func(c func(*trafficdb.Row) bool) bool { return !c(r) }) {
				out = append(out, r)
			}
		}
		return out
	}
	count := func(rows []*trafficdb.Row, conditions ...func(*trafficdb.Row) bool) int64 {
		return int64(len(only(rows, conditions...)))
	}
	first := func(rows []*trafficdb.Row) (at time.Time) {
		for _, r := range rows {
			if at.IsZero() || r.At.Before(at) {
				at = r.At
			}
		}
		return at
	}
	past := ledger{l.rows, trafficdb.Window{To: l.w.To}}
	days := map[string]bool{}
	var all []*trafficdb.Row
	for i := range l.rows {
		if r := &l.rows[i]; live(r) && past.holds(r.At) {
			all = append(all, r)
		}
	}
	out.FirstAt, out.LastAt = first(all), last(all)
	for _, r := range all {
		if !r.At.Before(out.LastAt.Truncate(24*time.Hour).AddDate(0, 0, -6)) {
			days[r.At.UTC().Format(time.DateOnly)] = true
		}
	}
	out.Days = len(days)
	for k, rows := range groups(past.touches(headline), func(r *trafficdb.Row) [2]string { return [2]string{r.Agent, r.Class} }) {
		a := change.Agent{
			Name: k[0], Class: k[1], FirstAt: first(only(rows, genuine)), Visits: count(rows, now, genuine), Before: count(rows, before, genuine),
			WeekAgo: count(rows, in(weekAgo), genuine), Spoofed: count(rows, now, spoofed), SpoofedBefore: count(rows, before, spoofed),
			SinceInWindow: first(only(rows, now, genuine)), SpoofedSinceInWindow: first(only(rows, now, spoofed)),
		}
		if a.Visits+a.Spoofed+a.Before+a.SpoofedBefore > 0 {
			t.Agents = append(t.Agents, a)
		}
	}
	slices.SortFunc(t.Agents, func(a, b change.Agent) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Class, b.Class))
	})
	for hour, rows := range groups(l.touches(headline, live, spoofed), func(r *trafficdb.Row) time.Time { return r.At.Truncate(time.Hour) }) {
		t.Spoofed = append(t.Spoofed, change.Hour{Start: hour, Visits: int64(len(rows))})
	}
	slices.SortFunc(t.Spoofed, func(a, b change.Hour) int { return a.Start.Compare(b.Start) })
	missing := past.touches(headline, genuine, func(r *trafficdb.Row) bool { return r.Status == 404 || r.Status == 410 })
	for k, rows := range groups(missing, func(r *trafficdb.Row) [2]string {
		return [2]string{r.Host, "/" + strings.Join(strings.Split(strings.Trim(r.Path, "/")+"/", "/")[:min(2, strings.Count(strings.Trim(r.Path, "/"), "/")+1)], "/")}
	}) {
		current := only(rows, now)
		f := change.Folder{Host: k[0], Path: k[1], Misses: int64(len(current)), Before: count(rows, before), FirstAt: first(rows)}
		f.Pages, f.Agents = int64(len(groups(current, func(r *trafficdb.Row) string { return r.Path }))), agentNames(current)
		if f.Misses > 0 {
			t.Missing = append(t.Missing, f)
		}
	}
	slices.SortFunc(t.Missing, func(a, b change.Folder) int {
		return cmp.Or(cmp.Compare(b.Misses, a.Misses), strings.Compare(a.Path, b.Path))
	})
	return out
}
