package queue

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func testCodec(t testing.TB) *codec {
	t.Helper()
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.open.Close)
	return c
}

func TestOutcomesTravelWhole(t *testing.T) {
	cost := 0.125
	window := limiter.Window{Requests: limiter.Quota{Limit: 50, Remaining: 3, Reset: 90 * time.Second, Known: true}}
	reply := agent.Reply{
		Answer: journal.Answer{Transcript: transcript.Transcript{FinalText: "Use <b> & \u2028 \x00"}, Model: "m", InTokens: 3, CostUSD: &cost, WallMS: 8},
		At:     time.Date(2026, 3, 1, 9, 0, 0, 123456789, time.UTC), Result: &pick.Result{Kind: pick.None}, Raw: []byte("\xff\x00raw"), Window: window,
	}
	fail := &agent.InfraError{
		Reason: "server", Retry: true, After: time.Second, Billed: true, Lane: true, Unreached: true, CostUSD: &cost, Raw: []byte("body"), Window: window, Err: errors.New("503"),
	}
	c := testCodec(t)
	for _, want := range []outcome{{reply: reply}, {err: fail}, {err: &agent.InfraError{Reason: "r"}}} {
		payload, raw, err := c.encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.decode(payload, raw)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	c := testCodec(f)
	for _, o := range []outcome{{reply: agent.Reply{Raw: []byte("raw")}}, {err: &agent.InfraError{Reason: "r", Raw: []byte("raw")}}} {
		payload, raw, err := c.encode(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload, raw)
	}
	f.Add(c.pack.EncodeAll([]byte(`{"reply":{},"failure":{}}`), nil), []byte{})
	f.Add([]byte{}, bytes.Repeat([]byte{0x28, 0xb5, 0x2f, 0xfd}, 9))
	f.Fuzz(func(t *testing.T, payload, raw []byte) {
		o, err := c.decode(payload, raw)
		if err != nil {
			return
		}
		// What can be read can be sent on, and reads the same.
		payload, raw, err = c.encode(o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.decode(payload, raw)
		if err != nil || (again.err == nil) != (o.err == nil) || !bytes.Equal(again.reply.Raw, o.reply.Raw) {
			t.Errorf("read %+v, then %+v, %v", o, again, err)
		}
	})
}
