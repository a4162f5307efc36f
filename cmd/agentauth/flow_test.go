package agentauth

import (
	"strings"
	"testing"
	"time"
)

const (
	anonymousBody = `{"registration_id":"reg_1","registration_type":"anonymous","identity_assertion":"e.y.1",
"assertion_expires":"2026-11-22T10:00:00.000Z","pre_claim_scopes":["analytics.write"],
"claim_url":"BASE/api/agent/identity/claim","claim_token":"clm_secret","claim_token_expires":"2026-11-22T10:00:00.000Z",
"post_claim_scopes":["analytics.read","analytics.write"],"workspace":{"slug":"quiet-otter-4821"}}`
	block       = `{"user_code":"075310","verification_uri":"BASE/claim?claim_attempt_token=cvt_x","expires_in":600,"interval":5}`
	serviceBody = `{"registration_id":"reg_2","registration_type":"service_auth","claim_token":"clm_secret",
"claim_token_expires":"2026-11-22T10:00:00.000Z","post_claim_scopes":["analytics.read"],"claim":` + block + `}`
	interactionBody = `{"error":"interaction_required","error_description":"Ask the user.","registration_id":"reg_3",
"registration_type":"identity_assertion","claim_token":"clm_secret","claim":` + block + `}`
	tokenAnswer = `{"access_token":"at_1","token_type":"Bearer","expires_in":3600,"scope":"analytics.write"}`
	claimAnswer = `{"access_token":"at_2","token_type":"Bearer","expires_in":3600,"scope":"analytics.read analytics.write",
"identity_assertion":"e.y.2","assertion_expires":"2026-12-21T10:03:12.000Z","registration_id":"reg_1","workspace":{"slug":"quiet-otter-4821"}}`
)

func TestAnonymousFromDiscoveryToTheAPI(t *testing.T) {
	f := newFake(t)
	f.on("/api/agent/identity", ok(anonymousBody))
	f.on("/api/oauth2/token", ok(tokenAnswer), refuse(400, CodePending), ok(claimAnswer))
	f.on("/api/agent/keys", reply{status: 201, body: `{"key":"sk_1","kind":"secret","label":"ci"}`})
	f.on("/api/agent/identity/claim", ok(`{"registration_id":"reg_1","claim":`+block+`,"claim_attempt":`+block+`}`))
	f.on("/api/agent/workspace", refuse(403, "insufficient_scope"), ok(`{"slug":"quiet-otter-4821"}`))
	f.on("/api/oauth2/revoke", ok(""))
	c, clock := newClient(f)
	ctx, s := t.Context(), discover(t, c, f)

	reg, err := c.Register(ctx, s, Request{Type: Anonymous})
	if err != nil {
		t.Fatal(err)
	}
	if reg.ID != "reg_1" || reg.Claim != nil || reg.Workspace != "quiet-otter-4821" || reg.ClaimToken != "clm_secret" ||
		len(reg.Scopes) != 1 || len(reg.PostClaimScopes) != 2 || !reg.AssertionExpires.Equal(clock.now.Add(24*time.Hour)) {
		t.Errorf("registration is %+v", reg)
	}
	first, err := c.Exchange(ctx, s, reg.IdentityAssertion)
	if err != nil || first.AccessToken != "at_1" || !first.Expires.Equal(clock.now.Add(time.Hour)) {
		t.Fatal(first, err)
	}
	if key, err := c.CreateKey(ctx, s, first.AccessToken, KeyRequest{Kind: "secret", Label: "ci"}); err != nil || !strings.Contains(string(key), "sk_1") {
		t.Error(string(key), err)
	}
	if _, err := c.Workspace(ctx, s, first.AccessToken); codeOf(err) != "insufficient_scope" {
		t.Error(err)
	}
	claim, err := c.StartClaim(ctx, s, reg.ClaimToken, "dana@example.com")
	if err != nil || claim.UserCode != "075310" || !claim.Expires.Equal(clock.now.Add(10*time.Minute)) {
		t.Fatal(claim, err)
	}
	token, err := c.AwaitClaim(ctx, s, reg.ClaimToken, claim)
	if err != nil || token.IdentityAssertion != "e.y.2" || len(token.Scopes) != 2 || token.Workspace != "quiet-otter-4821" {
		t.Fatal(token, err)
	}
	if _, err := c.Workspace(ctx, s, token.AccessToken); err != nil {
		t.Error(err)
	}
	if err := c.Revoke(ctx, s, token.AccessToken); err != nil {
		t.Error(err)
	}
	poll := "POST /api/oauth2/token " + form("grant_type", claimGrant, "claim_token", "clm_secret")
	f.transcript(
		`POST /api/agent/identity {"type":"anonymous"}`,
		"POST /api/oauth2/token "+form("grant_type", jwtBearerGrant, "assertion", "e.y.1", "resource", f.URL+"/api/"),
		`POST /api/agent/keys {"kind":"secret","label":"ci"} (Bearer at_1)`,
		"GET /api/agent/workspace  (Bearer at_1)",
		`POST /api/agent/identity/claim {"claim_token":"clm_secret","email":"dana@example.com"}`,
		poll, poll,
		"GET /api/agent/workspace  (Bearer at_2)",
		"POST /api/oauth2/revoke "+form("token", "at_2", "token_type_hint", "access_token"),
	)
}

