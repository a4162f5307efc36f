package agentcollecttest

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/agentcollect"
	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/event"
)

// TestNoAgentIsTakenForAPerson knows every agent that the service knows.
func TestNoAgentIsTakenForAPerson(t *testing.T) {
	n := 0
	for _, a := range agentid.Load().All() {
		if a.Sample == "" || a.Fake || !a.Class.Headline() {
			continue
		}
		n++
		if !(agentcollect.Visit{UserAgent: a.Sample}).MayBeAgent() {
			t.Errorf("%s is not sent: %s", a.Name, a.Sample)
		}
	}
	if n < 100 {
		t.Errorf("%d samples only", n)
	}
}

// lines returns the lines of a data file that are no comments.
func lines(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	if len(out) < 10 {
		t.Fatalf("%s has %d lines", file, len(out))
	}
	return out
}

func TestPeopleAreNotSent(t *testing.T) {
	for _, ua := range lines(t, "../../server/channel/agentid/testdata/browsers.txt") {
		v := agentcollect.Visit{UserAgent: ua, Accept: "text/html,application/xhtml+xml,*/*;q=0.8", Referrer: "https://www.google.com/"}
		if v.MayBeAgent() {
			t.Errorf("a person is sent: %s", ua)
		}
	}
}

const browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"

func TestVisitsThatAssistantsSent(t *testing.T) {
	for _, file := range []string{"referrers.tsv", "assistants.tsv"} {
		for _, line := range lines(t, "../../server/channel/agentid/data/"+file) {
			host, _, _ := strings.Cut(line, "\t")
			if strings.HasPrefix(host, "utm:") {
				continue
			}
			for _, referrer := range []string{"https://" + host, "https://www." + host, host} {
				if !(agentcollect.Visit{UserAgent: browser, Referrer: referrer}).MayBeAgent() {
					t.Errorf("a visit from %s is not sent", referrer)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		agentcollect.Visit
		want bool
	}{
		"nothing":              {agentcollect.Visit{}, false},
		"another site":         {agentcollect.Visit{Referrer: "https://example.com/chatgpt.com"}, false},
		"search is no answer":  {agentcollect.Visit{Referrer: "https://search.brave.com/search?q=x"}, false},
		"a port":               {agentcollect.Visit{Referrer: "https://claude.ai:443/chat"}, true},
		"markdown":             {agentcollect.Visit{Accept: "Text/Markdown, text/html;q=0.9"}, true},
		"signed":               {agentcollect.Visit{SignatureAgent: `"https://chatgpt.com"`}, true},
		"tagged":               {agentcollect.Visit{Tagged: agentcollect.Tagged("a=1&via=llms-txt")}, true},
		"utm_source":           {agentcollect.Visit{Tagged: agentcollect.Tagged("utm_source=chatgpt.com")}, true},
		"signed tag":           {agentcollect.Visit{Tagged: agentcollect.Tagged("vt=abc")}, true},
		"an empty tag":         {agentcollect.Visit{Tagged: agentcollect.Tagged("via=&viable=1")}, false},
		"only the medium":      {agentcollect.Visit{Tagged: agentcollect.Tagged("utm_medium=mail")}, false},
		"an app as a referrer": {agentcollect.Visit{Referrer: "android-app://com.openai.chatgpt/"}, true},
	} {
		if c.UserAgent = browser; c.MayBeAgent() != c.want {
			t.Errorf("%s: sent is %t", name, !c.want)
		}
	}
	if !(agentcollect.Visit{}).MayBeAgent() {
		t.Error("who names no browser may be an agent")
	}
}

// TestPagesAreThoseOfTheService compares the rule with that of package event,
// which this package must not import.
func TestPagesAreThoseOfTheService(t *testing.T) {
	paths := []string{
		"/", "/docs", "/docs/", "/docs/start.md", "/robots.txt", "/llms.txt", "/sitemap.xml", "/openapi.json", "/api/openapi.yaml", "/openapi.js",
		"/.well-known/agent.json", "/.well-known/x.js", "/app.js", "/a/b.CSS", "/logo.png", "/font.woff2", "/v1.2", "/v1.2/", "/_next/data/x.json",
		"/cdn-cgi/trace", "/feed.xml", "/x.pdf", "/a.js/b", "/archive.tar.gz", "/%2e", "/x.", "//", "/index.php", "/a.ts", "/image.svg",
	}
	for _, method := range []string{"GET", "HEAD", "POST", "get", "OPTIONS"} {
		for _, path := range paths {
			line := []byte(`1.2.3.4 - - [21/Nov/2026:10:00:00 +0000] "` + method + " " + path + ` HTTP/1.1" 200 5 "-" "x"`)
			batch, err := event.Read(bytes.NewReader(line), event.Options{Format: event.FormatCombined, Key: event.KindSecret, ReceivedAt: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)})
			if err != nil || batch.Seen+batch.Skipped != 1 {
				t.Fatal(err, batch)
			}
			if got, want := agentcollect.Page(method, path), batch.Seen == 1; got != want {
				t.Errorf("%s %s: %t, and the service says %t", method, path, got, want)
			}
		}
	}
}
