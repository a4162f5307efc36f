package alert

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/store/state"
)

// What a receiver may answer, and what becomes of the delivery.
func TestWhatReceiversAnswer(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	status := func(code int, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			if len(header) > 0 {
				w.Header().Set(header[0], header[1])
			}
			w.WriteHeader(code)
		}
	}
	huge := func(w http.ResponseWriter, r *http.Request) {
		for piece := make([]byte, 32<<10); r.Context().Err() == nil; {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, test := range map[string]struct {
		reply func(http.ResponseWriter, *http.Request)
		state string
		after time.Duration // until the next try
		says  string
	}{
		"200":                      {status(200), state.Delivered, 0, ""},
		"204":                      {status(204), state.Delivered, 0, ""},
		"a huge body":              {huge, state.Delivered, 0, ""},
		"500":                      {status(500), state.DeliveryPending, 10 * time.Second, "returned 500"},
		"404":                      {status(404), state.DeliveryPending, 10 * time.Second, "returned 404"},
		"301 to another place":     {status(301, "Location", elsewhere.URL), state.DeliveryPending, 10 * time.Second, "redirects are not followed"},
		"307 to another place":     {status(307, "Location", elsewhere.URL), state.DeliveryPending, 10 * time.Second, "redirects are not followed"},
		"429":                      {status(429), state.DeliveryPending, 10 * time.Second, "returned 429"},
		"429, later":               {status(429, "Retry-After", "120"), state.DeliveryPending, 2 * time.Minute, "returned 429"},
		"429, sooner than we like": {status(429, "Retry-After", "1"), state.DeliveryPending, 10 * time.Second, "returned 429"},
		"503, at a time":           {status(503, "Retry-After", now.Add(7*day).UTC().Format(http.TimeFormat)), state.DeliveryPending, retryAfterMost, "returned 503"},
		"503, next year":           {status(503, "Retry-After", "99999999999"), state.DeliveryPending, retryAfterMost, "returned 503"},
		"429, nonsense":            {status(429, "Retry-After", "-5, soon"), state.DeliveryPending, 10 * time.Second, "returned 429"},
		"the connection breaks":    {abort, state.DeliveryPending, 10 * time.Second, "could not connect"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "sqlite")
			rc := b.receiver(test.reply)
			id, _ := b.hookTo(rc)
			b.settle()
			b.find("GPTBot")
			b.send()
			d := b.webhooks()
			if len(d) != 1 || len(rc.hooks()) != 1 {
				t.Fatalf("%d requests, %+v", len(rc.hooks()), d)
			}
			if d[0].State != test.state || !strings.Contains(d[0].Failure, test.says) || (test.says == "") != (d[0].Failure == "") {
				t.Errorf("%+v", d[0])
			}
			if want := map[bool]string{true: "on", false: "failing"}[test.says == ""]; b.channelOf(id).State != want {
				t.Errorf("%+v", b.channelOf(id))
			}
			if test.state == state.DeliveryPending {
				if after := d[0].NextAt.Sub(b.clock.now()); after != test.after {
					t.Errorf("tried again after %v", after)
				}
			}
		})
	}
}

// A receiver that hangs delays no other and is left after the time-out.
func TestAReceiverThatHangs(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		got := make(chan struct{})
		slow := b.receiver(func(_ http.ResponseWriter, r *http.Request) {
			<-got // it answers when the other has its webhook
		})
		quick := b.receiver(func(http.ResponseWriter, *http.Request) { close(got) })
		b.hookTo(slow)
		b.hookTo(quick)
		b.settle()
		b.find("GPTBot")
		b.send()
		for _, d := range b.webhooks() {
			if d.State != state.Delivered {
				t.Errorf("%+v", d)
			}
		}
		left := make(chan struct{}) // not the request's context, which ends while the sender can still read
		defer close(left)
		slow.answer(func(http.ResponseWriter, *http.Request) { <-left })
		quick.answer(nil)
		b.HTTP.Timeout = time.Second // the other answers within it, also on a busy machine
		b.find("ClaudeBot")
		b.send()
		if d := b.webhooks(); d[0].Failure+d[1].Failure != "the receiver did not respond within 10s" {
			t.Errorf("%+v", d)
		}
	})
}

