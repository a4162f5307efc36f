package ship

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/agentcollect"
	"github.com/firstpick/firstpick/server/channel/event"
)

func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// parseAll reads a log as a shipper does, in one block.
func parseAll(t testing.TB, format Format, all bool, text string) ([]entry, Stats, []string) {
	t.Helper()
	var stats Stats
	var said []string
	p := parser{all: all, stats: &stats, report: func(_, where, message string) { said = append(said, where+": "+message) }}
	src := newStream(strings.NewReader(text))
	var batch []line
	for {
		at, ok, err := src.next(nil, now())
		if err != nil {
			t.Fatal(err)
		}
		if !ok && src.ended {
			break
		}
		if !ok { // the pump is not done
			runtime.Gosched()
			continue
		}
		at.text = bytes.Clone(at.text)
		batch = append(batch, at)
	}
	if src.format = format; format == Auto {
		src.format = newDetector().of(src.head)
	}
	return p.block(src, false, now(), batch), stats, said
}

const agentUA = "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"

// TestFormats reads one request as each server writes it.
func TestFormats(t *testing.T) {
	clf := `203.0.113.7 - - [21/Nov/2026:09:30:00 +0000] "GET /docs/a%20b?via=llms-txt&token=secret HTTP/1.1" 404 512 "https://chatgpt.com/c?q=1" "` + agentUA + `"`
	nginx := `{"time":"2026-11-21T09:30:00+00:00","method":"GET","uri":"/docs/a%20b?via=llms-txt&token=secret","status":"404","bytes":512,"duration":"0.012","host":"acme.example","ip":"203.0.113.7",` +
		`"userAgent":"` + agentUA + `","referrer":"https://chatgpt.com/c?q=1","accept":"text/markdown, */*","signature":"sig1=:abc=:","signatureInput":"sig1=(\"@authority\")","signatureAgent":"\"https://chatgpt.com\""}`
	caddy := `{"level":"info","ts":1795253400.25,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"10.0.0.1","remote_port":"4711","client_ip":"203.0.113.7","proto":"HTTP/2.0","method":"GET",` +
		`"host":"acme.example","uri":"/docs/a%20b?via=llms-txt&token=secret","headers":{"User-Agent":["` + agentUA + `"],"Referer":["https://chatgpt.com/c?q=1"],"Accept":["text/markdown","*/*"],` +
		`"Signature":["sig1=:abc=:"],"Signature-Input":["sig1=(\"@authority\")"],"Signature-Agent":["\"https://chatgpt.com\""]},"tls":{"resumed":false}},` +
		`"bytes_read":0,"user_id":"","duration":0.012,"size":512,"status":404,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/markdown; charset=utf-8"]}}`
	plain := agentcollect.Event{
		Type: "touch", TS: now().Add(-30 * time.Minute), Path: "/docs/a%20b", Method: "GET", Status: 404, Bytes: 512,
		Signals: agentcollect.Signals{Via: "llms-txt", Source: "log", UserAgent: agentUA, IP: "203.0.113.7", Referrer: "https://chatgpt.com/c"},
	}
	hosted := plain
	hosted.Host = "acme.example"
	signed := hosted
	signed.DurationMS = 12
	signed.Signals.Accept, signed.Signals.Signature = "text/markdown, */*", "sig1=:abc=:"
	signed.Signals.SignatureInput, signed.Signals.SignatureAgent = `sig1=("@authority")`, `"https://chatgpt.com"`
	full := signed
	full.ContentType, full.TS = "text/markdown", full.TS.Add(250*time.Millisecond)
	common := plain
	common.Signals.UserAgent, common.Signals.Referrer = "", ""
	for name, c := range map[string]struct {
		format Format
		line   string
		want   agentcollect.Event
	}{
		"combined":                      {Auto, clf, plain},
		"common":                        {Auto, strings.SplitAfter(clf, " 512")[0], common},
		"combined and a host":           {Auto, clf + ` "acme.example"`, hosted},
		"nginx's main, and a host":      {Auto, clf + ` "192.0.2.1, 198.51.100.4" "acme.example"`, hosted},
		"main alone":                    {Auto, clf + ` "192.0.2.1"`, plain},
		"a time is no host":             {Auto, clf + ` 0.003 "1.2"`, plain},
		"vhost_combined":                {Auto, "acme.example:443 " + clf, hosted},
		"with a carriage return":        {Auto, clf + "\r", plain},
		"after a byte order mark":       {Auto, "\xEF\xBB\xBF" + clf, plain},
		"nginx":                         {Auto, nginx, signed},
		"nginx, said so":                {Combined, nginx, signed},
		"Caddy":                         {Auto, caddy, full},
		"Caddy, said so":                {Caddy, caddy, full},
		"Caddy before 2.7":              {Auto, strings.Replace(strings.Replace(caddy, `"remote_ip":"10.0.0.1"`, `"remote_ip":"203.0.113.7"`, 1), `"client_ip":"203.0.113.7",`, "", 1), full},
		"Caddy, time_format rfc3339":    {Auto, strings.Replace(caddy, "1795253400.25", `"2026-11-21T09:30:00.25Z"`, 1), full},
		"Caddy, time in a zone":         {Auto, strings.Replace(caddy, "1795253400.25", `"2026-11-21T10:30:00.250+0100"`, 1), full},
		"Caddy, duration_format string": {Auto, strings.Replace(caddy, `"duration":0.012`, `"duration":"12ms"`, 1), full},
		"nginx escapes, in combined":    {Auto, strings.Replace(clf, "GPTBot", `GPT\x42ot`, 1), plain},
		"nginx with numbers as texts":   {Auto, strings.Replace(nginx, `"bytes":512`, `"bytes":"512"`, 1), signed},
		"nginx with its variables":      {Auto, strings.NewReplacer(`"time"`, `"time_iso8601"`, `"uri"`, `"request_uri"`, `"duration"`, `"request_time"`, `"ip"`, `"remote_addr"`).Replace(nginx), signed},
		"nginx with bytes as they came": {Auto, strings.Replace(nginx, "/docs", "/\xff", 1), func() agentcollect.Event { e := signed; e.Path = "/\uFFFD/a%20b"; return e }()},
		"unicode":                       {Auto, strings.Replace(clf, "/docs", "/döcs", 1), func() agentcollect.Event { e := plain; e.Path = "/döcs/a%20b"; return e }()},
		"nginx escapes in the path":     {Auto, strings.Replace(clf, "/docs", `/d\xC3\xB6cs`, 1), func() agentcollect.Event { e := plain; e.Path = "/döcs/a%20b"; return e }()},
		"a quote in the User-Agent": {Auto, strings.Replace(clf, "GPTBot", `GPTBot\"`, 1), func() agentcollect.Event {
			e := plain
			e.Signals.UserAgent = strings.Replace(agentUA, "GPTBot", `GPTBot"`, 1)
			return e
		}()},
		"a quote, as nginx escapes": {Auto, strings.Replace(clf, "GPTBot", `GPTBot\x22`, 1), func() agentcollect.Event {
			e := plain
			e.Signals.UserAgent = strings.Replace(agentUA, "GPTBot", `GPTBot"`, 1)
			return e
		}()},
		"an e-mail address in the path":  {Auto, strings.Replace(clf, "/docs", "/u/joe@example.com", 1), func() agentcollect.Event { e := plain; e.Path = "/u/***/a%20b"; return e }()},
		"another offset of time":         {Auto, strings.Replace(clf, "09:30:00 +0000", "10:30:00 +0100", 1), plain},
		"Apache's dashes":                {Auto, strings.Replace(clf, "404 512", "404 -", 1), func() agentcollect.Event { e := plain; e.Bytes = 0; return e }()},
		"a user name":                    {Auto, strings.Replace(clf, "- - [", "- joe [", 1), plain},
		"a user name with a space in it": {Auto, strings.Replace(clf, "- - [", "- joe doe [", 1), plain},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, said := parseAll(t, c.format, false, c.line+"\n")
			if len(got) != 1 || len(said) > 0 {
				t.Fatalf("%d events, %q", len(got), said)
			}
			var e agentcollect.Event
			if err := json.Unmarshal(got[0].Event, &e); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(e.ID, "log-") || got[0].Where != "-:1" {
				t.Error(e.ID, got[0].Where)
			}
			if e.ID, e.TS = "", e.TS.UTC(); e != c.want {
				t.Errorf("\n%+v, want\n%+v", e, c.want)
			}
			if strings.Contains(string(got[0].Event), "secret") {
				t.Errorf("a secret: %s", got[0].Event)
			}
		})
	}
}

