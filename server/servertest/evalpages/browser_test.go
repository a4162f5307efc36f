package evalpages_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/firstpick/firstpick/server/servertest/chrome"
	"github.com/firstpick/firstpick/server/servertest/vnu"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestPagesInARealBrowser leads a browser to every page, light and dark, wide and
// narrow.
func TestPagesInARealBrowser(t *testing.T) {
	s := newService(t)
	empty, free := newOwner(t, s, "empty", "paid"), newOwner(t, s, "free", "free")
	o := newOwner(t, s, "acme", "paid")
	axe := chrome.Axe(t)
	e, before, now, live := o.fill()
	empty.signIn()
	free.signIn()
	row := o.begin()
	s.AppendEvent(t, row, progressBody)
	b := chrome.New(t, s.URL, o.http.Jar)
	small := newOwner(t, s, "small", "paid")
	small.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	outcomes := small.start(small.put(payments))
	small.end(outcomes, bundleSmall, state.RunOutcome{Status: state.RunCancelled, Failure: "somebody ended it", RunProgress: state.RunProgress{Planned: 12, Valid: 10, Excluded: 1, SpentMicros: 145_000, AtMostMicros: 165_000}})

	mustSend := func(path string, pairs ...string) {
		t.Helper()
		if status, body := o.send(path, pairs...); status != 200 {
			t.Fatalf("%s: %d %s", path, status, body)
		}
	}
	mustSend("/settings/evals/keys", "label", "nightly job", "scope", "read", "scope", "run")
	mustSend("/settings/evals/keys", "label", "reports <b>only</b>", "scope", "read")
	markup := map[string]string{}
	_, markup["key"] = o.send("/settings/evals/keys", "label", "another", "scope", "read")
	hostile := o.trial(now, "claude-code", "Acorn Pay.</code>")
	for _, p := range []struct{ name, path string }{
		{"list", o.at("/evals")},
		{"runs", o.at("/runs")},
		{"runs-none", o.at("/runs?status=cancelled")},
		{"new", o.at("/evals/new")},
		{"eval-open", o.at("/evals/" + e.ID + "?done=saved")},
		{"edit", o.at("/evals/" + e.ID + "/edit")},
		{"version", o.at("/evals/" + e.ID + "/versions/1")},
		{"catalogue-none-open", o.at("/evals/catalog")},
		{"schedule-none", o.at("/evals/" + e.ID + "/schedule")},
		{"live-open", o.at("/runs/" + live.ID)},
		{"result-open", o.at("/runs/" + now.ID)},
		{"result-synthetic", o.at("/runs/" + before.ID)},
		{"traces", o.at("/runs/" + now.ID + "/traces")},
		{"traces-filter", o.at("/runs/" + now.ID + "/traces?agent=claude-code&outcome=tool&picked=acorn")},
		{"traces-none", o.at("/runs/" + now.ID + "/traces?picked=nothing")},
		{"trace", o.trial(now, "claude-code", "Checkout works.")},
		{"trace-mismatch", o.trial(now, "claude-code", "The answer text names")},
		{"trace-attempts-open", o.trial(now, "gpt", "come back in 8 s")},
		{"trace-hostile-open", hostile},
		{"compare-none", o.at("/runs/" + now.ID + "/compare")},
		{"compare-open", o.at("/runs/" + now.ID + "/compare?with=" + before.ID)},
		{"explain-tools", o.at("/runs/" + now.ID + "/explain")},
		{"explain-open", o.at("/runs/" + now.ID + "/explain?tool=dogwood")},
		{"explain-hostile-open", o.at("/runs/" + now.ID + "/explain?tool=elm")},
		{"explain-unknown", o.at("/runs/" + now.ID + "/explain?tool=dogwod")},
		{"keys", o.at("/settings/evals?done=provider")},
		{"settings", o.at("/settings")},
		{"not-found", o.at("/runs/run_none")},
	} {
		b.Open(p.path)
		b.Look(p.name, axe)
		_, markup[p.name] = o.get(p.path)
	}
	_, body := o.get(o.at("/runs"))
	failed := regexp.MustCompile(`/runs/(run_[\w-]+)">[^<]*</a><span class="sub"><bdi>payments</bdi>, version 2</span></th><td data-label="State"><span class="state bad"`).FindStringSubmatch(body)
	if failed == nil {
		t.Fatalf("no failed run in %s", body)
	}
	b.Open(o.at("/runs/" + failed[1]))
	b.Look("failed", axe)
	b.Open(o.at("/evals/new"))
	b.Script(`document.querySelector("textarea").value = "name: x\ncategory: nothing\nprompts:\n  - {id: a, txt: Which?}\n  - {id: a, text: Again?}\nagents: []\n"`)
	b.Load(chromedp.Click(chromedp.CSS("button[value=check]")))
	b.Look("edit-wrong-open", axe)
	catalogue := o.at("/evals/catalog")
	b.Open(catalogue)
	b.Do(chromedp.Click(chromedp.CSS(".why:has(.editor) > summary")))
	b.Script(`document.querySelector("textarea").value += "  - {slug: acme, nam: Acme}\n---\ncategory: {slug: nothing}\ntools: []\n"`)
	b.Load(chromedp.Click(chromedp.CSS("button[value=check]")))
	b.Look("catalogue-wrong-open", axe)
	b.Open(catalogue)
	b.Do(chromedp.Click(chromedp.CSS(".why:has(.editor) > summary")))
	b.Load(chromedp.Click(chromedp.CSS("button[value=save]")))
	b.Look("catalogue", axe)
	_, markup["catalogue"] = o.get(catalogue)
	b.Open(catalogue + "/versions/1")
	b.Look("catalogue-version", axe)
	b.Open(o.at("/evals/" + e.ID + "/edit"))
	b.Load(chromedp.Click(chromedp.CSS("button[value=check]")))
	b.Look("edit-checked", axe)
	schedule := o.at("/evals/" + e.ID + "/schedule")
	b.Open(schedule)
	b.Script(`for (const [name, value] of Object.entries({cron: "30 6 * * MON", zone: "Europe/Berlin", budget: "5", month: "50"})) document.querySelector(` + "`main [name=${name}]`" + `).value = value`)
	b.Load(chromedp.Click(chromedp.CSS("form[action$='/schedule'] button")))
	b.Look("schedule-open", axe)
	_, markup["schedule"] = o.get(schedule)
	b.Open(o.at("/settings/evals"))
	b.Load(chromedp.Click(chromedp.CSS("form[action$='/evals/keys'] button")))
	b.Look("key", axe)
	b = chrome.New(t, s.URL, empty.http.Jar)
	b.Open(empty.at("/evals"))
	b.Look("empty", axe)
	b.Open(empty.at("/evals/measure"))
	b.Look("measure", axe)
	b.Script(`document.querySelector("#address").value = "unreadable.example"`)
	b.Load(chromedp.Click(chromedp.CSS("button[value=read]")))
	b.Look("measure-unread", axe)
	_, markup["measure-unread"] = empty.send("/evals/measure", "address", "unreadable.example", "do", "read")
	b.Script(`document.querySelector("#address").value = "quill.example"`)
	b.Load(chromedp.Click(chromedp.CSS("button[value=read]")))
	b.Look("measure-proposal-open", axe)
	_, markup["measure"] = empty.send("/evals/measure", "address", "quill.example", "do", "read")
	b.TabTo("button[value=run]")
	b.Script(`document.querySelector("#prompts").value = ""; document.querySelector("#endpoint-url").value = "nothing"`)
	b.Load(chromedp.Click(chromedp.CSS(".actions button[value=check]")))
	b.Look("measure-wrong-open", axe)
	e = empty.put(payments)
	b.Open(empty.at("/evals/" + e.ID))
	b.Look("eval-keys-missing", axe)
	b.Open(empty.at("/settings/evals"))
	b.Look("keys-missing", axe)
	form := proposal(t, markup["measure"])
	form.Set("form_token", empty.formToken())
	form.Set("do", "save")
	empty.post(empty.at("/evals/measure"), form)
	list, _, err := s.Evals.Evals(t.Context(), empty.actor(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, quill := range list {
		if quill.Name == "quill" {
			b.Open(empty.at("/evals/measure?eval=" + quill.ID))
			b.Look("measure-again-open", axe)
			_, markup["measure-again"] = empty.get(empty.at("/evals/measure?eval=" + quill.ID))
		}
	}
	if !strings.Contains(markup["measure-again"], "of your eval") {
		t.Error("the form of a stored eval was not looked at")
	}
	b = chrome.New(t, s.URL, free.http.Jar)
	for name, path := range map[string]string{"free-list": "/evals", "free-new": "/evals/new", "free-keys": "/settings/evals"} {
		b.Open(free.at(path))
		b.Look(name, axe)
	}
	b = chrome.New(t, s.URL, small.http.Jar)
	b.Open(small.at("/runs/" + outcomes.ID))
	b.Look("result-outcomes", axe)
	b.Open(small.at("/runs/" + outcomes.ID + "/traces"))
	b.Look("traces-outcomes", axe)
	t.Run("markup", func(t *testing.T) { vnu.Check(t, "..", markup) })
	if strings.Contains(s.Log.String(), "a page failed") || strings.Contains(s.Log.String(), "cannot be rendered") {
		t.Errorf("a page failed: %s", s.Log.String())
	}
}
