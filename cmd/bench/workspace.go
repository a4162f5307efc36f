package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

// A workspace is a claimed workspace with the credentials of its agent and owner.
type workspace struct {
	slug  string
	token string // access token that reads and writes
	key   string // secret collector key
	owner *http.Client
}

var formToken = regexp.MustCompile(`name="form_token" value="([^"]+)"`)

// claimedWorkspace registers an agent and claims its workspace as a person does, in a
// browser that an operator's link signed in.
func (b *bench) claimedWorkspace(email string) (*workspace, error) {
	registered, err := b.register()
	if err != nil {
		return nil, err
	}
	var claim struct {
		Claim struct {
			Code string `json:"user_code"`
			URI  string `json:"verification_uri"`
		} `json:"claim"`
	}
	if err := b.call("/api/agent/identity/claim", "", map[string]string{"claim_token": registered.ClaimToken, "email": email}, &claim); err != nil {
		return nil, err
	}
	jar, _ := cookiejar.New(nil) // it never fails
	w := &workspace{slug: registered.Workspace.Slug, owner: &http.Client{Jar: jar}}
	if err := b.signIn(w.owner, email); err != nil {
		return nil, err
	}
	page, err := fetch(w.owner, claim.Claim.URI)
	if err != nil {
		return nil, err
	}
	form := formToken.FindSubmatch(page)
	if form == nil {
		return nil, errors.New("the claim page has no form")
	}
	resp, err := w.owner.PostForm(b.base+"/claim", url.Values{"form_token": {string(form[1])}, "action": {"authorize"}, "user_code": {claim.Claim.Code}})
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close() // the redemption below fails where the claim did
	var redeemed struct {
		AccessToken string `json:"access_token"`
	}
	err = b.call("/api/oauth2/token", "", url.Values{"grant_type": {"urn:example:agent-auth:grant-type:claim"}, "claim_token": {registered.ClaimToken}}, &redeemed)
	if err != nil {
		return nil, err
	}
	w.token = redeemed.AccessToken
	var key struct {
		Key string `json:"key"`
	}
	err = b.call("/api/agent/keys", w.token, map[string]string{"kind": "secret"}, &key)
	w.key = key.Key
	return w, err
}

// signIn follows the link that `admin login-link` prints.
func (b *bench) signIn(browser *http.Client, email string) error {
	out, err := b.command("admin", "login-link", "--email", email).Output()
	if err != nil {
		return fmt.Errorf("admin login-link: %w", err)
	}
	_, err = fetch(browser, strings.TrimSpace(string(out)))
	return err
}

// A registration is the answer to an anonymous registration.
type registration struct {
	Assertion  string `json:"identity_assertion"`
	ClaimToken string `json:"claim_token"`
	Workspace  struct {
		Slug string `json:"slug"`
	} `json:"workspace"`
}

func (b *bench) register() (r registration, err error) {
	err = b.call("/api/agent/identity", "", map[string]string{"type": "anonymous"}, &r)
	return r, err
}

// call posts JSON, or a form (url.Values), and decodes the answer.
func (b *bench) call(path, bearer string, in, out any) error {
	body, media := []byte(nil), "application/json"
	if form, ok := in.(url.Values); ok {
		body, media = []byte(form.Encode()), "application/x-www-form-urlencoded"
	} else {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	answer, err := b.send(http.MethodPost, path, bearer, media, body)
	if err != nil {
		return err
	}
	if answer.status >= 300 {
		return fmt.Errorf("POST %s: %d %s", path, answer.status, answer.body)
	}
	return json.Unmarshal(answer.body, out)
}

type answer struct {
	status int
	body   []byte
}

// send sends a request and reads the answer whole.
func (b *bench) send(method, path, bearer, media string, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, b.base+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, data}, err
}

func fetch(client *http.Client, address string) ([]byte, error) {
	resp, err := client.Get(address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %s", address, resp.StatusCode, body[:min(len(body), 300)])
	}
	return body, err
}
