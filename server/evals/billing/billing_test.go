package billing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestWhoseSubscriptionItIs(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		for i, c := range []struct {
			name   string
			events func(sub, slug, id string) [][]byte
			want   string
		}{
			{"its metadata has the slug", func(sub, slug, _ string) [][]byte {
				return [][]byte{told(t, sub, "created", 0, "active", slug)}
			}, "paid"},
			{"or the id", func(sub, _, id string) [][]byte {
				return [][]byte{told(t, sub, "created", 0, "active", id)}
			}, "paid"},
			{"the checkout came before", func(sub, slug, _ string) [][]byte {
				return [][]byte{bought(t, sub, 1, slug, nil), told(t, sub, "created", 0, "active", "")}
			}, "paid"},
			{"the checkout came after", func(sub, slug, _ string) [][]byte {
				return [][]byte{told(t, sub, "created", 0, "trialing", ""), bought(t, sub, 1, slug, nil)}
			}, "paid"},
			{"the checkout's metadata go before its reference", func(sub, slug, _ string) [][]byte {
				return [][]byte{told(t, sub, "created", 0, "active", ""), bought(t, sub, 1, "another", map[string]any{"workspace": slug})}
			}, "paid"},
			{"the subscription's metadata go before the checkout's", func(sub, slug, _ string) [][]byte {
				return [][]byte{bought(t, sub, 1, slug, nil), told(t, sub, "created", 0, "active", "somebody-else")}
			}, "free"},
			{"a checkout for something else", func(_, slug, _ string) [][]byte {
				return [][]byte{bought(t, nil, 1, slug, nil)}
			}, "free"},
			{"nobody pays yet", func(sub, slug, _ string) [][]byte {
				return [][]byte{told(t, sub, "created", 0, "incomplete", slug), bought(t, sub, 1, slug, nil)}
			}, "free"},
		} {
			id, slug, sub := fmt.Sprint("ws_", i), fmt.Sprint("quiet-otter-", i), fmt.Sprint("sub_", i)
			b.addWorkspace(id, slug)
			if i == 0 {
				b.addWorkspace("ws_other", "somebody-else")
			}
			b.deliver(c.events(sub, slug, id)...)
			if got := b.plan(id); got != c.want {
				t.Errorf("%s: %s", c.name, got)
			}
			if got := b.plan("ws_other"); (got == "paid") != (i >= 5) {
				t.Errorf("%s: the other workspace is %s", c.name, got)
			}
		}
	})
}

// A life is what a billing system sends of one subscription, in order.
type step struct {
	kind   string
	second int
	status string
}

