package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

const newcomerGolden = "testdata/agent_knows_nothing.log"

// TestAgentThatKnowsOnlyTheHost plays an agent that has an address and nothing else. It
// reads what it finds there, quotes a pick rate by HTTP and by MCP, installs the
// collector, lets its person claim the workspace, and reads the numbers. Every address
// that it asks comes out of something that it has read; what it did is in the golden file.
func TestAgentThatKnowsOnlyTheHost(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server and walks through all of it: half a minute")
	}
	a := newNewcomer(t)
	a.looksAround()
	a.quotesARate()
	a.installs()
	a.claims()
	a.readsItsNumbers()
	got := a.masked()
	if *update {
		if err := os.WriteFile(newcomerGolden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(newcomerGolden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the log differs (-want +got):\n%s", diff)
	}
	a.followsEverything()
}

// A newcomer is the agent. What it knows at first is base.
type newcomer struct {
	t         *testing.T
	base, dir string
	mail      string
	log       strings.Builder
	masks     []string // value, name

	links             map[string]string // of the Link header of the first page, by relation
	mcp, skill, setup string
	operations        map[string]string // addresses by operationId
	token, key        string
	claimToken        string
}

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	a := &newcomer{t: t, dir: t.TempDir(), operations: map[string]string{}}
	a.mail = filepath.Join(a.dir, "mail")
	data, listen := filepath.Join(a.dir, "data"), freeAddress(t)
	must(t, firstpick(t, a.dir, "demo", "--no-serve", "--data", data))
	server := firstpick(t, a.dir, "server", "--data", data, "--listen", listen, "--mail", "file://"+a.mail, "--limit-public", "1000000", "--access-log=false")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Signal(os.Interrupt); _ = server.Wait() })
	a.base = "http://" + listen
	answers(t, a.base)
	a.mask(a.base, "https://firstpick.example")
	return a
}

func (a *newcomer) mask(value, name string) { a.masks = append(a.masks, value, name) }

// say writes a line of the log.
func (a *newcomer) say(format string, args ...any) { fmt.Fprintf(&a.log, format+"\n", args...) }

func (a *newcomer) masked() string { return strings.NewReplacer(a.masks...).Replace(a.log.String()) }

// get reads an address, and says so.
func (a *newcomer) get(address string, headers ...string) (string, http.Header) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		a.t.Fatalf("%s: %d %v %s", address, resp.StatusCode, err, body)
	}
	a.say("GET %s", address)
	return string(body), resp.Header
}

// object reads an address that holds JSON.
func (a *newcomer) object(address string, headers ...string) map[string]any {
	a.t.Helper()
	text, _ := a.get(address, headers...)
	return a.parse(text)
}

func (a *newcomer) parse(text string) map[string]any {
	a.t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		a.t.Fatalf("%v in %s", err, text)
	}
	return out
}

// at walks into what JSON holds, by names and numbers.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// find returns the address in a text that follows some words.
func (a *newcomer) find(text, words string) string {
	a.t.Helper()
	m := regexp.MustCompile(words + `\S*?(https?://[^\s)>"` + "`" + `]+)`).FindStringSubmatch(text)
	if m == nil {
		a.t.Fatalf("no address after %q in %s", words, text)
	}
	return strings.TrimRight(m[1], ".,;")
}

var linkValue = regexp.MustCompile(`<([^>]+)>; rel="([^"]+)"`)

