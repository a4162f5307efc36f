package provider

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/runner/transcript"
)

func TestUsageIsReadInTheNormalForm(t *testing.T) {
	all := prices.Usage{Input: 1000, CacheRead: 200, CacheWrite: 30, Output: 60, Reasoning: 10}
	except := map[string]prices.Usage{
		eval.KindAnthropic: {Input: 1000, CacheRead: 200, CacheWrite: 30, Output: 60}, // reasoning is not told apart
		eval.KindGemini:    {Input: 1030, CacheRead: 200, Output: 60, Reasoning: 10},  // nor is what goes into a cache
		eval.KindOllama:    {Input: 1230, Output: 60},
	}
	for _, f := range formats {
		_, a := serve(t, f.kind, providertest.Always(providertest.Step{Usage: all}), nil)
		got, err := askIt(t, a, "Which?")
		if err != nil {
			t.Fatal(err)
		}
		want, ok := except[f.kind]
		if !ok {
			want = all
		}
		if *got.Usage != want || got.InTokens != 1230 || got.OutTokens != 60 || got.Model != "m-1" {
			t.Errorf("%s: %+v, in %d, out %d, model %q", f.kind, *got.Usage, got.InTokens, got.OutTokens, got.Model)
		}
		if len(got.Raw) == 0 {
			t.Errorf("%s: the body is not kept", f.kind)
		}
	}
}

func TestSearchesAreCountedAndCharged(t *testing.T) {
	on, each := true, 10.0
	web := func(a *eval.Agent) {
		a.WebSearch, a.Price = &on, &eval.Price{InputPerMTok: 2, OutputPerMTok: 8, PerThousandSearches: &each}
	}
	use := prices.Usage{Input: 1000, Output: 500, Searches: 3}
	for _, kind := range []string{eval.KindOpenAIResponses, eval.KindAnthropic, eval.KindGemini} {
		_, a := serve(t, kind, providertest.Always(providertest.Step{Usage: use, Text: "Stripe."}), web)
		got, err := askIt(t, a, "Which?")
		if err != nil || got.Usage.Searches != 3 || *got.CostUSD != 0.002+0.004+0.03 || got.Transcript.FinalText != "Stripe." {
			t.Errorf("%s: %+v, %v, %v", kind, got.Usage, got.CostUSD, err)
		}
	}
	if n := groundings("gemini-2.5-pro", []string{"a", "b", ""}); n != 1 {
		t.Errorf("a gemini-2 model is charged for each answer, not for %d searches", n)
	}
	if n := groundings("gemini-3-pro", []string{"a", "b", "", "a"}); n != 2 {
		t.Errorf("%d distinct searches", n)
	}
}

func TestCostIsReckonedOrUnknownButNeverZero(t *testing.T) {
	priced := func(a *eval.Agent) { a.Price = &eval.Price{InputPerMTok: 2, OutputPerMTok: 8} }
	use := providertest.Always(providertest.Step{Usage: prices.Usage{Input: 800, CacheRead: 200, Output: 500}})
	_, a := serve(t, eval.KindOpenAIChat, use, priced)
	if got, _ := askIt(t, a, "x"); got.CostUSD == nil || *got.CostUSD != 0.006 {
		t.Errorf("with a price: %v", got.CostUSD)
	}
	_, a = serve(t, eval.KindOpenAIChat, use, nil)
	if got, _ := askIt(t, a, "x"); got.CostUSD != nil {
		t.Errorf("without a price: %v", *got.CostUSD)
	}
	_, a = serve(t, eval.KindOllama, use, nil)
	if got, _ := askIt(t, a, "x"); got.CostUSD == nil || *got.CostUSD != 0 || a.Profile().Paid || *a.Worst(agent.Task{}) != 0 {
		t.Errorf("on this machine: %v", got.CostUSD)
	}
}