// The plan depends on what was sent, neither on the order nor on how often.
func TestAnyOrderAndRepetition(t *testing.T) {
	lives := map[string]struct {
		life []step
		want string
	}{
		"bought, in one second":     {[]step{{"created", 0, "incomplete"}, {"updated", 0, "active"}, {"updated", 0, "active"}}, "paid"},
		"bought and cancelled":      {[]step{{"created", 0, "active"}, {"updated", 9, "active"}, {"deleted", 20, "canceled"}}, "free"},
		"all in one second":         {[]step{{"created", 0, "incomplete"}, {"updated", 0, "active"}, {"deleted", 0, "canceled"}}, "free"},
		"a trial that was kept":     {[]step{{"created", 0, "trialing"}, {"updated", 9, "active"}}, "paid"},
		"a trial that was paused":   {[]step{{"created", 0, "trialing"}, {"updated", 9, "paused"}, {"paused", 9, "paused"}}, "free"},
		"paused and resumed":        {[]step{{"created", 0, "trialing"}, {"paused", 9, "paused"}, {"resumed", 20, "active"}}, "paid"},
		"a failed payment":          {[]step{{"created", 0, "active"}, {"updated", 9, "past_due"}}, "paid"},
		"never paid again":          {[]step{{"created", 0, "active"}, {"updated", 9, "past_due"}, {"updated", 20, "unpaid"}}, "free"},
		"paid after all":            {[]step{{"created", 0, "active"}, {"updated", 9, "unpaid"}, {"updated", 20, "active"}}, "paid"},
		"never completed":           {[]step{{"created", 0, "incomplete"}, {"updated", 9, "incomplete_expired"}}, "free"},
		"a state of another decade": {[]step{{"created", 0, "active"}, {"updated", 9, "hibernating"}}, "free"},
	}
	onBoth(t, func(t *testing.T, b *bench) {
		n := 0
		random := rand.New(rand.NewPCG(1, 2))
		for name, l := range lives {
			for try := range 12 {
				n++
				id, slug, sub := fmt.Sprint("ws_", n), fmt.Sprint("quiet-otter-", n), fmt.Sprint("sub_", n)
				b.addWorkspace(id, slug)
				var events [][]byte
				named := try%2 == 0 // or bought
				for _, s := range l.life {
					workspace := ""
					if named {
						workspace = slug
					}
					events = append(events, told(t, sub, s.kind, s.second, s.status, workspace))
				}
				if !named {
					events = append(events, bought(t, sub, 1, slug, nil))
				}
				events = append(events, events...)
				if try > 1 { // the first two are in order
					random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
				}
				if try < 9 {
					b.deliver(events...)
				} else {
					b.deliverAtOnce(events)
				}
				if got := b.plan(id); got != l.want {
					t.Errorf("%s, try %d: %s", name, try, got)
				}
			}
		}
	})
}

func (b *bench) deliverAtOnce(events [][]byte) {
	b.t.Helper()
	var all sync.WaitGroup
	for _, e := range events {
		all.Go(func() {
			if w := b.send(e); w.Code != http.StatusOK {
				b.t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
}

// Several subscriptions of one workspace, and one that is given to another.
func TestAnySubscriptionPays(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.addWorkspace("ws_a", "quiet-otter-1")
		b.addWorkspace("ws_b", "brisk-heron-2")
		for i, c := range []struct {
			event []byte
			a, b  string
		}{
			{told(t, "sub_1", "created", 1, "active", "quiet-otter-1"), "paid", "free"},
			{told(t, "sub_2", "created", 2, "trialing", "quiet-otter-1"), "paid", "free"},
			{told(t, "sub_1", "deleted", 3, "canceled", "quiet-otter-1"), "paid", "free"},
			{told(t, "sub_2", "updated", 4, "active", "brisk-heron-2"), "free", "paid"},
			{told(t, "sub_2", "deleted", 5, "canceled", "brisk-heron-2"), "free", "free"},
		} {
			b.deliver(c.event)
			if pa, pb := b.plan("ws_a"), b.plan("ws_b"); pa != c.a || pb != c.b {
				t.Errorf("event %d: %s and %s, want %s and %s", i, pa, pb, c.a, c.b)
			}
		}
		var plans []string
		for _, line := range append(b.audited("ws_a"), b.audited("ws_b")...) {
			if line["plan"] != "" {
				plans = append(plans, line["subscription"]+" "+line["plan"])
			}
		}
		if got := strings.Join(plans, ", "); got != "sub_1 paid, sub_2 free, sub_2 paid, sub_2 free" {
			t.Errorf("the audit log has %s", got)
		}
	})
}

// An operator's paid stays, and an operator's free until something is bought after
// it; a renewal is nothing new, and what happened before counts as before.
func TestOperatorsAndBilling(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		const slug = "quiet-otter-1"
		b.addWorkspace("ws_1", slug)
		say := func(second int, plan string) {
			if err := b.db.Write(t.Context(), func(tx *state.Tx) error {
				if err := tx.SetOperatorPlan(t.Context(), "ws_1", plan, start.Add(time.Duration(second)*time.Second+time.Millisecond)); err != nil {
					return err
				}
				st, err := tx.PlanState(t.Context(), "ws_1")
				return errors.Join(err, tx.SetPlanOf(t.Context(), "ws_1", st.Due()))
			}); err != nil {
				t.Fatal(err)
			}
		}
		send := func(sub, kind string, second int, status string) { b.deliver(told(t, sub, kind, second, status, slug)) }
		for _, c := range []struct {
			what string
			do   func()
			want string
		}{
			{"the operator gives the plan", func() { say(10, state.PlanPaid) }, "paid"},
			{"a checkout that nobody completed", func() { send("sub_1", "created", 11, "incomplete") }, "paid"},
			{"and that expired", func() { send("sub_1", "updated", 12, "incomplete_expired") }, "paid"},
			{"a subscription", func() { send("sub_2", "created", 20, "active") }, "paid"},
			{"its end", func() { send("sub_2", "deleted", 30, "canceled") }, "paid"},
			{"the operator leaves it to billing", func() { say(35, "") }, "free"},
			{"another subscription", func() { send("sub_3", "created", 40, "active") }, "paid"},
			{"the operator takes the plan away", func() { say(50, state.PlanFree) }, "free"},
			{"a renewal", func() { send("sub_3", "updated", 60, "active") }, "free"},
			{"the operator leaves it to billing again", func() { say(65, "") }, "paid"},
			{"and takes it away again", func() { say(70, state.PlanFree) }, "free"},
			{"the end", func() { send("sub_3", "deleted", 75, "canceled") }, "free"},
			{"one that began before, and comes late", func() { send("sub_4", "created", 69, "active") }, "free"},
			{"its end", func() { send("sub_4", "deleted", 76, "canceled") }, "free"},
			{"one in the second of the operator's word", func() { send("sub_5", "created", 70, "active") }, "free"},
			{"its end too", func() { send("sub_5", "deleted", 77, "canceled") }, "free"},
			{"one that begins after", func() { send("sub_6", "created", 80, "active") }, "paid"},
			{"and ends", func() { send("sub_6", "deleted", 90, "canceled") }, "free"},
			{"and another", func() { send("sub_7", "created", 100, "active") }, "paid"},
		} {
			c.do()
			if got := b.plan("ws_1"); got != c.want {
				t.Fatalf("%s: %s", c.what, got)
			}
		}
		if log := b.log.String(); strings.Count(log, "billing and plan differ") != 3 { // the gift that outlived sub_2, and sub_4 and sub_5 which do not count
			t.Errorf("the operator is told of something else: %s", log)
		}
	})
}

