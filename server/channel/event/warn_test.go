package event_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
)

func TestTimes(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, c := range map[string]struct {
		envelope, ts string
		want         string // RFC 3339, or a code
		warning      string
	}{
		"none is the arrival":              {``, ``, "2026-11-21T00:00:00Z", ""},
		"null is the arrival":              {``, `null`, "2026-11-21T00:00:00Z", ""},
		"another zone":                     {``, `"2026-11-21T01:30:00.5+02:00"`, "2026-11-20T23:30:00.5Z", ""},
		"milliseconds":                     {``, `1795219198900`, "2026-11-20T23:59:58.9Z", ""},
		"milliseconds in a text":           {``, `"1795219198900"`, "2026-11-20T23:59:58.9Z", ""},
		"a skew of a minute stays":         {`"sentAt":"2026-11-20T23:59:00Z",`, `"2026-11-20T23:58:00Z"`, "2026-11-20T23:58:00Z", ""},
		"a greater one is corrected":       {`"sentAt":"2026-11-20T23:58:59Z",`, `"2026-11-20T23:58:00Z"`, "2026-11-20T23:59:01Z", ""},
		"so is a clock that is ahead":      {`"sentAt":"2026-11-21T02:00:00Z",`, `"2026-11-21T01:59:58Z"`, "2026-11-20T23:59:58Z", ""},
		"the arrival needs no correction":  {`"sentAt":"2026-11-20T20:00:00Z",`, ``, "2026-11-21T00:00:00Z", ""},
		"a clock that is off by years":     {`"sentAt":"1970-01-01T00:00:10Z",`, `"1970-01-01T00:00:08Z"`, "2026-11-20T23:59:58Z", ""},
		"a broken sentAt corrects nothing": {`"sentAt":"now",`, `"2026-11-20T23:58:00Z"`, "2026-11-20T23:58:00Z", event.WarnSentAt},
		"five minutes ahead":               {``, `"2026-11-21T00:05:00Z"`, "2026-11-21T00:05:00Z", ""},
		"further ahead":                    {``, `"2026-11-21T00:05:00.001Z"`, "2026-11-21T00:00:00Z", event.WarnClockAhead},
		"a year ahead":                     {``, `"9999-12-31T23:59:59Z"`, "2026-11-21T00:00:00Z", event.WarnClockAhead},
		"thirty days":                      {``, `"2026-10-22T00:00:00Z"`, "2026-10-22T00:00:00Z", ""},
		"more than thirty days":            {``, `"2026-10-21T23:59:59Z"`, "ts_too_old", ""},
		"backfilled":                       {`"backfill":true,`, `"2025-10-17T00:00:00Z"`, "2025-10-17T00:00:00Z", ""},
		"more than 400 days":               {`"backfill":true,`, `"2025-10-16T23:59:59Z"`, "ts_too_old", ""},
	} {
		ts := ""
		if c.ts != "" {
			ts = `,"ts":` + c.ts
		}
		// What the envelope says holds wherever it stands.
		first := `{` + c.envelope + `"events":[{"type":"touch","path":"/"` + ts + `}]}`
		last := strings.Replace(`{"events":[{"type":"touch","path":"/"`+ts+`}],`+strings.TrimSuffix(c.envelope, ",")+`}`, ",}", "}", 1)
		for _, body := range []string{first, last, `{` + c.envelope + `"type":"touch","path":"/"` + ts + `}`} {
			batch := read(t, body, secret())
			got := "nothing"
			if len(batch.Refusals) == 1 {
				got = string(batch.Refusals[0].Code)
			} else if len(batch.Inputs) == 1 && batch.Inputs[0].At.Equal(at(c.want)) && batch.Inputs[0].At.Location() == time.UTC {
				got = c.want
			} else if len(batch.Inputs) == 1 {
				got = batch.Inputs[0].At.String()
			}
			if got != c.want || strings.Join(warned(batch), " ") != c.warning {
				t.Errorf("%s: %s, warnings %v: %s", name, got, warned(batch), body)
			}
			if len(batch.Inputs) == 1 && batch.Inputs[0].Backfill != strings.Contains(c.envelope, "backfill") {
				t.Errorf("%s: backfill is not marked", name)
			}
		}
	}
	o := event.Options{Key: event.KindPublishable, ReceivedAt: arrival()}
	batch := read(t, `{"backfill":true,"type":"touch","path":"/","ts":"2026-01-01T00:00:00Z"}`, o)
	if len(batch.Refusals) != 1 || !slices.Equal(warned(batch), []string{event.WarnBackfill}) {
		t.Errorf("a publishable key backfills: %+v", batch)
	}
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct{ body, code, fields string }{
		"none":                    {`{"type":"touch","path":"/","ts":null}`, "", ""},
		"unknown fields":          {`[{"type":"touch","path":"/","pth":1,"signals":{"foo":[],"mcp":{"bar":{}}}},{"type":"touch","path":"/","pth":2}]`, event.WarnUnknownFields, "pth signals.foo mcp.bar"},
		"an unknown field above":  {`{"site":"x","events":[]}`, event.WarnUnknownFields, "site"},
		"an address as a name":    {`{"type":"touch","path":"/","a@example.com":1}`, event.WarnUnknownFields, "(other)"},
		"a token as a name":       {`{"type":"touch","path":"/","sk_live_0123456789012345678901234567890":1}`, event.WarnUnknownFields, "(other)"},
		"money of a touch":        {`{"type":"touch","path":"/","kind":"paid","value":1}`, event.WarnIgnoredFields, "kind value"},
		"a negative size":         {`{"type":"touch","path":"/","bytes":-1,"durationMs":"NaN"}`, event.WarnIgnoredFields, "durationMs bytes"},
		"refundOf of a sale":      {`{"type":"convert","userRef":"u","kind":"paid","refundOf":"o"}`, event.WarnIgnoredFields, "refundOf"},
		"a switch that is a text": {`{"dryRun":"yes","events":[]}`, event.WarnIgnoredFields, "dryRun"},
		"no IP address":           {`{"type":"touch","path":"/","ip":"localhost"}`, event.WarnInvalidIP, "ip"},
		"a refund above zero":     {`{"type":"convert","userRef":"u","kind":"refund","value":1,"currency":"EUR"}`, event.WarnRefundSign, "value"},
		"two identities":          {`{"type":"convert","userRef":"u","email":"a@example.com","kind":"x"}`, event.WarnTwoIdentities, "userRef"},
	} {
		batch := read(t, c.body, secret())
		if len(batch.Refusals) > 0 {
			t.Errorf("%s: %+v", name, batch.Refusals)
		}
		if c.code == "" && len(batch.Warnings) == 0 {
			continue
		}
		if len(batch.Warnings) != 1 || batch.Warnings[0].Code != c.code || strings.Join(batch.Warnings[0].Fields, " ") != c.fields {
			t.Errorf("%s: %+v", name, batch.Warnings)
		}
	}
	var many strings.Builder
	for i := range 500 {
		many.WriteString(`,"f` + strings.Repeat("x", i%30) + `":1`)
	}
	batch := read(t, `{"type":"touch","path":"/"`+many.String()+`}`, secret())
	if w := batch.Warnings[0]; len(w.Fields) > 20 || w.Count != 500 {
		t.Errorf("%d names of %d", len(w.Fields), w.Count)
	}
}
