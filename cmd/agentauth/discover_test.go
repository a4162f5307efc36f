package agentauth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDiscover(t *testing.T) {
	f := newFake(t)
	f.edit = func(_, as, _ map[string]any) {
		as["grant_types_supported"] = []string{jwtBearerGrant, "urn:other:agent-auth:grant-type:claim"}
	}
	c, _ := newClient(f)
	s := discover(t, c, f)
	if s.ClaimGrant != "urn:other:agent-auth:grant-type:claim" || s.Resource != f.URL+"/api/" || s.Issuer != f.URL ||
		s.TokenEndpoint != f.URL+"/api/oauth2/token" || len(s.IdentityTypes) != 3 || s.TrustedIssuers[0] != "https://idp.example" {
		t.Errorf("service is %+v", s)
	}
}

func TestInconsistentMetadataIsRefused(t *testing.T) {
	const other = "https://elsewhere.example"
	for name, test := range map[string]struct {
		edit func(f *fake, pr, as, agent map[string]any)
		want string
	}{
		"resource elsewhere": {func(_ *fake, pr, _, _ map[string]any) { pr["resource"] = other + "/api/" }, "resource is on " + other},
		"resource query":     {func(f *fake, pr, _, _ map[string]any) { pr["resource"] = f.URL + "/api/?x" }, "has a query"},
		"no server":          {func(_ *fake, pr, _, _ map[string]any) { pr["authorization_servers"] = []string{} }, "no authorization server"},
		"plain http server": {func(_ *fake, pr, _, _ map[string]any) {
			pr["authorization_servers"] = []string{"http://as.example"}
		}, "not an https address"},
		"issuer":                {func(_ *fake, _, as, _ map[string]any) { as["issuer"] = other }, "issuer is"},
		"issuer with a slash":   {func(f *fake, _, as, _ map[string]any) { as["issuer"] = f.URL + "/" }, "issuer is"},
		"identity elsewhere":    {func(_ *fake, _, _, a map[string]any) { a["identity_endpoint"] = other }, "identity_endpoint is on"},
		"claim elsewhere":       {func(_ *fake, _, _, a map[string]any) { a["claim_endpoint"] = other }, "claim_endpoint is on"},
		"token elsewhere":       {func(_ *fake, _, as, _ map[string]any) { as["token_endpoint"] = other }, "token_endpoint is on"},
		"token on another port": {func(_ *fake, _, as, _ map[string]any) { as["token_endpoint"] = "http://127.0.0.1:1/t" }, "token_endpoint is on"},
		"relative":              {func(_ *fake, _, as, _ map[string]any) { as["token_endpoint"] = "/token" }, "not an absolute address"},
		"no revocation":         {func(_ *fake, _, as, _ map[string]any) { delete(as, "revocation_endpoint") }, "revocation_endpoint is missing"},
		"user name": {func(f *fake, _, as, _ map[string]any) {
			as["token_endpoint"] = strings.Replace(f.URL, "//", "//u:p@", 1)
		}, "user name"},
		"no claim grant": {func(_ *fake, _, as, _ map[string]any) {
			as["grant_types_supported"] = []string{jwtBearerGrant}
		}, "no claim grant"},
	} {
		f := newFake(t)
		f.edit = func(pr, as, agent map[string]any) { test.edit(f, pr, as, agent) }
		c, _ := newClient(f)
		if _, err := c.Discover(t.Context(), f.URL); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIssuerWithPath(t *testing.T) {
	f := newFake(t)
	f.edit = func(pr, as, _ map[string]any) {
		pr["authorization_servers"], as["issuer"] = []string{f.URL + "/tenant"}, f.URL+"/tenant"
	}
	rest := f.Config.Handler
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == serverPath+"/tenant" {
			r.URL.Path = serverPath
		}
		rest.ServeHTTP(w, r)
	})
	c, _ := newClient(f)
	if s := discover(t, c, f); s.Issuer != f.URL+"/tenant" {
		t.Error(s.Issuer)
	}
}

func TestCheckBase(t *testing.T) {
	for base, good := range map[string]bool{
		"https://a.example": true, "https://a.example/": true, "https://a.example/sub": true, "HTTPS://a.example": true,
		"http://127.0.0.1:8080": true, "http://localhost": true, "http://[::1]:1": true, "http://127.9.9.9": true,
		"http://a.example": false, "http://localhost.evil.example": false, "http://127.0.0.1.evil.example": false,
		"a.example": false, "": false, "https://": false, "ftp://a.example": false, "https://u:hush@a.example": false, "https://u:%hush@a.example": false,
		"https://a.example?q": false, "https://a.example#f": false, "http://0.0.0.0": false,
	} {
		if got, err := CheckBase(base); (err == nil) != good || strings.HasSuffix(got, "/") {
			t.Errorf("CheckBase(%q) = %q, %v", base, got, err)
		} else if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("a password is told: %v", err)
		}
	}
}

