// Package bench measures what the collector adds to a request.
package bench

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/cmd/agentcollect"
)

const browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"

// BenchmarkOverhead is what a request costs more than with the bare handler.
func BenchmarkOverhead(b *testing.B) {
	accept := func(r *http.Request) (*http.Response, error) {
		_, err := io.Copy(io.Discard, r.Body)
		return &http.Response{StatusCode: http.StatusAccepted, Body: io.NopCloser(strings.NewReader("{}"))}, err
	}
	c := agentcollect.New(agentcollect.Config{URL: "https://fp.example", Key: "sk", Client: &http.Client{Transport: transport(accept)}})
	defer func() { _ = c.Close(b.Context()) }()
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	for _, m := range []struct {
		name, ua string
		handler  http.Handler
	}{
		{"bare", browser, bare},
		{"person", browser, c.Wrap(bare)},
		{"agent", "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)", c.Wrap(bare)},
	} {
		b.Run(m.name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "https://acme.example/docs/quickstart", nil)
			r.Header.Set("User-Agent", m.ua)
			r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
			w := discard{}
			b.ReportAllocs()
			for b.Loop() {
				m.handler.ServeHTTP(w, r)
			}
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) WriteHeader(int)             {}
func (discard) Write(p []byte) (int, error) { return len(p), nil }
