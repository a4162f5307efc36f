package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/servertest"
)

func pages() []string {
	return []string{"", "/agents", "/agents/GPTBot", "/pages", "/gaps", "/referrals", "/conversions", "/conversions/c1", "/noise", "/settings"}
}

func actions() []string {
	return []string{"", "/keys", "/keys/revoke", "/erase", "/alerts/mail", "/alerts/test", "/webhooks", "/webhooks/rotate", "/webhooks/remove", "/tool"}
}

// a conversion, by a visitor whom an assistant sent.
func conversion(workspace, id string, at time.Time) []trafficdb.Row {
	return []trafficdb.Row{
		{Workspace: workspace, Record: event.Record{
			ID: "t" + id, Type: event.Touch, At: at.Add(-time.Hour), ReceivedAt: at, Visitor: "v" + id, Class: "browser", Family: "ChatGPT", Evidence: "tag", Host: "acme.dev", Path: "/docs/start",
		}},
		{Workspace: workspace, Record: event.Record{
			ID: id, Type: event.Convert, At: at, ReceivedAt: at, Visitor: "v" + id, Kind: "paid", Value: 4900, Currency: "USD", OrderID: "o" + id,
		}},
	}
}

// Somebody else's workspace is answered like one that is not there: every page,
// every action, with a good form token of one's own.
func TestOthersWorkspacesAreNotThere(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	dana, erin := newOwner(t, d, "dana@example.com"), newOwner(t, d, "erin@example.com")
	d.load(t, conversion(dana.id, "c1", d.Clock.Now().Add(-time.Hour))...)
	if _, err := d.Agents.DB.Read().CollectorKeys(t.Context(), dana.id); err != nil {
		t.Fatal(err)
	}
	for _, page := range pages() {
		if status, body := dana.get(dana.at(page)); status != http.StatusOK || !strings.Contains(body, dana.slug) {
			t.Errorf("the owner gets %d at %q: %s", status, page, body)
		}
		status, theirs := erin.get(dana.at(page))
		missing, none := erin.get("/workspaces/no-such-0000" + page)
		if status != http.StatusNotFound || missing != http.StatusNotFound || theirs != none {
			t.Errorf("%q: another's workspace answers %d, and none %d; the pages differ: %t", page, status, missing, theirs != none)
		}
	}
	for format, begins := range map[string]string{"ndjson": `{"seq":`, "csv": "seq,workspace,id", "parquet": "PAR1"} {
		if status, body := dana.get(dana.at("/export?format=" + format)); status != http.StatusOK || !strings.HasPrefix(body, begins) || !strings.Contains(body, "c1") {
			t.Errorf("the owner gets %d as %s: %.60q", status, format, body)
		}
		if status, _ := erin.get(dana.at("/export?format=" + format)); status != http.StatusNotFound {
			t.Errorf("another gets %d as %s", status, format)
		}
	}
	if status, _ := dana.get(dana.at("/export?format=xlsx")); status != http.StatusBadRequest {
		t.Errorf("a format that is none: %d", status)
	}
	token := erin.formToken(erin.at("/settings"))
	for _, path := range actions() {
		status, body := erin.post(dana.at("/settings"+path), url.Values{
			"form_token": {token}, "kind": {"secret"}, "label": {"mine"}, "sure": {"1"}, "by": {"visitorToken"}, "name": {"x"}, "retention": {"30"}, "url": {"https://evil.example"}, "channel": {"email"},
		})
		if status != http.StatusNotFound || strings.Contains(body, dana.slug) {
			t.Errorf("POST %q of another's workspace answers %d: %s", path, status, body)
		}
	}
	// A conversion of one workspace is not there under another's name.
	if status, _ := erin.get(erin.at("/conversions/c1")); status != http.StatusNotFound {
		t.Errorf("another's conversion answers %d", status)
	}
	if status, body := dana.get(dana.at("/conversions/c1")); status != http.StatusOK || !strings.Contains(body, "Counted: 100%, $49.") {
		t.Errorf("the owner's conversion: %d %s", status, body)
	}
}

// Who is not signed in is asked to, and comes back to where they were.
func TestSigningInLeadsBack(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	o.post("/signout", url.Values{"form_token": {o.formToken(o.at("/settings"))}})
	want := o.at("/gaps?window=7d&tz=Europe%2FBerlin")
	if _, body := o.get(want); !strings.Contains(body, "Sign in to see your workspace.") {
		t.Fatalf("not asked to sign in: %s", body)
	}
	if got := o.signIn(); got != want {
		t.Errorf("signed in and at %s, want %s", got, want)
	}
	if status, body := o.get("/workspaces"); status != http.StatusOK || !strings.Contains(body, o.slug) {
		t.Errorf("the only workspace does not open: %d %s", status, body)
	}
}

