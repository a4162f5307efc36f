package servertest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
)

// A guide is /auth.md, taken apart.
type guide struct {
	s        *servertest.Service
	text     string
	headings []string // with their signs
	blocks   []block
	resource map[string]any // the two documents that it speaks of
	metadata map[string]any
}

type block struct{ language, text string }

func readGuide(t *testing.T, change func(*registrations.Config)) *guide {
	t.Helper()
	s := servertest.New(t, servertest.Options{Agents: change, Server: func(c *server.Config) {
		holder := &snapshotview.Holder{}
		holder.Set(demoSite(t, 1))
		c.Source = holder
	}})
	g := &guide{s: s}
	_, _, text := fetch(t, http.MethodGet, s.URL+"/auth.md", "", "")
	g.text = text
	for path, doc := range map[string]*map[string]any{
		"/.well-known/oauth-protected-resource": &g.resource, "/.well-known/oauth-authorization-server": &g.metadata,
	} {
		status, _, body := fetch(t, http.MethodGet, s.URL+path, "", "")
		if err := json.Unmarshal([]byte(body), doc); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %v", path, status, err)
		}
	}
	fenced := false
	for line := range strings.Lines(g.text) {
		line = strings.TrimRight(line, "\n")
		switch fence, isFence := strings.CutPrefix(line, "```"); {
		case isFence && fenced && fence != "":
			t.Errorf("a block is not closed before %q", line)
		case isFence:
			if fenced = !fenced; fenced {
				g.blocks = append(g.blocks, block{language: fence})
			}
		case fenced:
			g.blocks[len(g.blocks)-1].text += line + "\n"
		case strings.HasPrefix(line, "#"):
			g.headings = append(g.headings, line)
		}
	}
	if fenced {
		t.Error("the last block is not closed")
	}
	return g
}

// fetch asks once, follows nothing, and returns status, headers and body.
func fetch(t *testing.T, method, address, media, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(data)
}

func TestAuthMDIsServed(t *testing.T) {
	t.Parallel()
	g := readGuide(t, nil)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		status, header, text := fetch(t, method, g.s.URL+"/auth.md", "", "")
		for name, want := range map[string]string{
			"Content-Type": "text/markdown; charset=utf-8", "Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", method, name, got, want)
			}
		}
		if status != http.StatusOK || (text == "") != (method == http.MethodHead) {
			t.Errorf("%s: %d with %d bytes", method, status, len(text))
		}
	}
	if status, header, _ := fetch(t, http.MethodPost, g.s.URL+"/auth.md", "", ""); status != http.StatusMethodNotAllowed || header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("POST: %d, Allow %q", status, header.Get("Allow"))
	}
}

// TestAuthMDForm is what linters of such files look for.
func TestAuthMDForm(t *testing.T) {
	t.Parallel()
	g := readGuide(t, nil)
	if !strings.HasPrefix(g.text, "# auth.md\n") || !strings.HasSuffix(g.text, "\n") {
		t.Errorf("it begins with %.20q and ends with %q", g.text, g.text[len(g.text)-10:])
	}
	at := 0
	for i, h := range g.headings {
		level := len(h) - len(strings.TrimLeft(h, "#"))
		if level > at+1 || !strings.HasPrefix(h[level:], " ") || (level == 1) != (i == 0) {
			t.Errorf("the heading %q after one of level %d", h, at)
		}
		at = level
	}
	want := []string{"## Step 1 — ", "## Step 2 — ", "## Step 3 — ", "## Step 4 — ", "## Step 5 — ", "## Step 6 — ", "## Errors", "## Revocation"}
	next := 0
	for _, h := range g.headings {
		if next < len(want) && strings.HasPrefix(h, want[next]) {
			next++
		}
	}
	if next != len(want) || !slices.Contains(g.headings, "## Step 1 — Discover") || !slices.Contains(g.headings, "## Step 6 — Use the access_token") {
		t.Errorf("the headings are %q", g.headings)
	}
	for _, mark := range []string{"{{", "}}", "<no value>", "%!", "TODO", "\t", "\r", " \n"} {
		if strings.Contains(g.text, mark) {
			t.Errorf("the text holds %q", mark)
		}
	}
	columns := 0
	for line := range strings.Lines(g.text) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		if n := strings.Count(line, "|"); columns != 0 && n != columns {
			t.Errorf("the row %q has %d bars, not %d", line, n, columns)
		} else {
			columns = n
		}
	}
}