// TestEventsOfOnesOwn go through as they are, with an id if they have none.
func TestEventsOfOnesOwn(t *testing.T) {
	text := `{"type":"touch","url":"/a","ts":"2026-11-21T09:00:00Z","userAgent":"GPTBot/1.3"}
{"type":"touch","id":"mine","url":"/b","signals":{"agent":"Claude"},"userAgent":"` + "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0" + `"}
{"type":"touch","url":"/person","userAgent":"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"}
{"type":"convert","email":"joe@example.com","kind":"paid","value":"49.00","currency":"USD","id":null}
{"type":"convert","kind":"paid"}
{"type":"touch"
`
	got, stats, said := parseAll(t, Auto, false, text)
	if len(got) != 3 || stats.Skipped != 1 || stats.Unreadable != 2 || len(said) != 2 || !strings.HasPrefix(said[1], "-:5: ") && !strings.HasPrefix(said[0], "-:5: ") {
		t.Fatalf("%d events, %+v, %q", len(got), stats, said)
	}
	ids := map[string]bool{}
	for _, e := range got {
		batch, err := event.Read(bytes.NewReader(e.Event), event.Options{Key: event.KindSecret, ReceivedAt: now()})
		if err != nil || len(batch.Inputs) != 1 || len(batch.Warnings) > 0 {
			t.Fatalf("%s: %v %+v", e.Event, err, batch)
		}
		ids[batch.Inputs[0].ID] = true
	}
	if len(ids) != 3 || !ids["mine"] {
		t.Error(ids)
	}
}

