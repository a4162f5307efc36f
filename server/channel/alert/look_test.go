package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/store/state"
)

// An alert goes by mail and to every webhook, signed, and is not told again.
func TestAnAlertReachesEveryChannel(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		first, second := b.receiver(nil), b.receiver(nil)
		_, one := b.hookTo(first)
		_, two := b.hookTo(second)
		b.settle()
		b.find("Kimi-User")
		b.send()
		b.look()
		b.send()
		for secret, rc := range map[string]*receiver{one: first, two: second} {
			got := rc.hooks()
			if len(got) != 1 {
				t.Fatalf("%d requests", len(got))
			}
			if err := verify(secret, got[0], b.clock.now()); err != nil {
				t.Error(err)
			}
			want := fmt.Sprintf(`{"type":"new_agent","timestamp":"%s","workspace":"calm-otter-1","data":{"agent":"Kimi-User","class":"user_fetch","firstSeen":"%[2]s","touches":3}}`,
				stamp(b.clock.now().Add(-lookEvery)), b.traffic.Agents[0].FirstAt.Format(time.RFC3339Nano))
			if string(got[0].body) != want || got[0].Get("Content-Type") != "application/json" {
				t.Errorf("%s\nnot\n%s", got[0].body, want)
			}
			if other := map[string]string{one: two, two: one}[secret]; verify(other, got[0], b.clock.now()) == nil {
				t.Error("another webhook's secret fits")
			}
			if verify(secret, hook{got[0].Header, append(slices.Clone(got[0].body), ' ')}, b.clock.now()) == nil {
				t.Error("the body may be changed")
			}
		}
		if first.hooks()[0].Get("webhook-id") == second.hooks()[0].Get("webhook-id") {
			t.Error("two webhooks got the same id")
		}
		mails := b.mails()
		if len(mails) != 1 {
			t.Fatalf("%d mails", len(mails))
		}
		const settings = "https://firstpick.example/workspaces/calm-otter-1/settings"
		if m := mails[0]; m.To != "dana@example.com" || m.Subject != "[calm-otter-1] New agent: Kimi-User (user fetch)." || !strings.Contains(m.Text, settings) || m.Unsubscribe != settings {
			t.Errorf("%+v", m)
		}
		alerts, err := b.Recent(t.Context(), "w", 10)
		if err != nil || len(alerts) != 1 || alerts[0].What != "new_agent" || string(alerts[0].Body) != string(first.hooks()[0].body) {
			t.Errorf("%+v, %v", alerts, err)
		}
		for _, d := range b.deliveries() {
			if d.State != state.Delivered || d.AlertID != alerts[0].ID || d.Tries != 1 {
				t.Errorf("%+v", d)
			}
		}
		if n := len(b.deliveries()); n != 3 {
			t.Errorf("%d deliveries", n)
		}
	})
}

// Several alerts of one look are one mail.
func TestOneMailOfManyAlerts(t *testing.T) {
	b := newBench(t, "sqlite")
	b.settle()
	b.traffic = &change.Traffic{
		Agents:  []change.Agent{agent("Kimi\r\nBcc: eve@example.com", b.clock.now(), 3, 0), agent("GPTBot", now.Add(-day), 60, 60), {Name: "ChatGPT-User", Class: "user_fetch", FirstAt: now.Add(-90 * day), Visits: 7, WeekAgo: 100, Before: 700}},
		Spoofed: []change.Hour{{Start: b.clock.now().Truncate(time.Hour), Visits: 60}},
		Missing: []change.Folder{{Host: "acme.dev", Path: "/docs/v2", Pages: 11, Misses: 40, Agents: []string{"ClaudeBot"}, Examples: []string{"/docs/v2/a", "/docs/v2/dana@example.com"}, FirstAt: now}},
	}
	b.look()
	mails := b.mails()
	if len(mails) != 1 || mails[0].Subject != "[calm-otter-1] 4 alerts" {
		t.Fatalf("%+v", mails)
	}
	for _, want := range []string{
		"New agent: Kimi  Bcc: eve@example.com (user fetch).\n", "60 visits in one hour from addresses", "Names used: GPTBot\n",
		"Missing pages: agents requested 11 pages below acme.dev/docs/v2 that do not exist, 40 times in 24 hours.\n", "Agents: ClaudeBot\n", "  /docs/v2/a\n", "  /docs/v2/*\n",
		"User fetches dropped: assistants read 10 pages in 24 hours, and 100 a week ago.\n",
	} {
		if !strings.Contains(mails[0].Text, want) {
			t.Errorf("%q is missing in\n%s", want, mails[0].Text)
		}
	}
	alerts, err := b.Recent(t.Context(), "w", 10)
	if err != nil || len(alerts) != 4 {
		t.Fatalf("%+v, %v", alerts, err)
	}
	for _, a := range alerts {
		if !json.Valid(a.Body) || strings.Contains(string(a.Body), "dana@") || strings.Contains(string(a.Body), "null") {
			t.Errorf("%s", a.Body)
		}
	}
}

