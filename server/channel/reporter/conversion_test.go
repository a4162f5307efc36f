package reporter_test

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/channel/trafficdb/traffictest"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func service(t *testing.T, rows ...trafficdb.Row) *reporter.Service {
	t.Helper()
	db, err := trafficdb.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for i := range rows {
		rows[i].Seq = int64(i) + 1
	}
	if err := db.Append(t.Context(), rows, int64(len(rows))); err != nil {
		t.Fatal(err)
	}
	return reporter.New(reporter.Config{DB: db, Now: func() time.Time { return now }})
}

func query(model attribution.Model) traffic.Query {
	return traffic.Query{From: now.AddDate(0, 0, -30), To: now, TZ: time.UTC, Model: model, Lookback: 30 * 24 * time.Hour}
}

func at(before time.Duration, r event.Record) trafficdb.Row {
	r.At = now.Add(-before)
	r.ReceivedAt = r.At
	return trafficdb.Row{Workspace: "w", Record: r}
}

const day = 24 * time.Hour

// sale is a paid order that two assistants led to, and a part of it taken back.
func sale() []trafficdb.Row {
	touch := func(before time.Duration, id, family, evidence string) trafficdb.Row {
		return at(before, event.Record{ID: id, Type: event.Touch, Class: "browser", Visitor: "v", Family: family, Evidence: evidence, Host: "acme.dev", Path: "/docs/" + id})
	}
	return []trafficdb.Row{
		touch(40*day, "old", "Gemini", "tag"),
		touch(9*day, "first", "ChatGPT", "referrer"),
		touch(8*day, "plain", "", ""),
		touch(7*day, "second", "Claude", "tag"),
		at(6*day, event.Record{ID: "paid", Type: event.Convert, Kind: "paid", Visitor: "v", Value: 4901, Currency: "USD", OrderID: "o"}),
		at(5*day, event.Record{ID: "back", Type: event.Convert, Kind: "refund", Value: -1000, Currency: "USD", OrderID: "r", RefundOf: "o"}),
		at(4*day, event.Record{ID: "signup", Type: event.Convert, Kind: "signup", Visitor: "stranger"}),
	}
}

func TestAConversionOpensToItsTouches(t *testing.T) {
	s := service(t, sale()...)
	for model, want := range map[attribution.Model]map[string]string{
		attribution.First:  {"old": "before_lookback", "first": "counted 49.01", "plain": "no_evidence", "second": "not_by_model"},
		attribution.Last:   {"old": "before_lookback", "first": "not_by_model", "plain": "no_evidence", "second": "counted 49.01"},
		attribution.Linear: {"old": "before_lookback", "first": "counted 24.51", "plain": "no_evidence", "second": "counted 24.50"},
	} {
		c, err := s.Conversion(t.Context(), "w", "paid", query(model))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, touch := range c.Touches {
			why := touch.Why
			if touch.Value != nil {
				why += " " + touch.Value.Amount
			}
			got[touch.Path[len("/docs/"):]] = why
		}
		for id, why := range want {
			if got[id] != why {
				t.Errorf("%s: %s is %q, want %q", model, id, got[id], why)
			}
		}
		if len(got) != len(want) || c.Value.Amount != "49.01" {
			t.Errorf("%s: %d touches of %v", model, len(got), c.Value)
		}
	}
}

func TestARefundLeadsToItsOrder(t *testing.T) {
	s := service(t, sale()...)
	c, err := s.Conversion(t.Context(), "w", "back", query(attribution.Linear))
	if err != nil {
		t.Fatal(err)
	}
	if c.Order != "paid" || len(c.Credits) != 2 || c.Credits[0].Value.Amount != "-5.00" || c.Applied.Amount != "-10.00" || len(c.Touches) != 0 {
		t.Errorf("got %+v", c)
	}
	for _, id := range []string{"none", "", "first"} {
		if _, err := s.Conversion(t.Context(), "w", id, query(attribution.First)); apierr.Of(err).Status != 404 {
			t.Errorf("conversion %q: %v", id, err)
		}
	}
	if _, err := s.Conversion(t.Context(), "another", "paid", query(attribution.First)); apierr.Of(err).Status != 404 {
		t.Errorf("another workspace has it: %v", err)
	}
}

// The days of a report have the revenue of agents, a refund on the day when it happened;
// health has the first event.
func TestDaysHaveTheRevenueOfAgents(t *testing.T) {
	s := service(t, sale()...)
	r, err := s.Report(t.Context(), "w", query(attribution.First))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range r.Source.Trend {
		for _, m := range d.Revenue {
			got[d.Day] += m.Amount + " " + m.Currency
		}
	}
	if want := map[string]string{"2026-11-15": "49.01 USD", "2026-11-16": "-10.00 USD"}; !maps.Equal(got, want) {
		t.Errorf("revenue by day: %v, want %v", got, want)
	}
	if first := r.Health.FirstEventAt; first == nil || *first != "2026-10-12T10:00:00Z" {
		t.Errorf("first event: %v", first)
	}
}