// What cannot be undone needs a sign-in within the hour; nothing is done before.
func TestOldSignInsDoLittle(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	d.Clock.Add(61 * time.Minute)
	if _, body := o.get(o.at("/settings")); !strings.Contains(body, "signed in more than an hour ago") {
		t.Error("the page does not say that it will ask")
	}
	for _, path := range []string{"/keys", "/keys/revoke", "/erase", "/webhooks", "/webhooks/rotate", "/webhooks/remove"} {
		if _, body := o.send(path, url.Values{"kind": {"secret"}, "url": {"https://a.example"}, "sure": {"1"}}); !strings.Contains(body, "Sign in again: ") {
			t.Errorf("%s is done: %s", path, body)
		}
	}
	if keys, err := d.Agents.DB.Read().CollectorKeys(t.Context(), o.id); err != nil || len(keys) != 0 {
		t.Errorf("there are %d keys, %v", len(keys), err)
	}
	if got := o.signIn(); got != o.at("/settings") {
		t.Errorf("signed in again and at %s", got)
	}
	if _, body := o.send("", url.Values{"site": {"https://acme.dev"}, "retention": {"90"}, "currency": {"eur"}}); !strings.Contains(body, "Settings saved.") {
		t.Errorf("not saved: %s", body)
	}
}

// Forms need their token, and a browser that says it comes from elsewhere is
// refused.
func TestForgedForms(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	token := o.formToken(o.at("/settings"))
	for _, path := range actions() {
		for name, form := range map[string]url.Values{"no token": {}, "a wrong token": {"form_token": {"x"}}} {
			form.Set("kind", "secret")
			if status, body := o.post(o.at("/settings"+path), form); status != http.StatusForbidden || !strings.Contains(body, "This form has expired") {
				t.Errorf("%s with %s: %d %s", path, name, status, body)
			}
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+o.at("/settings"+path), strings.NewReader("kind=secret&form_token="+token))
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
			t.Errorf("%s from another site: %d %s", path, status, body)
		}
	}
	if keys, err := d.Agents.DB.Read().CollectorKeys(t.Context(), o.id); err != nil || len(keys) != 0 {
		t.Errorf("there are %d keys, %v", len(keys), err)
	}
}

// Queries of any kind are answered with a page, never with a failure of ours.
func TestHostileQueries(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	d.load(t, conversion(o.id, "c1", d.Clock.Now().Add(-time.Hour))...)
	for query, want := range map[string]int{
		"window=30d&from=2026-11-01&through=2026-11-10": 200, // days win
		"window=": 200, "tz=": 200, "page=-5": 200, "page=99999999999999999999": 200, "page=1000000": 200, "show=%3Cscript%3E": 200, "done=%3Cscript%3E": 200,
		"through=2026-13-45": 200, "a=%zz": 200, "window=7d&window=9d": 200, "model=": 200,
		"window=0d": 400, "window=999999d": 400, "window=-1d": 400, "tz=../../etc/passwd": 400, "tz=Local": 400, "model=best": 400, "lookbackDays=1": 400,
		"from=x": 400, "from=2026-11-10&to=2026-11-01": 400, "from=0001-01-01&to=9999-12-31": 400, "to=2026-11-01": 400, "tz=%00": 400, "lookbackDays=1e9": 400,
		"window=" + strings.Repeat("9", 5000): 400,
	} {
		for _, page := range pages() {
			status, body := o.get(o.at(page + "?" + query))
			if status != want || strings.Contains(body, "<script>") {
				t.Errorf("%s?%.60s: %d, want %d", page, query, status, want)
			}
		}
	}
	if strings.Contains(d.Log.String(), "a page failed") || strings.Contains(d.Log.String(), "cannot be rendered") {
		t.Errorf("a page failed: %s", d.Log.String())
	}
}

