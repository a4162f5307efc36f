package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
)

func TestPatternRows(t *testing.T) {
	for pattern, want := range map[string][]string{
		`Googlebot\/`:                     {"Googlebot/\tmonitor"},
		`[pP]ingdom`:                      {"Pingdom\tmonitor", "pingdom\tmonitor"},
		`^curl`:                           {"^curl\tmonitor"},
		`(^| )sentry\/`:                   {" sentry/\tmonitor", "^sentry/\tmonitor"},
		`AdsBot-Google([^-]|$)`:           {"AdsBot-Google\tmonitor"},
		`ContextualBot[\s\S]*outcomes`:    {"ContextualBot\tmonitor"},
		`BlogTraffic\/\d\.\d+ Feed-Fetch`: {"BlogTraffic/\tmonitor"},
		`Viber`:                           nil, // a word of people's phones
		`Y!J`:                             nil, // too short
	} {
		got, err := patternRows([]byte(`[{"pattern":` + quote(pattern) + `,"tags":["seo","monitoring"]}]`))
		slices.Sort(got)
		got = slices.Compact(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", pattern, got, err, want)
		}
	}
}

func quote(s string) string {
	out := []byte{'"'}
	for _, c := range []byte(s) {
		if c == '\\' || c == '"' {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return string(append(out, '"'))
}

func TestNameRows(t *testing.T) {
	got, err := nameRows([]byte(`{"Code":{"function":"AI Coding Agents"},"Meta-Thing":{"function":"AI Assistants"},"meta-thing":{"function":"x"},"Some-Bot/1.0":{"function":"AI Data Providers"}}`))
	slices.Sort(got)
	if want := []string{"meta-thing\tMeta-Thing\tuser_fetch", "some-bot\tSome-Bot\tdata_provider"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// world answers for all sources, in their formats.
func world(t *testing.T, without ...string) *http.Client {
	t.Helper()
	const list = `{"creationTime":"2026-11-20T00:00:00","prefixes":[{"ipv4Prefix":"198.18.0.0/24"}]}`
	bodies := map[string]string{
		"/raw.githubusercontent.com/ai-robots-txt/ai.robots.txt/HEAD/robots.json":                  `{"Some-Bot":{"function":"AI Data Providers"}}`,
		"/raw.githubusercontent.com/matomo-org/searchengine-and-social-list/HEAD/AIAssistants.yml": "ChatGPT:\n  - chatgpt.com\n",
		"/registry.npmjs.org/crawler-user-agents/latest":                                           `{"version":"1.61.0","dist":{"tarball":"https://registry.npmjs.org/crawler-user-agents/-/crawler-user-agents-1.61.0.tgz"}}`,
		"/registry.npmjs.org/crawler-user-agents/-/crawler-user-agents-1.61.0.tgz":                 packed(t, "package/crawler-user-agents.json", `[{"pattern":"NewBot\\/","tags":["seo"]},{"pattern":"AP3A\\.240617\\.008","tags":["scanner"]}]`),
	}
	for _, s := range ranges.Sources() {
		body := list
		switch s.Format {
		case ranges.Page:
			body = "<html><pre>" + list + "</pre></html>"
		case ranges.Cloudflare:
			body = `{"result":{"ipv4_cidrs":["198.18.0.0/24"],"ipv6_cidrs":[]},"success":true}`
		case ranges.CloudFront:
			body = `{"prefixes":[{"ip_prefix":"198.18.0.0/24","service":"CLOUDFRONT"}],"ipv6_prefixes":[]}`
		case ranges.Fastly:
			body = `{"addresses":["198.18.0.0/24"],"ipv6_addresses":[]}`
		case ranges.RIPEstat:
			body = `{"data":{"prefixes":[{"prefix":"198.18.0.0/24"}]}}`
		}
		bodies["/"+strings.TrimPrefix(s.URL, "https://")] = body
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.RequestURI()]
		if !ok || slices.ContainsFunc(without, func(part string) bool { return strings.Contains(r.URL.Path, part) }) {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	return &http.Client{Transport: mirror{srv.URL}}
}

// mirror asks one server for what all hosts serve.
type mirror struct{ base string }

func (m mirror) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	u, err := url.Parse(m.base + "/" + r.URL.Host + r.URL.RequestURI())
	if err != nil {
		return nil, err
	}
	r.URL, r.Host = u, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

func packed(t *testing.T, name, body string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	archive := tar.NewWriter(z)
	if err := errors.Join(
		archive.WriteHeader(&tar.Header{Name: "package/README.md", Mode: 0o644, Size: 2}), write(archive, "hi"),
		archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(body))}), write(archive, body), archive.Close(), z.Close(),
	); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func write(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}

// begun is a job in a folder with the tables and the snapshot of the repository.
func begun(t *testing.T, client *http.Client) *job {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{"../data/sources.json": "sources.json", "../data/patterns.tsv": "patterns.tsv", "../ranges/data/snapshot.json": "snapshot.json"} {
		raw, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &job{data: dir, snapshot: filepath.Join(dir, "snapshot.json"), client: client, now: time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC), out: io.Discard}
}

func read(t *testing.T, j *job, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(j.data, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestAllIsMadeAgainFromItsSources(t *testing.T) {
	j := begun(t, world(t))
	if err := j.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"patterns.tsv":   {"# From crawler-user-agents 1.61.0 (MIT", "\nNewBot/\tunknown_bot\n"},
		"names.tsv":      {"\nsome-bot\tSome-Bot\tdata_provider\n"},
		"assistants.tsv": {"\nchatgpt.com\tChatGPT\n"},
		"sources.json":   {`"version": "1.61.0"`, `"date": "2026-12-01"`},
	} {
		for _, part := range want {
			if got := read(t, j, name); !strings.Contains(got, part) || strings.Contains(got, "AP3A") {
				t.Errorf("%s has no %q: %.400s", name, part, got)
			}
		}
	}
	set, err := ranges.Open(j.snapshot)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range ranges.Sources() {
		f := set.Check(s.List, netip.MustParseAddr("198.18.0.7"), j.now)
		if f.Result != ranges.Inside || !f.AsOf.Equal(j.now) {
			t.Errorf("%s: %+v", s.List, f)
		}
	}
	if f := set.Check("openai-gptbot", netip.MustParseAddr("52.230.152.9"), time.Date(2026, 6, 11, 0, 0, 0, 0, time.UTC)); f.Result != ranges.Inside {
		t.Errorf("what was known of June: %+v", f)
	}
	first := read(t, j, "snapshot.json")
	if strings.Contains(first, "etag") || !strings.HasPrefix(first, "{\n \"version\"") {
		t.Errorf("the snapshot is not in its form: %.80s", first)
	}
	if err := j.run(t.Context()); err != nil || read(t, j, "snapshot.json") != first {
		t.Errorf("a second run on the same day changes the snapshot: %v", err)
	}
}

func TestWhatCannotBeFetchedStays(t *testing.T) {
	j := begun(t, world(t, "gptbot.json", "crawler-user-agents"))
	patterns := read(t, j, "patterns.tsv")
	err := j.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "openai-gptbot") || !strings.Contains(err.Error(), "patterns.tsv") {
		t.Errorf("the failures are not named: %v", err)
	}
	if read(t, j, "patterns.tsv") != patterns || !strings.Contains(read(t, j, "sources.json"), `"version": "1.60.0"`) {
		t.Error("a table that could not be fetched was changed")
	}
	set, err := ranges.Open(j.snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if at := set.AsOf(); at["openai-gptbot"].Format(time.DateOnly) != "2026-06-11" || !at["bing"].Equal(j.now) {
		t.Errorf("as of %v", at)
	}
}

func TestAnotherInputIsRefused(t *testing.T) {
	j := begun(t, nil)
	j.inputs = t.TempDir()
	patterns := read(t, j, "patterns.tsv")
	for _, table := range tables() {
		if err := os.WriteFile(filepath.Join(j.inputs, table.input), []byte("[]"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.run(t.Context()); err == nil || strings.Count(err.Error(), "is not the recorded input") != 3 {
		t.Errorf("inputs that are not recorded were read: %v", err)
	}
	if read(t, j, "patterns.tsv") != patterns {
		t.Error("a table was written")
	}
}
