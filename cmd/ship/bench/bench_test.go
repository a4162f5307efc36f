// Package bench measures how fast access logs are shipped, and in how much memory.
package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/ship"
)

// taking takes all events, and remembers none.
type taking struct{}

func (taking) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == "GET" {
		return answer(200, `{"workspace":"w"}`), nil
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(z)
	return answer(202, fmt.Sprintf(`{"accepted":%d}`, bytes.Count(body, []byte(`"type":"touch"`)))), err
}

// someLog returns a log of many lines, of which one in ten is of an agent.
func someLog(format ship.Format, lines int) []byte {
	const person = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
	var b bytes.Buffer
	for n := range lines {
		ua := person
		if n%10 == 0 {
			ua = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)"
		}
		at := start().Add(time.Duration(n-lines) * time.Millisecond)
		switch format {
		case ship.Caddy:
			fmt.Fprintf(&b, `{"level":"info","ts":%.3f,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"203.0.113.7","remote_port":"4711","proto":"HTTP/2.0","method":"GET","host":"acme.example",`+
				`"uri":"/docs/%d","headers":{"User-Agent":[%q],"Accept":["*/*"],"Accept-Encoding":["gzip"]},"tls":{"resumed":false,"version":772}},"bytes_read":0,"user_id":"","duration":0.0012,"size":512,"status":200,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/html"]}}`+"\n",
				float64(at.UnixMilli())/1000, n, ua)
		case ship.Nginx:
			fmt.Fprintf(&b, `{"time":"%s","method":"GET","uri":"/docs/%d","status":200,"bytes":512,"duration":0.001,"host":"acme.example","ip":"203.0.113.7","userAgent":%q,"referrer":"","accept":"*/*"}`+"\n", at.Format(time.RFC3339), n, ua)
		default:
			fmt.Fprintf(&b, "203.0.113.7 - - [%s] \"GET /docs/%d HTTP/1.1\" 200 512 \"-\" \"%s\"\n", at.Format("02/Jan/2006:15:04:05 -0700"), n, ua)
		}
	}
	return b.Bytes()
}

func start() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func shipAll(tb testing.TB, path, spool string, progress func(ship.Stats)) ship.Stats {
	tb.Helper()
	stats, err := ship.Run(context.Background(), ship.Config{
		Host:  "acme.example",
		Files: []string{path}, URL: "https://fp.example", Key: "sk", Client: &http.Client{Transport: taking{}}, Spool: spool, Format: ship.Auto, Once: true,
		Now: start, Sleep: func(context.Context, time.Duration) error { return nil }, Progress: progress, Say: func(s string) { tb.Error(s) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	return stats
}

// BenchmarkShip is how fast a log is read and its agents are sent, but for the
// service.
func BenchmarkShip(b *testing.B) {
	for _, format := range []ship.Format{ship.Combined, ship.Nginx, ship.Caddy} {
		b.Run(string(format), func(b *testing.B) {
			const lines = 100_000
			dir := b.TempDir()
			path := filepath.Join(dir, "access.log")
			if err := os.WriteFile(path, someLog(format, lines), 0o600); err != nil {
				b.Fatal(err)
			}
			n := 0
			for b.Loop() {
				n++
				if got := shipAll(b, path, filepath.Join(dir, fmt.Sprint(n)), func(ship.Stats) {}); got.Sent != lines/10 {
					b.Fatalf("%+v", got)
				}
			}
			b.ReportMetric(float64(lines*n)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// TestMemory ships 80 MB. What is in memory does not grow with the log.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 80 MB: some seconds")
	}
	path := filepath.Join(t.TempDir(), "access.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const blocks, lines = 8, 50_000
	func() {
		block := someLog(ship.Combined, lines)
		for n := range blocks {
			if _, err := f.Write(bytes.ReplaceAll(block, []byte("/docs/"), fmt.Appendf(nil, "/%s/%d/", strings.Repeat("x", 40), n))); err != nil {
				t.Fatal(err)
			}
		}
	}()
	info, err := f.Stat()
	if err != nil || f.Close() != nil || info.Size() < 80<<20 {
		t.Fatalf("%d bytes, %v", info.Size(), err)
	}
	runtime.GC()
	var before, peak runtime.MemStats
	runtime.ReadMemStats(&before)
	most, calls := uint64(0), 0
	got := shipAll(t, path, filepath.Join(t.TempDir(), "spool"), func(ship.Stats) {
		if calls++; calls%50 == 0 {
			runtime.ReadMemStats(&peak)
			most = max(most, peak.HeapInuse)
		}
	})
	if got.Lines != blocks*lines || got.Sent != blocks*lines/10 || calls < 40 {
		t.Errorf("%+v, %d calls", got, calls)
	}
	if grown := int64(most) - int64(before.HeapInuse); grown > 32<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	} else {
		t.Logf("%d MB of log, and the heap grew by %d MB", info.Size()>>20, grown>>20)
	}
}