// What names no workspace is acknowledged, told to the operator, and may be
// mended; a name that is no slug is not repeated.
func TestUnknownWorkspaces(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.addWorkspace("ws_1", "quiet-otter-1")
		b.deliver(
			told(t, "sub_1", "created", 0, "active", "quite-otter-1"),
			bought(t, "sub_2", 0, "no-such-9", nil),
			told(t, "sub_3", "created", 0, "active", "dana@example.com\x00'; drop table workspace"),
			told(t, "sub_4", "created", 0, "active", ""),
		)
		log := b.log.String()
		if strings.Count(log, "level=WARN") != 3 || !strings.Contains(log, "quite-otter-1") || !strings.Contains(log, "no-such-9") || strings.Contains(log, "dana") {
			t.Error(log)
		}
		lines := b.audited("")
		if len(lines) != 4 || b.plan("ws_1") != "free" {
			t.Errorf("audited: %v; the plan is %s", lines, b.plan("ws_1"))
		}
		if text := fmt.Sprint(lines); strings.Count(text, "unmatched") != 3 || strings.Contains(text, "dana") {
			t.Error(text)
		}
		b.deliver(told(t, "sub_1", "updated", 60, "active", "quiet-otter-1"))
		if b.plan("ws_1") != "paid" {
			t.Error("mended metadata change nothing")
		}
	})
}

