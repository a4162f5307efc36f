package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

const lifeGolden = "testdata/evals_life.transcript"

// TestTheLifeOfAnEval goes through the eval API with real processes, from the key's
// making to its end, and holds every request and answer to a transcript that is the
// same on both stores. go test -update writes it anew.
func TestTheLifeOfAnEval(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			got := life(t, engine)
			if *update {
				if err := os.WriteFile(lifeGolden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(lifeGolden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the transcript differs (-want +got):\n%s", diff)
			}
		})
	}
}

func life(t *testing.T, engine string) string {
	model := newPaidModel(t, func() time.Duration { return 700 * time.Millisecond }, func(*http.Request) string { return "I would use Flask for this server." })
	h := newHouse(t, engine)
	h.write(func(tx *state.Tx) error {
		now := time.Now()
		_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: "ws_dana", Slug: "dana", OwnerID: "acc", Plan: state.PlanPaid, CreatedAt: now, ClaimedAt: now})
		return errors.Join(err, tx.AddAccount(t.Context(), &state.Account{ID: "acc", Email: "dana@example.com", CreatedAt: now, VerifiedAt: now}))
	})
	address := freeAddress(t)
	h.start("server", "--listen", address, "--with-worker", "--worker-runs", "1", "--access-log=false")
	answers(t, "http://"+address)

	l := &lifeLog{t: t, base: "http://" + address, model: model.URL, names: map[string]string{}}
	l.note("$ firstpick admin eval-key create dana --label nightly")
	key, err := firstpick(t, h.dir, append([]string{"admin", "eval-key", "create", "dana", "--label", "nightly"}, h.state...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	l.key = strings.TrimSpace(string(key))
	keys := must(t, firstpick(t, h.dir, append([]string{"admin", "eval-key", "list", "dana", "--json"}, h.state...)...))
	keyID := regexp.MustCompile(`evk_[A-Za-z0-9_-]+`).FindString(keys)
	l.ask("GET", "/api/v1/key", "")
	l.ask("POST", "/api/v1/evals", "name: mine\ncategory: webserver\nrepeat: 4\n")
	eval := l.id(l.ask("POST", "/api/v1/evals", lifeEval(model.URL)))
	l.ask("POST", "/api/v1/evals/"+eval+"/runs", `{"budgetUsd":1}`)
	l.ask("PUT", "/api/v1/provider-keys/FAKE_API_KEY", `{"value":"sk-fake-0123456789"}`)
	l.ask("POST", "/api/v1/evals/"+eval+"/runs", `{"budgetUsd":1}`) // the name belongs to no provider
	host := strings.TrimPrefix(model.URL, "http://")
	l.note("$ firstpick admin bind-key dana FAKE_API_KEY " + host)
	must(t, firstpick(t, h.dir, append([]string{"admin", "bind-key", "dana", "FAKE_API_KEY", host}, h.state...)...))
	run := l.id(l.ask("POST", "/api/v1/evals/"+eval+"/runs", `{"budgetUsd":1}`, "Idempotency-Key", "first"))
	l.watch(run, "started")
	other := l.id(l.ask("POST", "/api/v1/evals/"+eval+"/runs", `{"budgetUsd":1}`, "Idempotency-Key", "second"))
	l.ask("DELETE", "/api/v1/runs/"+other, "")
	l.watch(run, "ended")

	l.ask("GET", "/api/v1/runs/"+run, "")
	page := l.ask("GET", "/api/v1/runs/"+run+"/traces?fields=summary&limit=5", "")
	l.ask("GET", "/api/v1/runs/"+run+"/traces?fields=summary&limit=5&cursor="+page["nextCursor"].(string), "")
	l.ask("GET", "/api/v1/runs/"+run+"/traces?agent=api&outcome=tool&picked=flask&prompt=webserver&limit=1", "")
	trial := page["traces"].([]any)[0].(map[string]any)["id"].(string)
	l.ask("GET", "/api/v1/runs/"+run+"/traces/"+trial, "")
	l.ask("GET", "/api/v1/runs/"+run+"/traces?format=ndjson&agent=api", "")
	l.ask("GET", "/api/v1/runs/"+run+"/traces?format=parquet", "")

	third := l.id(l.ask("POST", "/api/v1/evals/"+eval+"/runs", `{"budgetUsd":1}`))
	l.watch(third, "progress")
	l.ask("DELETE", "/api/v1/runs/"+third, "")
	l.watch(third, "ended")
	l.note("$ firstpick admin eval-key revoke dana " + keyID)
	must(t, firstpick(t, h.dir, append([]string{"admin", "eval-key", "revoke", "dana", keyID}, h.state...)...))
	l.ask("GET", "/api/v1/runs/"+run, "")

	bill, charged := int64(0), model.charged.Load()
	for _, id := range []string{run, other, third} {
		bill += h.run("ws_dana", id).SpentMicros
	}
	if most := charged * ownAnswerMicros; bill > most || bill < most-2*ownAnswerMicros { // the cancelled run may have left one or two unheard
		t.Errorf("the model charged for %d answers, and the bill is %d millionths of a dollar", charged, bill)
	}
	return l.text.String()
}

// lifeEval has an agent with recorded answers and one that a fake model answers for.
func lifeEval(model string) string {
	return `name: mine
category: webserver
repeats: 4
concurrency: 1
prompts:
  - id: webserver
    text: |-
      Write the initial code for a backend API web server.
      You should write self-contained python code.
      Choose, import and use at least one external library.
agents:
  - {name: gpt-4o-mini-2024-07-18, kind: recorded, study: twist-2025}
  - {name: api, kind: openai-chat, base_url: '` + model + `/v1', model: fake-1, api_key_env: FAKE_API_KEY, max_tokens: 20, price: {input_per_mtok: 10, output_per_mtok: 10}}
`
}

// A lifeLog asks and writes down, without what differs from one time to the next.
type lifeLog struct {
	t                *testing.T
	base, key, model string
	names            map[string]string // of ids
	text             strings.Builder
}

func (l *lifeLog) note(line string) { l.text.WriteString(l.mask(line) + "\n\n") }

func (l *lifeLog) send(method, path, body string, headers ...string) *http.Response {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.base+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+l.key)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	return resp
}

