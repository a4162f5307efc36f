package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firstpick/firstpick/server/channel/event"
)

// FuzzRead feeds bodies in every form. Whatever comes: each event is taken or
// refused, what is taken is within its limits, and no record holds an address of
// a person or of a machine.
func FuzzRead(f *testing.F) {
	for _, body := range []string{
		string(touches(2)), string(converts(2)), `{"type":"touch","path":"/u/a%40b.co","via":"x@y.zz"}`, "[1]\n{", "{}\n{}",
		`{"proxy":{"method":"GET","path":"/a@b.co","timestamp":1795219198500,"userAgent":["a@b.co"],"clientIp":"203.0.113.7"}}`,
		`{"ClientRequestMethod":"GET","ClientRequestURI":"/","EdgeStartTimestamp":1795219198,"ClientIP":"2001:db8::1"}`,
		`a.b 203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET /a\x40b.co HTTP/1.1" 200 1 "a@b.co" "a@b.co" accept="x"`,
		`{"type":"identify","visitorToken":"v","email":"\u0061@b.co","sentAt":1,"key":"k"}`,
	} {
		for form := range byte(6) {
			f.Add([]byte(body), form)
		}
	}
	address := regexp.MustCompile(`[\w.+%-]+(@|%40|%2540)[\w-]+\.[A-Za-z]{2}`)
	f.Fuzz(func(t *testing.T, body []byte, form byte) {
		o := event.Options{Key: event.KindSecret, ReceivedAt: arrival(), IdempotencyKey: "k"}
		switch form % 6 {
		case 1:
			o.MediaType = "application/x-ndjson"
		case 2:
			o.Format = event.FormatVercel
		case 3:
			o.Format = event.FormatCloudflare
		case 4:
			o.Format = event.FormatCombined
		case 5:
			o.Encoding = "gzip"
			body = gz(t, body)
		}
		batch, err := event.Read(bytes.NewReader(body), o)
		if err != nil {
			if !errors.Is(err, event.ErrUnreadable) && !errors.Is(err, event.ErrTooLarge) || batch.Seen != 0 {
				t.Fatalf("%v, and a batch of %d", err, batch.Seen)
			}
			return
		}
		if batch.Seen != len(batch.Inputs)+len(batch.Refusals) || batch.Seen+batch.Skipped > event.MaxEvents {
			t.Fatalf("saw %d, took %d, refused %d, skipped %d", batch.Seen, len(batch.Inputs), len(batch.Refusals), batch.Skipped)
		}
		last := -1
		for _, in := range batch.Inputs {
			if in.Index <= last {
				t.Fatalf("index %d after %d", in.Index, last)
			}
			last = in.Index
			checkRecord(t, &in, address)
		}
		for _, r := range batch.Refusals {
			if r.Code == "" || r.Message == "" || len(r.Message) > 300 || strings.Contains(r.ID, "@") {
				t.Fatalf("%+v", r)
			}
		}
	})
}

func checkRecord(t *testing.T, in *event.Input, address *regexp.Regexp) {
	t.Helper()
	r := in.Record(func(string) string { return "hashed" })
	if r.ID == "" || r.At.Sub(arrival()) > event.FutureSlack || arrival().Sub(r.At) > event.MaxBackfillAge {
		t.Fatalf("id %q at %s", r.ID, r.At)
	}
	for _, text := range []string{r.ID, r.Identity, r.Host, r.Path, r.Method, r.ContentType, r.UserAgent, r.Referrer, r.Via, r.UTMSource, r.Source,
		r.Claimed, r.SelfReport, r.MCPMethod, r.MCPTool, r.MCPClient, r.MCPVersion, r.Kind, r.Currency, r.OrderID, r.RefundOf, in.ReferrerPath, in.Ref, in.VT} {
		if address.MatchString(text) || len(text) > event.MaxURL || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\n\x7f") {
			t.Fatalf("a record keeps %q", text)
		}
	}
	if strings.ContainsAny(r.Path, "?#") || r.Status != 0 && (r.Status < 100 || r.Status > 599) || r.DurationMS < 0 || r.Bytes < 0 {
		t.Fatalf("%+v", r)
	}
	if r.Network != "" {
		p, err := netip.ParsePrefix(r.Network)
		if err != nil || p != p.Masked() || p.Bits() != 24 && p.Bits() != 48 {
			t.Fatalf("network %q", r.Network)
		}
	}
	b, err := json.Marshal(r)
	if err != nil || len(b) > 2*event.MaxEvent {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
}

// FuzzJSON holds our reading of JSON to that of encoding/json: what is valid, and
// what a string says.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{}`, `[1,{"a":[]},"\u00e9\ud83d\ude00\ud800x"]`, `-0.5e+1`, `01`, `"\x"`, "\"\x01\"", "\"\xff\"", `{"a":1,}`, `[1 2]`, `nul`, `truex`, `{"a" 1}`, `[[[[[[[[[[[[]]]]]]]]]]]]`, `"\u12"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		_, err := event.Read(strings.NewReader(`{"events":[],"x":`+value+`}`), secret())
		valid := json.Valid([]byte(`{"events":[],"x":` + value + `}`))
		if valid == errors.Is(err, event.ErrUnreadable) && !errors.Is(err, event.ErrTooLarge) && !strings.Contains(value, "events") {
			t.Fatalf("%q: valid is %v, and %v", value, valid, err)
		}
		var want string
		if json.Unmarshal([]byte(value), &want) != nil {
			return
		}
		batch, err := event.Read(strings.NewReader(`{"type":"touch","path":"/","visitorToken":`+value+`}`), secret())
		if err != nil {
			t.Fatal(err)
		}
		if len(batch.Inputs) == 1 && batch.Inputs[0].VisitorToken != want {
			t.Fatalf("%q is read as %q, not %q", value, batch.Inputs[0].VisitorToken, want)
		}
	})
}
