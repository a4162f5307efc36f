package trialset

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

func TestFullPagesAreTheListInWhole(t *testing.T) {
	idx, traces := made(t, 200, 256, 1, 7)
	b, err := inMemory(t, idx, traces)
	if err != nil {
		t.Fatal(err)
	}
	length := len(`{"id":"00000000000000000000"}`) // of each trial
	for _, f := range []Filter{{}, {Agent: "b"}, {Outcome: "diy", Prompt: "p3"}, {Picked: "nothing of the kind"}} {
		var want bytes.Buffer
		if err := b.WriteNDJSON(t.Context(), &want, f); err != nil {
			t.Fatal(err)
		}
		for name, tt := range map[string]struct{ limit, maxBytes, most int }{
			"by number":     {50, 1 << 20, 50},
			"all at once":   {MaxPage, 1 << 20, MaxPage},
			"by bytes":      {50, 10*length + length - 1, 10},
			"less than one": {50, 1, 1},
			"no limit said": {0, 0, 1},
		} {
			var got bytes.Buffer
			for cursor := ""; ; {
				p, err := b.FullPage(t.Context(), f, cursor, tt.limit, tt.maxBytes)
				if err != nil {
					t.Fatal(err)
				}
				if len(p.Traces) > tt.most || len(p.Traces) < tt.most && p.Next != "" {
					t.Fatalf("%s: a page of %d, want %d; next %q", name, len(p.Traces), tt.most, p.Next)
				}
				for _, line := range p.Traces {
					got.Write(append(line, '\n'))
				}
				if cursor = p.Next; cursor == "" {
					break
				}
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%+v %s: %d bytes, want %d", f, name, got.Len(), want.Len())
			}
		}
	}
}

func TestFullPagesShareTheCursorsOfTheList(t *testing.T) {
	idx, traces := made(t, 20)
	b, err := inMemory(t, idx, traces)
	if err != nil {
		t.Fatal(err)
	}
	short, err1 := b.Traces(t.Context(), Filter{Agent: "a"}, "", 4)
	full, err2 := b.FullPage(t.Context(), Filter{Agent: "a"}, "", 4, 1<<20)
	if short.Next == "" || short.Next != full.Next || errors.Join(err1, err2) != nil {
		t.Errorf("cursors %q and %q: %v, %v", short.Next, full.Next, err1, err2)
	}
	if _, err := b.FullPage(t.Context(), Filter{Agent: "b"}, full.Next, 4, 1<<20); !errors.Is(err, ErrCursor) {
		t.Errorf("another filter: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.FullPage(ctx, Filter{}, "", 4, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: error %v", err)
	}
}

// TestAPageOfADamagedFrameIsNone: an answer that began could not be taken back.
func TestAPageOfADamagedFrameIsNone(t *testing.T) {
	idx, traces := made(t, 5, 5)
	traces[len(traces)-1] ^= 1
	b, err := inMemory(t, idx, traces)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := b.FullPage(t.Context(), Filter{}, "", 5, 1<<20); err != nil || len(p.Traces) != 5 {
		t.Errorf("the whole frame: %d traces, %v", len(p.Traces), err)
	}
	p, err := b.FullPage(t.Context(), Filter{}, "", 6, 1<<20)
	damaged(t, err)
	if p.Traces != nil {
		t.Errorf("%d traces beside the error", len(p.Traces))
	}
}

func TestCountsAreOfEveryTrial(t *testing.T) {
	idx, traces := made(t, 256, 256, 88) // 600 trials; see made for what each is
	b, err := inMemory(t, idx, traces)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[Count]int{}
	for n := range 600 {
		want[Count{Prompt: b.names.Prompts[n%5], Agent: b.names.Agents[n%2], Template: "none", Outcome: b.names.Outcomes[n%3], Picked: b.names.Picked[n%4]}]++
	}
	if len(got) != len(want) {
		t.Errorf("%d counts, want %d", len(got), len(want))
	}
	for _, c := range got {
		k := c
		k.Trials, k.Mismatched = 0, 0
		if mismatched := map[string]int{"b": c.Trials}[c.Agent]; c.Trials != want[k] || c.Mismatched != mismatched {
			t.Errorf("%+v, want %d trials, %d mismatched", c, want[k], mismatched)
		}
	}
}