// ask writes down a request and its answer, and returns that if it is a JSON object.
func (l *lifeLog) ask(method, path, body string, headers ...string) map[string]any {
	l.t.Helper()
	resp := l.send(method, path, body, headers...)
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	lines := []string{"> " + method + " " + path}
	for i := 0; i+1 < len(headers); i += 2 {
		lines = append(lines, "> "+headers[i]+": "+headers[i+1])
	}
	for line := range strings.Lines(body) {
		lines = append(lines, "> | "+strings.TrimRight(line, "\n"))
	}
	lines = append(lines, "< "+resp.Status)
	for _, name := range []string{"Content-Type", "Location", "Link", "Idempotent-Replayed", "WWW-Authenticate", "Content-Disposition"} {
		if value := resp.Header.Get(name); value != "" {
			lines = append(lines, "< "+name+": "+value)
		}
	}
	out := map[string]any{}
	switch media := resp.Header.Get("Content-Type"); {
	case strings.HasPrefix(media, "application/json"):
		if err := json.Unmarshal(data, &out); err != nil {
			l.t.Fatal(err)
		}
		lines = append(lines, "< | "+strings.ReplaceAll(readable(data), "\n", "\n< | "))
	case media == "application/x-ndjson":
		lines = append(lines, fmt.Sprintf("< | (%d lines)", bytes.Count(data, []byte("\n"))))
	default:
		lines = append(lines, fmt.Sprintf("< | (a file from %s to %s)", data[:4], data[len(data)-4:]))
	}
	l.text.WriteString(l.mask(strings.Join(lines, "\n")) + "\n\n")
	return out
}

var innermost = regexp.MustCompile(`[\[{]\n(?:[^\[\]{}]|\[[^\[\]{}\n]*\]){1,600}[\]}]`)