// A site that falls silent is told of once, and once that it is back.
func TestSilence(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.settle()
		b.look() // from now on somebody watches
		b.receive()
		silentSince := b.clock.now()
		for b.clock.now().Before(silentSince.Add(70 * time.Hour)) { // a server looks all the time
			b.clock.add(20*time.Minute - lookEvery)
			b.look()
			if told := len(b.deliveries()) > 0; told != (b.clock.now().Sub(silentSince) >= day+30*time.Minute) {
				t.Fatalf("told after %v: %v", b.clock.now().Sub(silentSince), told)
			}
		}
		mails := b.mails()
		if len(mails) != 1 || !strings.Contains(mails[0].Subject, "No events for 24 hours") || !strings.Contains(mails[0].Text, silentSince.UTC().Format("2 January 2006 15:04 UTC")) {
			t.Fatalf("%+v", mails)
		}
		b.receive()
		b.look()
		b.look()
		if mails := b.mails(); len(mails) != 1 || !strings.Contains(mails[0].Subject, "Events arrive again.") {
			t.Errorf("%+v", mails)
		}
	})
}

func TestWhoGetsNoMail(t *testing.T) {
	for name, change := range map[string]func(b *bench) error{
		"who wants none": func(b *bench) error { return b.SetEmail(b.t.Context(), "w", "acc", false) },
		"who has no owner": func(b *bench) error {
			return b.DB.Write(b.t.Context(), func(tx *state.Tx) error { return tx.MergeAccount(b.t.Context(), "acc", "gone") })
		},
		"who is disabled": func(b *bench) error {
			return b.DB.Write(b.t.Context(), func(tx *state.Tx) error {
				return tx.SaveAccount(b.t.Context(), &state.Account{ID: "acc", VerifiedAt: now, DisabledAt: now})
			})
		},
		"who is not verified": func(b *bench) error {
			return b.DB.Write(b.t.Context(), func(tx *state.Tx) error { return tx.SaveAccount(b.t.Context(), &state.Account{ID: "acc"}) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "sqlite")
			rc := b.receiver(nil)
			b.hookTo(rc)
			if err := change(b); err != nil {
				t.Fatal(err)
			}
			b.settle()
			b.find("GPTBot")
			b.send()
			if mails := b.mails(); len(mails) != 0 {
				t.Errorf("%+v", mails)
			}
			if n := len(rc.hooks()); n != 1 || len(b.deliveries()) != 1 {
				t.Errorf("%d requests, deliveries %+v", n, b.deliveries())
			}
		})
	}
}