// looksAround begins with robots.txt and the headers of the first page, as anybody may.
func (a *newcomer) looksAround() {
	a.say("# An agent that knows %s and nothing else\n\n## It looks around", a.base)
	a.get(a.base + "/robots.txt")
	_, head := a.get(a.base + "/")
	a.links = map[string]string{}
	for _, m := range linkValue.FindAllStringSubmatch(strings.Join(head.Values("Link"), ", "), -1) {
		if a.links[m[2]] == "" {
			a.links[m[2]] = m[1]
		}
	}
	entries, _ := at(a.object(a.links["ard"]), "entries").([]any)
	for _, e := range entries {
		kind, address := fmt.Sprint(at(e, "type")), fmt.Sprint(at(e, "url"))
		a.say("  finds %s", at(e, "displayName"))
		switch {
		case kind == "application/mcp-server-card+json":
			a.mcp, _ = at(a.object(address), "remotes", 0, "url").(string)
		case strings.Contains(fmt.Sprint(at(e, "identifier")), "collector"):
			a.skill = address
		}
	}
	index, _ := a.get(a.links["describedby"])
	if told := a.find(index, `\[MCP server\]\(`); told != a.mcp {
		a.t.Errorf("llms.txt says %s, the card %s", told, a.mcp)
	}
	text, _ := a.get(a.links["service-desc"])
	var described struct {
		Servers []struct{ URL string }
		Paths   map[string]map[string]struct {
			OperationID string `yaml:"operationId"`
		}
	}
	if err := yaml.Unmarshal([]byte(text), &described); err != nil || len(described.Servers) != 1 {
		a.t.Fatal(err)
	}
	for path, methods := range described.Paths {
		for _, op := range methods {
			a.operations[op.OperationID] = a.base + strings.TrimSuffix(described.Servers[0].URL, "/") + path
		}
	}
	a.say("  finds %s by MCP, %s and more by HTTP", a.mcp, a.operations["getReport"])
}

// call calls a method of the MCP server and returns its result.
func (a *newcomer) call(method string, params map[string]any, token string) map[string]any {
	a.t.Helper()
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		a.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.mcp, bytes.NewReader(data))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if method != "initialize" {
		req.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	var out struct{ Result map[string]any }
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode != http.StatusOK || out.Result == nil {
		a.t.Fatalf("%s: %d %v", method, resp.StatusCode, err)
	}
	name := ""
	if params["name"] != nil {
		name = " " + fmt.Sprint(params["name"])
	}
	a.say("MCP %s%s", method, name)
	return out.Result
}

