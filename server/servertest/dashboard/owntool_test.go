package dashboard_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/servertest/chrome"
	"github.com/firstpick/firstpick/server/servertest/vnu"
	"github.com/firstpick/firstpick/server/store/state"
)

// newBoardDesk is a desk on a server with a published board of web servers: flask leads.
func newBoardDesk(t *testing.T) *desk {
	return newDesk(t, servertest.Options{Server: func(c *server.Config) {
		site, source := archivetest.Published(t)
		holder := &snapshotview.Holder{}
		holder.Set(site)
		c.Source, c.Archive = holder, source
	}})
}

// A workspace finds its tool by its site, chooses it, and sees its pick rate first.
func TestTheOwnToolComesFirst(t *testing.T) {
	d := newBoardDesk(t)
	o := newOwner(t, d, "dana@example.com")
	d.load(t, newSite(o.id, d.Clock.Now(), 300).rows...)
	want := func(where, body string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(body, text) {
				t.Errorf("%s: %q is missing", where, text)
			}
		}
	}
	_, body := o.get(o.at(""))
	want("nothing chosen", body, "Not measured yet", "Measure your tool first", o.at("/evals/measure"))
	o.send("", url.Values{"site": {"https://forum.djangoproject.com"}, "retention": {"90"}})
	_, body = o.get(o.at(""))
	want("a proposal", body, "Is Django your tool?")
	_, body = o.get(o.at("/settings"))
	want("settings", body, "Your site belongs to <b>Django</b>", "This is my tool")
	_, body = o.get(o.at("/settings?find=flas"))
	want("search", body, "<code>flask</code>", "measured in ", `aria-label="Choose Flask"`)
	_, body = o.get(o.at("/settings?find=%3Cscript%3E"))
	want("no match", body, "No tool of the catalogue has this name", `value="&lt;script&gt;"`)
	if status, body := o.send("/tool", url.Values{"tool": {"no-such-tool"}}); status != 422 || !strings.Contains(body, "The catalogue has no such tool.") {
		t.Errorf("an unknown tool: %d", status)
	}
	_, body = o.send("/tool", url.Values{"tool": {"django"}, "digest": {"1"}})
	want("chosen", body, "Your tool is saved.", "<code>django</code>", "Turn weekly mail off")
	_, body = o.get(o.at(""))
	want("overview", body, "Pick rate of Django", "95% interval ", " · rank 3 of ", "public board of ", "▲ ", "which may be chance", "Prompts lost", "Another tool is picked more often than Django on ")
	tiles := body[strings.Index(body, `<dl class="tiles">`):]
	if first := tiles[strings.Index(tiles, "<dt>"):strings.Index(tiles, "</dt>")]; !strings.Contains(first, "Pick rate of Django") {
		t.Errorf("the first tile is %s", first)
	}
	gaps, lost := strings.Index(body, `id="h-gaps"`), strings.Index(body, `id="h-lost"`)
	if between := body[gaps:lost]; gaps < 0 || lost < gaps || strings.Count(between, "<section") != 1 {
		t.Error("the lost prompts do not stand beside the gaps")
	}
	if !regexp.MustCompile(`<span class="sub clamp">Flask · Build `).MatchString(body) {
		t.Error("no prompt is lost to Flask")
	}
	o.send("/tool", url.Values{"tool": {"django-orm"}})
	_, body = o.get(o.at(""))
	want("not measured", body, "Django ORM is on no public board of this server", "Run an eval to measure it.", "Measure my tool")
	_, body = o.send("/tool", url.Values{"tool": {""}})
	want("ended", body, "No tool is followed any more.")
}

// A workspace without events sees the pick rate too, above the steps of the installation.
func TestTheOwnToolWithoutEvents(t *testing.T) {
	o := newOwner(t, newBoardDesk(t), "dana@example.com")
	o.send("/tool", url.Values{"tool": {"flask"}})
	if _, body := o.get(o.at("")); !strings.Contains(body, "Pick rate of Flask") || !strings.Contains(body, "Waiting for the first event") || strings.Contains(body, "How often do agents pick your tool?") {
		t.Error("the pick rate is missing, or is asked for")
	}
}

func TestSlackWebhookInSettings(t *testing.T) {
	o := newOwner(t, newDesk(t, servertest.Options{}), "dana@example.com")
	if status, _ := o.send("/webhooks", url.Values{"url": {"https://hooks.slack.example/T0/B0"}, "format": {"slack"}}); status != 200 {
		t.Errorf("status %d", status)
	}
	if _, body := o.get(o.at("/settings")); !strings.Contains(body, `<span class="tag">Slack</span>`) {
		t.Error("the webhook is not shown as one of Slack")
	}
}

// TestOwnToolInARealBrowser looks at the pages in all widths, with axe.
func TestOwnToolInARealBrowser(t *testing.T) {
	d := newBoardDesk(t)
	o := newOwner(t, d, "dana@example.com")
	b := chrome.New(t, d.URL, o.http.Jar)
	d.load(t, newSite(o.id, d.Clock.Now(), 2000).rows...)
	o.send("", url.Values{"site": {"https://djangoproject.com"}, "retention": {"90"}})
	source, markup := chrome.Axe(t), map[string]string{}
	look := func(name, path string) {
		t.Helper()
		b.Open(path)
		b.Look(name, source)
		_, markup[name] = o.get(path)
	}
	look("own-none", o.at(""))
	look("own-settings", o.at("/settings?find=flask"))
	b.Open(o.at("/settings"))
	b.Load(chromedp.Click(chromedp.CSS("form[action$='/settings/tool'] button")))
	look("own-overview", o.at(""))
	look("own-chosen", o.at("/settings"))
	t.Run("markup", func(t *testing.T) { vnu.Check(t, "..", markup) })
}