// Nothing private is called, whatever a name resolves to.
func TestPrivateAddresses(t *testing.T) {
	b := newBench(t, "sqlite")
	rc := b.receiver(nil)
	id, _ := b.hookTo(rc)
	b.HTTP = safehttp.NewClient(safehttp.Limits{Timeout: CallTimeout})
	d, err := b.Test(t.Context(), "w", id)
	if err != nil || d.State != state.DeliveryFailed || d.Failure != couldNotConnect || len(rc.hooks()) != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// A delivery is tried for a day, ever more rarely, under one id; after five days of
// failures the webhook is paused, which a test that succeeds ends.
func TestAWebhookThatFails(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		rc := b.receiver(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
		id, secret := b.hookTo(rc)
		b.settle()
		b.find("GPTBot")
		began := b.clock.now()
		var pauses []time.Duration
		for last := b.clock.now(); ; {
			b.send()
			d := b.webhooks()[0]
			if d.State != state.DeliveryPending {
				if d.State != state.DeliveryFailed || d.Failure != "the receiver returned 500" || d.Tries != len(rc.hooks()) {
					t.Errorf("%+v", d)
				}
				break
			}
			b.clock.add(d.NextAt.Sub(b.clock.now()) - time.Millisecond)
			before := len(rc.hooks())
			b.send()
			if len(rc.hooks()) != before {
				t.Fatal("it was sent too early")
			}
			b.clock.add(time.Millisecond)
			pauses = append(pauses, b.clock.now().Sub(last))
			last = b.clock.now()
		}
		if took := b.clock.now().Sub(began); took > giveUpAfter || took < giveUpAfter-retryMost*5/4 || len(pauses) < 10 || !slices.IsSorted(pauses) {
			t.Errorf("given up after %v, pauses %v", took, pauses)
		}
		for _, h := range rc.hooks() {
			if h.Get("webhook-id") != rc.hooks()[0].Get("webhook-id") {
				t.Error("the id changes")
			}
		}
		if err := verify(secret, rc.hooks()[len(rc.hooks())-1], b.clock.now()); err != nil {
			t.Error(err) // the last one has the time of its try
		}
		b.mails()

		b.clock.add(began.Add(pauseAfter - lookEvery - time.Second).Sub(b.clock.now()))
		b.find("ClaudeBot")
		b.send()
		if c := b.channelOf(id); c.State != "failing" {
			t.Errorf("before five days: %+v", c)
		}
		b.clock.add(time.Minute)
		b.send()
		if c := b.channelOf(id); c.State != "paused" || !c.PausedAt.Equal(b.clock.now()) {
			t.Errorf("after five days: %+v", c)
		}
		mails := b.mails()
		if len(mails) != 2 || mails[1].Subject != "[calm-otter-1] A webhook is paused" || strings.Contains(mails[1].Text, "hush") {
			t.Errorf("%+v", mails)
		}
		before := len(rc.hooks())
		b.find("CCBot")
		b.clock.add(day)
		b.send()
		if len(rc.hooks()) != before {
			t.Error("a paused webhook was called")
		}
		if d, err := b.Test(t.Context(), "w", id); err != nil || d.State != state.DeliveryFailed || d.Status != 500 || b.channelOf(id).State != "paused" {
			t.Errorf("%+v, %v", d, err)
		}
		rc.answer(nil)
		d, err := b.Test(t.Context(), "w", id)
		if err != nil || d.State != state.Delivered || d.Status != 200 || b.channelOf(id).State != "on" {
			t.Errorf("%+v, %v", d, err)
		}
		b.find("Bytespider")
		b.send()
		if d := b.webhooks()[0]; d.State != state.Delivered {
			t.Errorf("%+v", d)
		}
	})
}

// A receiver that answers 410 wants no more.
func TestGone(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		rc := b.receiver(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
		b.hookTo(rc)
		b.settle()
		b.traffic = &change.Traffic{Agents: []change.Agent{agent("GPTBot", b.clock.now(), 1, 0), agent("ClaudeBot", b.clock.now(), 1, 0)}}
		b.look()
		b.send()
		if list, err := b.Channels(t.Context(), "w"); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
		if d := b.webhooks(); len(d) != 2 || d[0].State != state.DeliveryFailed || d[1].State != state.DeliveryFailed || len(rc.hooks()) != 1 {
			t.Errorf("%d requests, %+v", len(rc.hooks()), d)
		}
		if mails := b.mails(); len(mails) != 2 || mails[0].Subject != "[calm-otter-1] A webhook was removed" && mails[1].Subject != "[calm-otter-1] A webhook was removed" {
			t.Errorf("%+v", mails)
		}
	})
}

