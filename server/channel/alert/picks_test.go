package alert

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/store/state"
)

// A drop that begins on night 20 is sent once to each channel, whichever of two servers
// looks, and not again while it lasts.
func TestADropReachesEveryChannelOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		standard, slack := b.receiver(nil), b.receiver(nil)
		_, secret := b.hookTo(standard)
		if _, _, err := b.AddWebhook(t.Context(), "w", "acc", slack.URL+"/services/T0/B0", FormatSlack); err != nil {
			t.Fatal(err)
		}
		if err := b.FollowTool(t.Context(), "w", "acc", "acme", false); err != nil {
			t.Fatal(err)
		}
		sim := newNightly(7)
		var m *picks.Measured
		measured := func(_ context.Context, workspace, tool string) (*picks.Measured, error) {
			if workspace != "w" || tool != "acme" {
				return nil, errors.New("another tool")
			}
			return m, nil
		}
		other := b.open()
		b.reach(other, slack)
		b.Picks, other.Picks = measured, measured
		sent := map[string]int{}
		for night := range 45 {
			rates := []float64{0.60, 0.20, 0.10}
			if night >= 20 {
				rates = []float64{0.40, 0.20, 0.10}
			}
			m = sim.measure(rates...)
			for range 3 {
				b.clock.add(8 * time.Hour)
				var all sync.WaitGroup
				for _, s := range []*Service{b.Service, other} {
					all.Go(func() {
						if err := errors.Join(s.LookAtPicks(t.Context()), s.Send(t.Context())); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
			}
			for _, m := range b.mails() {
				if night < 20 {
					t.Errorf("night %d: %s", night, m.Subject)
				}
				sent[m.Subject[:len("[calm-otter-1] Pick rate")]]++
			}
		}
		if sent["[calm-otter-1] Pick rate"] != 1 || len(sent) != 1 {
			t.Errorf("mails: %v", sent)
		}
		if len(standard.hooks()) != 1 || len(slack.hooks()) != 1 {
			t.Fatalf("%d requests and %d to Slack", len(standard.hooks()), len(slack.hooks()))
		}
		if err := verify(secret, standard.hooks()[0], b.clock.now()); err != nil && !strings.Contains(err.Error(), "old") {
			t.Error(err)
		}
		var event struct {
			Type string
			Data struct {
				Tool, Category, Source, Agent string
				PickRate, Before, E           float64
			}
		}
		if err := json.Unmarshal(standard.hooks()[0].body, &event); err != nil || event.Type != "pick_rate_drop" || event.Data.Tool != "acme" || event.Data.Category != "mail" ||
			event.Data.Source != "public" || event.Data.Before < 0.55 || event.Data.PickRate > 0.5 || event.Data.E < 20 {
			t.Errorf("%s, %v", standard.hooks()[0].body, err)
		}
		var message map[string]string
		if err := json.Unmarshal(slack.hooks()[0].body, &message); err != nil || len(message) != 1 ||
			!strings.HasPrefix(message["text"], "[calm-otter-1] Pick rate of Acme dropped: ") || !strings.HasSuffix(message["text"], "\nhttps://firstpick.example/workspaces/calm-otter-1") {
			t.Errorf("%s, %v", slack.hooks()[0].body, err)
		}
	})
}

// Text from outside makes no link and mentions nobody in Slack.
func TestSlackText(t *testing.T) {
	body, err := slackBody("<!channel> & <https://evil.example|click>")
	var got map[string]string
	if err != nil || json.Unmarshal(body, &got) != nil || got["text"] != "&lt;!channel&gt; &amp; &lt;https://evil.example|click&gt;" {
		t.Errorf("%s, %v", body, err)
	}
}

func TestASlackWebhookIsTested(t *testing.T) {
	b := newBench(t, "sqlite")
	rc := b.receiver(nil)
	c, _, err := b.AddWebhook(t.Context(), "w", "acc", rc.URL, FormatSlack)
	if err != nil || c.Format != FormatSlack {
		t.Fatalf("%+v, %v", c, err)
	}
	if d, err := b.Test(t.Context(), "w", c.ID); err != nil || d.Failure != "" {
		t.Fatalf("%+v, %v", d, err)
	}
	const want = `{"text":"[calm-otter-1] This is a test of your alerts.\nhttps://firstpick.example/workspaces/calm-otter-1"}`
	if got := rc.hooks(); len(got) != 1 || string(got[0].body) != want {
		t.Errorf("%s", got[0].body)
	}
	if _, _, err := b.AddWebhook(t.Context(), "w", "acc", rc.URL+"/2", "teams"); code(err) != "invalid_request/invalid_format" {
		t.Error(err)
	}
}