func TestRedirectIsRefused(t *testing.T) {
	var stolen string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen = r.URL.Path }))
	defer thief.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		f := newFake(t)
		away := reply{status: status, header: map[string]string{"Location": thief.URL + "/take?secret"}}
		f.on("/api/oauth2/token", away)
		f.on("/api/agent/workspace", away)
		c, clock := newClient(f)
		s := discover(t, c, f)
		_, err := c.Exchange(t.Context(), s, "e.y.1")
		if err == nil || !strings.Contains(err.Error(), "redirects to "+thief.URL+";") {
			t.Error(status, err)
		}
		if _, err := c.Workspace(t.Context(), s, "at_1"); err == nil {
			t.Error(status, "followed with a token")
		}
		if _, err := c.AwaitClaim(t.Context(), s, "clm_secret", Claim{Interval: 5, Expires: clock.now}); err == nil || len(clock.slept) != 1 {
			t.Error(status, "polled on:", err, clock.slept)
		}
	}
	if stolen != "" {
		t.Error("a request went to", stolen)
	}
}

func TestHugeAnswer(t *testing.T) {
	f := newFake(t)
	c, _ := newClient(f)
	s := discover(t, c, f)
	f.on("/api/agent/workspace", ok(`{"a":"`+strings.Repeat("x", maxBody)+`"}`))
	if _, err := c.Workspace(t.Context(), s, "at_1"); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Error(err)
	}
	f.replies["/api/agent/workspace"] = []reply{{status: 200, body: `"` + strings.Repeat("x", maxBody-2) + `"`}}
	if doc, err := c.Workspace(t.Context(), s, "at_1"); err != nil || len(doc) != maxBody {
		t.Error(len(doc), err)
	}
}

func TestErrors(t *testing.T) {
	limited := refuse(429, CodeRateLimited)
	limited.header = map[string]string{"Retry-After": "30"}
	dated := refuse(429, CodeRateLimited)
	dated.header = map[string]string{"Retry-After": "Sat, 21 Nov 2026 10:02:00 GMT"}
	for name, test := range map[string]struct {
		reply reply
		want  string
	}{
		"plain":       {refuse(400, "invalid_grant"), "invalid_grant (400): why invalid_grant"},
		"HTML":        {reply{status: 403, body: "<html>e.y.1 clm_secret"}, "the service answered 403 Forbidden"},
		"empty":       {reply{status: 400}, "the service answered 400 Bad Request"},
		"array":       {reply{status: 400, body: "[]"}, "the service answered 400 Bad Request"},
		"object":      {reply{status: 400, body: `{"error":{"code":1},"message":"no"}`}, "the service answered 400 Bad Request: no"},
		"echo":        {reply{status: 400, body: `{"error":"invalid_grant","error_description":"bad e.y.1 there"}`}, "invalid_grant (400): bad *** there"},
		"terminal":    {reply{status: 400, body: `{"error":"x","error_description":"a\u001b[2J\nb\u202e"}`}, "x (400): a[2J b"},
		"long":        {reply{status: 400, body: `{"error":"x","error_description":"` + strings.Repeat("a", 5000) + `"}`}, "x (400): " + strings.Repeat("a", maxText) + "…"},
		"wait":        {limited, "rate_limited (429): why rate_limited"},
		"wait a date": {dated, "rate_limited (429): why rate_limited"},
	} {
		f := newFake(t)
		f.on("/api/oauth2/token", test.reply)
		c, _ := newClient(f)
		_, err := c.Exchange(t.Context(), discover(t, c, f), "e.y.1")
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %v", name, err)
		}
		if after := asError(err).RetryAfter.Seconds(); name == "wait" && after != 30 || name == "wait a date" && after != 120 {
			t.Errorf("%s: RetryAfter is %v", name, after)
		}
	}
}

func TestServerErrorIsRetriedWhereThatIsSafe(t *testing.T) {
	f := newFake(t)
	f.on("/api/oauth2/token", refuse(500, "server_error"), refuse(503, "x"), ok(tokenAnswer))
	f.on("/api/agent/identity", refuse(500, "server_error"))
	f.on("/api/agent/keys", refuse(500, "server_error"))
	c, clock := newClient(f)
	s := discover(t, c, f)
	if _, err := c.Exchange(t.Context(), s, "e.y.1"); err != nil || len(clock.slept) != 2 {
		t.Error(err, clock.slept)
	}
	if _, err := c.Register(t.Context(), s, Request{Type: Anonymous}); asError(err).Status != 500 {
		t.Error(err)
	}
	if _, err := c.CreateKey(t.Context(), s, "at_1", KeyRequest{Kind: "secret", Label: "ci"}); asError(err).Status != 500 {
		t.Error(err)
	}
	if len(f.log) != 5 {
		t.Error(f.log)
	}
}