// TestAuthMDExamples: every example works as it stands.
func TestAuthMDExamples(t *testing.T) {
	t.Parallel()
	g := readGuide(t, nil)
	var types, grants []string
	for _, b := range g.blocks {
		if b.language == "json" {
			var v map[string]any
			if err := json.Unmarshal([]byte(b.text), &v); err != nil {
				t.Errorf("%v: %s", err, b.text)
			}
			if aud, ok := v["aud"]; ok && aud != g.resource["resource"] {
				t.Errorf("aud is %v, the resource is %v", aud, g.resource["resource"])
			}
			if _, ok := v["issuer"]; ok && !same(v, g.metadata) {
				t.Errorf("the metadata is %v, the text says %v", g.metadata, v)
			}
			if r, ok := v["resource"]; ok && r != g.resource["resource"] {
				t.Errorf("the resource is %v, the text says %v", g.resource["resource"], r)
			}
			if _, ok := v["access_token"]; ok || v["registration_id"] != nil {
				g.answers(t, v)
				continue
			}
			if name, ok := v["type"].(string); ok && v["claim_token"] == nil {
				types = append(types, name)
				g.registers(t, b.text)
			}
			if _, ok := v["claim_token"]; ok {
				status, _, body := fetch(t, http.MethodPost, g.s.URL+"/api/agent/identity/claim", "application/json", b.text)
				wanted, want := http.StatusUnauthorized, `"invalid_claim_token"`
				if v["assertion"] == "eyJ..." { // it is cut, and read first
					wanted, want = http.StatusBadRequest, `"malformed_assertion"`
				}
				if status != wanted || !strings.Contains(body, want) {
					t.Errorf("%s: %d %s", b.text, status, body)
				}
			}
			if _, ok := v["jti"]; ok {
				g.idJAG(t, v)
			}
			continue
		}
		if b.language == "http" {
			g.challenge(t, b.text)
			continue
		}
		if b.language != "" {
			t.Errorf("a block in %s", b.language)
		}
		grants = append(grants, g.exchanges(t, b.text))
	}
	slices.Sort(types)
	slices.Sort(grants)
	if offered := g.metadata["agent_auth"].(map[string]any)["identity_types_supported"]; !same(types, offered) {
		t.Errorf("there are examples of %q, the metadata offers %v", types, offered)
	}
	supported := []string{registrations.GrantClaim, registrations.GrantJWT}
	if slices.Sort(supported); !slices.Equal(grants, supported) {
		t.Errorf("there are examples of %q, the grants are %q", grants, supported)
	}
	for _, grant := range g.metadata["grant_types_supported"].([]any) {
		if !strings.Contains(g.text, "grant_type="+grant.(string)+"&") {
			t.Errorf("no example of %s", grant)
		}
	}
	if !strings.Contains(g.text, "The grant is also accepted as `"+registrations.GrantClaimAlias+"`") {
		t.Error("the text lacks the other name of the claim grant")
	}
}

// answers compares the members of an example of an answer with a real one's.
func (g *guide) answers(t *testing.T, example map[string]any) {
	t.Helper()
	register := func(body string) map[string]any {
		_, _, text := fetch(t, http.MethodPost, g.s.URL+"/api/agent/identity", "application/json", body)
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err, text)
		}
		return v
	}
	var got map[string]any
	switch example["registration_type"] {
	case "service_auth":
		got = register(`{"type":"service_auth","login_hint":"example@example.com"}`)
	case "anonymous":
		got = register(`{"type":"anonymous"}`)
	default:
		form := url.Values{"grant_type": {registrations.GrantJWT}, "assertion": {register(`{"type":"anonymous"}`)["identity_assertion"].(string)}}
		_, _, text := fetch(t, http.MethodPost, g.s.URL+"/api/oauth2/token", "application/x-www-form-urlencoded", form.Encode())
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err, text)
		}
	}
	if a, b := slices.Sorted(maps.Keys(example)), slices.Sorted(maps.Keys(got)); !slices.Equal(a, b) {
		t.Errorf("the example of an answer has %q, a real one %q", a, b)
	}
}

