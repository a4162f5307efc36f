package dashboard_test

import (
	"bufio"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/setup"
	"github.com/firstpick/firstpick/server/servertest"
)

var shownKey = regexp.MustCompile(`sk_live_[0-9A-Za-z]{20,}`)

// TestAPersonStarts leads a person from signing in to the first event: a workspace, its key,
// a stack, and a page that reports the event when it comes.
func TestAPersonStarts(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := &owner{t: t, d: d, email: "growth@acme.dev", http: newBrowser(t)}
	if at := o.signIn(); at != "/workspaces" {
		t.Errorf("signing in leads to %s", at)
	}
	form := url.Values{"site": {"Acme.dev/pricing?from=mail#top"}, "name": {"Acme"}, "form_token": {o.formToken("/workspaces")}}
	form.Set("stack", "")
	status, body := o.post("/workspaces", form)
	key := shownKey.FindString(body)
	if status != http.StatusOK || key == "" || strings.Count(body, key) != 3 || !strings.Contains(body, "FIRSTPICK_KEY="+key) {
		t.Fatalf("creating: %d %s", status, body)
	}
	list, err := d.Agents.DB.Read().AllWorkspaces(t.Context())
	if err != nil || len(list) != 1 || list[0].Site != "https://acme.dev" || list[0].Title() != "Acme" || list[0].ClaimedAt.IsZero() {
		t.Fatalf("%+v, %v", list, err)
	}
	o.slug, o.id = list[0].Slug, list[0].ID
	if _, body := o.get("/workspaces"); !strings.Contains(body, "Waiting for the first event") || strings.Contains(body, key) {
		t.Errorf("the only workspace does not wait, or shows the key again: %s", body)
	}
	for _, s := range setup.Stacks() {
		status, body := o.get(o.at("/install?stack=" + s.Slug))
		if status != http.StatusOK || !strings.Contains(body, d.URL+"/setup/"+s.Slug+".md") || strings.Contains(body, setup.Placeholder) {
			t.Errorf("%s: %d %s", s.Slug, status, body)
		}
		verify := cmp.Or(map[string]string{"conversions": `&#34;convert&#34;,&#34;userRef&#34;:&#34;firstpick-test&#34;`, "mcp": "with any MCP client"}[s.Slug], `-A "GPTBot/1.3" https://acme.dev/<`)
		if !strings.Contains(body, verify) || strings.Index(body, "install firstpick on this site") > strings.Index(body, "<ol") || s.Folder != "" && !strings.Contains(body, s.Folder) {
			t.Errorf("%s: the check, the prompt or the folder is missing: %s", s.Slug, body)
		}
	}

	o.switches(key)
	for name, c := range map[string]struct {
		kind, prefix string
		want         []string
	}{
		"go":        {"secret", "sk_live_", []string{"FIRSTPICK_KEY=THE\n", "agentcollect.New(", "acme.dev"}},
		"logs":      {"secret", "sk_live_", []string{"FIRSTPICK_KEY=THE firstpick traffic ship", "--host acme.dev", "key=$FIRSTPICK_KEY"}},
		"wordpress": {"secret", "sk_live_", []string{"&#39;FIRSTPICK_KEY&#39;, &#39;THE&#39;"}},
		"vercel":    {"log", "log_live_", []string{"format=vercel&amp;key=THE<", "The address below has your key."}},
		"no-such":   {"secret", "sk_live_", []string{"FIRSTPICK_KEY=THE\n"}},
	} {
		_, body := o.send("/keys", url.Values{"kind": {c.kind}, "label": {name}, "stack": {name}})
		key := regexp.MustCompile(c.prefix + `[0-9A-Za-z]{20,}`).FindString(body)
		for _, want := range c.want {
			if want = strings.ReplaceAll(want, "THE", key); key == "" || !strings.Contains(body, want) {
				t.Errorf("%s: %q is missing in %s", name, want, body)
			}
		}
		_, body = o.get(o.at("/install?stack=" + name))
		if strings.Contains(body, key) || strings.Contains(body, "_live_") {
			t.Errorf("%s: a key or its placeholder on a later visit: %s", name, body)
		}
	}

	resp, err := o.http.Get(d.URL + o.at("/first-event"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d.Clock.Doze(1) // it waits
	o.event(key)
	d.Clock.Add(2 * time.Second)
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && lines.Text() != "event: first" {
	}
	if lines.Text() != "event: first" || !lines.Scan() {
		t.Errorf("the stream ended without the event: %v", lines.Err())
	}
	if want := fmt.Sprintf(`data: {"agent":"GPTBot","page":"acme.dev/docs","at":%q}`, d.Clock.Now().Add(-2*time.Second).UTC().Format(time.RFC3339)); lines.Text() != want {
		t.Errorf("%s, want %s", lines.Text(), want)
	}
	if _, body := o.get(o.at("/install?stack=conversions")); strings.Contains(body, "Waiting for the first event") {
		t.Error("the page waits for an event that is here")
	}
}

// switches holds the page of a key to have the code of every stack with it, and no page to show a
// key that is not of the workspace.
func (o *owner) switches(key string) {
	o.t.Helper()
	send := func(key, stack string) string {
		_, body := o.post(o.at("/install"), url.Values{"key": {key}, "stack": {stack}, "form_token": {o.formToken(o.at("/settings"))}})
		return body
	}
	for stack, want := range map[string]string{
		"go": "FIRSTPICK_KEY=" + key, "logs": "FIRSTPICK_KEY=" + key + " firstpick traffic ship", "vercel": "Create a log key", "conversions": "Bearer " + key,
	} {
		if body := send(key, stack); !strings.Contains(body, want) || !strings.Contains(body, `value="`+key+`"`) {
			o.t.Errorf("%s: %q is missing in %s", stack, want, body)
		}
	}
	other := newOwner(o.t, o.d, "stranger@other.dev")
	_, body := other.send("/keys", url.Values{"kind": {"secret"}, "label": {"go"}, "stack": {"go"}})
	stranger := shownKey.FindString(body)
	if stranger == "" {
		o.t.Fatal(body)
	}
	for _, c := range [][2]string{{stranger, "go"}, {"sk_live_none", "go"}, {"", "go"}, {key, "no-such"}} {
		if body := send(c[0], c[1]); shownKey.MatchString(body) {
			o.t.Errorf("a key is shown for %q: %s", c, body)
		}
	}
	keys, err := o.d.Agents.DB.Read().CollectorKeys(o.t.Context(), o.id)
	if err != nil || len(keys) != 1 {
		o.t.Errorf("%d keys after choosing other stacks, %v", len(keys), err)
	}
}

// event sends an event with a key.
func (o *owner) event(key string) {
	o.t.Helper()
	body := fmt.Sprintf(`{"type":"touch","url":"https://acme.dev/docs","userAgent":"GPTBot/1.2","at":%q}`, o.d.Clock.Now().UTC().Format(time.RFC3339))
	req, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, o.d.URL+"/api/collect", strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	if status, body := read(o.t, resp); status >= 300 {
		o.t.Fatalf("event: %d %s", status, body)
	}
}

// TestCreateRefuses: a form that cannot be carried out is shown again with what was typed, and
// nothing is stored.
func TestCreateRefuses(t *testing.T) {
	d := newDesk(t, servertest.Options{Limits: true})
	o := &owner{t: t, d: d, email: "growth@acme.dev", http: newBrowser(t)}
	o.signIn()
	create := func(site, name, token string) (int, string) {
		return o.post("/workspaces", url.Values{"site": {site}, "name": {name}, "form_token": {token}})
	}
	token := o.formToken("/workspaces")
	for _, c := range []struct{ site, name, token, want string }{
		{"no site", "", token, "Address of your site: this must be an address such as https://acme.dev."},
		{"https://user:secret@acme.dev/path", "", token, "Address of your site: this must be an address"},
		{"ftp://acme.dev/path", "", token, "Address of your site: this must be an address"},
		{"https://acme.dev", "Ac\u202eme", token, "name must be at most 100 visible characters"},
		{"https://acme.dev", strings.Repeat("n", 101), token, "name must be at most 100 visible characters"},
		{"https://acme.dev", "", "wrong", "This form has expired"},
	} {
		status, body := create(c.site, c.name, c.token)
		if status < 400 || status >= 500 || !strings.Contains(body, c.want) || shownKey.MatchString(body) {
			t.Errorf("%q %q: %d %s", c.site, c.name, status, body)
		}
	}
	if list, err := d.Agents.DB.Read().AllWorkspaces(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("%d workspaces, %v", len(list), err)
	}
	if status, body := o.post("/workspaces", url.Values{"site": {"https://acme.dev"}, "stack": {"nextjs"}, "form_token": {token}}); status != http.StatusOK {
		t.Fatal(status, body)
	}
	list, err := d.Agents.DB.Read().AllWorkspaces(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%d workspaces, %v", len(list), err)
	}
	own := "/workspaces/" + list[0].Slug
	if _, body := o.get(own); !strings.Contains(body, "Install: Next.js") || strings.Contains(body, "Choose where your site runs") {
		t.Errorf("the chosen stack is forgotten: %s", body)
	}
	if _, body := create("https://ACME.dev", "", token); !strings.Contains(body, "is for https://acme.dev already") || !strings.Contains(body, `value="https://ACME.dev"`) || !strings.Contains(body, `href="`+own+`"`) || !strings.Contains(body, `href="`+own+`/settings#keys">create a new key`) {
		t.Errorf("the same site again: %s", body)
	}
	_, made := o.post("/workspaces", url.Values{"site": {"https://drain.acme.dev"}, "stack": {"vercel"}, "form_token": {token}})
	if !strings.Contains(made, "format=vercel&amp;key=log_live_") || shownKey.MatchString(made) {
		t.Errorf("the first key of a drain does not fit it: %s", made)
	}
	status, body := 0, ""
	for n := 0; n < 30 && status != http.StatusUnprocessableEntity; n++ {
		status, body = create(fmt.Sprintf("https://n%d.acme.dev", n), "", token)
	}
	if !strings.Contains(body, "Too many") && !strings.Contains(body, "Wait") {
		t.Errorf("no limit: %d %s", status, body)
	}
}

// TestRename: a workspace has a name for people, else the host of its site; the address stays.
func TestRename(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	form := func(name string) url.Values {
		return url.Values{"name": {name}, "site": {"https://acme.dev"}, "retention": {"395"}, "currency": {"USD"}, "form_token": {o.formToken(o.at("/settings"))}}
	}
	for _, name := range []string{"Acme <b>Inc</b>", ""} {
		if status, body := o.post(o.at("/settings"), form(name)); status != http.StatusOK {
			t.Fatal(status, body)
		}
		want := "<h1>acme.dev</h1>"
		if name != "" {
			want = "<h1>Acme &lt;b&gt;Inc&lt;/b&gt;</h1>"
		}
		if _, body := o.get(o.at("/settings")); !strings.Contains(body, want) {
			t.Errorf("%q: %s", name, body)
		}
	}
}
