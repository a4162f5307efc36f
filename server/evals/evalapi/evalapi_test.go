package evalapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqbody"
)

func TestTheFormIsTheOneThatIsLikedBest(t *testing.T) {
	for accept, want := range map[string]string{
		"": page, "*/*": page, "text/html": page, "application/json": page, ndjson: ndjson, parquet: parquet,
		"application/json, application/x-ndjson": page, "application/json;q=0.5, application/x-ndjson": ndjson, "application/x-ndjson;q=0": page,
		"application/x-ndjson;q=x": page, "APPLICATION/X-NDJSON; charset=utf-8": ndjson, ",,;": page,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Accept", accept)
		if got, err := formatOf(r, url.Values{}); got != want || err != nil {
			t.Errorf("%q: %q, %v", accept, got, err)
		}
	}
}

// TestAnEventIsToldWithItsTime, and with all that stands in it.
func TestAnEventIsToldWithItsTime(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.FixedZone("", 3600))
	kind, data, err := encodeEvent(evals.Event{Seq: 1, At: at, Body: []byte(`{"type":"ended","note":"<a>","n":12345678901234567890}`)})
	if want := `{"at":"2026-11-21T09:00:00Z","n":12345678901234567890,"note":"\u003ca\u003e","type":"ended"}`; kind != "ended" || err != nil || string(data) != want {
		t.Errorf("%s %s %v", kind, data, err)
	}
	for _, body := range []string{"", "null", "[]", `{"type":5}`, `{`} {
		if kind, _, err := encodeEvent(evals.Event{Body: []byte(body)}); err == nil {
			t.Errorf("%q is an event %q", body, kind)
		}
	}
}

// FuzzRequests holds what reads requests to its word: a value is taken or refused with
// a 4xx, whatever stands in it.
func FuzzRequests(f *testing.F) {
	for _, query := range []string{"", "agent=a&outcome=tool", "limit=5&cursor=x", "format=ndjson", "outcome=%00", "a=%zz", "limit=1&limit=2", "fields=full;", "prompt=%ff"} {
		f.Add(query, "application/json;q=1, */*", "7", `{"budgetUsd":1}`)
	}
	m := &format.Manifest{Agents: []format.Agent{{Name: "a"}}, Eval: format.Eval{Prompts: []format.Prompt{{ID: "p"}}}}
	f.Fuzz(func(t *testing.T, query, accept, last, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.URL.RawQuery, r.Header["Accept"], r.Header["Last-Event-Id"] = query, []string{accept}, []string{last}
		c := &call{r: r, w: httptest.NewRecorder()}
		values, err := c.query("agent", "outcome", "picked", "prompt", "limit", "cursor", "fields", "format")
		told(t, err)
		if err == nil {
			form, err := formatOf(r, values)
			told(t, err)
			if err == nil && form != page && form != ndjson && form != parquet {
				t.Errorf("the form %q", form)
			}
			got, err := filter(values, m)
			told(t, err)
			if err == nil && (got.Agent != "" && got.Agent != "a" || got.Prompt != "" && got.Prompt != "p" || !isText(got.Picked)) {
				t.Errorf("the filter %+v", got)
			}
			n, err := rows(values, 20, 200)
			told(t, err)
			if err == nil && (n < 1 || n > 200) {
				t.Errorf("%d rows", n)
			}
		}
		after, err := c.after()
		told(t, err)
		if err == nil && after < 0 {
			t.Errorf("after %d", after)
		}
		var into struct{ BudgetUSD *float64 }
		c.r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		told(t, reqbody.StrictObject(c.r, &into))
		data, err := join([]json.RawMessage{[]byte(`{"a":1}`), []byte(`null`)}, &body)
		if err != nil || !json.Valid(data) {
			t.Errorf("%s %v", data, err)
		}
	})
}

// told fails unless an error is the caller's fault, and said in words that fit.
func told(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e := apierr.Of(err)
	if e.Status < 400 || e.Status >= 500 || e.Description == "" {
		t.Errorf("%d %s %q: %v", e.Status, e.Code, e.Description, err)
	}
	for _, b := range []byte(e.Description) {
		if b < ' ' || b > '~' || b == '"' || b == '\\' {
			t.Errorf("%q is not fit for an error description", e.Description)
		}
	}
}