func TestAPausedAnswerIsGoneOnWith(t *testing.T) {
	on := true
	change := func(a *eval.Agent) {
		a.WebSearch, a.MaxTokens, a.Price = &on, 500, &eval.Price{InputPerMTok: 1, OutputPerMTok: 1}
	}
	paused := providertest.Step{Do: providertest.Pause, Usage: prices.Usage{Input: 100, Output: 20, Searches: 2}}
	end := providertest.Step{Text: "Stripe.", Usage: prices.Usage{Input: 300, Output: 40, Searches: 1}}
	s, a := serve(t, eval.KindAnthropic, providertest.InOrder(paused, end), change)
	got, infra := askIt(t, a, "Which?")
	if infra != nil || got.Transcript.FinalText != "Stripe." || *got.Usage != (prices.Usage{Input: 400, Output: 60, Searches: 3}) || *got.CostUSD != 460e-6 {
		t.Fatalf("%+v, %v", got, infra)
	}
	second := string(s.Requests()[1].Body)
	for _, part := range []string{`"max_tokens":480`, `"max_uses":3`, `{"role":"assistant","content":[{`, `"encrypted_content":"ZW5jcnlwdGVk"`} {
		if !strings.Contains(second, part) {
			t.Errorf("no %s in %s", part, second)
		}
	}
	if bytes.Count(got.Raw, []byte("\n")) != 1 {
		t.Errorf("both bodies are to be kept: %s", got.Raw)
	}

	s, a = serve(t, eval.KindAnthropic, providertest.Always(paused), change)
	_, infra = askIt(t, a, "Which?")
	if infra == nil || infra.Reason != agent.ReasonServer || infra.Retry || *infra.CostUSD != 600e-6 || len(s.Requests()) != 1+maxPauses {
		t.Errorf("without end: %+v, %d requests", infra, len(s.Requests()))
	}
	_, a = serve(t, eval.KindAnthropic, providertest.InOrder(paused, providertest.Step{Do: providertest.Overloaded}), change)
	if _, infra = askIt(t, a, "Which?"); infra == nil || infra.Billed || *infra.CostUSD != 120e-6 || !infra.Retry {
		t.Errorf("refused later: %+v", infra)
	}
	_, a = serve(t, eval.KindAnthropic, providertest.InOrder(paused, providertest.Step{Do: providertest.CutBody}), change)
	if _, infra = askIt(t, a, "Which?"); infra == nil || !infra.Billed || infra.CostUSD != nil {
		t.Errorf("cut later: %+v", infra)
	}
	spent := providertest.Step{Do: providertest.Pause, Usage: prices.Usage{Output: 500}}
	_, a = serve(t, eval.KindAnthropic, providertest.Always(spent), change)
	if got, infra = askIt(t, a, "Which?"); infra != nil || got.Transcript.Stop != transcript.StopLength {
		t.Errorf("nothing left to write: %+v, %v", got, infra)
	}
}

func TestWindowsAreReadFromTheHeadersOfEachFormat(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	known := 0
	for _, f := range formats {
		s, a := serve(t, f.kind, providertest.Say("Stripe."), nil)
		s.Limit(20, func() time.Time { return now })
		silent := true
		a.http.Transport = spy{a.http.Transport, func(r *http.Response) {
			for name := range r.Header {
				silent = silent && !strings.Contains(name, "Ratelimit")
			}
		}}
		got, err := askIt(t, a, "Which?")
		if err != nil {
			t.Fatal(err)
		}
		q := got.Window.Requests
		if q.Known {
			known++
		}
		if q.Known == silent || !silent && (q.Limit != 20 || q.Remaining != 19 || q.Reset != time.Second) {
			t.Errorf("%s: %+v", f.kind, q)
		}
	}
	if known < 3 {
		t.Errorf("%d formats have headers of limits, want 3 or more", known)
	}
	s, a := serve(t, eval.KindOpenAIChat, providertest.Say("Stripe."), nil)
	s.Limit(0, func() time.Time { return now })
	_, infra := askIt(t, a, "Which?")
	if infra == nil || infra.Reason != agent.ReasonRateLimited || infra.After != time.Second || !infra.Window.Requests.Known {
		t.Errorf("beyond the limit: %+v", infra)
	}
}