// Two servers that look and send at once tell each alert once.
func TestTwoServers(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		rc := b.receiver(nil)
		b.hookTo(rc)
		b.settle()
		servers := []*Service{b.Service, b.open()}
		b.reach(servers[1], rc)
		for round := range 5 {
			b.traffic = &change.Traffic{}
			for i := range 5 {
				b.traffic.Agents = append(b.traffic.Agents, agent(fmt.Sprintf("agent-%d-%d", round, i), b.clock.now(), 1, 0))
			}
			b.clock.add(6 * time.Hour)
			var all sync.WaitGroup
			for _, s := range servers {
				all.Go(func() {
					for range 3 {
						if err := s.Look(t.Context()); err != nil {
							t.Error(err)
						}
						if err := s.Send(t.Context()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
		}
		b.send()
		seen := map[string]bool{}
		for _, h := range rc.hooks() {
			if seen[h.Get("webhook-id")] || seen[string(h.body)] {
				t.Errorf("twice: %s", h.body)
			}
			seen[h.Get("webhook-id")], seen[string(h.body)] = true, true
		}
		alerts, err := b.Recent(t.Context(), "w", 100)
		if err != nil || len(alerts) != maxPerKind+5 || len(rc.hooks()) != len(alerts) { // ten in a day, and five on the next
			t.Errorf("%d alerts, %d requests, %v", len(alerts), len(rc.hooks()), err)
		}
	})
}

// A tick makes Run look and send; it ends with its context.
func TestRun(t *testing.T) {
	b := newBench(t, "sqlite")
	got := make(chan struct{})
	rc := b.receiver(func(http.ResponseWriter, *http.Request) { close(got) })
	b.hookTo(rc)
	b.settle()
	b.traffic = &change.Traffic{Agents: []change.Agent{agent("GPTBot", b.clock.now(), 3, 0)}}
	b.clock.add(lookEvery)
	ctx, stop := context.WithCancel(t.Context())
	tick, done := make(chan time.Time), make(chan struct{})
	go func() { defer close(done); b.Run(ctx, tick) }()
	tick <- b.clock.now()
	<-got
	stop()
	<-done
	if strings.Contains(b.log.String(), "WARN") {
		t.Error(b.log.String())
	}
}

// What comes due while the only delivery hangs is sent at the next tick.
func TestRunDoesNotWaitForASlowReceiver(t *testing.T) {
	b := newBench(t, "sqlite")
	began, got := make(chan struct{}), make(chan struct{})
	slow := b.receiver(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		select {
		case <-got:
		case <-r.Context().Done():
			t.Error("the other delivery waited for this one")
		}
	})
	quick := b.receiver(func(http.ResponseWriter, *http.Request) { close(got) })
	b.hookTo(slow)
	b.settle()
	b.find("GPTBot")
	id, _ := b.hookTo(quick)
	ctx, stop := context.WithCancel(t.Context())
	tick, done := make(chan time.Time), make(chan struct{})
	go func() { defer close(done); b.Run(ctx, tick) }()
	<-began
	at := b.clock.now()
	b.write(func(tx *state.Tx) error {
		return tx.AddDelivery(t.Context(), &state.Delivery{
			ID: "msg_2", WorkspaceID: "w", ChannelID: id, What: Test, Body: []byte("{}"), State: state.DeliveryPending, CreatedAt: at, NextAt: at,
		})
	})
	tick <- at
	<-got
	stop()
	<-done
}

// A server without reports looks at nothing, so that it takes no workspace from
// one that has them; one whose reports fail still finds silence.
func TestServersWithoutReports(t *testing.T) {
	b := newBench(t, "sqlite")
	b.settle()
	bare := b.open()
	bare.Traffic = nil
	b.clock.add(lookEvery)
	if err := bare.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.clock.add(-lookEvery)
	b.find("GPTBot")
	if mails := b.mails(); len(mails) != 1 {
		t.Errorf("%+v", mails)
	}
	b.Traffic = func(context.Context, string, time.Time) (*change.Traffic, error) {
		return nil, fmt.Errorf("no reports")
	}
	for range 60 {
		b.clock.add(25 * time.Minute)
		if err := b.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "no reports") {
			t.Fatal(err)
		}
	}
	if mails := b.mails(); len(mails) != 1 || !strings.Contains(mails[0].Subject, "No event") {
		t.Errorf("%+v", mails)
	}
}