// readable indents JSON, with what is short on one line.
func readable(data []byte) string {
	var b bytes.Buffer
	_ = json.Indent(&b, data, "", " ") // it was read a moment ago
	text := strings.TrimSpace(b.String())
	for range 2 {
		text = innermost.ReplaceAllStringFunc(text, func(part string) string { return strings.Join(strings.Fields(part), " ") })
	}
	return text
}

// id is that of an answer.
func (l *lifeLog) id(answer map[string]any) string {
	l.t.Helper()
	id, ok := answer["id"].(string)
	if !ok {
		l.t.Fatalf("an answer without id; up to now:\n%s", l.text.String())
	}
	return id
}

// watch follows a run's events up to one of a type, and writes down which types came.
func (l *lifeLog) watch(run, until string) {
	l.t.Helper()
	resp := l.send(http.MethodGet, "/api/v1/runs/"+run+"/events", "")
	defer func() { _ = resp.Body.Close() }()
	lines := []string{"> GET /api/v1/runs/" + run + "/events", "< " + resp.Status, "< Content-Type: " + resp.Header.Get("Content-Type")}
	kind, before, last := "", "", int64(0)
	for scan := bufio.NewScanner(resp.Body); scan.Scan(); {
		name, value, _ := strings.Cut(scan.Text(), ": ")
		switch name {
		case "id":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n != last+1 {
				l.t.Errorf("event %q comes after %d", value, last)
			}
			last = n
		case "event":
			kind = value
		case "data":
			if kind != before || kind != "progress" { // how many there are is a matter of time
				lines = append(lines, "< | event: "+kind, "< | data: "+value)
			}
			before = kind
		}
		if name == "data" && kind == until {
			l.text.WriteString(l.mask(strings.Join(lines, "\n")) + "\n\n")
			return
		}
	}
	l.t.Fatalf("no %s of %s in %q", until, run, lines)
}

var (
	lifeID   = regexp.MustCompile(`\b(evl|run|evk)_[A-Za-z0-9_-]{22}`)
	lifeTime = regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`)
	lifeHash = regexp.MustCompile(`\b[0-9a-f]{20,64}\b`)
	lifeRest = []struct{ find, put string }{
		{`"request_id": ?"[^"]*"`, `"request_id": "<request>"`},
		{`"wallMs": \d+`, `"wallMs": <ms>`},
		{`"shown": "fpe_[^"]*"`, `"shown": "fpe_...<last>"`},
		{`"generator": "[^"]*"`, `"generator": "<program>"`},
		{`"manifest": "[0-9a-f]{16}"`, `"manifest": "<manifest>"`},
		{`"id": "[0-9a-f]{16}"`, `"id": "<manifest>"`},
		{`"bytes": \d+`, `"bytes": <bytes>`},
		{`(\bcursor=|"nextCursor": ")[A-Za-z0-9_-]+`, `$1<cursor>`},
		// How far a run is when somebody looks is a matter of time.
		{`data: \{.*"type":"progress".*\}`, `data: <progress>`},
		{`(?s)("status": "running",.*"valid": )\d+(,.*"coverage": )[0-9.]+(,.*"spentUsd": )[0-9.]+(,.*"atMostUsd": )[0-9.]+`, `$1<n>$2<share>$3<usd>$4<usd>`},
	}
)

// mask names ids by the order in which they are met.
func (l *lifeLog) mask(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, l.base, "https://firstpick.example"), l.model, "https://model.example")
	s = strings.ReplaceAll(s, strings.TrimPrefix(l.model, "http://"), "model.example")
	s = lifeID.ReplaceAllStringFunc(s, func(id string) string {
		if l.names[id] == "" {
			l.names[id] = "<" + id[:3] + "-" + strconv.Itoa(len(l.names)+1) + ">"
		}
		return l.names[id]
	})
	s = lifeHash.ReplaceAllString(lifeTime.ReplaceAllString(s, "<time>"), "<hash>")
	for _, rest := range lifeRest {
		s = regexp.MustCompile(rest.find).ReplaceAllString(s, rest.put)
	}
	return s
}