func TestServiceAuth(t *testing.T) {
	f := newFake(t)
	f.on("/api/agent/identity", ok(serviceBody))
	f.on("/api/oauth2/token", ok(claimAnswer))
	c, _ := newClient(f)
	s := discover(t, c, f)
	reg, err := c.Register(t.Context(), s, Request{Type: ServiceAuth, LoginHint: "dana@example.com"})
	if err != nil || reg.Claim == nil || reg.IdentityAssertion != "" || reg.Interaction {
		t.Fatal(reg, err)
	}
	if _, err := c.AwaitClaim(t.Context(), s, reg.ClaimToken, *reg.Claim); err != nil {
		t.Error(err)
	}
	f.transcript(
		`POST /api/agent/identity {"login_hint":"dana@example.com","type":"service_auth"}`,
		"POST /api/oauth2/token "+form("grant_type", claimGrant, "claim_token", "clm_secret"),
	)
}

func TestIdentityAssertion(t *testing.T) {
	f := newFake(t)
	f.on("/api/agent/identity",
		ok(`{"registration_id":"reg_3","registration_type":"identity_assertion","identity_assertion":"e.y.3",
"assertion_expires":1795258800,"scopes":["analytics.read","analytics.write"],"workspace":{"slug":"dana"}}`),
		reply{status: 401, body: interactionBody},
		reply{status: 401, body: `{"error":"login_required","error_description":"auth_time is old","max_age":3600}`},
		reply{status: 400, body: `{"error":"invalid_request","message":"no","reason":"replay_detected"}`},
		reply{status: 401, body: `{"error":"interaction_required"}`})
	c, _ := newClient(f)
	s := discover(t, c, f)
	req := Request{Type: IdentityAssertion, Assertion: "a.b.c"}
	clean, err := c.Register(t.Context(), s, req)
	if err != nil || clean.Claim != nil || len(clean.Scopes) != 2 || clean.AssertionExpires.Unix() != 1795258800 {
		t.Error(clean, err)
	}
	step, err := c.Register(t.Context(), s, req)
	if err != nil || !step.Interaction || step.Claim == nil || step.Claim.UserCode != "075310" || step.ClaimToken != "clm_secret" {
		t.Error(step, err)
	}
	for _, want := range []Error{
		{Status: 401, Code: "login_required", Description: "auth_time is old"},
		{Status: 400, Code: "invalid_request", Description: "no", Reason: "replay_detected"},
		{Status: 401, Code: CodeInteraction}, // without a claim block
	} {
		if _, err := c.Register(t.Context(), s, req); asError(err) != want {
			t.Errorf("error is %v, want %v", err, &want)
		}
	}
	if want := `POST /api/agent/identity {"assertion":"a.b.c","assertion_type":"` + idJagType + `","type":"identity_assertion"}`; f.log[0] != want {
		t.Error(f.log[0])
	}
}

func TestMalformedRegistrations(t *testing.T) {
	for name, body := range map[string]string{
		"no id":            `{"identity_assertion":"e.y.1","claim_token":"clm_secret"}`,
		"other type":       `{"registration_id":"r","registration_type":"service_auth","identity_assertion":"e.y.1","claim_token":"clm_secret"}`,
		"nothing":          `{"registration_id":"r"}`,
		"no claim token":   `{"registration_id":"r","identity_assertion":"e.y.1"}`,
		"not JSON":         `<html>clm_secret`,
		"steering letters": `{"registration_id":"r","claim_token":"clm_secret","claim":{"user_code":"\u001b[2J","verification_uri":"https://a.example/"}}`,
		"script link":      `{"registration_id":"r","claim_token":"clm_secret","claim":{"user_code":"123456","verification_uri":"javascript:alert(1)"}}`,
		"plain http link":  `{"registration_id":"r","claim_token":"clm_secret","claim":{"user_code":"123456","verification_uri":"http://a.example/"}}`,
	} {
		f := newFake(t)
		f.on("/api/agent/identity", ok(body))
		c, _ := newClient(f)
		_, err := c.Register(t.Context(), discover(t, c, f), Request{Type: Anonymous})
		if err == nil || strings.Contains(err.Error(), "clm_secret") || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTypeNotOffered(t *testing.T) {
	f := newFake(t)
	f.edit = func(_, _, agent map[string]any) { agent["identity_types_supported"] = []string{Anonymous} }
	c, _ := newClient(f)
	s := discover(t, c, f)
	for _, kind := range []string{ServiceAuth, "other"} {
		if _, err := c.Register(t.Context(), s, Request{Type: kind}); err == nil {
			t.Errorf("%s was sent", kind)
		}
	}
	f.transcript()
}

func TestClaimAttemptIsAClaimBlock(t *testing.T) {
	f := newFake(t)
	f.on("/api/agent/identity/claim", ok(`{"claim_attempt":`+block+`}`), ok(`{}`), ok(`{"claim":{"user_code":"123456","verification_uri":"BASE/claim"}}`))
	c, clock := newClient(f)
	s := discover(t, c, f)
	if claim, err := c.StartClaim(t.Context(), s, "clm_secret", "d@example.com"); err != nil || claim.UserCode != "075310" {
		t.Error(claim, err)
	}
	if _, err := c.StartClaim(t.Context(), s, "clm_secret", "d@example.com"); err == nil {
		t.Error("an answer without claim block was taken")
	}
	claim, err := c.StartClaim(t.Context(), s, "clm_secret", "d@example.com")
	if err != nil || claim.Interval != 5 || !claim.Expires.Equal(clock.now.Add(10*time.Minute)) {
		t.Error("defaults:", claim, err)
	}
}