func TestAllSendsPeopleToo(t *testing.T) {
	text := `203.0.113.7 - - [21/Nov/2026:09:30:00 +0000] "GET / HTTP/1.1" 200 5 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
203.0.113.7 - - [21/Nov/2026:09:30:00 +0000] "GET /a.css HTTP/1.1" 200 5 "-" "GPTBot/1.3"
203.0.113.7 - - [21/Nov/2026:09:30:00 +0000] "\x16\x03\x01" 400 5 "-" "-"
203.0.113.7 - - [21/Nov/2026:09:30:00 +0000] "POST /mcp HTTP/1.1" 200 5 "-" "claude-code/2"
`
	for all, want := range map[bool]int{true: 1, false: 0} {
		if got, stats, said := parseAll(t, Auto, all, text); len(got) != want || stats.Skipped != int64(4-want) || len(said) > 0 {
			t.Errorf("all %t: %d events, %+v, %q", all, len(got), stats, said)
		}
	}
}

// TestCaddysOtherLogs are in the same file when nothing else was said.
func TestCaddysOtherLogs(t *testing.T) {
	text := `{"level":"info","ts":1795253400.25,"msg":"using provided configuration"}
{"level":"error","ts":1795253400.25,"logger":"tls.obtain","msg":"will retry"}
{"level":"info","ts":1795253400.25,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","uri":"/a","headers":{"User-Agent":["GPTBot/1.3"]}},"status":200}
not JSON
{"level":"info","ts":"yesterday","logger":"http.log.access","msg":"handled request","request":{"method":"GET","uri":"/a","headers":{"User-Agent":["GPTBot/1.3"]}},"status":200}
`
	got, stats, said := parseAll(t, Auto, false, text)
	if len(got) != 1 || stats.Skipped != 2 || stats.Unreadable != 2 || len(said) != 2 {
		t.Errorf("%d events, %+v, %q", len(got), stats, said)
	}
}