// quotesARate asks both ways, and is told the same.
func (a *newcomer) quotesARate() {
	a.say("\n## It quotes a pick rate")
	list := a.object(a.operations["getLeaderboard"])
	category := fmt.Sprint(at(list, "categories", 0, "slug"))
	board := a.object(a.operations["getLeaderboard"] + "?category=" + url.QueryEscape(category))
	best := fmt.Sprint(at(board, "tools", 0, "slug"))
	report := a.object(a.operations["getReport"] + "?q=" + url.QueryEscape(best))
	a.say("  %s: picked in %v of %v trials, %v to %v, rank %v of %v, as of %v", report["tool"], report["pickRate"], report["nTrials"], report["ciLow"], report["ciHigh"], report["rank"], report["field"], report["asOf"])
	a.say("  and is warned: %v", report["warnings"])

	a.call("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "newcomer", "version": "1"}}, "")
	tools, _ := a.call("tools/list", nil, "")["tools"].([]any)
	i := slices.IndexFunc(tools, func(tool any) bool {
		return at(tool, "name") == "getPickRate"
	})
	if i < 0 {
		a.t.Fatal("no tool for pick rates")
	}
	argument := fmt.Sprint(at(tools[i], "inputSchema", "required", 0))
	said := a.call("tools/call", map[string]any{"name": at(tools[i], "name"), "arguments": map[string]any{argument: best}}, "")
	same := at(said, "structuredContent")
	for _, field := range []string{"pickRate", "nTrials", "ciLow", "ciHigh", "rank", "asOf"} {
		if !cmp.Equal(at(same, field), report[field]) {
			a.t.Errorf("%s is %v by HTTP and %v by MCP", field, report[field], at(same, field))
		}
	}
	a.say("  is told the same by MCP")
}

var section = regexp.MustCompile(`(?s)<a id="key"></a>.*?` + "```sh\n(.*?)```")

// installs does what the skill and setup.md say, with the commands that stand there.
func (a *newcomer) installs() {
	a.say("\n## It installs the collector")
	skill, _ := a.get(a.skill)
	a.setup = a.find(skill, "Read ")
	guide, _ := a.get(a.setup)
	block := section.FindStringSubmatch(guide)
	if block == nil {
		a.t.Fatal("setup.md has no commands to get a key")
	}
	var last map[string]any
	known := strings.NewReplacer()
	fp := ""
	for line := range strings.Lines(block[1]) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "FP="):
			fp = line
		case strings.HasPrefix(line, "curl "):
			last = a.shell(fp + "\n" + known.Replace(line))
			a.say("$ %s", line)
			known = strings.NewReplacer("IDENTITY_ASSERTION", fmt.Sprint(last["identity_assertion"]), "ACCESS_TOKEN", fmt.Sprint(last["access_token"]))
			if s, ok := last["claim_token"].(string); ok {
				a.claimToken = s
			}
			if s, ok := last["access_token"].(string); ok {
				a.token = s
			}
		}
	}
	a.key, _ = last["key"].(string)
	slug := fmt.Sprint(at(last, "workspace", "slug"))
	a.mask(slug, "quiet-otter-4821")
	a.say("  has a key for the workspace %s", slug)

	recipe, _ := a.get(a.find(guide, "`go.mod` \\| \\[[^]]*\\]\\("))
	if !strings.Contains(recipe, "agentcollect") {
		a.t.Error("the recipe for Go does not name the collector")
	}
	listen := freeAddress(a.t)
	site := exec.CommandContext(a.t.Context(), "site", listen, a.base)
	site.Env = append(os.Environ(), "FIRSTPICK_KEY="+a.key)
	if err := site.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = site.Process.Signal(os.Interrupt); _ = site.Wait() })
	a.say("  builds the site with the recipe, and starts it")

	probe := `curl -s ` + a.operations["collect"] + ` -H "Authorization: Bearer ` + a.key + `"`
	before, _ := a.shell(probe)["eventsTotal"].(float64)
	a.visit("http://" + listen + "/pricing")
	for i := 0; ; i++ {
		if now, _ := a.shell(probe)["eventsTotal"].(float64); now > before {
			break
		}
		if i == 100 {
			a.t.Fatal("the visit is not counted")
		}
		time.Sleep(100 * time.Millisecond) // the guide says to wait: sites send in batches
	}
	a.say("  visits it as GPTBot, and eventsTotal grows: it is proven")
	event := `{"events":[{"type":"touch","url":"https://yoursite.example/docs","method":"GET","status":404,"signals":{"userAgent":"GPTBot/1.3"}}]}`
	for _, query := range []string{"", "?dryRun=1"} {
		got, err := send(a.t.Context(), http.DefaultClient, a.operations["collect"], "POST", query, json.RawMessage(event), a.key)
		if err != nil || got.status != http.StatusAccepted {
			a.t.Errorf("an event%s: %v %v", query, got, err)
		}
		if query != "" && at(got.doc, "events", 0, "agent") == nil {
			a.t.Errorf("a dry run does not say what would be kept: %v", got)
		}
	}
	a.say("POST %s\n  an event of its own: 202; and ?dryRun=1 says what would be kept", a.operations["collect"])
}

// shell runs a command of a document and reads the JSON that it prints.
func (a *newcomer) shell(command string) map[string]any {
	a.t.Helper()
	out, err := exec.CommandContext(a.t.Context(), "bash", "-euc", command).Output()
	if err != nil {
		a.t.Fatalf("%s: %v", command, err)
	}
	return a.parse(string(out))
}

