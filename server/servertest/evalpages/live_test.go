package evalpages_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/servertest/chrome"
	"github.com/firstpick/firstpick/server/store/state"
)

// pass moves the clock on, so that who watches looks again.
func pass(s *servertest.Service) { s.Clock.Add(2 * time.Second) }

// A page that is open follows its run: it waits, is taken, goes on, and shows what came
// of it. Nothing is typed or clicked.
func TestARunIsWatched(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	r := o.start(o.put(payments))
	b := chrome.New(t, s.URL, o.http.Jar)
	b.Open(o.at("/runs/" + r.ID))
	field := func(name string) string {
		return `document.querySelector('[data-field="` + name + `"]').textContent`
	}
	b.Until("the page listens", field("link")+` === "live"`)
	if got := chrome.Eval[string](b, field("status")); got != "Queued" {
		t.Errorf("at first it is %s", got)
	}
	row := o.begin()
	pass(s)
	b.Until("it says that a worker took it", field("status")+` === "Running" && `+field("log")+`.includes("A worker started the run.") && !document.body.textContent.includes("Waiting for a worker.")`)
	s.AppendEvent(t, row, progressBody)
	pass(s)
	b.Until("it counts trials", field("valid")+` === "31" && `+field("excluded")+` === "2" && `+field("left")+` === "39" && `+field("done")+` === "45%"`)
	b.Until("it counts money", field("spent")+` === "$0.42" && `+field("atMost")+` === "$1.10"`)
	b.Until("it draws bars", `document.querySelector('[data-field="bar-valid"]').getBoundingClientRect().width > 100 && document.querySelector('[data-field="bar-spent"]').getAttribute("width") === "8.4%"`)
	b.Until("it tells of providers", field("lanes")+` === "anthropic claude-sonnet-4-5sonnet, claude-codefull speed–openai gpt-5.1gptwaitingrate limited by the provider: 429" && !document.querySelector('[data-field="lanes"]').closest("section").hidden`)
	s.AppendEvent(t, row, `{"type":"progress","planned":72,"valid":40,"excluded":2,"inFlight":6,"spentUsd":0.52,"atMostUsd":0.6,"lanes":[{"name":"<img src=x onerror=alert(1)>","agents":["<b>"],"phase":"closed","reason":"auth: <i>no</i>"}]}`)
	pass(s)
	b.Until("names are texts", field("lanes")+` === "<img src=x onerror=alert(1)><b>closedinvalid key: <i>no</i>"`)
	// A reload shows the same without waiting for an event.
	status, body := o.get(o.at("/runs/" + r.ID))
	if said := text(body); status != http.StatusOK || !strings.Contains(said, "Valid 40") || !strings.Contains(said, "invalid key: <i>no</i>") || !strings.Contains(body, `/events?after=3"`) {
		t.Errorf("the page: %s", said)
	}
	s.Finish(t, row, bundleNow)
	pass(s)
	b.Until("the result is there", `document.querySelector("h2") && document.body.textContent.includes("Agents side by side")`)
}

// The stream begins behind what a browser has, and ends with the run.
func TestTheStream(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	r := o.start(o.put(payments))
	row := o.begin()
	s.AppendEvent(t, row, progressBody)
	s.Finish(t, row, bundleNow)
	for after, want := range map[string]string{"": "started progress ended", "1": "progress ended", "2": "ended", "3": "ended"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+o.at("/runs/"+r.ID+"/events?after=0"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if after != "" {
			req.Header.Set("Last-Event-ID", after)
		}
		resp, err := o.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		kind := resp.Header.Get("Content-Type")
		status, body := read(t, resp)
		var got []string
		for line := range strings.Lines(body) {
			if name, found := strings.CutPrefix(line, "event: "); found {
				got = append(got, strings.TrimSpace(name))
			}
		}
		if status != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") || strings.Join(got, " ") != want {
			t.Errorf("after %q: %d %s %v, want %s", after, status, kind, got, want)
		}
	}
}