// For a day after a rotation the old secret is good too.
func TestRotation(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		rc := b.receiver(nil)
		id, old := b.hookTo(rc)
		fresh, err := b.Rotate(t.Context(), "w", "acc", id)
		if err != nil || fresh == old {
			t.Fatal(fresh, err)
		}
		for _, step := range []struct {
			after   time.Duration
			oldGood bool
		}{{0, true}, {day - time.Second, true}, {time.Second, false}} {
			b.clock.add(step.after)
			if b.channelOf(id).OldSecretUntil.IsZero() == step.oldGood {
				t.Errorf("%+v", b.channelOf(id))
			}
			if d, err := b.Test(t.Context(), "w", id); err != nil || d.State != state.Delivered {
				t.Fatal(d, err)
			}
			last := rc.hooks()[len(rc.hooks())-1]
			if err := verify(fresh, last, b.clock.now()); err != nil {
				t.Error(err)
			}
			if err := verify(old, last, b.clock.now()); (err == nil) != step.oldGood {
				t.Errorf("after %v: %v", step.after, err)
			}
		}
		if _, err := b.Rotate(t.Context(), "w", "acc", EmailID); code(err) != "not_found/" {
			t.Error(err)
		}
	})
}

func TestTests(t *testing.T) {
	b := newBench(t, "sqlite")
	if _, err := b.Test(t.Context(), "w", "whk_none"); code(err) != "not_found/" {
		t.Error(err)
	}
	if d, err := b.Test(t.Context(), "w", EmailID); err != nil || d.State != state.Delivered {
		t.Errorf("%+v, %v", d, err)
	}
	if mails := b.mails(); len(mails) != 1 || mails[0].Subject != "[calm-otter-1] A test" {
		t.Errorf("%+v", mails)
	}
	var err error
	for range testsPerHour {
		_, err = b.Test(t.Context(), "w", EmailID)
	}
	if code(err) != "rate_limited/" {
		t.Error(err)
	}
	b.clock.add(2 * time.Hour)
	b.write(func(tx *state.Tx) error { return tx.MergeAccount(t.Context(), "acc", "gone") })
	if _, err := b.Test(t.Context(), "w", EmailID); code(err) != "invalid_request/no_address" {
		t.Error(err)
	}
}

// A server that dies between storing and sending leaves the delivery to the next;
// one that dies while sending, too, under the same id.
func TestServersThatDie(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		rc := b.receiver(nil)
		id, secret := b.hookTo(rc)
		b.settle()
		b.find("GPTBot")
		if len(rc.hooks()) != 0 {
			t.Fatal("it was sent before it should")
		}
		second := b.open()
		b.reach(second, rc)
		dying, die := context.WithCancel(t.Context())
		dead := make(chan struct{}) // not the request's context, which ends while the sender can still read
		defer close(dead)
		rc.answer(func(http.ResponseWriter, *http.Request) {
			die()
			<-dead
		})
		if err := second.Send(dying); err != nil {
			t.Fatal(err)
		}
		rc.answer(nil)
		b.send()
		if n := len(rc.hooks()); n != 1 || b.channelOf(id).State != "on" {
			t.Errorf("%d requests within the lease, %+v", n, b.channelOf(id))
		}
		b.clock.add(callLease)
		b.send()
		b.send()
		got := rc.hooks()
		if len(got) != 2 || got[0].Get("webhook-id") != got[1].Get("webhook-id") || string(got[0].body) != string(got[1].body) {
			t.Fatalf("%+v", got)
		}
		if err := verify(secret, got[1], b.clock.now()); err != nil {
			t.Error(err)
		}
	})
}

const couldNotConnect = "could not connect: the URL must be an HTTPS server on the public internet"

// TestReasonsHideTheNetwork: the address of a webhook is in no error, and neither is
// what its connection met: both are shown to the workspace.
func TestReasonsHideTheNetwork(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"an unknown name":           {&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "acme.dev", Server: "10.0.0.53:53"}}, couldNotConnect},
		"a private address":         {&net.OpError{Op: "dial", Net: "tcp", Err: safehttp.ErrPrivate}, couldNotConnect},
		"a closed port":             {&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, couldNotConnect},
		"no TLS":                    {errors.New(`http: server gave HTTP response to HTTPS client: "SSH-2.0-hush"`), couldNotConnect},
		"a port that is not called": {&net.OpError{Op: "dial", Net: "tcp", Err: safehttp.ErrPort}, "the port is not allowed for webhooks"},
		"a bad certificate":         {&tls.CertificateVerificationError{Err: x509.HostnameError{Host: "hush"}}, "the certificate of the receiver is invalid"},
	} {
		if got := reason(&url.Error{Op: "Post", URL: "https://acme.dev/hush", Err: c.err}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