func (a *newcomer) visit(address string) {
	a.t.Helper()
	answers(a.t, strings.TrimSuffix(address, "/pricing"))
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// claims is taught by errors: it asks for the numbers, and reads what is told.
func (a *newcomer) claims() {
	a.say("\n## Its person claims the workspace")
	const person = "dana@example.com"
	refused := a.call("tools/call", map[string]any{"name": "getMyAgents", "arguments": map[string]any{}}, "")
	text, _ := at(refused, "content", 0, "text").(string)
	why := a.parse(text)
	if at(refused, "isError") != true || why["error"] != "login_required" {
		a.t.Fatalf("getMyAgents without a token: %v", refused)
	}
	a.say("  is told: %s", why["error"])
	guide, _ := a.get(fmt.Sprint(why["auth_guide"]))
	early, err := send(a.t.Context(), http.DefaultClient, a.operations["getWorkspace"], "GET", "", nil, a.token)
	if err != nil || early.status != http.StatusForbidden || early.text("error") != "insufficient_scope" {
		a.t.Fatal(early, err)
	}
	a.say("GET %s\n  is told: %d %s", a.operations["getWorkspace"], early.status, early.text("error"))

	resource := a.object(a.find(guide, "`GET "))
	metadata := a.object(fmt.Sprint(at(resource, "authorization_servers", 0)) + "/.well-known/oauth-authorization-server") // RFC 8414
	claim, err := send(a.t.Context(), http.DefaultClient, fmt.Sprint(at(metadata, "agent_auth", "claim_endpoint")), "POST", "", map[string]string{"claim_token": a.claimToken, "email": person}, "")
	if err != nil || claim.status != http.StatusOK {
		a.t.Fatal(claim, err)
	}
	page, code := fmt.Sprint(at(claim.doc, "claim", "verification_uri")), fmt.Sprint(at(claim.doc, "claim", "user_code"))
	a.say("POST %s\n  shows its person an address and a code", at(metadata, "agent_auth", "claim_endpoint"))
	invite := filepath.Join(a.dir, "invitation")
	if err := os.WriteFile(invite, fmt.Appendf(nil, "sign in as %s at\n  %s\nand enter the code %s\n", person, page, code), 0o600); err != nil {
		a.t.Fatal(err)
	}
	heading, err := answerClaim("authorize", invite, a.mail)
	if err != nil {
		a.t.Fatal(err)
	}
	a.say("  the person signs in by a link in a mail, types the code, and reads: %s", heading)
	grants, _ := at(metadata, "grant_types_supported").([]any)
	i := slices.IndexFunc(grants, func(g any) bool { return strings.HasSuffix(fmt.Sprint(g), ":claim") })
	token, err := send(a.t.Context(), http.DefaultClient, fmt.Sprint(metadata["token_endpoint"]), "POST", "", url.Values{"grant_type": {fmt.Sprint(grants[i])}, "claim_token": {a.claimToken}}, "")
	if err != nil || token.status != http.StatusOK {
		a.t.Fatal(token, err)
	}
	a.token = token.text("access_token")
	a.say("POST %s\n  has a token for %s", metadata["token_endpoint"], token.text("scope"))
}

// readsItsNumbers reads them both ways.
func (a *newcomer) readsItsNumbers() {
	a.say("\n## It reads the workspace's numbers")
	var report answer
	for range 200 {
		var err error
		if report, err = send(a.t.Context(), http.DefaultClient, a.operations["getWorkspace"], "GET", "", nil, a.token); err != nil || report.status != http.StatusOK {
			a.t.Fatal(report, err)
		}
		if at(report.doc, "source", "agents", 0, "touches") == 2.0 {
			break
		}
		time.Sleep(50 * time.Millisecond) // reports know of events within a second
	}
	agent, touches := at(report.doc, "source", "agents", 0, "agent"), at(report.doc, "source", "agents", 0, "touches")
	a.say("GET %s\n  %v came, %v requests; it did not find %v", a.operations["getWorkspace"], agent, touches, at(report.doc, "source", "gaps", 0, "path"))
	mine := a.call("tools/call", map[string]any{"name": "getMyAgents", "arguments": map[string]any{}}, a.token)
	if mine["isError"] == true {
		a.t.Fatalf("getMyAgents: %v", mine)
	}
	text, _ := at(mine, "content", 0, "text").(string)
	if !strings.Contains(text, fmt.Sprint(agent)) || at(mine, "structuredContent") == nil {
		a.t.Errorf("getMyAgents does not tell of %v: %s", agent, text)
	}
	a.say("  getMyAgents tells of %v too", agent)
}
