package provider

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/runner/transcript"
)

var steps = []struct {
	name string
	step providertest.Step
}{
	{"an answer", providertest.Step{Text: "Stripe."}},
	{"an answer after thoughts", providertest.Step{Text: "Stripe.", Thoughts: "Paddle?"}},
	{"a refusal", providertest.Step{Do: providertest.Refusal}},
	{"taken by a filter", providertest.Step{Do: providertest.Blocked}},
	{"cut by the length", providertest.Step{Do: providertest.Length, Text: "Stripe. Paddle."}},
	{"length used up, no text", providertest.Step{Do: providertest.EmptyLength}},
	{"an empty answer", providertest.Step{Do: providertest.Empty}},
	{"key not taken", providertest.Step{Do: providertest.Unauthorized}},
	{"no such model", providertest.Step{Do: providertest.NoModel}},
	{"bad request", providertest.Step{Do: providertest.BadRequest}},
	{"temperature rejected", providertest.Step{Do: providertest.Unsupported}},
	{"429, wait in seconds", providertest.Step{Do: providertest.Limited, Wait: 3 * time.Second}},
	{"429, wait in ms", providertest.Step{Do: providertest.Limited, Wait: 250 * time.Millisecond, Style: providertest.Millis}},
	{"429, wait until a date", providertest.Step{Do: providertest.Limited, Wait: 7 * time.Second, Style: providertest.Date}},
	{"429, wait in the body", providertest.Step{Do: providertest.Limited, Wait: 46 * time.Second, Style: providertest.InText}},
	{"429, no wait told", providertest.Step{Do: providertest.Limited, Style: providertest.Silent}},
	{"429, x-should-retry: false", providertest.Step{Do: providertest.Limited, Style: providertest.Silent, NoRetry: true}},
	{"429, quota of the day", providertest.Step{Do: providertest.DayQuota}},
	{"no money", providertest.Step{Do: providertest.NoMoney}},
	{"500", providertest.Step{Do: providertest.ServerError}},
	{"529 or 503", providertest.Step{Do: providertest.Overloaded}},
	{"200 with an error inside", providertest.Step{Do: providertest.ErrorIn200}},
	{"malformed JSON", providertest.Step{Do: providertest.Malformed}},
	{"cut within the answer", providertest.Step{Do: providertest.CutBody}},
	{"cut before the answer", providertest.Step{Do: providertest.CutConnection}},
	{"no answer in time", providertest.Step{Do: providertest.Hang}},
}

// TestBehaviours pins what an agent makes of everything that a server does.
func TestBehaviours(t *testing.T) {
	zero := 0.0
	rows := make([][]string, len(steps))
	var all sync.WaitGroup
	for i, s := range steps {
		rows[i] = make([]string, len(formats))
		for j, f := range formats {
			_, a := serve(t, f.kind, providertest.Always(s.step), func(a *eval.Agent) { a.Temperature, a.TimeoutS = &zero, 2 })
			if s.step.Do != providertest.Hang {
				a.timeout = time.Minute // a busy machine must not change the table
			}
			all.Go(func() { rows[i][j] = outcome(askIt(t, a, "Which?")) })
		}
	}
	all.Wait()
	var b strings.Builder
	b.WriteString("| the server |")
	for _, f := range formats {
		b.WriteString(" " + f.kind + " |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(formats)) + "\n")
	for i, s := range steps {
		fmt.Fprintf(&b, "| %s | %s |\n", s.name, strings.Join(rows[i], " | "))
	}
	golden(t, "testdata/behaviours.md", b.String())
}

// outcome tells in words what came of a question.
func outcome(r agent.Reply, e *agent.InfraError) string {
	if e == nil {
		stop := map[transcript.Stop]string{transcript.StopEnd: "answer", transcript.StopLength: "cut answer", transcript.StopRefusal: "refusal"}[r.Transcript.Stop]
		return fmt.Sprintf("%s %q", stop, r.Transcript.FinalText)
	}
	words := []string{e.Reason}
	switch {
	case e.Retry && e.After > 0:
		words = append(words, "retry after "+e.After.String())
	case e.Retry:
		words = append(words, "retry")
	}
	if e.Lane {
		words = append(words, "lane closed")
	}
	if e.Billed {
		words = append(words, "may be charged")
	}
	return strings.Join(words, ", ")
}

// The server must get what it was written for: a wrong status would make the table
// a table of other things.
func TestTheFakeServerSaysWhatItIsScriptedToSay(t *testing.T) {
	want := map[providertest.Behavior]int{providertest.Unauthorized: 401, providertest.NoMoney: 429, providertest.Overloaded: 503, providertest.ErrorIn200: 200}
	except := map[string]map[providertest.Behavior]int{
		eval.KindGemini: {providertest.Unauthorized: 400}, eval.KindOllama: {providertest.NoMoney: 402}, eval.KindAnthropic: {providertest.Overloaded: 529},
	}
	for do, status := range want {
		for _, f := range formats {
			code := cmp.Or(except[f.kind][do], status)
			_, a := serve(t, f.kind, providertest.Always(providertest.Step{Do: do}), nil)
			seen := 0
			a.http.Transport = spy{a.http.Transport, func(r *http.Response) { seen = r.StatusCode }}
			askIt(t, a, "Which?")
			if seen != code {
				t.Errorf("%s, %s: status %d, want %d", f.kind, do, seen, code)
			}
		}
	}
}

type spy struct {
	next http.RoundTripper
	see  func(*http.Response)
}

func (s spy) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err == nil {
		s.see(resp)
	}
	return resp, err
}