// TestALineLikeAnotherBody must not spoil those beside it.
func TestALineLikeAnotherBody(t *testing.T) {
	good := `203.0.113.7 - - [21/Nov/2026:09:30:00 +0000] "GET / HTTP/1.1" 200 5 "-" "GPTBot/1.3"` + "\n"
	for _, bad := range []string{"\x1f\x8bpacked?", "[1,2]", "\x00\x00", "\xEF\xBB\xBF\xEF\xBB\xBF", "{", `"`, "\v"} {
		got, _, _ := parseAll(t, Combined, false, bad+"\n"+good+good)
		if len(got) != 2 {
			t.Errorf("%q: %d events", bad, len(got))
		}
	}
}

// FuzzFormats: every line is an event, or counted; an event is one that the service
// takes; and what stands beside it does not change it.
func FuzzFormats(f *testing.F) {
	for _, seed := range []string{
		`203.0.113.7 - - [21/Nov/2026:09:30:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "GPTBot/1.3" "acme.example"`,
		`{"time":"2026-11-21T09:30:00+00:00","method":"GET","uri":"/a","status":200,"userAgent":"GPTBot"}`,
		`{"level":"info","ts":1795253400.25,"logger":"http.log.access","request":{"method":"GET","uri":"/a","headers":{"User-Agent":["GPTBot/1.3"]}},"status":200}`,
		`{"type":"touch","url":"/a","userAgent":"GPTBot"}`,
		"\x1f\x8b", "\xEF\xBB\xBF{", "", "\r", "a\nb",
	} {
		for format := range 4 {
			f.Add(format, seed, seed)
		}
	}
	f.Add(1, "", "\uFEFF")
	formats := []Format{Auto, Combined, Caddy, JSON}
	f.Fuzz(func(t *testing.T, format int, first, second string) {
		if format < 0 || format >= len(formats) || len(first)+len(second) > maxLine {
			t.Skip()
		}
		text := first + "\n" + second + "\n"
		got, stats, _ := parseAll(t, formats[format], true, text)
		lines := int64(strings.Count(text, "\n"))
		if n := stats.Agents + stats.Skipped + stats.Unreadable + stats.Old; n != lines || stats.Agents != int64(len(got)) {
			t.Fatalf("%d lines, %+v", lines, stats)
		}
		for _, e := range got {
			batch, err := event.Read(bytes.NewReader(e.Event), event.Options{Key: event.KindSecret, ReceivedAt: now()})
			if err != nil || len(batch.Inputs) != 1 || len(batch.Warnings) > 0 && formats[format] != JSON && formats[format] != Auto {
				t.Fatalf("%s: %v %+v", e.Event, err, batch)
			}
			if batch.Inputs[0].ID == "" {
				t.Fatalf("no id: %s", e.Event)
			}
		}
		again, _, _ := parseAll(t, formats[format], true, text+text)
		for i := range got {
			if string(again[i].Event) != string(got[i].Event) {
				t.Fatalf("%s became %s", got[i].Event, again[i].Event)
			}
		}
	})
}

// TestLines reads lines whatever parts they come in.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	text := "a\n\nb\r\n" + long + "\n" + strings.Repeat("y", maxLine) + "\n" + strings.Repeat("z", 5*bufferSize) + "\nlast\ntorn"
	for _, n := range []int{1, 2, 3, 1000, 1 << 20} {
		l := newLines(&slow{r: strings.NewReader(text), n: n}, 0, 0)
		var got []string
		for {
			at, ok, err := l.next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if l.read() < int64(len(text)) {
					continue
				}
				break
			}
			if end := at.offset + int64(len(at.text)); text[at.offset:end] != string(at.text) || text[end] != '\n' || int64(strings.Count(text[:at.offset], "\n"))+1 != at.number {
				t.Fatalf("line %d at %d", at.number, at.offset)
			}
			got = append(got, string(at.text[:min(len(at.text), 10)]))
		}
		if fmt.Sprintf("%q", got) != `["a" "" "b\r" "yyyyyyyyyy" "last"]` || l.tooLong != 2 || text[l.mark:] != "torn" || l.count != 7 {
			t.Errorf("%d bytes at a time: %q, %d too long, %d lines", n, got, l.tooLong, l.count)
		}
		if at, ok := l.rest(); !ok || string(at.text) != "torn" || at.number != 8 {
			t.Error(at, ok)
		}
	}
}