// TestLandingPagesHaveTheirConversions: landing pages have the landings of the window and the
// conversions of the credited visits, as the days and the assistants have; a page whose visits
// are all older than the window is there too.
func TestLandingPagesHaveTheirConversions(t *testing.T) {
	s := service(t, sale()...)
	for name, c := range map[string]struct {
		model  attribution.Model
		days   int
		filter traffic.Filter
		want   string
	}{
		"first touch":       {attribution.First, 30, traffic.Filter{}, "acme.dev/docs/first 1 1; acme.dev/docs/second 1 0; "},
		"last touch":        {attribution.Last, 30, traffic.Filter{}, "acme.dev/docs/second 1 1; acme.dev/docs/first 1 0; "},
		"older visits":      {attribution.First, 8, traffic.Filter{}, "acme.dev/docs/second 1 0; acme.dev/docs/first 0 1; "},
		"of an assistant":   {attribution.Linear, 30, traffic.Filter{Assistant: "Claude"}, "acme.dev/docs/second 1 0.5; "},
		"of a page":         {attribution.First, 30, traffic.Filter{Page: "acme.dev/docs/first"}, "acme.dev/docs/first 1 1; "},
		"half of it":        {attribution.Linear, 30, traffic.Filter{Page: "acme.dev/docs/first"}, "acme.dev/docs/first 1 0.5; "},
		"none of it":        {attribution.First, 30, traffic.Filter{Page: "acme.dev/docs/second"}, "acme.dev/docs/second 1 0; "},
		"of a folder":       {attribution.First, 30, traffic.Filter{Page: "/docs/*"}, "acme.dev/docs/first 1 1; acme.dev/docs/second 1 0; "},
		"people without it": {attribution.First, 8, traffic.Filter{Agent: "GPTBot"}, ""},
		"no class":          {attribution.First, 8, traffic.Filter{Class: "training_crawler"}, ""},
	} {
		q := query(c.model)
		q.From, q.Filter = now.AddDate(0, 0, -c.days), c.filter
		r, err := s.Report(t.Context(), "w", q)
		if err != nil {
			t.Fatal(err)
		}
		got, byPage, byDay, money := "", 0.0, 0.0, map[string]float64{}
		for _, l := range r.Source.Landings {
			got += fmt.Sprintf("%s%s %d %v; ", l.Host, l.Path, l.Landings, l.Conversions)
			if byPage += l.Conversions; l.Kinds["paid"] != l.Conversions {
				t.Errorf("%s: kinds of %s: %v", name, l.Path, l.Kinds)
			}
			for _, m := range l.Revenue {
				money[m.Currency] += amount(t, m.Amount)
			}
		}
		list, err := s.Conversions(t.Context(), "w", q, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		driven, listed := 0.0, 0.0
		for _, k := range r.Outcome.Conversions {
			driven += k.AgentDriven
		}
		for _, row := range list.Conversions {
			for _, credit := range row.Credits {
				if row.Kind != attribution.Refund {
					listed += credit.Share
				}
			}
		}
		for _, m := range r.Outcome.Revenue {
			money[m.Currency] -= amount(t, m.AgentDriven)
		}
		if c.filter.Agent+c.filter.Class == "" && (driven != byPage || listed != byPage || money["USD"] > .001 || money["USD"] < -.001) {
			t.Errorf("%s: %v conversions by page, %v in the outcome and %v in the list; the money differs by %v", name, byPage, driven, listed, money)
		}
		for _, d := range r.Source.Trend {
			byDay += d.Credited
		}
		if got != c.want || c.filter.Agent+c.filter.Class == "" && byPage != byDay {
			t.Errorf("%s: %q, %v by page and %v by day", name, got, byPage, byDay)
		}
		for _, a := range r.Outcome.TopAgents {
			if a.Kinds["paid"] != a.Conversions {
				t.Errorf("%s: kinds of %s: %v", name, a.Agent, a.Kinds)
			}
		}
	}
}

// TestTestsAreListedOnly: a check of an installation is in the list and in no number of a report, nor
// are its visit and its refund.
func TestTestsAreListedOnly(t *testing.T) {
	check := []trafficdb.Row{
		at(3*time.Hour, event.Record{ID: "visit", Type: event.Touch, Class: "none", Identity: "tester", Family: "ChatGPT", Evidence: "tag", Host: "acme.dev", Path: traffic.TestPath}),
		at(2*time.Hour, event.Record{ID: "test", Type: event.Convert, Kind: "test", Identity: "tester", Value: 700, Currency: "USD", OrderID: "firstpick-test"}),
		at(time.Hour, event.Record{ID: "undo", Type: event.Convert, Kind: "refund", Value: -700, Currency: "USD", OrderID: "u", RefundOf: "firstpick-test"}),
	}
	with, without := service(t, append(sale(), check...)...), service(t, sale()...)
	got, err := with.Report(t.Context(), "w", query(attribution.First))
	if err != nil {
		t.Fatal(err)
	}
	want, err := without.Report(t.Context(), "w", query(attribution.First))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Outcome, want.Outcome) || !reflect.DeepEqual(got.Source, want.Source) {
		t.Errorf("a test counts:\n%+v %+v\n%+v %+v", got.Outcome, got.Source, want.Outcome, want.Source)
	}
	list, err := with.Conversions(t.Context(), "w", query(attribution.First), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if list.Total != 5 || !list.Conversions[1].Test || list.Conversions[1].Credits[0].Agent != "ChatGPT" || list.Conversions[2].Test {
		t.Errorf("listed: %+v", list.Conversions)
	}
}

func amount(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestListsAreNewestFirstAndPaged(t *testing.T) {
	s := service(t, sale()...)
	for name, c := range map[string]struct {
		offset, limit, total int
		only                 traffic.Only
		want                 []string
	}{
		"all":            {0, 10, 3, "", []string{"signup", "back", "paid"}},
		"a page":         {1, 1, 3, "", []string{"back"}},
		"beyond the end": {9, 5, 3, "", nil},
		"before it":      {-5, 1, 3, "", []string{"signup"}},
		"no more":        {0, -1, 3, "", nil},
		"credited":       {0, 10, 2, traffic.OnlyCredited, []string{"back", "paid"}},
		"possible":       {0, 10, 0, traffic.OnlyPossible, nil},
	} {
		q := query(attribution.First)
		q.Only = c.only
		list, err := s.Conversions(t.Context(), "w", q, c.offset, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range list.Conversions {
			got = append(got, row.ID)
		}
		if list.Total != c.total || len(got) != len(c.want) {
			t.Errorf("%s: %v of %d, want %v of %d", name, got, list.Total, c.want, c.total)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
}

// The list, the drill-down and the report's totals are of one mind.
func TestListAndDrillDownAgreeWithTheReport(t *testing.T) {
	var rows []trafficdb.Row
	for row := range traffictest.Rows(traffictest.Options{Seed: 3, Events: 6000, Workspaces: 1, Days: 60, End: now}) {
		row.Workspace = "w"
		rows = append(rows, row)
	}
	s := service(t, rows...)
	for _, model := range []attribution.Model{attribution.First, attribution.Position} {
		q := query(model)
		report, err := s.Report(t.Context(), "w", q)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.Conversions(t.Context(), "w", q, 0, traffic.MaxLimit)
		if err != nil {
			t.Fatal(err)
		}
		kinds, driven, possible := map[string]int{}, map[string]float64{}, map[string]int{}
		opened := 0
		for _, c := range list.Conversions {
			kinds[c.Kind]++
			shares := 0.0
			for _, credit := range c.Credits {
				shares += credit.Share
			}
			driven[c.Kind] += shares
			if c.Possible != nil {
				possible[c.Kind]++
			}
			if c.Kind == attribution.Refund || len(c.Credits) == 0 || opened == 20 {
				continue
			}
			opened++
			one, err := s.Conversion(t.Context(), "w", c.ID, q)
			if err != nil {
				t.Fatal(err)
			}
			touches := 0.0
			for _, touch := range one.Touches {
				touches += touch.Share
			}
			if touches-shares > 1e-9 || shares-touches > 1e-9 {
				t.Errorf("%s, %s: its touches have %v, its agents %v", model, c.ID, touches, shares)
			}
		}
		if opened == 0 {
			t.Error("no conversion is credited to an agent")
		}
		for _, k := range report.Outcome.Conversions {
			if kinds[k.Kind] != k.Total || driven[k.Kind]-k.AgentDriven > 1e-6 || k.AgentDriven-driven[k.Kind] > 1e-6 || possible[k.Kind] != k.Possible {
				t.Errorf("%s, %s: the list has %d, %v and %d, the report %+v", model, k.Kind, kinds[k.Kind], driven[k.Kind], possible[k.Kind], k)
			}
		}
	}
}

func TestOnlyThePartsThatAreAskedFor(t *testing.T) {
	s := service(t, append(sale(), at(day, event.Record{ID: "g", Type: event.Touch, Class: "user_fetch", Agent: "ChatGPT-User", Status: 200, Path: "/docs/a"}))...)
	q := query(attribution.First)
	q.Parts = traffic.PartNone
	r, err := s.Report(t.Context(), "w", q)
	if err != nil {
		t.Fatal(err)
	}
	if r.Health.LastEventAt == nil || len(r.Outcome.Conversions)+len(r.Source.Agents)+len(r.Source.Trend)+len(r.Source.Pages) > 0 {
		t.Errorf("none is asked for: %+v", r)
	}
	q.Parts = traffic.PartAgents | traffic.PartOutcome
	if r, err = s.Report(t.Context(), "w", q); err != nil || len(r.Outcome.Conversions) == 0 || len(r.Source.Agents) != 1 || len(r.Source.Trend) != 0 {
		t.Errorf("two are asked for: %+v, %v", r, err)
	}
	q.Parts = 0
	if r, err = s.Report(t.Context(), "w", q); err != nil || len(r.Outcome.Conversions) == 0 || len(r.Source.Pages) != 1 || len(r.Source.Trend) == 0 {
		t.Errorf("all is asked for: %+v, %v", r, err)
	}
}