// challenge compares the example of a 401 with a real one, and follows it to a document
// that names the resource whose path it has (RFC 9728, 3.3).
func (g *guide) challenge(t *testing.T, example string) {
	t.Helper()
	status, header, _ := fetch(t, http.MethodGet, g.s.URL+"/api/agent/workspace", "", "")
	want := fmt.Sprintf("HTTP/1.1 %d %s\nWWW-Authenticate: %s\n", status, http.StatusText(status), header.Get("WWW-Authenticate"))
	if example != want {
		t.Errorf("the challenge is %q, the text says %q", want, example)
	}
	address := regexp.MustCompile(`resource_metadata="([^"]+)"`).FindStringSubmatch(example)
	if address == nil {
		t.Fatalf("no address in %q", example)
	}
	_, _, text := fetch(t, http.MethodGet, address[1], "", "")
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil || strings.Replace(address[1], "/.well-known/oauth-protected-resource", "", 1) != doc["resource"] {
		t.Errorf("%s names the resource %v, %v", address[1], doc["resource"], err)
	}
}

// same compares values as JSON has them, lists without order.
func same(a, b any) bool {
	canon := func(v any) string {
		data, _ := json.Marshal(v)
		if json.Unmarshal(data, &v); data[0] == '[' {
			list := v.([]any)
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
		data, _ = json.Marshal(v)
		return string(data)
	}
	return canon(a) == canon(b)
}

// registers sends the example of a registration. The assertion in it is cut, and
// this is all that may be wrong with it.
func (g *guide) registers(t *testing.T, example string) {
	t.Helper()
	status, _, body := fetch(t, http.MethodPost, g.s.URL+"/api/agent/identity", "application/json", example)
	if cut := strings.Contains(example, `"eyJ..."`); cut && (status != http.StatusBadRequest || !strings.Contains(body, `"reason":"malformed_assertion"`)) || !cut && status != http.StatusOK {
		t.Errorf("%s: %d %s", example, status, body)
	}
}

// idJAG presents the claims of the example, at its time, signed by an issuer that is
// trusted.
func (g *guide) idJAG(t *testing.T, example map[string]any) {
	t.Helper()
	at := time.Unix(int64(example["iat"].(float64)), 0)
	g.s.Clock.Add(at.Sub(g.s.Clock.Now()))
	assertion := g.s.IdP.Assertion("", "", "", func(_, claims map[string]any) {
		iss := claims["iss"]
		clear(claims)
		maps.Copy(claims, example)
		claims["iss"] = iss
	})
	data, err := json.Marshal(map[string]string{"type": "identity_assertion", "assertion_type": registrations.AssertionType, "assertion": assertion})
	if err != nil {
		t.Fatal(err)
	}
	if status, _, body := fetch(t, http.MethodPost, g.s.URL+"/api/agent/identity", "application/json", string(data)); status != http.StatusOK {
		t.Errorf("an ID-JAG with the claims of the example: %d %s", status, body)
	}
}

// exchanges sends an example that is written as a request, and returns its grant.
func (g *guide) exchanges(t *testing.T, example string) string {
	t.Helper()
	head, form, _ := strings.Cut(example, "\n\n")
	line, fields, _ := strings.Cut(head, "\n")
	method, address, _ := strings.Cut(line, " ")
	values, err := url.ParseQuery(strings.TrimSpace(form))
	if err != nil || fields != "Content-Type: application/x-www-form-urlencoded" || method != http.MethodPost {
		t.Fatalf("this is no request: %s", example)
	}
	if r := values.Get("resource"); r != "" && r != g.resource["resource"] {
		t.Errorf("the example's resource is %s", r)
	}
	want := map[string]string{registrations.GrantClaim: "expired_token", registrations.GrantJWT: "invalid_grant"}[values.Get("grant_type")]
	status, _, body := fetch(t, method, address, "application/x-www-form-urlencoded", strings.TrimSpace(form))
	if status != http.StatusBadRequest || want == "" || !strings.Contains(body, `"error":"`+want+`"`) {
		t.Errorf("%s: %d %s", example, status, body)
	}
	return values.Get("grant_type")
}

// TestAuthMDAddresses: every address on this host answers, by the method that the text
// names, and is the one of the metadata.
func TestAuthMDAddresses(t *testing.T) {
	t.Parallel()
	g := readGuide(t, nil)
	base := regexp.QuoteMeta(g.s.URL)
	methods := map[string]string{}
	for _, m := range regexp.MustCompile(base+`[^\s"`+"`"+`,)]*`).FindAllString(g.text, -1) {
		methods[strings.TrimRight(m, ".")] = ""
	}
	for _, m := range regexp.MustCompile("(?m)(?:^|`)(GET|POST) ("+base+`[^\s`+"`"+`]*)`).FindAllStringSubmatch(g.text, -1) {
		if before := methods[m[2]]; before != "" && before != m[1] {
			t.Errorf("%s is called with %s and with %s", m[2], before, m[1])
		}
		methods[m[2]] = m[1]
	}
	auth := g.metadata["agent_auth"].(map[string]any)
	for _, post := range []any{g.metadata["token_endpoint"], g.metadata["revocation_endpoint"], auth["identity_endpoint"], auth["claim_endpoint"], auth["events_endpoint"]} {
		address := post.(string)
		if before, named := methods[address]; !named || before == http.MethodGet {
			t.Errorf("%s of the metadata is called with %q", address, before)
		}
		methods[address] = http.MethodPost
	}
	if len(methods) < 12 {
		t.Errorf("only %d addresses were found: %v", len(methods), methods)
	}
	for address, method := range methods {
		if address == g.resource["resource"] { // a name; nothing lies there
			continue
		}
		if method == "" {
			method = http.MethodGet
		}
		status, _, body := fetch(t, method, address, "", "")
		switch {
		case status == http.StatusUnauthorized, status == http.StatusSeeOther, status == http.StatusOK:
		case status == http.StatusBadRequest && method == http.MethodPost:
		default:
			t.Errorf("%s %s: %d %s", method, address, status, body)
		}
	}
	// And the other way about: the text names all that the metadata does.
	for _, name := range []any{
		g.metadata["issuer"], g.metadata["jwks_uri"], auth["skill"], g.resource["resource"], g.resource["authorization_servers"].([]any)[0], g.resource["resource_documentation"],
	} {
		if !strings.Contains(g.text, name.(string)) {
			t.Errorf("the text does not name %s", name)
		}
	}
}

// TestAuthMDErrors: the codes of the table are documented, and no code that an agent
// must act upon is missing.
func TestAuthMDErrors(t *testing.T) {
	t.Parallel()
	g := readGuide(t, nil)
	_, _, page := fetch(t, http.MethodGet, g.s.URL+"/docs/errors", "", "")
	_, table, _ := strings.Cut(g.text, "\n## Errors\n")
	table, _, _ = strings.Cut(table, "\n## ")
	listed := map[string]string{} // code: status, where the table tells it
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)`(?: \\((\\d+)\\))? \\|").FindAllStringSubmatch(table, -1) {
		if _, twice := listed[m[1]]; twice {
			t.Errorf("%s is listed twice", m[1])
		}
		listed[m[1]] = m[2]
		row := regexp.MustCompile(`id="` + m[1] + `"[\s\S]*?</tr>`).FindString(page)
		if row == "" {
			t.Errorf("/docs/errors does not know %s", m[1])
		}
		if !strings.Contains(row, m[2]) {
			t.Errorf("%s has the status %s here, and there: %s", m[1], m[2], row)
		}
	}
	for _, code := range []string{ // spec, 7, and what the endpoints answer besides
		"anonymous_not_enabled", "service_auth_not_enabled", "invalid_target", "invalid_scope", "invalid_client", "unsupported_token_type", "unauthorized",
		"too_many_keys", "request_too_large", "server_error", "temporarily_unavailable",
		"invalid_request", "issuer_not_enabled", "interaction_required", "login_required", "invalid_claim_token", "claimed_or_in_flight", "claim_expired",
		"authorization_pending", "slow_down", "expired_token", "invalid_grant", "unsupported_grant_type", "insufficient_scope", "rate_limited",
	} {
		if _, ok := listed[code]; !ok {
			t.Errorf("the table lacks %s", code)
		}
	}
}

// TestAuthMDNumbers: times and limits of the text are those that hold.
func TestAuthMDNumbers(t *testing.T) {
	t.Parallel()
	g := readGuide(t, nil)
	text := strings.Join(strings.Fields(g.text), " ")
	for sentence, holds := range map[string]bool{
		"may claim it within 24 hours":                identity.ClaimWindow == 24*time.Hour,
		"The 24 hours are over.":                      identity.ClaimWindow == 24*time.Hour,
		"`access_token` lives one hour":               identity.TokenLifetime == time.Hour,
		"24 hours for an anonymous registration":      identity.ClaimWindow == 24*time.Hour,
		"30 days after a claim":                       identity.CeremonyAssertion == 30*24*time.Hour,
		"1 hour for an accepted ID-JAG":               identity.DirectAssertion == time.Hour,
		"add 5 seconds to the interval":               identity.PollInterval == 5*time.Second,
		"it works once, for at most 10 minutes":       g.lives(t, 600) && !g.lives(t, 601),
		"is missing or older than 3600 seconds":       g.old(t, 3600) && !g.old(t, 3600+61),
		"typ `oauth-id-jag+jwt`":                      true, // idJAG of the examples signs with it
		"(`analytics.read`: claimed workspaces only)": slices.Equal(identity.BothScopes(), []string{"analytics.read", "analytics.write"}),
	} {
		if !strings.Contains(text, sentence) {
			t.Errorf("the text does not say %q; this test must follow it", sentence)
		}
		if !holds {
			t.Errorf("not true: %s", sentence)
		}
	}
	// A number of requests in a time must be one of the rules.
	rules := map[string]bool{}
	for _, r := range quota.DefaultRules() {
		rules[rate(r.Quota, r.Window)] = true
	}
	for _, m := range regexp.MustCompile(`(\d+)(?: requests| registrations| times)?(?: an | a | per |/)(second|minute|hour|day)`).FindAllStringSubmatch(text, -1) {
		if !rules[m[1]+" "+m[2]] {
			t.Errorf("%q is no limit that holds", m[0])
		}
	}
}

func rate(quota int, window time.Duration) string {
	name := map[time.Duration]string{time.Second: "second", time.Minute: "minute", time.Hour: "hour", 24 * time.Hour: "day"}[window]
	data, _ := json.Marshal(quota)
	return string(data) + " " + name
}

// presents says whether an ID-JAG is accepted.
func (g *guide) presents(t *testing.T, change func(now int64, claims map[string]any)) bool {
	t.Helper()
	assertion := g.s.IdP.Assertion(g.s.URL+"/api/", "numbers", "numbers@example.com", func(_, claims map[string]any) {
		change(g.s.Clock.Now().Unix(), claims)
	})
	data, err := json.Marshal(map[string]string{"type": "identity_assertion", "assertion_type": registrations.AssertionType, "assertion": assertion})
	if err != nil {
		t.Fatal(err)
	}
	status, _, _ := fetch(t, http.MethodPost, g.s.URL+"/api/agent/identity", "application/json", string(data))
	return status == http.StatusOK
}

func (g *guide) lives(t *testing.T, seconds int64) bool {
	t.Helper()
	return g.presents(t, func(now int64, claims map[string]any) { claims["exp"] = now + seconds })
}

func (g *guide) old(t *testing.T, seconds int64) bool {
	t.Helper()
	return g.presents(t, func(now int64, claims map[string]any) { claims["auth_time"] = now - seconds })
}

// TestAuthMDOffers: the text names the issuers that are trusted, and says so when there
// are none.
func TestAuthMDOffers(t *testing.T) {
	t.Parallel()
	some := readGuide(t, func(c *registrations.Config) {
		c.Issuers = append(c.Issuers, trust.Issuer{ISS: "https://second.example"})
	})
	for _, iss := range some.metadata["agent_auth"].(map[string]any)["identity_assertion"].(map[string]any)["trusted_issuers"].([]any) {
		if !strings.Contains(some.text, "`"+iss.(string)+"`") {
			t.Errorf("the text does not name %s", iss)
		}
	}
	none := readGuide(t, func(c *registrations.Config) { c.Issuers = nil })
	if auth := none.metadata["agent_auth"].(map[string]any); auth["identity_assertion"] != nil || !strings.Contains(none.text, "(none yet)") {
		t.Errorf("without issuers: %v", auth)
	}
	for _, b := range none.blocks {
		if b.language == "json" && !json.Valid([]byte(b.text)) {
			t.Errorf("without issuers a block is no JSON: %s", b.text)
		}
	}
	lines := bufio.NewScanner(bytes.NewReader([]byte(some.text)))
	for lines.Scan() {
		if strings.Contains(lines.Text(), "`identity_assertion`") && strings.Contains(lines.Text(), "(none yet)") {
			t.Error("there are issuers, and the text says none")
		}
	}
}