// TestAnEscapedKeyIsNotTold: JSON spells a key in many ways.
func TestAnEscapedKeyIsNotTold(t *testing.T) {
	spelt := strings.ReplaceAll(secretKey, "-", `\u002D`)
	for body, status := range map[string]int{
		`{"error":{"message":"no such key: ` + spelt + `"}}`:                                                               http.StatusUnauthorized,
		`{"model":"` + spelt + `","choices":[{"message":{"content":"Your key is ` + spelt + `"},"finish_reason":"stop"}]}`: http.StatusOK,
		`{"error":{"message":"no such key: ` + spelt + `","code":401}}`:                                                    http.StatusOK,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		defer s.Close()
		a := build(t, eval.Agent{Name: "a", Kind: eval.KindOpenAIChat, BaseURL: s.URL, Model: "m-1", APIKeyEnv: "KEY"}, http.DefaultTransport.(*http.Transport).Clone())
		got, infra := askIt(t, a, "Which?")
		told := got.Transcript.FinalText + got.Model
		if infra != nil {
			told = infra.Error()
		}
		if strings.Contains(told, secretKey) || !strings.Contains(told, "[key]") {
			t.Errorf("%d: %q", status, told)
		}
	}
}

func TestTheKeyIsNeverTold(t *testing.T) {
	steps := []providertest.Step{
		{Text: "Your key is " + secretKey}, {Do: providertest.Unauthorized},
		{Do: providertest.ErrorIn200, Header: map[string]string{"X-Request-Id": secretKey}},
		{Do: providertest.CutBody, Text: secretKey + strings.Repeat(" x", 500)}, {Do: providertest.Malformed, Text: secretKey + strings.Repeat(" x", 500)},
	}
	for _, f := range formats {
		for _, step := range steps {
			_, a := serve(t, f.kind, providertest.Always(step), nil)
			got, infra := askIt(t, a, "Which?")
			told := string(got.Raw) + got.Transcript.FinalText
			if infra != nil {
				told += infra.Error() + string(infra.Raw)
			}
			if strings.Contains(told, secretKey) || len(told) == 0 {
				t.Errorf("%s, %q: %s", f.kind, step.Do, told)
			}
		}
	}
	odd := newSecret("ab/cd+ef==gh")
	for _, echo := range []string{`ab/cd+ef==gh`, `ab\/cd+ef==gh`, `ab%2Fcd%2Bef%3D%3Dgh`} {
		if got := odd.text(echo) + string(odd.bytes([]byte(echo))); got != "[key][key]" {
			t.Errorf("%s becomes %s", echo, got)
		}
	}
	if newSecret("none").text("none of them") != "none of them" {
		t.Error("a word that stands for a key is hidden in answers")
	}
}

func TestWhatDidNotReachTheServerIsNotCharged(t *testing.T) {
	s, a := serve(t, eval.KindOpenAIChat, providertest.Say("x"), nil)
	s.Close()
	_, infra := askIt(t, a, "Which?")
	if infra == nil || infra.Reason != agent.ReasonNetwork || !infra.Retry || infra.Billed || !infra.Unreached {
		t.Fatalf("%+v", infra)
	}
}

func TestANameWithoutAddressIsKnown(t *testing.T) {
	a := build(t, eval.Agent{Name: "m", Kind: eval.KindOpenAIChat, Model: "m", BaseURL: "http://no-such-host.invalid/v1"}, &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Name: "no-such-host.invalid", Err: "no such host", IsNotFound: true}}
		},
	})
	_, infra := askIt(t, a, "Which?")
	var name *net.DNSError
	if infra == nil || !infra.Unreached || !errors.As(infra.Err, &name) || name.Name != "no-such-host.invalid" {
		t.Fatalf("%+v", infra)
	}
}

func TestAnInterruptionIsNoFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, a := serve(t, eval.KindOpenAIChat, func(providertest.Request) providertest.Step {
		cancel()
		return providertest.Step{Do: providertest.Hang}
	}, nil)
	_, err := a.Ask(ctx, agent.Task{})
	var infra *agent.InfraError
	if !errors.Is(err, context.Canceled) || errors.As(err, &infra) {
		t.Fatal(err)
	}
}