// slow reads n bytes at a time, and nothing in between.
type slow struct {
	r    io.Reader
	n    int
	turn bool
}

func (s *slow) Read(p []byte) (int, error) {
	if s.turn = !s.turn; s.turn {
		return 0, io.EOF
	}
	n, err := s.r.Read(p[:min(len(p), s.n)])
	if err == io.EOF {
		return n, nil
	}
	return n, err
}

// TestHole: a log that was truncated under a server that does not append begins
// with zeros, as many as it had bytes.
func TestHole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err == nil {
		_, err = f.WriteAt([]byte("first\nsecond\n"), 3*bufferSize+5)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := openSource(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.close()
	for i, want := range []string{"first", "second"} {
		at, ok, err := src.next(&state{}, now())
		if err != nil || !ok || string(at.text) != want || at.number != int64(i+1) {
			t.Fatalf("%q %d %t %v", at.text, at.number, ok, err)
		}
	}
	if anew, err := src.replaced(); anew || err != nil || string(src.head) != "first" || src.lines.tooLong > 0 {
		t.Errorf("replaced %t, head %q, %v", anew, src.head, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte("third\n"), 3*bufferSize+18)
	}
	if err != nil {
		t.Fatal(err)
	}
	if anew, err := src.replaced(); !anew || err != nil {
		t.Errorf("replaced %t, %v", anew, err)
	}
}

// TestLogWrittenAnewBeforeItIsRead: its new lines are not taken for those of the
// log that it was when it was opened.
func TestLogWrittenAnewBeforeItIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("old 1\nold 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	st := &state{}
	src, err := openSource(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.close()
	if err := src.identify(st); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("new 1\nnew 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if at, ok, err := src.next(st, now()); ok || err != nil {
		t.Errorf("read %q, %v", at.text, err)
	}
	if anew, err := src.replaced(); !anew || err != nil {
		t.Errorf("replaced %t, %v", anew, err)
	}
}

// FuzzIdentity: a log is known again by its head and its mark under another name,
// packed or not; and one with other lines before the mark is not.
func FuzzIdentity(f *testing.F) {
	f.Add("first\nsecond\nthird\n", 13)
	f.Add("a\n\n\nb", 3)
	f.Fuzz(func(t *testing.T, text string, at int) {
		at = strings.LastIndexByte(text[:max(0, min(at, len(text)))], '\n') + 1
		if at == 0 || len(text) > 10_000 {
			t.Skip()
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		st := &state{dir: dir}
		src, err := openSource(path)
		if err != nil {
			t.Skip() // it looks packed
		}
		for {
			l, ok, err := src.next(st, now())
			if err != nil || !ok || l.offset+int64(len(l.text)) >= int64(at)-1 {
				break
			}
		}
		src.setMark(now())
		src.close()
		if len(st.marks) != 1 {
			t.Skip()
		}
		m := st.marks[0]
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		for _, content := range []string{text, packed.String()} {
			if err := os.WriteFile(path+".1", []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			again, err := openSource(path + ".1")
			if err != nil {
				t.Fatal(err)
			}
			if err := again.identify(st); err != nil || again.mark != m {
				t.Fatalf("not known: %v", err)
			}
			again.close()
		}
		if len(m.Tail) == 0 {
			return
		}
		changed := []byte(text)
		changed[m.Offset-2] ^= 1 // the end of the last line before the mark
		if err := os.WriteFile(path+".1", changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if another, err := openSource(path + ".1"); err == nil && another.identify(st) == nil && another.mark == m {
			t.Fatal("another log is taken for it")
		}
	})
}
