package evalpages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// pages are the paths of every page of a workspace with an eval and two runs.
func pages(e *evals.Eval, before, now *evals.Run, trial string) []string {
	run := "/runs/" + now.ID
	return []string{
		"/evals", "/evals/catalog", "/evals/new", "/evals/measure", "/evals/" + e.ID, "/evals/" + e.ID + "/edit", "/evals/" + e.ID + "/versions/1", "/evals/" + e.ID + "/schedule", "/runs", "/runs?eval=" + e.ID + "&status=done",
		run, run + "/traces", run + "/traces/" + trial, run + "/compare", run + "/compare?with=" + before.ID, run + "/explain", run + "/explain?tool=birch", "/settings/evals",
	}
}

// forms are the paths that forms go to.
func forms(e *evals.Eval, r *evals.Run) []string {
	return []string{
		"/evals/new", "/evals/catalog", "/evals/measure", "/evals/" + e.ID + "/edit", "/evals/" + e.ID + "/runs", "/runs/" + r.ID + "/cancel", "/settings/evals/keys", "/settings/evals/keys/revoke",
		"/settings/evals/providers", "/settings/evals/providers/remove",
		"/evals/" + e.ID + "/schedule", "/evals/" + e.ID + "/schedule/pause", "/evals/" + e.ID + "/schedule/resume", "/evals/" + e.ID + "/schedule/runs", "/evals/" + e.ID + "/schedule/delete",
		"/evals/" + e.ID + "/erase", "/runs/" + r.ID + "/erase",
	}
}

// Somebody else's workspace is answered like one that is not there, and what belongs
// to another workspace is not found in one's own: every page, every file, every form.
func TestOthersWorkspacesAreNotThere(t *testing.T) {
	s := newService(t)
	dana := newOwner(t, s, "dana", "paid")
	e, before, now, live := dana.fill()
	erin := newOwner(t, s, "erin", "paid")
	trial := dana.trial(now, "gpt", "Prompt")
	id := trial[strings.LastIndex(trial, "/")+1:]
	for _, page := range append(pages(e, before, now, id), "/runs/"+now.ID+"/files/traces.ndjson", "/runs/"+now.ID+"/files/trials.parquet") {
		if status, _ := dana.get(dana.at(page)); status != http.StatusOK {
			t.Errorf("the owner gets %d at %s", status, page)
		}
		status, theirs := erin.get(dana.at(page))
		missing, none := erin.get("/workspaces/no-such-0000" + page)
		if status != http.StatusNotFound || missing != http.StatusNotFound || theirs != none {
			t.Errorf("%s: another's workspace answers %d, and none %d; the pages differ: %t", page, status, missing, theirs != none)
		}
		if page == "/evals" || page == "/evals/catalog" || page == "/evals/new" || page == "/evals/measure" || page == "/runs" || page == "/settings/evals" {
			continue
		}
		own, body := erin.get(erin.at(page))
		unknown, same := erin.get(erin.at(strings.NewReplacer(e.ID, "evl_none", now.ID, "run_none", before.ID, "run_none").Replace(page)))
		if own != http.StatusNotFound || unknown != http.StatusNotFound || body != same {
			t.Errorf("%s in a workspace of one's own: %d, unknown %d; the pages differ: %t", page, own, unknown, body != same)
		}
	}
	if status, _ := erin.get(dana.at("/runs/" + live.ID + "/events")); status != http.StatusNotFound {
		t.Errorf("another's events: %d", status)
	}
	token := erin.formToken()
	for _, form := range forms(e, live) {
		for _, at := range []string{dana.at(form), erin.at(form)} {
			if at == erin.at(form) && !strings.Contains(form, "evl_") && !strings.Contains(form, "run_") {
				continue // erin's own
			}
			status, body := erin.post(at, url.Values{"form_token": {token}, "source": {payments}, "do": {"save"}, "budget": {"1"}, "label": {"x"}, "scope": {"run"}, "name": {"X_KEY"}, "value": {"12345678"}, "key": {"k"}})
			if status != http.StatusNotFound {
				t.Errorf("%s: %d %s", at, status, text(body))
			}
		}
	}
	if r, err := s.Evals.Run(t.Context(), dana.actor(), live.ID); err != nil || r.CancelRequested {
		t.Errorf("the run was cancelled by another: %v", err)
	}
}

