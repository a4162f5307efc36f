package runner_test

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// says is an agent whose answers cost a dollar and have so many bytes.
func says(asked *atomic.Int32, size int) agent.Agent {
	text := "I recommend Flask.\n" + strings.Repeat("-", size)
	return script(func(context.Context, agent.Task) (agent.Reply, error) {
		asked.Add(1)
		usd := 1.0
		return agent.Reply{Raw: []byte("as it came"), Answer: journal.Answer{Transcript: transcript.Transcript{FinalText: text}, CostUSD: &usd}}, nil
	})
}

// reading gives a bench an extractor and so many slots.
func (b *bench) reading(t *testing.T, slots int) {
	t.Helper()
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	category, _ := c.Category("webserver")
	b.Extractor, b.Extraction = pick.New(category, c.Version), runner.NewExtraction(slots, 64<<10)
}

// occupied takes a slot, as another run of the process would.
func (b *bench) occupied(t *testing.T) (give func()) {
	t.Helper()
	give, err := b.Extraction.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return give
}

// TestAnAnswerThatIsNotReadYetIsNotAskedAgain: what came is on disk before it is read,
// so a run that is killed, or interrupted, goes on without asking.
func TestAnAnswerThatIsNotReadYetIsNotAskedAgain(t *testing.T) {
	for name, size := range map[string]int{"a long answer": 17 << 10, "a short one that waits for its turn": 100} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				b := newBench(t, 4, map[string]agent.Agent{"a": says(&asked, size)})
				b.realTime()
				b.reading(t, 1)
				give := b.occupied(t)
				ctx, interrupt := context.WithCancel(t.Context())
				ended := make(chan runner.Summary)
				go func() {
					s, err := b.Run(ctx, b.trials, runner.Progress{})
					if err != nil {
						t.Error(err)
					}
					ended <- s
				}()
				time.Sleep(time.Second)
				killed := t.TempDir() // what is on disk when the process is killed now
				if err := os.CopyFS(killed, os.DirFS(b.root)); err != nil {
					t.Fatal(err)
				}
				interrupt()
				if s := <-ended; s.Stopped != runner.StoppedInterrupted || s.Missing != 4 || s.SpentUSD != 4 {
					t.Errorf("interrupted: %+v", s)
				}
				give()
				_ = b.close()
				for what, root := range map[string]string{"interrupted": b.root, "killed": killed} {
					b.root, b.log = root, &log{}
					b.Sinks = []runner.Sink{b.log}
					j, err := journal.Open(root, "r1")
					if err != nil {
						t.Fatal(err)
					}
					b.Journal = j
					if s, err := b.run(t, t.Context()); err != nil || s.Valid != 4 || asked.Load() != 4 || s.SpentUSD != 4 || s.AtMostUSD != 4 {
						t.Errorf("%s: %+v, %v; asked %d times", what, s, err, asked.Load())
					}
					if k := b.kinds(t); k["answer"] != 4 || k[journal.KindResult] != 4 {
						t.Errorf("%s: %v", what, k)
					}
					done, err := runner.Replay(root, "r1")
					if err != nil || done.SpentUSD != 4 || done.LostUSD != 0 || len(done.Answered) != 0 {
						t.Errorf("%s: %+v, %v", what, done, err)
					}
					_ = j.Close()
				}
			})
		})
	}
}

// TestNothingIsAskedWhileMuchWaits: answers that wait to be read are held in memory.
func TestNothingIsAskedWhileMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		b := newBench(t, 6, map[string]agent.Agent{"a": says(&asked, 20<<10)})
		b.realTime()
		b.reading(t, 1)
		b.Concurrency = 1
		give := b.occupied(t)
		ended := make(chan runner.Summary)
		go func() {
			s, _ := b.Run(t.Context(), b.trials, runner.Progress{})
			ended <- s
		}()
		time.Sleep(time.Minute)
		if n := asked.Load(); n != 4 { // 80 KiB wait, and 64 may
			t.Errorf("asked %d times while nothing is read", n)
		}
		give()
		if s := <-ended; s.Valid != 6 || asked.Load() != 6 {
			t.Errorf("%+v, asked %d times", s, asked.Load())
		}
		_ = b.close()
	})
}

// TestAShortAnswerIsStoredOnce: the journal holds an answer twice only where it had to
// be stored before it was read.
func TestAShortAnswerIsStoredOnce(t *testing.T) {
	var asked atomic.Int32
	b := newBench(t, 3, map[string]agent.Agent{"a": says(&asked, 1000)})
	b.Concurrency = 1
	b.reading(t, 4)
	if s, err := b.run(t, t.Context()); err != nil || s.Valid != 3 || b.kinds(t)["answer"] != 0 {
		t.Fatalf("%+v, %v, %v", s, err, b.kinds(t))
	}
}

// TestAnAnswerToATrialThatWasExcludedIsRead: the answer came on a retry, and the run was
// killed before it was read.
func TestAnAnswerToATrialThatWasExcludedIsRead(t *testing.T) {
	var asked atomic.Int32
	b := newBench(t, 2, map[string]agent.Agent{"a": says(&asked, 100)})
	b.reading(t, 1)
	for _, trial := range b.trials {
		reply, _ := b.Agents["a"].Ask(t.Context(), agent.Task{})
		if err := b.Journal.Append(t.Context(),
			journal.Record{Kind: journal.KindExcluded, Trial: trial, Attempt: 1, Reason: "network"},
			journal.Record{Kind: journal.KindAnswer, Trial: trial, Attempt: 2, Answer: &reply.Answer},
		); err != nil {
			t.Fatal(err)
		}
	}
	asked.Store(0)
	if s, err := b.run(t, t.Context()); err != nil || s.Valid != 2 || s.Excluded != 0 || asked.Load() != 0 || s.SpentUSD != 2 {
		t.Errorf("%+v, %v; asked %d times", s, err, asked.Load())
	}
}