// Without a public board, the runs of an own eval are compared with one another.
func TestTheOwnToolOfOwnEvals(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	var w *state.Workspace
	if err := d.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
		var err error
		if err := tx.SetPlanOf(t.Context(), o.id, state.PlanPaid); err != nil {
			return err
		}
		w, err = tx.Workspace(t.Context(), o.id)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	eval, _ := d.Ready(t, w)
	for i, results := range []string{"before", "now"} {
		if i > 0 {
			if _, _, err := d.Evals.Start(t.Context(), servertest.Owner(w), evals.StartRequest{EvalID: eval.ID, BudgetUSD: 5}); err != nil {
				t.Fatal(err)
			}
		}
		d.Clock.Add(5 * time.Minute)
		d.Finish(t, d.Begin(t), "../evalpages/testdata/bundles/"+results)
		if m, err := d.Evals.Measured(t.Context(), o.id, "acorn"); err != nil || m == nil || len(m.Nights) != i+1 { // the second is added to the first
			t.Fatalf("%+v, %v", m, err)
		}
		o.send("/tool", url.Values{"tool": {"acorn"}})
		const mark = "Not a measurement: simulated agents gave the answers."
		if _, body := o.get(o.at("")); strings.Contains(body, mark) != (results == "before") {
			t.Errorf("%s: the mark of simulated agents", results)
		}
	}
	m, err := d.Evals.Measured(t.Context(), o.id, "acorn")
	if err != nil || m == nil || m.Source != picks.Own || len(m.Nights) != 2 || len(m.Board.Prompts) == 0 || m.Board.Prompts[0].Text == "" {
		t.Fatalf("%+v, %v", m, err)
	}
	if birch, err := d.Evals.Measured(t.Context(), o.id, "birch"); err != nil || len(birch.Lost()) == 0 || !strings.HasPrefix(birch.Lost()[0].URL, m.URL+"/traces?prompt=") {
		t.Errorf("the prompts that another tool loses: %+v, %v", birch, err)
	}
	if other, err := d.Evals.Measured(t.Context(), "ws_other", "acorn"); other != nil || err != nil {
		t.Errorf("another workspace: %+v, %v", other, err)
	}
	if _, body := o.get(o.at("/settings?find=ACO")); !strings.Contains(body, "<code>acorn</code>") || !strings.Contains(body, "(own eval)") {
		t.Error("the tools of own evals are not found")
	}
	o.send("/tool", url.Values{"tool": {""}, "digest": {"1"}})
	if _, body := o.get(o.at("")); !strings.Contains(body, "Which of these tools is yours?") || !strings.Contains(body, `<option value="acorn">`) {
		t.Error("the overview does not ask for the own tool")
	}
	_, body := o.send("/tool", url.Values{"tool": {"acorn"}, "from": {"overview"}})
	if strings.Contains(body, "Which of these tools is yours?") {
		t.Error("the overview asks for a tool that is chosen")
	}
	// The tile and the comparison of the two runs have one verdict, and the days of the runs.
	c := m.Change
	if c == nil || !c.Since.Equal(m.Nights[0].At) || !strings.Contains(body, "since 21 Nov: "+html.EscapeString(c.Verdict())) {
		t.Fatalf("the change since the run before: %+v", c)
	}
	if status, compared := o.get(strings.TrimPrefix(c.URL, d.URL)); status != 200 || !strings.Contains(compared, html.EscapeString(picks.PValue(c.P))) || !strings.Contains(compared, "last answer 21 Nov 2026, ") || !strings.Contains(body, html.EscapeString(c.URL)) {
		t.Errorf("%s: %d %s", c.URL, status, compared)
	}
	runs, err := d.Agents.DB.Read().Runs(t.Context(), o.id, state.RunFilter{Status: state.RunDone}, 10) // the newest first
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for i, r := range runs {
		_, page := o.get(o.at("/runs/" + r.ID))
		if has := strings.Contains(page, " since 21 Nov 2026: "+html.EscapeString(c.Verdict())) && strings.Contains(page, html.EscapeString(c.URL)+`">Compare the runs</a>`); has != (i == 0) {
			t.Errorf("run %d has the change since the run before: %t", i, has)
		}
	}
	if now, err := d.Agents.DB.Read().PickWatch(t.Context(), o.id); err != nil || now.Tool != "acorn" || now.DigestOff {
		t.Errorf("it follows %+v, %v", now, err)
	}
	for _, want := range []string{"Pick rate of Acorn", "<b>75%</b>", `<p class="span"><span>` + chart.Percent(m.Nights[0].Tools[0].PickRate) + ` on 21 Nov 2026</span><span>75% on 21 Nov 2026`, "your run on Payments, 21 Nov 2026", "▲ ", `href="` + m.URL, `href="` + m.URL + `/explain">Reasons`, `<span class="mine"><bdi>Acorn`} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing", want)
		}
	}
}