// Two servers send one digest a week, with a picture, on Monday morning.
func TestDigest(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		sim := newNightly(9)
		sim.measure(0.6, 0.2, 0.1)
		m := sim.measure(0.5, 0.3, 0.1)
		other := b.open()
		for _, s := range []*Service{b.Service, other} {
			s.Picks = func(context.Context, string, string) (*picks.Measured, error) { return m, nil }
			s.Visits = func(_ context.Context, workspace string, from, to time.Time) (int64, error) {
				if workspace != "w" || to.Sub(from) != 7*day {
					return 0, errors.New("another week")
				}
				return 1234, nil
			}
			s.Picture = func(small, title, foot string, bars []Bar) ([]byte, error) {
				if small != "Mail" || len(bars) != 3 || !bars[0].Own || bars[0].Name != "Acme" {
					t.Errorf("%s, %s, %s, %+v", small, title, foot, bars)
				}
				return []byte("PNG"), nil
			}
		}
		if err := b.FollowTool(t.Context(), "w", "acc", "acme", true); err != nil {
			t.Fatal(err)
		}
		var got []mail.Message
		var at []time.Time
		for range 14 * 24 {
			b.clock.add(time.Hour)
			var all sync.WaitGroup
			for _, s := range []*Service{b.Service, other} {
				all.Go(func() {
					if err := s.LookAtPicks(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for _, m := range b.mails() {
				got, at = append(got, m), append(at, b.clock.now())
			}
		}
		if len(got) != 2 || at[0].Weekday() != time.Monday || at[0].Hour() != 8 || at[1].Sub(at[0]) != 7*day {
			t.Fatalf("%d mails at %v", len(got), at)
		}
		first := got[0]
		if !strings.HasPrefix(first.Subject, "[calm-otter-1] This week: Acme picked in ") || first.Picture == nil || string(first.Picture.PNG) != "PNG" ||
			!strings.HasPrefix(first.Picture.Alt, "Pick rates in Mail: Acme ") || first.Unsubscribe == "" {
			t.Errorf("%+v", first)
		}
		for _, want := range []string{"rank 1 of 3.", "down ", "No rival overtook Acme this week.", "1 of 1.\n  e/0: Rival 9, Acme 1 of 12", "seven days: 1,234.", "public board of Mail"} {
			if !strings.Contains(first.Text, want) {
				t.Errorf("%q is missing in\n%s", want, first.Text)
			}
		}
		if err := b.FollowTool(t.Context(), "w", "acc", "acme", false); err != nil {
			t.Fatal(err)
		}
		for range 8 {
			b.clock.add(day)
			if err := b.LookAtPicks(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if mails := b.mails(); len(mails) > 0 {
			t.Errorf("%d mails after it was turned off", len(mails))
		}
	})
}

// A workspace without a tool hears of failed runs; one that fails every night is one alert.
func TestFailedRunsAreSentOnce(t *testing.T) {
	b := newBench(t, "sqlite")
	b.Picks = func(context.Context, string, string) (*picks.Measured, error) {
		return nil, errors.New("no tool is chosen")
	}
	b.write(func(tx *state.Tx) error {
		_, _, err := tx.PutEval(t.Context(), &state.Eval{ID: "evl_1", WorkspaceID: "w", Name: "nightly", Latest: state.EvalVersion{Source: []byte("s"), Digest: "s", Summary: []byte("{}"), CreatedAt: now}}, state.EvalCap{Evals: 9, Versions: 9})
		return err
	})
	for _, status := range []string{state.RunFailed, state.RunFailed, state.RunDone, state.RunDone, state.RunFailed} {
		b.clock.add(day)
		b.write(func(tx *state.Tx) error {
			at := b.clock.now()
			if _, _, err := tx.AddRun(t.Context(), &state.EvalRun{ID: "run_" + at.Format("0102"), WorkspaceID: "w", EvalID: "evl_1", Version: 1, EvalName: "nightly", CreatedAt: at}, 10); err != nil {
				return err
			}
			r, err := tx.ClaimRun(t.Context(), "worker", at, time.Minute)
			if err != nil {
				return err
			}
			return tx.FinishRun(t.Context(), r.Lease(), at, state.RunOutcome{Status: status, Failure: "the provider refused the key"})
		})
		for range 3 {
			b.clock.add(lookEvery)
			if err := b.LookAtPicks(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	mails := b.mails()
	if len(mails) != 2 || mails[0].Subject != "[calm-otter-1] A run of eval nightly failed." || !strings.Contains(mails[0].Text, "Reason: the provider refused the key\n") ||
		!strings.Contains(mails[0].Text, "/workspaces/calm-otter-1/runs/run_") {
		t.Errorf("%+v", mails)
	}
}
