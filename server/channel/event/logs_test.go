package event_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
)

func drain(format event.Format) event.Options {
	return event.Options{Key: event.KindLog, Format: format, ReceivedAt: arrival(), Host: "default.example"}
}

// brief says in one line what a log line came to.
func brief(in event.Input) string {
	return fmt.Sprintf("%s %s %s %s%s %d %s %s ref=%s via=%s ct=%s b=%d d=%s %s id=%s", in.At.Format(time.RFC3339Nano), in.IP, in.Method, in.Host, in.Path,
		in.Status, in.Source, in.UserAgent, in.ReferrerHost, in.Via, in.ContentType, in.Bytes, in.Duration, in.Accept, in.ID)
}

func TestLogs(t *testing.T) {
	vercel := `{"id":"1","requestId":"643af4e3","source":"lambda","host":"my-app-x.vercel.app","timestamp":1795219198900,"level":"info","message":"hi","statusCode":200,"environment":"production",` +
		`"proxy":{"timestamp":1795219198500,"method":"GET","host":"acme.dev","path":"/docs?via=md&x=1","userAgent":["GPTBot/1.3"],"referer":"https://chatgpt.com/","statusCode":404,"clientIp":"203.0.113.7","scheme":"https","responseByteSize":512,"cacheId":"pdx1::v8g4b"}}`
	cloudflare := `{"RayID":"48b371889c489b2c","EdgeStartTimestamp":%s,"ClientIP":"2001:db8::7","ClientRequestHost":"acme.dev","ClientRequestMethod":"GET","ClientRequestPath":"/docs","ClientRequestURI":"/docs?via=md","ClientRequestUserAgent":"GPTBot/1.3","ClientRequestReferer":"","EdgeResponseStatus":200,"EdgeResponseContentType":"text/html","EdgeResponseBytes":1935,"EdgeTimeToFirstByteMs":21,"FirewallMatchesActions":["simulate"],"RequestHeaders":{"Accept":"text/markdown"},"WorkerSubrequest":false}`
	cf := "2026-11-20T23:59:58%sZ 2001:db8::7 GET acme.dev/docs 200 cloudflare GPTBot/1.3 ref= via=md ct=text/html b=1935 d=21ms text/markdown id=48b371889c489b2c"
	for name, c := range map[string]struct {
		format event.Format
		line   string
		want   string
	}{
		"Vercel":                           {event.FormatVercel, vercel, "2026-11-20T23:59:58.5Z 203.0.113.7 GET acme.dev/docs 404 vercel GPTBot/1.3 ref=chatgpt.com via=md ct= b=512 d=0s  id=643af4e3"},
		"Cloudflare":                       {event.FormatCloudflare, fmt.Sprintf(cloudflare, `"2026-11-20T23:59:58Z"`), fmt.Sprintf(cf, "")},
		"Cloudflare in nanoseconds":        {event.FormatCloudflare, fmt.Sprintf(cloudflare, `1795219198703000000`), fmt.Sprintf(cf, ".703")},
		"Cloudflare in seconds":            {event.FormatCloudflare, fmt.Sprintf(cloudflare, `1795219198`), fmt.Sprintf(cf, "")},
		"combined":                         {event.FormatCombined, `203.0.113.7 - dana@example.com [20/Nov/2026:23:59:58 +0000] "GET /docs?via=md HTTP/1.1" 200 5120 "https://chatgpt.com/" "GPTBot/1.3"`, "2026-11-20T23:59:58Z 203.0.113.7 GET default.example/docs 200 log GPTBot/1.3 ref=chatgpt.com via=md ct= b=5120 d=0s  id="},
		"combined, another zone":           {event.FormatCombined, `2001:db8::7 - - [21/Nov/2026:01:59:58 +0200] "HEAD / HTTP/2.0" 304 - "-" "-"`, "2026-11-20T23:59:58Z 2001:db8::7 HEAD default.example/ 304 log  ref= via= ct= b=0 d=0s  id="},
		"combined with a virtual host":     {event.FormatCombined, `acme.dev:443 203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET / HTTP/1.1" 200 1 "-" "x"`, "2026-11-20T23:59:58Z 203.0.113.7 GET acme.dev/ 200 log x ref= via= ct= b=1 d=0s  id="},
		"combined with more":               {event.FormatCombined, `203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET / HTTP/1.1" 200 1 "-" "x" "10.0.0.1" 0.5 host=acme.dev rt=0.012 accept="text/markdown, */*"`, "2026-11-20T23:59:58Z 203.0.113.7 GET acme.dev/ 200 log x ref= via= ct= b=1 d=12ms text/markdown, */* id="},
		"common":                           {event.FormatCombined, `203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET / HTTP/1.1" 200 1`, "2026-11-20T23:59:58Z 203.0.113.7 GET default.example/ 200 log  ref= via= ct= b=1 d=0s  id="},
		"escapes":                          {event.FormatCombined, `203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET /a\x22b HTTP/1.1" 200 1 "-" "a \"b\" \\ c"`, `2026-11-20T23:59:58Z 203.0.113.7 GET default.example/a"b 200 log a "b" \ c ref= via= ct= b=1 d=0s  id=`},
		"a path with spaces":               {event.FormatCombined, `203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET /a b HTTP/1.1" 400 1 "-" "x"`, "2026-11-20T23:59:58Z 203.0.113.7 GET default.example/a b 400 log x ref= via= ct= b=1 d=0s  id="},
		"no IP address but a name":         {event.FormatCombined, `crawler.example - - [20/Nov/2026:23:59:58 +0000] "GET / HTTP/1.1" 200 1 "-" "x"`, "2026-11-20T23:59:58Z invalid IP GET default.example/ 200 log x ref= via= ct= b=1 d=0s  id="},
		"JSON of nginx":                    {event.FormatCombined, `{"time_iso8601":"2026-11-20T23:59:58+00:00","remote_addr":"203.0.113.7","request":"GET /docs?via=md HTTP/1.1","status":200,"body_bytes_sent":"5120","http_referer":"-","http_user_agent":"GPTBot/1.3","http_accept":"text/markdown","request_time":0.012,"host":"acme.dev","sent_http_content_type":"text/html; charset=utf-8","request_id":"abc","upstream":["x"]}`, "2026-11-20T23:59:58Z 203.0.113.7 GET acme.dev/docs 200 log GPTBot/1.3 ref= via=md ct=text/html b=5120 d=12ms text/markdown id=abc"},
		"JSON of nginx with our own names": {event.FormatCombined, `{"ts":1795219198.25,"ip":"203.0.113.7","method":"GET","path":"/","status":"200","userAgent":"x","host":"_ bad"}`, "2026-11-20T23:59:58.25Z 203.0.113.7 GET default.example/ 200 log x ref= via= ct= b=0 d=0s  id="},
	} {
		if got := brief(one(t, c.line+"\r\n", drain(c.format))); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
	for _, body := range []string{"[" + vercel + "," + vercel + "]", vercel + "\n" + vercel, string(gz(t, []byte(vercel+"\n"+vercel)))} {
		if batch := read(t, body, drain(event.FormatVercel)); len(batch.Inputs) != 2 {
			t.Errorf("took %d of two entries", len(batch.Inputs))
		}
	}
}

// A drain sends everything; what tells of no page is counted and left out.
func TestLinesThatTellOfNoPage(t *testing.T) {
	combined := func(request string) string {
		return `203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "` + request + `" 200 1 "-" "x"`
	}
	for _, target := range []string{"/", "/docs", "/docs/a.md", "/robots.txt", "/llms.txt", "/sitemap.xml", "/openapi.json", "/openapi.js",
		"/.well-known/x.png", "/a.html", "/v1.2/guide", "/paper.pdf", "/a.css/b"} {
		if batch := read(t, combined("GET "+target+" HTTP/1.1"), drain(event.FormatCombined)); len(batch.Inputs) != 1 {
			t.Errorf("%s is no page", target)
		}
	}
	proxy := `"proxy":{"method":"GET","path":"/","timestamp":1795219198500}`
	for name, c := range map[string]struct {
		format event.Format
		line   string
	}{
		"a style sheet":       {event.FormatCombined, combined("GET /a.css HTTP/1.1")},
		"a picture, queried":  {event.FormatCombined, combined("GET /A.PNG?v=1 HTTP/1.1")},
		"data of Next":        {event.FormatCombined, combined("GET /_next/data/x/a.json HTTP/1.1")},
		"a form":              {event.FormatCombined, combined("POST /login HTTP/1.1")},
		"options of a proxy":  {event.FormatCombined, combined("OPTIONS * HTTP/1.0")},
		"a proxy's target":    {event.FormatCombined, combined("CONNECT a.b:443 HTTP/1.1")},
		"bytes of TLS":        {event.FormatCombined, combined(`\x16\x03\x01`)},
		"no request":          {event.FormatCombined, combined("-")},
		"a build":             {event.FormatVercel, `{"id":"1","source":"build","message":"x","timestamp":1795219198500}`},
		"a null proxy":        {event.FormatVercel, `{"proxy":null}`},
		"a preview":           {event.FormatVercel, `{"environment":"preview",` + proxy + `}`},
		"no object":           {event.FormatVercel, `"x"`},
		"a Worker's request":  {event.FormatCloudflare, `{"WorkerSubrequest":true,"ClientRequestMethod":"GET","ClientRequestPath":"/","EdgeStartTimestamp":1795219198}`},
		"the test of Logpush": {event.FormatCloudflare, `{"content":"test","filename":"test.txt"}`},
	} {
		if batch := read(t, c.line, drain(c.format)); batch.Skipped != 1 || batch.Seen != 0 {
			t.Errorf("%s: %+v", name, batch)
		}
	}
}

func TestBrokenLogLines(t *testing.T) {
	for name, c := range map[string]struct {
		format event.Format
		line   string
		want   event.Code
	}{
		"prose":         {event.FormatCombined, "hello world", event.UnreadableLine},
		"an open quote": {event.FormatCombined, `203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET / HTTP/1.1`, event.UnreadableLine},
		"a long line":   {event.FormatCombined, strings.Repeat("x", event.MaxEvent+1), event.TooLarge},
		"no time":       {event.FormatCombined, `203.0.113.7 - - [-] "GET / HTTP/1.1" 200 1`, event.InvalidTS},
		"no time, JSON": {event.FormatCombined, `{"request":"GET / HTTP/1.1"}`, event.InvalidTS},
		"an old line":   {event.FormatCombined, `203.0.113.7 - - [20/Nov/2025:23:59:58 +0000] "GET / HTTP/1.1" 200 1`, event.TSTooOld},
		"broken JSON":   {event.FormatCloudflare, `{"RayID":`, event.UnreadableLine},
		"two values":    {event.FormatVercel, `{} {}`, event.UnreadableLine},
	} {
		batch := read(t, c.line, drain(c.format))
		if len(batch.Refusals) != 1 || batch.Refusals[0].Code != c.want {
			t.Errorf("%s: %+v", name, batch)
		}
	}
	o := drain(event.FormatCombined)
	o.Key, o.Backfill = event.KindSecret, true
	if in := one(t, `203.0.113.7 - - [20/Nov/2025:23:59:58 +0000] "GET / HTTP/1.1" 200 1`, o); !in.Backfill {
		t.Error("an old log is not backfilled")
	}
}