// While the store is away the sender is asked to try again.
func TestAStoreThatIsDown(t *testing.T) {
	for _, engine := range statetest.Engines() {
		db, err := state.Open(t.Context(), statetest.Address(t, engine), statetest.Vault(t))
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if w := b.send(told(t, "sub_1", "created", 0, "active", "quiet-otter-1")); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", engine, w.Code, w.Body)
		}
	}
}

func TestWhatIsAcknowledged(t *testing.T) {
	b := newBench(t, nil) // none of these asks the store
	failed, err := os.ReadFile("testdata/invoice_payment_failed.json")
	if err != nil {
		t.Fatal(err)
	}
	b.deliver(
		failed,
		bought(t, nil, 0, "quiet-otter-1", nil),
		[]byte(`{"id":"evt_test_65T","object":"v2.core.event","created":"2026-11-21T10:00:00.000Z","type":"v1.billing.meter.no_meter_found"}`),
		[]byte(`{"id":"evt_1","type":"customer.subscription.trial_will_end"}`),
	)
}

func TestWhatIsRefused(t *testing.T) {
	b := newBench(t, nil) // nothing of it reaches the store
	good := told(t, "sub_1", "created", 0, "active", "quiet-otter-1")
	without := func(path ...string) []byte {
		var e map[string]any
		if err := json.Unmarshal(good, &e); err != nil {
			t.Fatal(err)
		}
		at := e
		for _, name := range path[:len(path)-1] {
			at = at[name].(map[string]any)
		}
		delete(at, path[len(path)-1])
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for name, c := range map[string]struct {
		body   []byte
		sign   func(body []byte) string
		status int
		reason string
	}{
		"no signature":                  {good, func([]byte) string { return "" }, 400, "bad_signature"},
		"another secret":                {good, func(b []byte) string { return sign(b, start, "whsec_of_somebody") }, 400, "bad_signature"},
		"another body":                  {good, func(b []byte) string { return sign(append(b, ' '), start, key) }, 400, "bad_signature"},
		"an old one":                    {good, func(b []byte) string { return sign(b, start.Add(-5*time.Minute-time.Second), key) }, 400, "bad_signature"},
		"one of the future":             {good, func(b []byte) string { return sign(b, start.Add(5*time.Minute+time.Second), key) }, 400, "bad_signature"},
		"another time than was signed":  {good, func(b []byte) string { return strings.Replace(sign(b, start, key), "t=", "t=0", 1) }, 400, "bad_signature"},
		"too large":                     {append(bytes.Repeat([]byte(" "), MaxBody), good...), nil, 413, ""},
		"no JSON":                       {[]byte("{"), nil, 400, "bad_event"},
		"no object":                     {[]byte("[]"), nil, 400, "bad_event"},
		"no id":                         {without("id"), nil, 400, "bad_event"},
		"no type":                       {without("type"), nil, 400, "bad_event"},
		"no time":                       {without("created"), nil, 400, "bad_event"},
		"no subscription":               {without("data"), nil, 400, "bad_event"},
		"a subscription without an id":  {without("data", "object", "id"), nil, 400, "bad_event"},
		"a subscription without status": {without("data", "object", "status"), nil, 400, "bad_event"},
		"an id that no store takes":     {bought(t, "sub_\x00", 0, nil, nil), nil, 400, "bad_event"},
	} {
		if c.sign == nil {
			c.sign = func(b []byte) string { return sign(b, start, key) }
		}
		w := b.post(c.body, c.sign(c.body))
		var got struct {
			Reason      string `json:"reason"`
			Description string `json:"error_description"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != c.status || got.Reason != c.reason {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if strings.ContainsAny(got.Description, "\"\\") {
			t.Errorf("%s: %s", name, got.Description)
		}
	}
	if log := b.log.String(); strings.Contains(log, "whsec") {
		t.Error("a secret in the log")
	}
}

func TestWithoutASecretNothingIsServed(t *testing.T) {
	b := newBench(t, nil)
	r := chi.NewRouter()
	(&Handler{}).Mount(r)
	b.srv = r
	if w := b.send([]byte("{}")); w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
}
