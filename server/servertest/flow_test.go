package servertest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestFlows plays the conversations in testdata/flows on both stores. A flow is
// meant to be read: what is asked (>), what is answered (<), and what people do
// in between.
//
//	> METHOD PATH            a request; then headers, then a body of one line
//	< STATUS                 its answer; then headers, then a body: JSON with every
//	                         field (of errors: all but the descriptions), or text
//	                         that a page contains
//	<name>                   a value: bound where it is met first, the same afterwards
//	<!name>                  a value that must differ from one that was bound
//	clock 5s                 time passes
//	sign-in WHO              a person asks for a link and follows it
//	browse WHO PATH          a person's browser opens a page, redirects followed
//	submit WHO PATH k=v ...  and sends its form
//	id-jag NAME k=v ...      the trusted issuer makes an assertion; auth_time and the
//	                         like are seconds from now
//	event NAME k=v ...       and a security event
//	rotate, sweep            the operator rotates keys; the housekeeping runs
func TestFlows(t *testing.T) {
	files, err := filepath.Glob("testdata/flows/*.flow")
	if err != nil || len(files) == 0 {
		t.Fatal("no flows", err)
	}
	for _, file := range files {
		for _, engine := range statetest.Engines() {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".flow")+"/"+engine, func(t *testing.T) {
				t.Parallel()
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				limits := bytes.Contains(data, []byte("\nlimits on\n"))
				address := statetest.Address(t, engine)
				s := servertest.New(t, servertest.Options{State: address, Limits: limits})
				file, _ := strings.CutPrefix(address, "sqlite://")
				if engine != "sqlite" {
					file = ""
				}
				f := &flow{t: t, s: s, file: file, vars: map[string]string{"base": s.URL, "idp": s.IdP.URL}, people: map[string]*person{}}
				f.play(string(data))
				f.findLeaks()
			})
		}
	}
}

type flow struct {
	t      *testing.T
	s      *servertest.Service
	vars   map[string]string
	people map[string]*person
	line   int
	last   *reply
	seen   strings.Builder // all that was sent and answered
	file   string          // of the store, where it has one
}

type person struct {
	client *http.Client
	page   string
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (f *flow) fail(format string, args ...any) {
	f.t.Helper()
	f.t.Fatalf("line %d: %s", f.line, fmt.Sprintf(format, args...))
}

// play runs a flow. Requests and expectations are blocks of lines that begin
// with > and <.
func (f *flow) play(text string) {
	f.t.Helper()
	var block []string
	flush := func() {
		if len(block) > 0 {
			if block[0][0] == '>' {
				f.send(strip(block))
			} else {
				f.expect(strip(block))
			}
			block = nil
		}
	}
	scan := bufio.NewScanner(strings.NewReader(text))
	for scan.Scan() {
		f.line++
		line := strings.TrimSpace(scan.Text())
		if len(block) > 0 && (line == "" || line[0] != block[0][0]) {
			flush()
		}
		switch {
		case line == "" || line[0] == '#' || line == "limits on":
		case line[0] == '>' || line[0] == '<':
			block = append(block, line)
		default:
			f.act(strings.Fields(f.fill(line)))
		}
	}
	flush()
}

func strip(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSpace(l[1:])
	}
	return out
}

var variable = regexp.MustCompile(`<([a-z0-9_]+)>`)

// fill puts known values in.
func (f *flow) fill(s string) string {
	return variable.ReplaceAllStringFunc(s, func(m string) string {
		if v, ok := f.vars[m[1:len(m)-1]]; ok {
			return v
		}
		return m
	})
}

func (f *flow) send(lines []string) {
	method, path, _ := strings.Cut(f.fill(lines[0]), " ")
	var body string
	header := http.Header{}
	for _, l := range lines[1:] {
		l = f.fill(l)
		if name, value, ok := strings.Cut(l, ": "); ok && !strings.ContainsAny(name, "{=\"") {
			header.Add(name, value)
		} else {
			body += l
		}
	}
	f.seen.WriteString(body + "\n")
	req, err := http.NewRequest(method, f.s.URL+path, strings.NewReader(body))
	if err != nil {
		f.fail("%v", err)
	}
	req.Header = header
	if header.Get("Content-Type") == "" && body != "" {
		kind := "application/x-www-form-urlencoded"
		if body[0] == '{' || body[0] == '[' {
			kind = "application/json"
		}
		req.Header.Set("Content-Type", kind)
	}
	f.do(http.DefaultClient, req)
}