// Forms need their token, and a browser that says it comes from elsewhere is refused.
func TestForgedForms(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	e := o.put(payments)
	r := o.start(e)
	token := o.formToken()
	for _, form := range forms(e, r) {
		for name, values := range map[string]url.Values{"no token": {}, "a wrong token": {"form_token": {"x"}}} {
			if status, body := o.post(o.at(form), values); status != http.StatusForbidden || !strings.Contains(body, "This form has expired") {
				t.Errorf("%s with %s: %d %s", form, name, status, text(body))
			}
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+o.at(form), strings.NewReader("form_token="+token))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "cross-site")
		req.Header.Set("Origin", "https://evil.example")
		resp, err := o.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if status, body := read(t, resp); status != http.StatusForbidden || !strings.Contains(body, "Another site sent this request") {
			t.Errorf("%s from another site: %d %s", form, status, text(body))
		}
	}
	runs, _, err := s.Evals.Runs(t.Context(), o.actor(), evals.RunQuery{})
	if err != nil || len(runs) != 1 || runs[0].CancelRequested {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// Whoever is not signed in is led to sign in, and back.
func TestSigningIn(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	e := o.put(payments)
	o.http.Jar.SetCookies(mustURL(t, s.URL), []*http.Cookie{{Name: "session", Value: "", Path: "/"}})
	if _, body := o.get(o.at("/evals/" + e.ID)); !strings.Contains(body, "Sign in to see your workspace.") {
		t.Fatalf("not asked to sign in: %s", text(body))
	}
	status, _ := o.post("/signin", url.Values{"email": {"dana@example.com"}})
	resp, err := o.http.Get(s.Mail.Link(t, "dana@example.com", "Sign in"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Request.URL.Path; status != http.StatusOK || got != o.at("/evals/"+e.ID) {
		t.Errorf("signed in and at %s", got)
	}
	s.Clock.Add(61 * time.Minute)
	for _, form := range []string{"/settings/evals/keys", "/settings/evals/keys/revoke", "/settings/evals/providers", "/settings/evals/providers/remove"} {
		if _, body := o.send(form, "scope", "run", "name", "X_API_KEY", "value", "12345678"); !strings.Contains(body, "Sign in again: ") {
			t.Errorf("%s is done after an hour: %s", form, text(body))
		}
	}
	keys, err := s.Evals.Keys(t.Context(), o.actor())
	if provider, other := s.Evals.ProviderKeys(t.Context(), o.actor()); err != nil || other != nil || len(keys)+len(provider) != 0 {
		t.Errorf("%d keys, %d provider keys, %v %v", len(keys), len(provider), err, other)
	}
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Addresses of any kind are answered with a page, never with a failure of ours.
func TestHostileAddresses(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	e, before, now, _ := o.fill()
	const bad = `"><script>alert(1)</script>`
	q := url.QueryEscape(bad)
	for path, want := range map[string]int{
		"/evals?cursor=" + q: 400, "/evals/new?category=" + q: 200, "/evals/" + url.PathEscape(bad): 404, "/evals/" + e.ID + "?done=" + q: 200,
		"/evals/" + e.ID + "/schedule?done=" + q: 200, "/evals/evl_none/schedule": 404,
		"/evals/" + e.ID + "/versions/0": 404, "/evals/" + e.ID + "/versions/-1": 404, "/evals/" + e.ID + "/versions/99999999999999999999": 404, "/evals/" + e.ID + "/versions/" + url.PathEscape(bad): 404,
		"/evals/catalog?done=" + q: 200, "/evals/catalog/versions/0": 404, "/evals/catalog/versions/" + url.PathEscape(bad): 404,
		"/runs?status=" + q: 400, "/runs?eval=" + q: 404, "/runs?cursor=%zz": 200, "/runs/" + url.PathEscape("../"+now.ID): 404,
		"/runs/" + now.ID + "/traces?agent=" + q + "&outcome=" + q + "&picked=" + q + "&prompt=" + q: 200,
		"/runs/" + now.ID + "/traces?cursor=" + q:                                                    200,
		"/runs/" + now.ID + "/traces/" + url.PathEscape(bad):                                         404,
		"/runs/" + now.ID + "/traces/" + strings.Repeat("0", 20):                                     404,
		"/runs/" + now.ID + "/compare?with=" + q:                                                     404,
		"/runs/" + now.ID + "/explain?tool=" + q:                                                     404,
		"/runs/" + now.ID + "/compare?with=" + now.ID:                                                200,
		"/runs/" + now.ID + "/compare?with=" + before.ID:                                             200,
		"/runs/" + now.ID + "/files/manifest.json":                                                   200,
		"/runs/" + now.ID + "/files/" + url.PathEscape("../x.zst"):                                   404,
		"/runs/" + now.ID + "/files/traces.ndjson?agent=" + q:                                        200,
		"/runs/" + now.ID + "/events?after=-1":                                                       400,
		"/settings/evals?done=" + q + "&provider=" + q:                                               200,
	} {
		status, body := o.get(o.at(path))
		if status != want || strings.Contains(body, "<script>alert") {
			t.Errorf("%s: %d, want %d: %.300s", path, status, want, text(body))
		}
	}
	if strings.Contains(s.Log.String(), "a page failed") || strings.Contains(s.Log.String(), "cannot be rendered") {
		t.Errorf("a page failed: %s", s.Log.String())
	}
}

// What agents wrote is shown as it is, and means nothing to the browser.
func TestNothingOfAnAnswerIsMarkup(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	_, _, now, _ := o.fill()
	_, body := o.get(o.trial(now, "claude-code", "</section><script>"))
	for _, bad := range []string{"<script>alert", "<img", "<style>", "\x1b", "\u202e", "\u200b"} {
		if strings.Contains(body, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, seen := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", "⟨U+001B⟩[31mred", "⟨U+202E⟩reversed", "مرحبا"} {
		if !strings.Contains(strings.ReplaceAll(body, "&#43;", "+"), seen) {
			t.Errorf("the page does not show %q", seen)
		}
	}
	if len(body) > 400_000 {
		t.Errorf("the page has %d bytes", len(body))
	}
}

// The editor keeps what was typed, says what is wrong and where, and saves versions.
func TestEditing(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	wrong := "name: x\r\ncategory: payments\r\nprompts:\r\n  - {id: a, text: Which <b>one</b> now}\r\nagents:\r\n  - {name: a, kind: nonsense}\r\n"
	for _, do := range []string{"check", "save"} {
		status, body := o.send("/evals/new", "source", wrong, "do", do)
		if status != http.StatusUnprocessableEntity || !strings.Contains(body, `href="#L6" data-line="6"`) || !strings.Contains(body, `id="L6" class="bad"`) || !strings.Contains(body, "Which &lt;b&gt;one&lt;/b&gt; now") {
			t.Errorf("%s of a wrong eval: %d %s", do, status, text(body))
		}
	}
	if _, body := o.send("/evals/new", "source", payments, "do", "check"); !strings.Contains(body, "No errors") || !strings.Contains(body, "It is not saved yet.") || !strings.Contains(text(body), "ANTHROPIC_API_KEY missing") {
		t.Errorf("checked: %s", text(body))
	}
	if list, _, err := s.Evals.Evals(t.Context(), o.actor(), "", 0); err != nil || len(list) != 0 {
		t.Fatalf("checking stored %d, %v", len(list), err)
	}
	_, body := o.send("/evals/new", "source", strings.ReplaceAll(payments, "\n", "\r\n"), "do", "save")
	if !strings.Contains(body, "Saved.") || !strings.Contains(body, "version 1") {
		t.Fatalf("saved: %s", text(body))
	}
	list, _, err := s.Evals.Evals(t.Context(), o.actor(), "", 0)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d evals, %v", len(list), err)
	}
	id := list[0].ID
	if stored, err := s.Evals.Eval(t.Context(), o.actor(), id); err != nil || stored.Source != payments {
		t.Errorf("stored as %q, %v", stored.Source, err)
	}
	if _, body := o.send("/evals/"+id+"/edit", "source", payments, "do", "save"); !strings.Contains(body, "No change: identical") {
		t.Errorf("saved again: %s", text(body))
	}
	if _, body := o.send("/evals/"+id+"/edit", "source", strings.Replace(payments, "repeats: 3", "repeats: 4", 1), "do", "save"); !strings.Contains(body, "version 2") {
		t.Errorf("changed: %s", text(body))
	}
	if _, body := o.get(o.at("/evals/" + id + "/versions/1")); !strings.Contains(body, "repeats: 3") || strings.Contains(body, "repeats: 4") {
		t.Errorf("the first version: %s", text(body))
	}
	if _, body := o.send("/evals/"+id+"/edit", "source", strings.Replace(payments, "name: payments", "name: other", 1), "do", "check"); !strings.Contains(body, "Its name is now") {
		t.Errorf("another name: %s", text(body))
	}
	huge := strings.Replace(payments, "repeats", "# "+strings.Repeat("é", 140_000)+"\nrepeats", 1)
	if status, body := o.send("/evals/new", "source", huge, "do", "check"); status != http.StatusUnprocessableEntity || !strings.Contains(body, "the maximum is 262144") {
		t.Errorf("a huge one: %d %.300s", status, text(body))
	}
}

var onceOf = regexp.MustCompile(`name="once" value="([^"]+)"`)

// A form that is sent twice starts one run; a budget that is none starts none.
func TestStarting(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	e := o.put(payments)
	at := "/evals/" + e.ID
	if _, body := o.get(o.at(at)); strings.Contains(body, "Start the run") || !strings.Contains(body, "?provider=OPENAI_API_KEY#providers") {
		t.Errorf("without keys: %s", text(body))
	}
	if status, body := o.send(at+"/runs", "budget", "5", "version", "1", "once", "x"); status != http.StatusUnprocessableEntity || !strings.Contains(body, "provider keys that are not set") {
		t.Errorf("started without keys: %d %s", status, text(body))
	}
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	_, body := o.get(o.at(at))
	once := onceOf.FindStringSubmatch(body)
	if once == nil || !strings.Contains(body, `value="1.62"`) {
		t.Fatalf("the form of a run: %s", body)
	}
	for range 2 {
		if status, body := o.send(at+"/runs", "budget", "$1,000.50", "version", "1", "once", once[1]); status != http.StatusOK || !strings.Contains(body, "Waiting for a worker.") || !strings.Contains(body, "$1,000.50") {
			t.Fatalf("started: %d %s", status, text(body))
		}
	}
	if status, body := o.send(at+"/runs", "budget", "7", "version", "1", "once", once[1]); status != http.StatusUnprocessableEntity || !strings.Contains(body, `value="7"`) || strings.Contains(body, "Idempotency") || strings.Contains(body, "Enough for the worst case") {
		t.Errorf("the same form with another budget: %d %s", status, text(body))
	}
	for _, budget := range []string{"", "much", "-1", "0", "NaN", "Inf", "1e300", "99999999", "1,50", "2,5", "10,00.5", ",5", "1,0000"} {
		if status, body := o.send(at+"/runs", "budget", budget, "version", "1", "once", "form_"+budget); status != http.StatusUnprocessableEntity || !strings.Contains(body, `role="alert"`) {
			t.Errorf("a budget of %q: %d %s", budget, status, text(body))
		}
	}
	runs, _, err := s.Evals.Runs(t.Context(), o.actor(), evals.RunQuery{})
	if err != nil || len(runs) != 1 || runs[0].BudgetUSD != 1000.5 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	if _, body := o.send("/runs/" + runs[0].ID + "/cancel"); !strings.Contains(body, "Cancelled") || !strings.Contains(body, "No results: ") {
		t.Errorf("cancelled: %s", text(body))
	}
}

// A key is shown once; a provider's key never.
func TestKeys(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	_, body := o.send("/settings/evals/keys", "label", "ci <job>", "scope", "read")
	m := regexp.MustCompile(`<code>(fpe_\w+)</code>`).FindStringSubmatch(body)
	if m == nil || !strings.Contains(body, "ci &lt;job&gt;") || !strings.Contains(body, "export FIRSTPICK_EVAL_KEY="+m[1]) {
		t.Fatalf("no key in %s", body)
	}
	if resp := o.call(m[1], "/api/v1/evals"); resp != http.StatusOK {
		t.Errorf("the key is answered %d", resp)
	}
	_, body = o.get(o.at("/settings/evals"))
	if strings.Contains(body, m[1]) || !strings.Contains(body, m[1][len(m[1])-4:]) || strings.Contains(body, "last used never") {
		t.Errorf("the settings: %s", text(body))
	}
	keys, err := s.Evals.Keys(t.Context(), o.actor())
	if err != nil || len(keys) != 1 {
		t.Fatal(len(keys), err)
	}
	if _, body := o.send("/settings/evals/keys/revoke", "key", keys[0].ID); !strings.Contains(body, "Key revoked.") || !strings.Contains(body, "1 revoked") {
		t.Errorf("revoked: %s", text(body))
	}
	if resp := o.call(m[1], "/api/v1/evals"); resp != http.StatusUnauthorized {
		t.Errorf("the revoked key is answered %d", resp)
	}
	for name, form := range map[string][]string{"no scope": {"label", "x"}, "a strange scope": {"scope", "admin"}, "a long label": {"scope", "read", "label", strings.Repeat("x", 101)}} {
		if status, body := o.send("/settings/evals/keys", form...); status != http.StatusUnprocessableEntity || !strings.Contains(body, `role="alert"`) {
			t.Errorf("%s: %d %s", name, status, text(body))
		}
	}

	const hidden = "sk-very-secret-0123456789"
	seen := ""
	collect := func(status int, body string) string { seen += body; return fmt.Sprint(status, " ", text(body)) }
	if got := collect(o.send("/settings/evals/providers", "name", "OPENAI_API_KEY", "value", hidden)); !strings.Contains(got, "Provider key stored.") || !strings.Contains(got, "...6789") {
		t.Errorf("stored: %s", got)
	} else if !strings.Contains(got, "sent to api.openai.com") {
		t.Errorf("bound to its provider: %s", got)
	}
	if got := collect(o.send("/settings/evals/providers", "name", "OPENAI_API_KEY", "value", "", "hosts", "api.openai.com, proxy.example:8443")); !strings.Contains(got, "bound to these hosts") || !strings.Contains(got, "sent to api.openai.com, proxy.example:8443") || !strings.Contains(got, "...6789") {
		t.Errorf("bound to more, and still set: %s", got)
	}
	for name, form := range map[string][]string{
		"an address": {"name", "OPENAI_API_KEY", "hosts", "https://proxy.example/v1"}, "a new name without hosts": {"name", "X_API_KEY", "value", hidden},
		"a bad name": {"name", "LD_PRELOAD", "value", hidden}, "a blank in it": {"name", "X_API_KEY", "value", hidden + " " + hidden}, "nothing": {"name", "X_API_KEY", "value", ""},
	} {
		if got := collect(o.send("/settings/evals/providers", form...)); !strings.HasPrefix(got, "422") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, page := range []string{"/settings/evals", "/settings/evals?provider=OPENAI_API_KEY", "/evals"} {
		collect(o.get(o.at(page)))
	}
	if strings.Contains(seen, hidden) || strings.Contains(s.Log.String(), hidden) {
		t.Error("the provider key is shown or logged")
	}
	if got := collect(o.send("/settings/evals/providers/remove", "name", "OPENAI_API_KEY")); !strings.Contains(got, "key removed") || strings.Contains(got, "6789") {
		t.Errorf("removed: %s", got)
	}
}

// call asks the API with a key.
func (o *owner) call(key, path string) int {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, o.s.URL+path, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	status, _ := read(o.t, resp)
	return status
}

// On the free plan pages are shown, say what paid gives, and nothing of it works.
func TestTheFreePlan(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "free")
	for _, page := range []string{"/evals", "/evals/new", "/settings/evals"} {
		if status, body := o.get(o.at(page)); status != http.StatusOK || !strings.Contains(body, "paid plan") || strings.Contains(body, `value="save"`) || strings.Contains(body, "Make a key") || strings.Contains(body, "Store it") {
			t.Errorf("%s: %d %s", page, status, text(body))
		}
	}
	if status, body := o.send("/evals/new", "source", payments, "do", "check"); status != http.StatusOK || !strings.Contains(body, "No errors") {
		t.Errorf("checking: %d %s", status, text(body))
	}
	for path, form := range map[string][]string{
		"/evals/new": {"source", payments, "do", "save"}, "/settings/evals/keys": {"scope", "run"}, "/settings/evals/providers": {"name", "X_API_KEY", "value", "12345678"},
	} {
		if status, body := o.send(path, form...); status != http.StatusUnprocessableEntity || !strings.Contains(body, "need the paid plan") {
			t.Errorf("%s: %d %s", path, status, text(body))
		}
	}
}

// A trial's neighbours are those of the list it was found in, to both ends.
func TestNeighbours(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	r := o.start(o.put(payments))
	o.end(r, bundleNow, done(68, 3, 72))
	for _, filter := range []string{"", "?agent=gpt", "?agent=gpt&outcome=tool&picked=acorn"} {
		var listed []string
		for next := o.at("/runs/" + r.ID + "/traces" + filter); next != ""; {
			_, body := o.get(next)
			for _, m := range regexp.MustCompile(`<th scope="row"><a href="([^"]+)">`).FindAllStringSubmatch(body, -1) {
				listed = append(listed, strings.ReplaceAll(m[1], "&amp;", "&"))
			}
			next = ""
			if m := regexp.MustCompile(`<a class="button quiet" href="([^"]+)">Next</a>`).FindStringSubmatch(body); m != nil {
				next = strings.ReplaceAll(m[1], "&amp;", "&")
			}
		}
		if len(listed) < 10 {
			t.Fatalf("%q lists %d", filter, len(listed))
		}
		rel := func(body, name string) string {
			if m := regexp.MustCompile(`rel="` + name + `" href="([^"]+)"`).FindStringSubmatch(body); m != nil {
				return strings.ReplaceAll(m[1], "&amp;", "&")
			}
			return ""
		}
		walked, before := []string{}, ""
		for at := listed[0]; at != ""; {
			_, body := o.get(at)
			if got := rel(body, "prev"); got != before {
				t.Fatalf("before %s is %q, want %q", at, got, before)
			}
			walked, before = append(walked, at), at
			at = rel(body, "next")
		}
		if strings.Join(walked, " ") != strings.Join(listed, " ") {
			t.Errorf("%q: from neighbour to neighbour are %d trials, of %d", filter, len(walked), len(listed))
		}
	}
}

// Files are what the API sends too, and other routes of a server without evals are
// not there.
func TestFilesAndAServerWithoutEvals(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	e := o.put(payments)
	r := o.start(e)
	if status, body := o.get(o.at("/runs/" + r.ID + "/files/traces.ndjson")); status != http.StatusConflict || !strings.Contains(body, "has not ended yet") {
		t.Errorf("files of a run under way: %d %s", status, text(body))
	}
	o.end(r, bundleNow, done(68, 3, 72))
	for name, begins := range map[string]string{"traces.ndjson": `{"id":"`, "trials.parquet": "PAR1", "scores.json": `{"board":`, "manifest.json": `{"schemaVersion":2`} {
		resp, err := o.http.Get(s.URL + o.at("/runs/"+r.ID+"/files/"+name))
		if err != nil {
			t.Fatal(err)
		}
		disposition := resp.Header.Get("Content-Disposition")
		if status, body := read(t, resp); status != http.StatusOK || !strings.HasPrefix(body, begins) || disposition != `attachment; filename="`+r.ID+"-"+name+`"` {
			t.Errorf("%s: %d %.60q %s", name, status, body, disposition)
		}
	}
	_, all := o.get(o.at("/runs/" + r.ID + "/files/traces.ndjson"))
	_, some := o.get(o.at("/runs/" + r.ID + "/files/traces.ndjson?agent=gpt"))
	if a, b := strings.Count(all, "\n"), strings.Count(some, "\n"); a != 71 || b == 0 || b >= a || strings.Contains(some, `"agent":"sonnet"`) {
		t.Errorf("%d lines, %d of gpt", a, b)
	}

	without := servertest.New(t, servertest.Options{Server: func(c *server.Config) { c.Evals = nil }})
	plain := newOwner(t, without, "erin", "paid")
	if status, _ := plain.get(plain.at("/evals")); status != http.StatusNotFound {
		t.Errorf("evals on a server without: %d", status)
	}
	if _, body := plain.get(plain.at("/settings")); strings.Contains(body, ">Evals<") || strings.Contains(body, "/settings/evals\"") {
		t.Errorf("the settings of a server without: %s", text(body))
	}
	if _, body := o.get(o.at("/settings")); !strings.Contains(body, ">Evals<") || !strings.Contains(body, "/settings/evals\"") {
		t.Errorf("the settings: %s", text(body))
	}
}

// Lists say who leads with the interval that belongs to it, and how much was spent.
func TestLists(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	e, _, now, live := o.fill()
	_, body := o.get(o.at("/evals"))
	said := text(body)
	for _, want := range []string{"Payments · 27 trials sonnet, gpt, claude-code", "Acorn Pay 75% (58.3–86.6%)", "68 of 72 trials $0.73, at most $0.74 of $5.00"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	for range 30 {
		s.Clock.Add(time.Minute)
		o.start(e)
	}
	o.signIn()
	var ids []string
	for next := o.at("/runs?eval=" + e.ID); next != ""; {
		_, body := o.get(next)
		for _, m := range regexp.MustCompile(`<th scope="row"><a class="whole" href="[^"]*/runs/([^"]+)">`).FindAllStringSubmatch(body, -1) {
			ids = append(ids, m[1])
		}
		next = ""
		if m := regexp.MustCompile(`<a class="button quiet" href="([^"]+)">Older</a>`).FindStringSubmatch(body); m != nil {
			next = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if len(ids) != 34 || ids[30] != live.ID || ids[32] != now.ID {
		t.Errorf("the history has %d runs: %v", len(ids), ids)
	}
	if _, body := o.get(o.at("/runs?status=failed")); strings.Count(body, `<th scope="row">`) != 1 || !strings.Contains(body, "Failed</span>") {
		t.Errorf("the failed ones: %s", text(body))
	}
	if _, body := o.get(o.at("/runs?status=cancelled")); !strings.Contains(body, "No runs in this state.") {
		t.Errorf("the cancelled ones: %s", text(body))
	}
}

// What simulated agents said is marked wherever it is shown.
func TestSyntheticIsMarked(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	e, before, now, _ := o.fill()
	trial := o.trial(before, "gpt", "Prompt")[len(o.at("")):]
	run := "/runs/" + before.ID
	for page, want := range map[string]string{
		run: "Synthetic: some of these answers", run + "/traces": "Synthetic: some of these answers", trial: "Synthetic: some of these answers", "/runs": "synthetic</span>",
		"/evals": "synthetic</span>", "/evals/" + e.ID: "synthetic</span>", "/runs/" + now.ID + "/compare?with=" + before.ID: "synthetic</span>",
	} {
		if _, body := o.get(o.at(page)); !strings.Contains(body, want) {
			t.Errorf("%s does not say so: %s", page, text(body))
		}
	}
	if _, body := o.get(o.at("/runs/" + now.ID)); strings.Contains(body, "Synthetic:") {
		t.Error("a run of real agents is marked")
	}
	// A text with a simulated agent shows how to ask real models.
	if _, body := o.get(o.at("/evals/new")); !strings.Contains(body, `id="real"`) || !strings.Contains(body, "kind: anthropic, model: ") {
		t.Errorf("the editor does not say where a model goes: %s", text(body))
	}
}

// A result that cannot be read costs its own page, and no list.
func TestAResultThatIsGone(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	e := o.put(payments)
	r := o.start(e)
	o.end(r, "", state.RunOutcome{Status: state.RunDone, Bundle: strings.Repeat("0", 20), RunProgress: state.RunProgress{Planned: 6, Valid: 6}})
	for path, want := range map[string]int{"/evals": 200, "/runs": 200, "/evals/" + e.ID: 200, "/runs/" + r.ID: 503, "/runs/" + r.ID + "/traces": 503} {
		status, body := o.get(o.at(path))
		if status != want || !strings.Contains(body, "unavailable") && !strings.Contains(body, "cannot be read") {
			t.Errorf("%s: %d %s", path, status, text(body))
		}
	}
}