// plain serves one answer without a format.
func plain(t *testing.T, handler http.HandlerFunc) *client {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	a := eval.Agent{Name: "a", Kind: eval.KindOpenAIChat, BaseURL: srv.URL, Model: "m", APIKeyEnv: "KEY"}
	return build(t, a, http.DefaultTransport.(*http.Transport).Clone())
}

func TestOddAnswers(t *testing.T) {
	say := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	good := `{"choices":[{"message":{"content":"Stripe."},"finish_reason":"stop"}]`
	cases := map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"content in parts":         {say(200, `{"choices":[{"message":{"content":[{"type":"text","text":"A"},{"type":"text","text":"B"}]}}]}`), `answer "AB"`},
		"odd counts":               {say(200, good+`,"usage":{"prompt_tokens":"12","completion_tokens":-3}}`), `answer "Stripe."`},
		"an empty error":           {say(200, good+`,"error":""}`), `answer "Stripe."`},
		"more than one value":      {say(200, good+`}`+good+`}`), "malformed, retry, may be charged"},
		"no choices":               {say(200, `{"choices":[]}`), "malformed, retry, may be charged"},
		"no message":               {say(200, `{"choices":[{}]}`), "malformed, retry, may be charged"},
		"a page":                   {say(200, `<html>`), "malformed, retry, may be charged"},
		"over 8 MiB":               {say(200, strings.Repeat(" ", maxBody)+good), "server, may be charged"},
		"a limit inside":           {say(200, `{"error":{"message":"slow down","code":429}}`), "rate_limited, retry, may be charged"},
		"a router's source failed": {say(200, `{"choices":[{"error":{"code":502,"message":"x"}}]}`), "server, retry, may be charged"},
		"a redirection":            {say(303, ``, "Location", "http://127.0.0.1:1/elsewhere"), "not_found, lane closed"},
		"a wait without end":       {say(429, `{}`, "Retry-After", "1e300"), "rate_limited, retry after 1h0m0s"},
		"a wait that is no number": {say(429, `{}`, "Retry-After", "NaN"), "rate_limited, retry"},
		"a wait in the past":       {say(429, `{}`, "Retry-After", "-5"), "rate_limited, retry"},
		"a quota of the day":       {say(429, `{"error":{"code":429,"details":[{"violations":[{"quotaId":"RequestsPerDayPerProject"}]}]}}`), "quota, lane closed"},
		"payment is required":      {say(402, `{}`), "quota, lane closed"},
		"money in other words":     {say(400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`), "quota, lane closed"},
		"an error that is a text":  {say(500, `{"error":"out of memory"}`), "server, retry"},
		"a list with an error":     {say(429, `[{"error":{"code":429,"message":"x. Please retry in 2.5s."}}]`), "rate_limited, retry after 2.5s"},
		"nothing at all":           {say(503, ``), "server, retry"},
		"null":                     {say(400, `null`), "bad_request"},
		"a gone request":           {say(408, ``), "timeout, retry"},
		"a conflict":               {say(409, ``), "conflict, retry"},
		"too large":                {say(413, ``), "bad_request"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := outcome(askIt(t, plain(t, c.handler), "Which?")); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestARejectedParameterIsToldFromAnyOtherBadRequest(t *testing.T) {
	words := map[string]bool{"temperature": true, "max_tokens": true, "web_search": true}
	cases := map[string]string{
		"`temperature` is deprecated for this model.":                               agent.ReasonUnsupported,
		"temperature: Extra inputs are not permitted":                               agent.ReasonUnsupported,
		"max_tokens: 100000 > 64000, which is the maximum allowed":                  agent.ReasonUnsupported,
		"Tool 'web_search' is not supported with this model.":                       agent.ReasonUnsupported,
		"`top_k` is deprecated for this model.":                                     agent.ReasonBadRequest,
		"prompt is too long: 210000 tokens > 200000 maximum":                        agent.ReasonBadRequest,
		"input length and `max_tokens` exceed context limit: 190000 + 64000 tokens": agent.ReasonBadRequest,
	}
	for message, want := range cases {
		if got, retry := (&failure{message: message}).judge(400, words); got != want || retry {
			t.Errorf("%s: %s", message, got)
		}
	}
}
