package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/queue"
	"github.com/firstpick/firstpick/runner/transcript"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// A rig is a queue of the test's own.
type rig struct {
	t       testing.TB
	address string
	cat     *catalog.Catalog
	run     journal.Run
	slots   int // of each worker
	lease   time.Duration
}

func newRig(t testing.TB) *rig {
	t.Helper()
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	e := eval.Eval{Name: "e", Category: "webserver", Repeats: 500, Templates: []string{"none"}}
	e.Prompts = []eval.Prompt{{ID: "p", Text: "Write a server."}}
	e.Agents = []eval.Agent{{Name: "a", Kind: eval.KindSimulated, Truth: map[string]float64{"flask": 1}}}
	return &rig{t, statetest.Address(t, "postgres"), cat, journal.Run{ID: "run-1", Eval: e, Catalog: cat.Version}, 16, 2 * time.Second}
}

func (r *rig) open() *queue.DB {
	r.t.Helper()
	db, err := queue.Open(r.t.Context(), r.address, quiet())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(db.Close)
	return db
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// coordinate returns an agent whose questions travel.
func (r *rig) coordinate(local agent.Agent) (agent.Agent, *queue.Coordinator) {
	r.t.Helper()
	c, err := queue.Coordinate(r.t.Context(), r.open(), r.run, r.cat.Version, map[string]agent.Agent{"a": local}, time.Now)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close(context.WithoutCancel(r.t.Context()), false) })
	return c.Remote(r.run.Eval.Agents[0], local), c
}

// work starts a worker. The returned function stops it and waits.
func (r *rig) work(name string, build func(eval.Agent) (agent.Agent, error), drain time.Duration) (stop func()) {
	r.t.Helper()
	w := &queue.Worker{
		DB: r.open(), Build: build, Catalog: r.cat, Name: name, Concurrency: r.slots, Drain: drain, Now: time.Now, Log: quiet(), Lease: r.lease,
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				r.t.Errorf("worker %s: %v", name, err)
			}
		})
	}
	r.t.Cleanup(stop)
	return stop
}

func (r *rig) count(sql string, args ...any) int {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(r.t.Context())) }()
	var n int
	if err := conn.QueryRow(r.t.Context(), sql, args...).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// eventually waits for something that happens in another goroutine's time.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	for began := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			r.t.Fatalf("not within half a minute: %s", what)
		}
	}
}

func task(trial plan.Trial, attempt int) agent.Task {
	return agent.Task{Trial: trial, Prompt: "Write a server. In Go.", Attempt: attempt, Signal: func(limiter.Signal) {}}
}

// A fake is an agent that tells what it was asked.
type fake struct {
	profile agent.Profile
	ask     func(ctx context.Context, t agent.Task) (agent.Reply, error)
	asked   atomic.Int64
}

func (f *fake) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) {
	f.asked.Add(1)
	return f.ask(ctx, t)
}
func (f *fake) Worst(agent.Task) *float64             { return new(float64) }
func (f *fake) Profile() agent.Profile                { return f.profile }
func (f *fake) build(eval.Agent) (agent.Agent, error) { return f, nil }
func says(text string) (agent.Reply, error)           { return agent.Reply{Answer: answer(text)}, nil }
func answer(text string) journal.Answer {
	return journal.Answer{Transcript: transcript.Transcript{FinalText: text}}
}
func echo(_ context.Context, t agent.Task) (agent.Reply, error) {
	return says(t.Trial.ID + " " + t.Prompt)
}
func infra(t *testing.T, err error) *agent.InfraError {
	t.Helper()
	var e *agent.InfraError
	if !errors.As(err, &e) {
		t.Fatalf("%v is no failure of infrastructure", err)
	}
	return e
}