func (f *flow) do(c *http.Client, req *http.Request) {
	resp, err := c.Do(req)
	if err != nil {
		f.fail("%v", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		f.fail("%v", err)
	}
	f.last = &reply{resp.StatusCode, resp.Header, string(data)}
	f.seen.WriteString(strings.Join(append(resp.Header.Values("Set-Cookie"), req.URL.String(), f.last.body, ""), "\n"))
}

func (f *flow) expect(lines []string) {
	f.t.Helper()
	if want := lines[0]; strconv.Itoa(f.last.status) != want {
		f.fail("answered %d, not %s: %s", f.last.status, want, f.last.body)
	}
	for _, l := range lines[1:] {
		name, value, isHeader := strings.Cut(l, ": ")
		switch {
		case l == "(empty)":
			if f.last.body != "" {
				f.fail("the body is %q", f.last.body)
			}
		case strings.HasPrefix(l, "{"):
			f.expectJSON(l)
		case isHeader && !strings.ContainsAny(name, " \""):
			if got := f.last.header.Values(name); !slices.ContainsFunc(got, func(v string) bool { return f.same(value, v) }) {
				f.fail("%s is %q, not %q", name, got, f.fill(value))
			}
		default:
			if text := f.fill(l); !strings.Contains(f.last.body, text) {
				f.fail("the page does not say %q: %s", text, f.last.body)
			}
		}
	}
}

func (f *flow) expectJSON(pattern string) {
	f.t.Helper()
	var want, got map[string]any
	if err := json.Unmarshal([]byte(pattern), &want); err != nil {
		f.fail("the pattern is no JSON: %v", err)
	}
	if err := json.Unmarshal([]byte(f.last.body), &got); err != nil {
		f.fail("the answer is no JSON: %q", f.last.body)
	}
	if _, isError := want["error"]; isError {
		for _, common := range []string{"error_description", "error_uri", "request_id", "message"} {
			if v, ok := got[common]; ok && want[common] == nil {
				if v == "" {
					f.fail("%s is empty", common)
				}
				delete(got, common)
			}
		}
	}
	f.match("", want, got)
}

// match compares values, and binds names that are met first.
func (f *flow) match(at string, want, got any) {
	f.t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			f.fail("%s is %v", at, got)
		}
		for k := range w {
			if _, ok := g[k]; !ok {
				f.fail("%s.%s is missing: %s", at, k, f.last.body)
			}
			f.match(at+"."+k, w[k], g[k])
		}
		for k := range g {
			if _, ok := w[k]; !ok {
				f.fail("%s.%s is there, and should not be: %s", at, k, f.last.body)
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			f.fail("%s is %v, not %v", at, got, want)
		}
		for i := range w {
			f.match(fmt.Sprintf("%s[%d]", at, i), w[i], g[i])
		}
	case string:
		if g, ok := got.(string); !ok || !f.same(w, g) {
			f.fail("%s is %v, not %s", at, got, f.fill(w))
		}
	default:
		if !reflect.DeepEqual(want, got) {
			f.fail("%s is %v, not %v", at, got, want)
		}
	}
}

// same compares a text with a pattern in which one name may still be unbound.
func (f *flow) same(pattern, got string) bool {
	if name, ok := strings.CutPrefix(pattern, "<!"); ok {
		return got != "" && got != f.vars[strings.TrimSuffix(name, ">")]
	}
	pattern = f.fill(pattern)
	loc := variable.FindStringSubmatchIndex(pattern)
	if loc == nil {
		return pattern == got
	}
	before, name, after := pattern[:loc[0]], pattern[loc[2]:loc[3]], pattern[loc[1]:]
	if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) || len(got) <= len(before)+len(after) {
		return false
	}
	f.vars[name] = got[len(before) : len(got)-len(after)]
	return true
}

