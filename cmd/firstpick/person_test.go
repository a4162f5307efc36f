package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net/http"
	"net/http/cookiejar"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// What a person does in a browser, for the tests that run real servers.

var (
	formToken  = regexp.MustCompile(`name="form_token" value="([^"]+)"`)
	signInLink = regexp.MustCompile(`https?://\S+/signin/link\?token=\S+`)
	invitation = regexp.MustCompile(`sign in as (\S+) at\n  (http://[^/ ]+)(/claim\?\S+)\nand enter the code (\d{6})`)
)

// An answer is what a server said.
type answer struct {
	status int
	body   string
	doc    map[string]any // where it is JSON
}

func (a answer) text(name string) string {
	s, _ := a.doc[name].(string)
	return s
}

func (a answer) number(name string) int {
	n, _ := a.doc[name].(float64)
	return int(n)
}

func (a answer) String() string { return fmt.Sprintf("%d %.300s", a.status, a.body) }

// newBrowser returns a client that keeps cookies and follows no redirect.
func newBrowser() *http.Client {
	jar, _ := cookiejar.New(nil) // it never fails
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// send sends nothing, a form (url.Values) or JSON, and reads the answer whole.
func send(ctx context.Context, client *http.Client, base, method, path string, body any, bearer string) (answer, error) {
	var in io.Reader = http.NoBody
	media := ""
	switch b := body.(type) {
	case nil:
	case url.Values:
		in, media = strings.NewReader(b.Encode()), "application/x-www-form-urlencoded"
	default:
		data, err := json.Marshal(b)
		if err != nil {
			return answer{}, err
		}
		in, media = bytes.NewReader(data), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, in)
	if err != nil {
		return answer{}, err
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err // half an answer is none
	}
	a := answer{status: resp.StatusCode, body: string(data)}
	_ = json.Unmarshal(data, &a.doc) // pages are not JSON
	return a, nil
}

// readMail returns whom a mail is to and the sign-in link in it, if there is one,
// and says whether the mail is whole.
func readMail(file string) (to, link string, whole bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", "", false
	}
	msg, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		return "", "", false
	}
	body := msg.Body
	if strings.EqualFold(msg.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	address, aerr := mail.ParseAddress(msg.Header.Get("To"))
	if err != nil || aerr != nil {
		return "", "", false
	}
	return address.Address, signInLink.FindString(string(text)), true
}

// person is `person ACTION FILE MAIL`: it does what the invitation in FILE asks
// for, in a new browser: it signs in by a link in the folder MAIL, and answers the
// page. ACTION is authorize, deny or mistype. The heading of the last page is
// printed; a step that fails exits 1.
func person() {
	heading, err := answerClaim(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(heading)
}

func answerClaim(action, file, folder string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	m := invitation.FindStringSubmatch(string(text))
	if m == nil {
		return "", fmt.Errorf("no invitation in %q", text)
	}
	email, base, uri, code := m[1], m[2], m[3], m[4]
	browser := newBrowser()
	do := func(method, path string, form url.Values, want int) (answer, error) {
		var body any
		if form != nil {
			body = form
		}
		a, err := send(context.Background(), browser, base, method, path, body, "")
		if err == nil && a.status != want {
			err = fmt.Errorf("%s %s: %s; want %d", method, path, a, want)
		}
		return a, err
	}
	if _, err := do("GET", uri, nil, 303); err != nil {
		return "", err
	}
	before, _ := filepath.Glob(filepath.Join(folder, "*.eml"))
	if _, err := do("POST", "/signin", url.Values{"email": {email}}, 200); err != nil {
		return "", err
	}
	link, err := newLink(folder, before, email)
	if err != nil {
		return "", err
	}
	if _, err := do("GET", strings.TrimPrefix(link, base), nil, 303); err != nil {
		return "", err
	}
	page, err := do("GET", "/claim", nil, 200)
	if err != nil {
		return "", err
	}
	token := formToken.FindStringSubmatch(page.body)
	if token == nil {
		return "", fmt.Errorf("the page of the claim has no form: %s", page)
	}
	form, want := url.Values{"form_token": {token[1]}, "action": {action}}, 303
	switch action {
	case "authorize":
		form.Set("user_code", code)
	case "mistype":
		form.Set("action", "authorize")
		form.Set("user_code", strings.Map(func(d rune) rune { return '0' + (d-'0'+1)%10 }, code))
		want = 422
	}
	if page, err = do("POST", "/claim", form, want); err == nil && want == 303 {
		page, err = do("GET", "/claim", nil, 200)
	}
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(page.body, "<h1>")
	heading, _, _ := strings.Cut(rest, "</h1>")
	return heading, nil
}

// newLink waits for a mail that was not there before.
func newLink(folder string, before []string, to string) (string, error) {
	old := map[string]bool{}
	for _, file := range before {
		old[file] = true
	}
	for range 1000 {
		files, _ := filepath.Glob(filepath.Join(folder, "*.eml"))
		for _, file := range files {
			if address, link, _ := readMail(file); !old[file] && address == to && link != "" {
				return link, nil
			}
		}
		time.Sleep(10 * time.Millisecond) // mail comes beside the answer
	}
	return "", fmt.Errorf("no mail to %s in %s", to, folder)
}