func TestQuestionsTravelAndAnswersComeBack(t *testing.T) {
	r := newRig(t)
	local := &fake{ask: func(context.Context, agent.Task) (agent.Reply, error) { return says("asked here") }}
	cost := 0.25
	there := &fake{ask: func(_ context.Context, q agent.Task) (agent.Reply, error) {
		if q.Category == nil || q.Category.Slug != "webserver" {
			return says("no category")
		}
		reply := agent.Reply{Answer: answer(fmt.Sprint(q.Trial.Repeat, q.Prompt, q.Attempt)), Raw: []byte("raw answer")}
		reply.CostUSD, reply.InTokens, reply.Window.Requests = &cost, 7, limiter.Quota{Limit: 9, Remaining: 3, Reset: time.Second, Known: true}
		return reply, nil
	}}
	remote, c := r.coordinate(local)
	r.work("w1", there.build, 0)
	r.work("w2", there.build, 0)
	var all sync.WaitGroup
	for _, trial := range r.run.Trials() {
		all.Go(func() {
			got, err := remote.Ask(t.Context(), task(trial, 1))
			if err != nil || got.Transcript.FinalText != fmt.Sprint(trial.Repeat, "Write a server. In Go.", 1) || string(got.Raw) != "raw answer" ||
				got.CostUSD == nil || *got.CostUSD != cost || got.InTokens != 7 || got.Window.Requests.Remaining != 3 || got.At.IsZero() {
				t.Errorf("trial %d: %+v, %v", trial.Repeat, got, err)
			}
		})
	}
	all.Wait()
	if local.asked.Load() != 0 || there.asked.Load() != 500 {
		t.Errorf("asked %d times here and %d times there", local.asked.Load(), there.asked.Load())
	}
	if n := r.count("select count(*) from trial_answer"); n != 500 {
		t.Errorf("%d answers are kept", n)
	}
	if err := c.Close(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if n := r.count("select count(*) from trial_answer"); n != 0 {
		t.Errorf("a run that is done leaves %d answers behind", n)
	}
}

func TestFailuresTravelWhole(t *testing.T) {
	r := newRig(t)
	cost := 0.5
	want := &agent.InfraError{
		Reason: agent.ReasonRateLimited, Retry: true, After: 7 * time.Second, Billed: true, Lane: true, CostUSD: &cost,
		Raw: []byte("body"), Window: limiter.Window{Tokens: limiter.Quota{Limit: 5, Known: true}}, Err: errors.New("429: slow down"),
	}
	f := &fake{profile: agent.Profile{Paid: true}, ask: func(_ context.Context, q agent.Task) (agent.Reply, error) {
		if q.Attempt == 2 {
			panic("at the disco")
		}
		return agent.Reply{}, want
	}}
	remote, _ := r.coordinate(f)
	r.work("w", f.build, 0)
	trial := r.run.Trials()[0]
	_, err := remote.Ask(t.Context(), task(trial, 1))
	got := infra(t, err)
	if got.Reason != want.Reason || !got.Retry || got.After != want.After || !got.Billed || !got.Lane || *got.CostUSD != cost ||
		string(got.Raw) != "body" || got.Window != want.Window || got.Error() != want.Error() {
		t.Errorf("got %+v, want %+v", got, want)
	}
	_, err = remote.Ask(t.Context(), task(trial, 2))
	if got := infra(t, err); got.Reason != "panic" || got.Retry || got.Error() != "panic: at the disco" {
		t.Errorf("a panic comes back as %+v", got)
	}
}

func TestSignsOfLimitsComeBackWhileTheQuestionIsUnderWay(t *testing.T) {
	r := newRig(t)
	heard := make(chan limiter.Signal, 1)
	release := make(chan struct{})
	f := &fake{ask: func(_ context.Context, q agent.Task) (agent.Reply, error) {
		q.Signal(limiter.Signal{Verdict: limiter.Limited, After: 3 * time.Second})
		<-release
		return says("late")
	}}
	remote, _ := r.coordinate(f)
	r.work("w", f.build, 0)
	q := task(r.run.Trials()[0], 1)
	q.Signal = func(s limiter.Signal) { heard <- s }
	done := make(chan error, 1)
	go func() {
		_, err := remote.Ask(t.Context(), q)
		done <- err
	}()
	if got := <-heard; got.Verdict != limiter.Limited || got.After != 3*time.Second {
		t.Errorf("heard %+v", got)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestACoordinatorThatStartsAgainFindsWhatItLeft(t *testing.T) {
	r := newRig(t)
	release := make(chan struct{})
	f := &fake{ask: func(_ context.Context, q agent.Task) (agent.Reply, error) {
		<-release
		return says(q.Trial.ID)
	}}
	trials := r.run.Trials()
	// The first start dies with two questions under way: nothing calls them back.
	first, err := queue.Coordinate(t.Context(), r.open(), r.run, r.cat.Version, map[string]agent.Agent{"a": f}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	left := first.Remote(r.run.Eval.Agents[0], f)
	var lost sync.WaitGroup
	for i := range 2 {
		lost.Go(func() { _, _ = left.Ask(t.Context(), task(trials[i], 1)) })
	}
	r.eventually("two questions are in the queue", func() bool {
		return r.count("select count(*) from river_job where state = 'available'") == 2
	})
	r.work("w", f.build, 0)
	second, _ := r.coordinate(f)
	// It counts the attempts that it noted before it died.
	var found sync.WaitGroup
	for i := range 2 {
		found.Go(func() {
			got, err := second.Ask(t.Context(), task(trials[i], 2))
			if err != nil || got.Transcript.FinalText != trials[i].ID {
				t.Errorf("trial %d: %+v, %v", i, got, err)
			}
		})
	}
	r.eventually("both are asked", func() bool { return f.asked.Load() == 2 })
	close(release)
	found.Wait()
	lost.Wait()
	_ = first.Close(t.Context(), false)
	// And an answer that is there is not asked for again.
	third, _ := r.coordinate(f)
	if got, err := third.Ask(t.Context(), task(trials[0], 3)); err != nil || got.Transcript.FinalText != trials[0].ID {
		t.Errorf("the answer that is there: %+v, %v", got, err)
	}
	if f.asked.Load() != 2 || r.count("select count(*) from river_job") != 2 {
		t.Errorf("asked %d times, with %d jobs", f.asked.Load(), r.count("select count(*) from river_job"))
	}
}

func TestAFailureThatTheJournalHasIsNotToldAgain(t *testing.T) {
	r := newRig(t)
	f := &fake{ask: func(_ context.Context, q agent.Task) (agent.Reply, error) {
		if q.Attempt == 1 {
			return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonServer, Retry: true}
		}
		return says("second")
	}}
	remote, _ := r.coordinate(f)
	r.work("w", f.build, 0)
	trial := r.run.Trials()[0]
	if _, err := remote.Ask(t.Context(), task(trial, 1)); infra(t, err).Reason != agent.ReasonServer {
		t.Error(err)
	}
	// Not noted yet: the coordinator died between hearing and noting.
	if _, err := remote.Ask(t.Context(), task(trial, 1)); infra(t, err).Reason != agent.ReasonServer || f.asked.Load() != 1 {
		t.Errorf("%v, asked %d times", err, f.asked.Load())
	}
	if got, err := remote.Ask(t.Context(), task(trial, 2)); err != nil || got.Transcript.FinalText != "second" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheEndOfTheRunCallsQuestionsBack(t *testing.T) {
	r := newRig(t)
	called := make(chan struct{})
	f := &fake{ask: func(ctx context.Context, _ agent.Task) (agent.Reply, error) {
		<-ctx.Done()
		close(called)
		return agent.Reply{}, ctx.Err()
	}}
	remote, _ := r.coordinate(f)
	r.work("w", f.build, 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := remote.Ask(ctx, task(r.run.Trials()[0], 1))
		done <- err
	}()
	r.eventually("it is asked", func() bool { return f.asked.Load() == 1 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the question ends with %v", err)
	}
	<-called
	r.eventually("the job is cancelled", func() bool {
		return r.count("select count(*) from river_job where state = 'cancelled'") == 1
	})
	if n := r.count("select count(*) from trial_answer"); n != 0 {
		t.Errorf("%d outcomes of a question that was called back", n)
	}
}

func TestAWorkerThatStopsGivesBackWhatItCannotEnd(t *testing.T) {
	for _, paid := range []bool{false, true} {
		t.Run(fmt.Sprint("paid ", paid), func(t *testing.T) {
			r := newRig(t)
			stuck := &fake{profile: agent.Profile{Paid: paid}, ask: func(ctx context.Context, _ agent.Task) (agent.Reply, error) {
				<-ctx.Done()
				return agent.Reply{}, ctx.Err()
			}}
			remote, _ := r.coordinate(stuck)
			stop := r.work("stops", stuck.build, 50*time.Millisecond)
			done := make(chan error, 1)
			var got agent.Reply
			go func() {
				var err error
				got, err = remote.Ask(t.Context(), task(r.run.Trials()[0], 1))
				done <- err
			}()
			r.eventually("it is asked", func() bool { return stuck.asked.Load() == 1 })
			stop()
			able := &fake{profile: agent.Profile{Paid: paid}, ask: echo}
			r.work("goes on", able.build, 0)
			err := <-done
			if !paid { // somebody else asks
				if err != nil || able.asked.Load() != 1 || got.Transcript.FinalText == "" {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			// What may have cost money is the coordinator's to account for.
			if e := infra(t, err); e.Reason != queue.ReasonLost || !e.Retry || !e.Billed {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestQuestionsOfADeadWorkerAreWrittenOffAndItsLateAnswerDropped(t *testing.T) {
	r := newRig(t)
	r.slots = 1 // or it would take the next attempt as well
	release := make(chan struct{})
	let := sync.OnceFunc(func() { close(release) })
	slow := &fake{profile: agent.Profile{Paid: true}, ask: func(context.Context, agent.Task) (agent.Reply, error) {
		<-release
		return says("late")
	}}
	remote, _ := r.coordinate(slow)
	stop := r.work("slow", slow.build, time.Minute)
	t.Cleanup(let)
	done := make(chan error, 1)
	go func() {
		_, err := remote.Ask(t.Context(), task(r.run.Trials()[0], 1))
		done <- err
	}()
	r.eventually("it is asked", func() bool { return slow.asked.Load() == 1 })
	// From here on it beats in vain.
	r.exec(`create function stale() returns trigger language plpgsql as $$
		begin new.beat_at := now() - interval '1 minute'; return new; end $$`)
	r.exec("create trigger stale before insert or update on queue_worker for each row when (new.worker = 'slow') execute function stale()")
	quick := &fake{profile: agent.Profile{Paid: true}, ask: echo}
	r.work("quick", quick.build, 0)
	err := <-done
	if e := infra(t, err); e.Reason != queue.ReasonLost || !e.Retry || !e.Billed {
		t.Errorf("%+v", e)
	}
	got, err := remote.Ask(t.Context(), task(r.run.Trials()[0], 2))
	if err != nil || got.Transcript.FinalText == "late" {
		t.Errorf("%+v, %v", got, err)
	}
	let()
	stop() // and with it, the late answer was handed in
	if n := r.count("select count(*) from trial_answer where answered"); n != 1 {
		t.Errorf("%d answers are kept", n)
	}
	if n := r.count("select count(*) from trial_answer where attempt = 1 and not answered and worker = 'slow'"); n != 1 {
		t.Errorf("the lost attempt is not kept as it was: %d", n)
	}
}

// TestAQuestionThatItsWorkerDoesNotHaveIsWrittenOff is about one whose end could not
// be noted while the database was away: its worker lives.
func TestAQuestionThatItsWorkerDoesNotHaveIsWrittenOff(t *testing.T) {
	r := newRig(t)
	remote, _ := r.coordinate(&fake{ask: echo})
	ended := make(chan error, 1)
	go func() {
		_, err := remote.Ask(t.Context(), task(plan.New(&r.run.Eval)[0], 1))
		ended <- err
	}()
	r.eventually("the question is sent", func() bool { return r.count("select count(*) from river_job") > 0 })
	r.exec("update river_job set state = 'running', attempted_at = now() - interval '1 minute', attempted_by = '{w1}'")
	r.work("w1", (&fake{ask: echo}).build, time.Second)
	select {
	case err := <-ended:
		if e := infra(t, err); e.Reason != queue.ReasonLost || !e.Retry {
			t.Errorf("%+v", e)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the question is waited for")
	}
}

func (r *rig) exec(sql string) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.address)
	if err == nil {
		_, err = conn.Exec(r.t.Context(), sql)
		err = errors.Join(err, conn.Close(context.WithoutCancel(r.t.Context())))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func TestAWorkerThatCannotBeAnAgentLeavesItToOthers(t *testing.T) {
	r := newRig(t)
	r.lease = time.Minute // as long as it takes until somebody able comes
	other := &fake{profile: agent.Profile{Manifest: journal.Manifest{Version: "2"}}, ask: echo}
	able := &fake{ask: echo}
	remote, _ := r.coordinate(able)
	r.work("another version", other.build, 0)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			if _, err := remote.Ask(t.Context(), task(r.run.Trials()[i], 1)); err != nil {
				t.Error(err)
			}
		})
	}
	r.eventually("it has said that it cannot", func() bool { return r.count("select count(*) from queue_unable") == 1 })
	r.work("able", able.build, 0)
	all.Wait()
	if able.asked.Load() != 4 || other.asked.Load() != 0 {
		t.Errorf("asked %d and %d", able.asked.Load(), other.asked.Load())
	}
}

func TestAQuestionThatNobodyCanAskFails(t *testing.T) {
	r := newRig(t)
	f := &fake{ask: echo}
	remote, _ := r.coordinate(f)
	r.work("no key", func(eval.Agent) (agent.Agent, error) { return nil, errors.New("there is no key") }, 0)
	_, err := remote.Ask(t.Context(), task(r.run.Trials()[0], 1))
	if e := infra(t, err); e.Reason != queue.ReasonNone || e.Retry || !e.Lane || e.Err.Error() != "there is no key" {
		t.Errorf("%+v", e)
	}
}

// TestAnAnswerThatCannotBeReadIsNone holds it for one that is there already and for
// one that is waited for.
func TestAnAnswerThatCannotBeReadIsNone(t *testing.T) {
	r := newRig(t)
	remote, _ := r.coordinate(&fake{ask: echo})
	unreadable := func(trial plan.Trial) {
		r.exec(fmt.Sprintf(`insert into trial_answer (run_id, trial_id, attempt, answered, payload, worker) values ('run-1', '%s', 1, true, 'no frame', 'w')`, trial.ID))
	}
	for i, trial := range plan.New(&r.run.Eval)[:2] {
		if i == 0 {
			unreadable(trial)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := remote.Ask(t.Context(), task(trial, 1))
			ended <- err
		}()
		if i == 1 {
			r.eventually("the question is sent", func() bool { return r.count("select count(*) from river_job") > 0 })
			unreadable(trial)
			r.exec("update river_job set state = 'completed', finalized_at = now()")
		}
		select {
		case err := <-ended:
			if e := infra(t, err); e.Reason != agent.ReasonMalformed || e.Retry {
				t.Errorf("question %d: %+v", i, e)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("question %d is waited for", i)
		}
	}
}

func TestWithoutADatabaseTheQuestionMayBeAskedLater(t *testing.T) {
	r := newRig(t)
	f := &fake{ask: echo}
	db := r.open()
	c, err := queue.Coordinate(t.Context(), db, r.run, r.cat.Version, map[string]agent.Agent{"a": f}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close(t.Context(), false)
	db.Close()
	_, err = c.Remote(r.run.Eval.Agents[0], f).Ask(t.Context(), task(r.run.Trials()[0], 1))
	if e := infra(t, err); e.Reason != agent.ReasonNetwork || !e.Retry || e.Billed || e.Lane {
		t.Errorf("%+v", e)
	}
}

func TestProcessesMayStartAtOnce(t *testing.T) {
	r := newRig(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			db, err := queue.Open(t.Context(), r.address, quiet())
			if err != nil {
				t.Error(err)
				return
			}
			db.Close()
		})
	}
	all.Wait()
}

func TestAnAddressThatCannotBeReadIsNotShown(t *testing.T) {
	_, err := queue.Open(t.Context(), "postgres://user:pass word@h/\x7f?sslmode=nonsense", quiet())
	if err == nil || strings.Contains(err.Error(), "pass word") {
		t.Errorf("error: %v", err)
	}
}