func (f *flow) act(words []string) {
	f.t.Helper()
	switch words[0] {
	case "clock":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			f.fail("%v", err)
		}
		f.s.Clock.Add(d)
	case "sign-in":
		f.signIn(words[1])
	case "browse":
		f.browse(words[1], words[2])
	case "submit":
		f.submit(words[1], words[2], words[3:])
	case "follow-mail":
		f.browse(words[1], f.s.Mail.Link(f.t, words[1], strings.Join(words[2:], " ")))
	case "id-jag":
		f.vars[words[1]] = f.s.IdP.Assertion(f.s.URL+"/api/", f.value(words, "sub", "user-1"), f.value(words, "email", "dana@example.com"), f.change(words[2:]))
	case "event":
		f.vars[words[1]] = f.s.IdP.Event(f.s.URL+"/api/", f.value(words, "sub", "user-1"), f.change(words[2:]))
	case "rotate":
		if _, _, err := f.s.Agents.Ring.Rotate(f.t.Context(), 10*time.Minute); err != nil {
			f.fail("%v", err)
		}
	case "sweep":
		if err := f.s.Agents.Sweep(f.t.Context(), f.s.Clock.Now()); err != nil {
			f.fail("%v", err)
		}
	case "disable", "enable":
		if err := f.s.Agents.SetDisabled(f.t.Context(), words[1], words[0] == "disable"); err != nil {
			f.fail("%v", err)
		}
	default:
		f.fail("unknown: %v", words)
	}
}

func (f *flow) value(words []string, key, fallback string) string {
	for _, w := range words {
		if v, ok := strings.CutPrefix(w, key+"="); ok {
			return v
		}
	}
	return fallback
}

// change sets claims: times as seconds from now, everything else as it stands.
func (f *flow) change(words []string) func(header, claims map[string]any) {
	return func(header, claims map[string]any) {
		for _, w := range words {
			k, v, _ := strings.Cut(w, "=")
			switch k {
			case "sub", "email":
			case "iat", "exp", "auth_time":
				n, err := strconv.Atoi(v)
				if err != nil {
					f.fail("%v", err)
				}
				claims[k] = f.s.Clock.Now().Unix() + int64(n)
			case "typ":
				header["typ"] = v
			case "event":
				claims["events"] = map[string]any{v: map[string]any{}}
			default:
				claims[k] = v
			}
		}
	}
}

func (f *flow) person(name string) *person {
	if p := f.people[name]; p != nil {
		return p
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.fail("%v", err)
	}
	p := &person{client: &http.Client{Jar: jar}}
	f.people[name] = p
	return p
}

func (f *flow) signIn(email string) {
	f.browse(email, "/signin")
	f.submit(email, "/signin", []string{"email=" + email})
	if f.last.status != http.StatusOK {
		f.fail("sign in: %d %s", f.last.status, f.last.body)
	}
	f.browse(email, f.s.Mail.Link(f.t, email, "Sign in"))
}

func (f *flow) browse(who, path string) {
	if !strings.HasPrefix(path, "http") {
		path = f.s.URL + path
	}
	req, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		f.fail("%v", err)
	}
	p := f.person(who)
	f.do(p.client, req)
	p.page = f.last.body
}

var hidden = regexp.MustCompile(`type="hidden" name="([a-z_]+)" value="([^"]*)"`)

// submit sends a form with the hidden fields of the page that is open.
func (f *flow) submit(who, path string, fields []string) {
	p := f.person(who)
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(p.page, -1) {
		if form.Get(m[1]) == "" {
			form.Set(m[1], m[2])
		}
	}
	for _, field := range fields {
		k, v, _ := strings.Cut(field, "=")
		form.Set(k, v)
	}
	req, err := http.NewRequest(http.MethodPost, f.s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		f.fail("%v", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", f.s.URL)
	f.do(p.client, req)
	p.page = f.last.body
}
