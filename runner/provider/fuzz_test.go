package provider

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/provider/providertest"
)

// FuzzDecode reads any body in every format: no panic, no count below zero, no
// text that is not UTF-8.
func FuzzDecode(f *testing.F) {
	for _, s := range steps {
		if do := s.step.Do; do == providertest.Hang || do == providertest.CutConnection {
			continue // nothing comes
		}
		step := s.step
		step.Usage = providertest.DefaultUsage()
		step.Usage.Searches = 1
		for _, format := range formats {
			_, a := serve(f, format.kind, providertest.Always(step), nil)
			got, infra := askIt(f, a, "Which?")
			if infra != nil {
				got.Raw = infra.Raw
			}
			f.Add(got.Raw)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, format := range formats {
			k, _ := kindOf(format.kind)
			got, err := k.codec.decode(body)
			if err == nil && !utf8.ValidString(got.text) {
				t.Fatalf("%s: %q", format.kind, got.text)
			}
			if u := got.usage; u != nil && (u.Input < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Output < 0 || u.Reasoning < 0 || u.Searches < 0) {
				t.Fatalf("%s: %+v", format.kind, *u)
			}
			for _, block := range got.paused {
				if !json.Valid(block) {
					t.Fatalf("%s: %q is to be sent back", format.kind, block)
				}
			}
			k.codec.has(body, "m")
		}
	})
}

// FuzzFailure reads any error: it is judged, told in few valid words, and a final
// one is not retried.
func FuzzFailure(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"Unsupported parameter: 'temperature'","code":"unsupported_parameter","param":"temperature"}}`))
	f.Add(429, []byte(`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"limit: 0","details":[{"retryDelay":"46s"},{"violations":[{"quotaId":"PerDay"}]}]}}`))
	f.Add(529, []byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
	f.Add(200, []byte(`[{"error":"Please try again in 7h3m."}]`))
	f.Add(500, []byte("<html>\xff"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		failed := readFailure(body)
		reason, retry := failed.judge(status, map[string]bool{"temperature": true})
		if reason == "" || retry && final(reason) {
			t.Fatalf("%q, retry %v", reason, retry)
		}
		if said := failed.describe(status).Error(); len(said) > maxErrorText+100 || !utf8.ValidString(said) {
			t.Fatalf("%q", said)
		}
		if failed.after < 0 || retry && failed.after > maxWait {
			t.Fatalf("wait %s", failed.after)
		}
	})
}

// FuzzHeaders reads any limits: no wait and no window is below zero or endless.
func FuzzHeaders(f *testing.F) {
	f.Add("1500", "3", "Sat, 21 Nov 2026 14:00:00 GMT", "20", "6m0s")
	f.Add("", "Sat, 21 Nov 2026 14:00:07 GMT", "Sat, 21 Nov 2026 14:00:00 GMT", "0", "2026-11-21T14:00:01Z")
	f.Add("NaN", "-1", "", "-7", "Inf")
	f.Fuzz(func(t *testing.T, ms, after, date, left, reset string) {
		h := http.Header{}
		for name, value := range map[string]string{
			"Retry-After-Ms": ms, "Retry-After": after, "Date": date,
			"X-Ratelimit-Limit-Requests": left, "X-Ratelimit-Remaining-Requests": left, "X-Ratelimit-Reset-Requests": reset,
			"Anthropic-Ratelimit-Tokens-Limit": "5", "Anthropic-Ratelimit-Tokens-Remaining": left, "Anthropic-Ratelimit-Tokens-Reset": reset,
		} {
			h.Set(name, value)
		}
		if d := retryAfter(h); d < 0 || d > maxWait {
			t.Fatal(d)
		}
		w := windowOf(h)
		for _, q := range []struct {
			limit, left int64
			reset       time.Duration
		}{{w.Requests.Limit, w.Requests.Remaining, w.Requests.Reset}, {w.Tokens.Limit, w.Tokens.Remaining, w.Tokens.Reset}} {
			if q.left < 0 || q.limit < 0 || q.limit > 0 && q.limit < q.left || q.reset < 0 || q.reset > 24*time.Hour {
				t.Fatalf("%+v", q)
			}
		}
	})
}

// BenchmarkCodec encodes a question and decodes its answer.
func BenchmarkCodec(b *testing.B) {
	prompt, text := strings.Repeat("Add payments to this shop. ", 20), strings.Repeat("I would use Stripe for this. ", 80)
	for _, format := range formats {
		_, a := serve(b, format.kind, providertest.Say(text), func(a *eval.Agent) { a.MaxTokens = 1000 })
		got, infra := askIt(b, a, prompt)
		if infra != nil {
			b.Fatal(infra)
		}
		b.Run(format.kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(a.kind.codec.encode(a.Agent, firstRequest(a.Agent, prompt, prompt))); err != nil {
					b.Fatal(err)
				}
				if _, err := a.kind.codec.decode(a.secret.bytes(got.Raw)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
