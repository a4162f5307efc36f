package state_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

// add stores events named id, id@order, or workspace/id, and returns which are new.
func add(t *testing.T, db *state.DB, names ...string) []bool {
	t.Helper()
	var events []state.CollectedEvent
	for _, name := range names {
		e := state.CollectedEvent{WorkspaceID: "w", ReceivedAt: now, Body: []byte(name)}
		if workspace, rest, other := cut(name, "/"); other {
			e.WorkspaceID, name = workspace, rest
		}
		e.ID, e.OrderKey, _ = cut(name, "@")
		events = append(events, e)
	}
	var fresh []bool
	write(t, db, func(tx *state.Tx) (err error) {
		fresh, err = tx.AddEvents(t.Context(), events)
		return err
	})
	return fresh
}

func cut(s, sep string) (string, string, bool) {
	for i := range len(s) {
		if s[i:i+1] == sep {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func stored(t *testing.T, db *state.DB) []string {
	t.Helper()
	list, err := db.Read().EventsAfter(t.Context(), 0, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, e := range list {
		if i > 0 && e.Seq <= list[i-1].Seq {
			t.Errorf("sequence %d after %d", e.Seq, list[i-1].Seq)
		}
		out = append(out, string(e.Body))
	}
	return out
}

// An event counts once by its id, a conversion once by its order too; what came
// first stays.
func TestEventsAreStoredOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		for _, step := range []struct {
			events []string
			fresh  []bool
		}{
			{[]string{"a", "b", "a"}, []bool{true, true, false}},
			{[]string{"b", "c", "other/b"}, []bool{false, true, true}},
			{[]string{"d@o1", "e@o1", "f@o2"}, []bool{true, false, true}},
			{[]string{"g@o2", "other/g@o2", "f@o3"}, []bool{false, true, false}},
			{[]string{"h@o3"}, []bool{true}}, // the order of an event that was refused is free
			{nil, nil},
		} {
			if got := add(t, db, step.events...); !slices.Equal(got, step.fresh) {
				t.Errorf("%q: %v, want %v", step.events, got, step.fresh)
			}
		}
		if got, want := stored(t, db), []string{"a", "b", "c", "other/b", "d@o1", "f@o2", "other/g@o2", "h@o3"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		got, err := db.Read().Collected(t.Context(), "w", now.Add(time.Hour))
		if err != nil || got.Today != 6 || got.Total != 6 || !got.LastAt.Equal(now) {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := db.Read().Collected(t.Context(), "w", now.Add(48*time.Hour)); err != nil || got.Today != 0 || got.Total != 6 {
			t.Errorf("two days later: %+v, %v", got, err)
		}
		if got, err := db.Read().Collected(t.Context(), "nobody", now); err != nil || got.Total != 0 || !got.LastAt.IsZero() {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// Whoever reads on from the last event that was seen misses none, however many
// write: numbers become visible in their order.
func TestAReaderMissesNoEvent(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		const writers, each = 8, 40
		var writing sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for i := range each {
					add(t, db, fmt.Sprintf("%d-%d", w, i), fmt.Sprintf("%d-%d-b", w, i), "same-"+strconv.Itoa(i))
				}
			})
		}
		done := make(chan struct{})
		go func() { writing.Wait(); close(done) }()
		seen, last := map[string]bool{}, int64(0)
		for over := false; ; {
			list, err := db.Read().EventsAfter(t.Context(), last, 50)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				if seen[e.ID] {
					t.Errorf("%s twice", e.ID)
				}
				seen[e.ID], last = true, e.Seq
			}
			if len(list) == 0 && over {
				break
			}
			select {
			case <-done:
				over = true
			default:
			}
		}
		if want := writers*each*2 + each; len(seen) != want {
			t.Errorf("%d events, want %d", len(seen), want)
		}
	})
}

// TestErasingKeepsNobodyWaiting sends an event again while it is erased: both take
// their locks in one order, so neither ends the other.
func TestErasingKeepsNobodyWaiting(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		ctx, at := t.Context(), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		events := make([]state.CollectedEvent, 2000)
		for i := range events {
			events[i] = state.CollectedEvent{WorkspaceID: "ws", ID: fmt.Sprint(i), ReceivedAt: at, Body: []byte("{}")}
		}
		runs, calls := 0, 0
		add := func(list ...state.CollectedEvent) {
			calls++
			if err := db.Write(ctx, func(tx *state.Tx) error {
				runs++
				_, err := tx.AddEvents(ctx, list)
				return err
			}); err != nil {
				t.Error(err)
			}
		}
		add(events...)
		stored, err := db.Read().EventsAfter(ctx, 0, len(events))
		if err != nil {
			t.Fatal(err)
		}
		seqs := make([]int64, len(stored))
		for i := range stored {
			seqs[i] = stored[i].Seq
		}
		erased := make(chan error)
		go func() {
			erased <- db.Write(ctx, func(tx *state.Tx) error { return tx.EraseEvents(ctx, "ws", "erasure:1", seqs, at) })
		}()
		for done := false; !done; {
			select {
			case err := <-erased:
				if done = true; err != nil {
					t.Error(err)
				}
			default:
				add(events[10])
			}
		}
		if runs != calls {
			t.Errorf("%d transactions ran %d times", calls, runs)
		}
	})
}