// Names, paths and hosts come from strangers. They are shown as they are, and mean
// nothing to the browser.
func TestNothingOfAnEventIsMarkup(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	const bad = `"><script>alert(1)</script><img src=x onerror=alert(1)>'&/%2e`
	at := d.Clock.Now().Add(-time.Hour)
	touch := event.Record{Type: event.Touch, At: at, ReceivedAt: at, Host: bad, Path: "/" + bad, Agent: bad, Family: bad, Operator: bad, Class: "user_fetch", Verdict: "unverifiable", Status: 200, Referrer: bad}
	gone, spoofed, landing := touch, touch, touch
	gone.Status, spoofed.Verdict = 404, "ip_mismatch"
	landing.Class, landing.Evidence, landing.Visitor, landing.Agent = "browser", "tag", "v", ""
	convert := event.Record{Type: event.Convert, At: at, ReceivedAt: at, Visitor: "v", Kind: bad, Value: 5, Currency: "USD", ID: "c" + bad, OrderID: bad}
	var rows []trafficdb.Row
	for i, r := range []event.Record{touch, gone, spoofed, landing, convert} {
		if r.ID == "" {
			r.ID = string(rune('a' + i))
		}
		rows = append(rows, trafficdb.Row{Workspace: o.id, Record: r})
	}
	d.load(t, rows...)
	if status, body := o.send("/keys", url.Values{"kind": {"secret"}, "label": {bad}}); status != 200 || strings.Contains(body, "<script>alert") {
		t.Errorf("the label: %d", status)
	}
	shown := 0
	for _, page := range append(pages(), "/agents/"+url.PathEscape(bad), "/conversions/"+url.PathEscape("c"+bad)) {
		status, body := o.get(o.at(page))
		if page == "/conversions/c1" {
			continue
		}
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", page, status, body)
		}
		if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img") {
			t.Errorf("%s holds markup of an event", page)
		}
		if strings.Contains(body, "&lt;script&gt;alert(1)") {
			shown++
		}
	}
	if shown < 9 {
		t.Errorf("only %d pages show what the events say", shown)
	}
}

// A key is shown once; then its end alone, until it is revoked.
func TestKeysAreShownOnce(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	_, body := o.send("/keys", url.Values{"kind": {"publishable"}, "label": {"docs"}, "origins": {"https://acme.dev,\n https://docs.acme.dev"}})
	_, rest, found := strings.Cut(body, "<code>pk_live_")
	key, _, _ := strings.Cut("pk_live_"+rest, "<")
	if !found || len(key) < 30 {
		t.Fatalf("no key in %s", body)
	}
	_, body = o.get(o.at("/settings"))
	if strings.Contains(body, key) || !strings.Contains(body, key[len(key)-4:]) || !strings.Contains(body, "https://docs.acme.dev") {
		t.Errorf("the settings show %s", body)
	}
	keys, err := d.Agents.DB.Read().CollectorKeys(t.Context(), o.id)
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	if _, body := o.send("/keys/revoke", url.Values{"key": {keys[0].ID}}); !strings.Contains(body, "Key revoked.") || strings.Contains(body, key[len(key)-4:]) {
		t.Errorf("after revoking: %s", body)
	}
	for name, form := range map[string]url.Values{
		"no kind":                      {"kind": {"golden"}},
		"a publishable one, no origin": {"kind": {"publishable"}},
	} {
		if status, body := o.send("/keys", form); status != http.StatusUnprocessableEntity || !strings.Contains(body, `role="alert"`) {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status, body := o.send("", url.Values{"site": {"ftp://x"}, "retention": {"3"}, "currency": {"USD"}}); status != http.StatusUnprocessableEntity || !strings.Contains(body, `value="ftp://x"`) {
		t.Errorf("bad settings: %d %s", status, body)
	}
}

// A server without reports says so, and its settings work.
func TestWithoutReports(t *testing.T) {
	d := newDesk(t, servertest.Options{Server: func(c *server.Config) { c.Reports, c.Alerts = nil, nil }})
	o := newOwner(t, d, "dana@example.com")
	if status, body := o.get(o.at("")); status != http.StatusServiceUnavailable || !strings.Contains(body, "No reports on this server") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := o.get(o.at("/settings")); status != http.StatusOK {
		t.Errorf("the settings answer %d", status)
	}
}

// Erasing a person takes what the site sent of them, and says how much.
func TestErasingAPerson(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	_, body := o.send("/keys", url.Values{"kind": {"secret"}})
	_, rest, _ := strings.Cut(body, "<code>sk_live_")
	key, _, _ := strings.Cut("sk_live_"+rest, "<")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+"/api/collect", strings.NewReader(
		`{"events":[{"type":"identify","visitorToken":"v1","email":"Kim@example.com"},{"type":"convert","email":"kim@example.com","kind":"signup"},{"type":"convert","email":"lee@example.com","kind":"signup"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := read(t, resp); status != http.StatusAccepted {
		t.Fatalf("collect: %d %s", status, body)
	}
	form := url.Values{"by": {"email"}, "name": {" kim@example.com "}}
	if status, body := o.send("/erase", form); status != http.StatusUnprocessableEntity || !strings.Contains(body, "Tick the box") {
		t.Errorf("without the box: %d", status)
	}
	form.Set("sure", "1")
	if _, body := o.send("/erase", form); !strings.Contains(body, "2 events of this person deleted") {
		t.Errorf("erased: %s", body)
	}
	if _, body := o.send("/erase", form); !strings.Contains(body, "No events under this name") {
		t.Errorf("erased again: %s", body)
	}
	if status, _ := o.send("/erase", url.Values{"sure": {"1"}, "by": {"shoe size"}, "name": {"44"}}); status != http.StatusUnprocessableEntity {
		t.Errorf("by something else: %d", status)
	}
}