// Who signs out, elsewhere too, watches no longer than a quarter of a minute.
func TestSigningOutEndsTheStream(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	r := o.start(o.put(payments))
	row := o.begin()
	resp, err := o.http.Get(s.URL + o.at("/runs/"+r.ID+"/events"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	s.Clock.Doze(1)
	if status, _ := o.post("/signout", url.Values{"form_token": {o.formToken()}}); status != http.StatusOK {
		t.Fatalf("signing out: %d", status)
	}
	s.Finish(t, row, bundleNow)
	s.Clock.Add(16 * time.Second)
	_, body := read(t, resp)
	if !strings.Contains(body, "event: started") || strings.Contains(body, "event: ended") {
		t.Errorf("watched on: %s", body)
	}
}

// Without script everything can be done: write an eval, mend it, run it, look again,
// cancel, filter and read.
func TestWithoutScript(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	b := chrome.New(t, s.URL, o.http.Jar)
	b.NoScript(true)
	body := func() string {
		return chrome.Get(b, chromedp.Text(chromedp.CSS("body")))
	}
	holds := func(want string) {
		t.Helper()
		if got := body(); !strings.Contains(got, want) {
			t.Fatalf("no %q in %s", want, got)
		}
	}
	click := func(selector string) { t.Helper(); b.Load(chromedp.Click(chromedp.CSS(selector))) }
	b.Open(o.at("/evals"))
	click("form.inline button")
	holds("New eval")
	b.Do(chromedp.SendKeys(chromedp.CSS("#source"), "\nnonsense: 1\n"))
	click("button[value=save]")
	holds("1 error")
	b.Do(chromedp.Click(chromedp.CSS("summary")))
	e := o.put(payments)
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	b.Open(o.at("/evals/" + e.ID))
	click("#start button")
	holds("Waiting for a worker.")
	holds("Refresh")
	row := o.begin()
	s.AppendEvent(t, row, progressBody)
	click(".actions a")
	holds("rate limited by the provider")
	b.Do(chromedp.Click(chromedp.CSS(".danger summary")))
	click(".danger button")
	holds("Cancellation requested.")
	s.Finish(t, row, bundleNow)
	b.Open(o.at("/runs/" + row.ID))
	holds("Agents side by side")
	click(".pills a[href$='/traces']")
	b.Do(chromedp.SendKeys(chromedp.CSS("#picked"), "acorn"))
	click(".fields button")
	if got := chrome.Get(b, chromedp.Location()); !strings.Contains(got, "picked=acorn") {
		t.Fatalf("filtered at %s", got)
	}
	click(".rows th a")
	holds("Evidence")
}

// TestKeyboardAlone goes the same way on a telephone's width without a pointer.
func TestKeyboardAlone(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	b := chrome.New(t, s.URL, o.http.Jar)
	b.Size(390)
	press := func() { t.Helper(); b.Load(chromedp.KeyEvent(kb.Enter)) }
	title := func(want string) {
		t.Helper()
		if got := chrome.Get(b, chromedp.Title()); !strings.HasPrefix(got, want) {
			t.Fatalf("at %q, want %q", got, want)
		}
	}
	b.Open(o.at("/settings"))
	b.TabTo(".skip")
	b.TabTo(".tabs a[href$='/evals']")
	press()
	title("Evals")
	b.TabTo("#category")
	b.Do(chromedp.KeyEvent("Pay"))
	b.TabTo("form.inline button")
	press()
	title("New eval")
	if got := chrome.Eval[string](b, `document.querySelector("#source").value.split("\n")[1]`); got != "category: payments" {
		t.Fatalf("it begins with %q", got)
	}
	b.TabTo("#source")
	b.Do(chromedp.KeyEvent("nonsense: 1\n"))
	b.TabTo("button[value=check]")
	press()
	b.TabTo("a[data-line]")
	b.Do(chromedp.KeyEvent(kb.Enter))
	if got := chrome.Eval[string](b, `(e => e === document.activeElement ? e.value.slice(e.selectionStart, e.selectionEnd) : "elsewhere")(document.querySelector("#source"))`); !strings.Contains(got, "nonsense") {
		t.Fatalf("the link to the line selects %q of %q", got, chrome.Eval[string](b, `document.querySelector(".problems").textContent + document.querySelector("#source").value`))
	}
	b.Do(chromedp.KeyEvent(kb.Delete))
	b.TabTo("button[value=save]")
	press()
	title("payments")
	b.TabTo("#budget")
	b.TabTo("#start button")
	press()
	title("payments")
	run, err := latest(o)
	if err != nil {
		t.Fatal(err)
	}
	o.write(func(ctx context.Context, tx *state.Tx) error {
		r, err := tx.ClaimRun(ctx, "w", s.Clock.Now(), time.Minute)
		return errors.Join(err, tx.FinishRun(ctx, r.Lease(), s.Clock.Now(), state.RunOutcome{Status: state.RunDone, Bundle: o.place(bundleNow), RunProgress: state.RunProgress{Planned: 72, Valid: 69}}))
	})
	b.Open(o.at("/runs/" + run.ID))
	b.TabTo(".pills a[href$='/traces']")
	press()
	title("Traces of payments")
	b.TabTo("#agent")
	b.Do(chromedp.KeyEvent("cl"))
	b.TabTo(".fields button")
	press()
	b.TabTo(".rows th a")
	press()
	title("Trial ")
	b.TabTo(".evidence th a")
	b.Do(chromedp.KeyEvent(kb.Enter))
	if !chrome.Eval[bool](b, `document.querySelector("mark:target") !== null`) {
		t.Fatal("the evidence does not lead to its place")
	}
	b.TabTo("a[rel=next]")
	press()
	title("Trial ")
	b.Open(o.at("/settings/evals"))
	b.TabTo("#label")
	b.Do(chromedp.KeyEvent("ci"))
	b.TabTo("#scope-run")
	b.Do(chromedp.KeyEvent(" "))
	b.TabTo("form[action$='/evals/keys'] button")
	press()
	title("Your new key")
	keys, err := s.Evals.Keys(t.Context(), o.actor())
	if err != nil || len(keys) != 1 || strings.Join(keys[0].Scopes, " ") != "read" {
		t.Fatalf("%+v %v", keys, err)
	}
}

func latest(o *owner) (*evals.Run, error) {
	runs, _, err := o.s.Evals.Runs(o.t.Context(), o.actor(), evals.RunQuery{Limit: 1})
	if err == nil && len(runs) != 1 {
		err = errors.New("no run")
	}
	if err != nil {
		return nil, err
	}
	return runs[0], nil
}
