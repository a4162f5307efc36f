package cli

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/event"
)

// TestSampleEvents: the collector accepts every made-up event, each kind is there, and they
// are of the days before now.
func TestSampleEvents(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	var inputs []event.Input
	for events := range slices.Chunk(sampleEvents(now, rand.New(rand.NewPCG(1, 2))), 500) {
		body, err := json.Marshal(map[string]any{"events": events})
		if err != nil {
			t.Fatal(err)
		}
		batch, err := event.Read(bytes.NewReader(body), event.Options{Key: event.KindSecret, ReceivedAt: now, Backfill: true, Currency: "USD"})
		if err != nil || len(batch.Refusals) > 0 || len(batch.Warnings) > 0 {
			t.Fatalf("%v, refused: %v, warnings: %v", err, batch.Refusals, batch.Warnings)
		}
		inputs = append(inputs, batch.Inputs...)
	}
	seen := map[string]int{}
	identify := identifySample(func(_ *event.Input, r *event.Record) { r.Verdict = string(agentid.StaleData) })
	for _, in := range inputs {
		if in.At.After(now) || now.Sub(in.At) > sampleDays*24*time.Hour {
			t.Errorf("event at %s", in.At)
		}
		var r event.Record
		if identify(&in, &r); r.Verdict == string(agentid.IPMismatch) {
			seen["spoofed"]++
		}
		switch {
		case in.Status == 404:
			seen["gap"]++
		case in.UTMSource != "":
			seen["referral"]++
		case in.Type == event.Touch:
			seen["visit"]++
		default:
			seen[in.Kind]++
		}
	}
	if n := seen["spoofed"]; n > len(inputs)/10 {
		t.Errorf("%d of %d events are spoofed", n, len(inputs))
	}
	for _, kind := range []string{"gap", "referral", "visit", "signup", "paid", "spoofed"} {
		if seen[kind] < 10 {
			t.Errorf("%s: %d events", kind, seen[kind])
		}
	}
}
