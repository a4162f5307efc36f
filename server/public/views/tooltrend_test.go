package views

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server/kit/render"
)

// TestToolTrend: a page of a tool draws its rate over the snapshots, and says where there is only
// one; it says nothing while the snapshots before are not known.
func TestToolTrend(t *testing.T) {
	b, _ := measured(1)
	for name, tt := range map[string]struct {
		trends   []nights.Series
		has, not []string
	}{
		"not known": {nil, nil, []string{"rend", "snapshot so far"}},
		"one":       {[]nights.Series{series(1)}, []string{"Measured once so far, on 1 March 2026", "history?tool=gin"}, []string{"Trend"}},
		"many":      {[]nights.Series{series(5)}, []string{"Trend", "24.0%", "+4.0", "1 March 2026", "5 snapshots", "3 reworded", "history?tool=gin"}, []string{"One snapshot", "no change shown"}},
	} {
		r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{b}, Trends: tt.trends})
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Page("/tools/gin")
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{strings.ReplaceAll(string(p.HTML), "&#43;", "+"), string(p.Markdown)} {
			_, form, _ = strings.Cut(form, "<main")
			if form == "" {
				form = string(p.Markdown)
			}
			for _, part := range tt.has {
				if !strings.Contains(form, part) {
					t.Errorf("%s lacks %q:\n%s", name, part, form)
				}
			}
			for _, part := range tt.not {
				if strings.Contains(form, part) {
					t.Errorf("%s has %q:\n%s", name, part, form)
				}
			}
		}
	}
}
