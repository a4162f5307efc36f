package mail_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	netmail "net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/firstpick/firstpick/server/kit/mail"
)

func TestEveryWayToAServer(t *testing.T) {
	for name, test := range map[string]struct {
		server *server
		scheme string
		user   *url.Userinfo
		query  string
	}{
		"in the clear":                 {&server{}, "smtp", nil, "tls=off"},
		"in the clear, though it can":  {&server{cert: &trusted}, "smtp", nil, "tls=off"},
		"STARTTLS":                     {&server{cert: &trusted}, "smtp", nil, ""},
		"STARTTLS over IPv6":           {&server{cert: &trusted, network: "tcp6"}, "smtp", nil, ""},
		"TLS from the first byte":      {&server{cert: &trusted, implicit: true}, "smtps", nil, ""},
		"TLS cannot be off for smtps":  {&server{cert: &trusted, implicit: true}, "smtps", nil, "tls=off"},
		"a misspelt off is not off":    {&server{cert: &trusted}, "smtp", nil, "tls=of"},
		"STARTTLS and PLAIN":           {&server{cert: &trusted, mechanisms: []string{"PLAIN"}, user: "u", pass: "p"}, "smtp", url.UserPassword("u", "p"), ""},
		"STARTTLS and LOGIN":           {&server{cert: &trusted, mechanisms: []string{"LOGIN"}, user: "u", pass: "p"}, "smtp", url.UserPassword("u", "p"), ""},
		"smtps and PLAIN":              {&server{cert: &trusted, implicit: true, mechanisms: []string{"PLAIN", "LOGIN"}, user: "u", pass: "p"}, "smtps", url.UserPassword("u", "p"), ""},
		"smtps over IPv6":              {&server{cert: &trusted, implicit: true, network: "tcp6"}, "smtps", nil, ""},
		"a user name that is a mail's": {&server{cert: &trusted, mechanisms: []string{"PLAIN"}, user: "u@example.com", pass: "p:/ @%ü"}, "smtp", url.UserPassword("u@example.com", "p:/ @%ü"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.server
			s.start(t)
			if err := open(t, test.scheme, test.user, s.at, test.query).Send(t.Context(), hello); err != nil {
				t.Fatal(err)
			}
			got := s.only(t)
			if got.from != "service@firstpick.example" || !slices.Equal(got.to, []string{address}) {
				t.Errorf("envelope: from %s to %s", got.from, got.to)
			}
			if got.user != s.user {
				t.Errorf("signed in as %q", got.user)
			}
			if want := test.query != "tls=off" || test.scheme == "smtps"; got.secure != want {
				t.Errorf("TLS: %v", got.secure)
			}
		})
	}
}

// What the operator has to mend must not cost a mail: it is tried again.
func TestTrustAndPasswords(t *testing.T) {
	auth := []string{"PLAIN", "LOGIN"}
	for name, test := range map[string]struct {
		server *server
		scheme string
		user   *url.Userinfo
		query  string
		says   string
	}{
		"wrong password":              {&server{cert: &trusted, mechanisms: auth, user: "u", pass: "p"}, "smtp", url.UserPassword("u", "hush"), "", "535"},
		"wrong password, LOGIN":       {&server{cert: &trusted, mechanisms: auth[1:], user: "u", pass: "p"}, "smtp", url.UserPassword("u", "hush"), "", "535"},
		"no AUTH there":               {&server{cert: &trusted}, "smtp", url.UserPassword("u", "hush"), "", "does not support SMTP AUTH"},
		"a certificate of nobody":     {&server{cert: &unknown}, "smtp", nil, "", "certificate"},
		"a certificate of another":    {&server{cert: &elsewhere}, "smtp", nil, "", "certificate"},
		"smtps, certificate unknown":  {&server{cert: &unknown, implicit: true}, "smtps", nil, "", "certificate"},
		"smtps, certificate, another": {&server{cert: &elsewhere, implicit: true}, "smtps", nil, "", "certificate"},
		"no STARTTLS there":           {&server{}, "smtp", nil, "", "STARTTLS"},
		"no STARTTLS, but AUTH":       {&server{mechanisms: auth, user: "u", pass: "hush"}, "smtp", url.UserPassword("u", "hush"), "", "STARTTLS"},
		"a password without TLS":      {&server{mechanisms: auth, user: "u", pass: "hush"}, "smtp", url.UserPassword("u", "hush"), "tls=off", "auth"},
		"smtps to a port of smtp":     {&server{cert: &trusted}, "smtps", nil, "", "tls"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.server
			s.start(t)
			err := open(t, test.scheme, test.user, s.at, test.query).Send(t.Context(), hello)
			if err == nil || mail.IsPermanent(err) || !strings.Contains(err.Error(), test.says) {
				t.Error(err)
			}
			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Error("the password stands in:", err)
			}
			if len(s.got()) != 0 {
				t.Error("a mail was sent")
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if wantAuth := strings.HasPrefix(name, "wrong password"); (s.auths > 0) != wantAuth {
				t.Errorf("a password was tried %d times", s.auths)
			}
		})
	}
}

func TestAMailAsItArrives(t *testing.T) {
	s := &server{}
	s.start(t)
	long := "https://firstpick.example/login/link#token=" + strings.Repeat("x", 300) + "="
	sent := mail.Message{
		To:      address,
		Subject: "Ein Agent für dich — 一\u2028 " + strings.Repeat("lang ", 20),
		Text:    "Grüße, 世界 🙂\n\n" + long + "\n.\n..two dots\nFrom here\n=3D is no escape\ttab \n",
	}
	const name = `"Späher, firstpick" <service@firstpick.example>`
	m, err := mail.Open("smtp://"+s.at+"?tls=off", name, slog.New(slog.DiscardHandler), ids())
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Second)
	for range 2 {
		if err := m.Send(t.Context(), sent); err != nil {
			t.Fatal(err)
		}
	}
	got := s.got()
	if len(got) != 2 {
		t.Fatalf("%d mails", len(got))
	}
	msg, body := got[0].parse(t)
	if want := strings.ReplaceAll(sent.Text, "\n", "\r\n"); strings.TrimRight(body, "\r\n") != strings.TrimRight(want, "\r\n") {
		t.Errorf("body:\n%q, not\n%q", body, want)
	}
	if subject, err := new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject")); err != nil || subject != sent.Subject {
		t.Errorf("subject %q, %v", subject, err)
	}
	if a, err := netmail.ParseAddress(msg.Header.Get("From")); err != nil || a.Name != "Späher, firstpick" || a.Address != "service@firstpick.example" {
		t.Errorf("from %v, %v", a, err)
	}
	if a, err := netmail.ParseAddress(msg.Header.Get("To")); err != nil || a.Address != address || a.Name != "" {
		t.Errorf("to %v, %v", a, err)
	}
	if at, err := msg.Header.Date(); err != nil || at.Before(before.Truncate(time.Second)) || at.After(time.Now().Add(time.Second)) {
		t.Errorf("date %v, %v", at, err)
	}
	kind, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil || kind != "text/plain" || !strings.EqualFold(params["charset"], "utf-8") {
		t.Errorf("type %s, charset %s, %v", kind, params["charset"], err)
	}
	for header, want := range map[string]string{
		"Content-Transfer-Encoding": "8bit", "Mime-Version": "1.0", "Auto-Submitted": "auto-generated", "Bcc": "", "Cc": "", "Reply-To": "",
	} {
		if got := msg.Header.Get(header); got != want {
			t.Errorf("%s: %q", header, got)
		}
	}
	other, _ := got[1].parse(t)
	first, second := msg.Header.Get("Message-Id"), other.Header.Get("Message-Id")
	if !regexp.MustCompile(`^<[^<>@\s]+@[^<>@\s]+>$`).MatchString(first) || first == second {
		t.Errorf("message ids %s and %s", first, second)
	}
	head, _, _ := strings.Cut(got[0].data, "\r\n\r\n")
	for _, line := range strings.Split(head, "\r\n") {
		if len(line) > 998 || strings.ContainsFunc(line, func(r rune) bool { return r > '~' || r < ' ' && r != '\t' }) {
			t.Errorf("header line %q", line)
		}
	}
}

func TestNobodyWritesHeaders(t *testing.T) {
	s := &server{}
	s.start(t)
	m := open(t, "smtp", nil, s.at, "tls=off")
	for _, subject := range []string{
		"x\r\nBcc: eve@example.com", "x\nBcc: eve@example.com", "x\rBcc: eve@example.com", "x\r\n\r\nAnother body", "\r\n.\r\nMAIL FROM:<eve@example.com>",
	} {
		sent := hello
		sent.Subject = subject
		if err := m.Send(t.Context(), sent); err != nil {
			t.Fatalf("%q: %v", subject, err)
		}
		got := s.got()
		msg, body := got[len(got)-1].parse(t)
		if back, err := new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject")); err != nil || back != subject {
			t.Errorf("%q: arrives as %q, %v", subject, back, err)
		}
		if msg.Header.Get("Bcc") != "" || strings.TrimSpace(body) != strings.TrimSpace(hello.Text) || !slices.Equal(got[len(got)-1].to, []string{address}) {
			t.Errorf("%q: arrives as\n%s", subject, got[len(got)-1].data)
		}
	}
	before := len(s.got())
	for _, to := range []string{
		"", "dana", "dana@", "@example.com", "dana@example.com, eve@example.com", "dana@example.com\r\nBcc: eve@example.com",
		"dana@example.com>\r\nRCPT TO:<eve@example.com", "<dana@example.com> <eve@example.com>", "dana@exa\r\nmple.com", "dana\x00@example.com",
	} {
		sent := hello
		sent.To = to
		err := m.Send(t.Context(), sent)
		if !mail.IsPermanent(err) {
			t.Errorf("%q: %v", to, err)
		}
		if err != nil && strings.Contains(err.Error(), "example.com") {
			t.Errorf("%q: the address stands in: %v", to, err)
		}
	}
	if n := len(s.got()); n != before {
		t.Errorf("%d mails were sent to bad addresses", n-before)
	}
}

// A refusal with 5xx is final; one with 4xx is tried again. The words of the
// server are told, the recipient is not.
func TestWhatAServerRefuses(t *testing.T) {
	for _, verb := range []string{"MAIL", "RCPT", "DATA"} {
		for code, permanent := range map[int]bool{421: false, 450: false, 451: false, 452: false, 550: true, 552: true, 554: true} {
			t.Run(fmt.Sprintf("%s %d", verb, code), func(t *testing.T) {
				t.Parallel()
				s := &server{refuse: map[string]*smtp.SMTPError{
					verb: {Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 2}, Message: "not <" + address + "> today"},
				}}
				s.start(t)
				err := open(t, "smtp", nil, s.at, "tls=off").Send(t.Context(), hello)
				if err == nil || mail.IsPermanent(err) != permanent {
					t.Fatalf("permanent: %v: %v", !permanent, err)
				}
				if !strings.Contains(err.Error(), fmt.Sprint(code)) || !strings.Contains(err.Error(), "today") || strings.Contains(err.Error(), address) {
					t.Error(err)
				}
				if len(s.got()) != 0 {
					t.Error("the mail is there all the same")
				}
			})
		}
	}
}

func TestNothingListens(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for _, scheme := range []string{"smtp", "smtps"} {
		err := open(t, scheme, nil, l.Addr().String(), "").Send(t.Context(), hello)
		if err == nil || mail.IsPermanent(err) || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	s := &server{cert: &trusted, mechanisms: []string{"PLAIN"}, user: "u", pass: "p"}
	s.start(t)
	m := open(t, "smtp", url.UserPassword("u", "p"), s.at, "")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := m.Send(t.Context(), hello); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(s.got()); n != 8 {
		t.Errorf("%d mails", n)
	}
}

// A script plays a server by the letter: it answers each verb with a line, and
// falls silent, or hangs up, where it is told to.
type script struct {
	greeting string
	replies  map[string]string // by verb; "." answers the end of the data
	silent   string            // the verb that gets no answer; "" for the greeting
	hangsUp  string            // the verb at which the connection ends
}

var polite = map[string]string{
	"EHLO": "250-mx\r\n250 8BITMIME", "NOOP": "250 ok", "MAIL": "250 ok", "RCPT": "250 ok", "DATA": "354 go", ".": "250 queued", "RSET": "250 ok", "QUIT": "221 bye",
}

// play serves one connection until the client is gone. It returns what it read
// and whether a whole mail was accepted.
func (s script) play(conn net.Conn) (verbs []string, accepted bool) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	if s.greeting == "" { // silent
		_, _ = io.Copy(io.Discard, conn)
		return nil, false
	}
	if _, err := io.WriteString(conn, s.greeting+"\r\n"); err != nil {
		return nil, false
	}
	inData := false
	for in.Scan() {
		verb, _, _ := strings.Cut(strings.ToUpper(in.Text()), " ")
		if inData && in.Text() != "." {
			continue
		}
		inData = false
		verbs = append(verbs, verb)
		if verb == s.hangsUp {
			return verbs, accepted
		}
		if verb == s.silent {
			continue
		}
		reply := s.replies[verb]
		if reply == "" {
			reply = polite[verb]
		}
		inData = verb == "DATA" && strings.HasPrefix(reply, "3")
		accepted = accepted || verb == "." && strings.HasPrefix(reply, "2")
		if _, err := io.WriteString(conn, reply+"\r\n"); err != nil {
			return verbs, accepted
		}
	}
	return verbs, accepted
}

// against sends a mail to a script, over a pipe, so that clocks may be false. It
// returns once the client has let go of the connection.
func (s script) against(t *testing.T, ctx context.Context) (verbs []string, accepted bool, err error) {
	t.Helper()
	played := make(chan struct{})
	m := mail.Dialing(open(t, "smtp", nil, "mx.example", "tls=off"), func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() { defer close(played); verbs, accepted = s.play(server) }()
		return client, nil
	})
	err = m.Send(ctx, hello)
	<-played
	return verbs, accepted, err
}

// Whatever a server leaves unanswered, Send ends well before the outbox lends the
// mail to another server, and a mail that was accepted counts as sent.
func TestAServerThatStopsAnswering(t *testing.T) {
	const lease = time.Minute
	for _, verb := range []string{"", "EHLO", "NOOP", "MAIL", "RCPT", "DATA", ".", "RSET", "QUIT"} {
		t.Run("at "+verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := script{greeting: "220 mx", silent: verb}
				if verb == "" {
					s.greeting = ""
				}
				began := time.Now()
				_, accepted, err := s.against(t, t.Context())
				if took := time.Since(began); took < time.Second || took > lease/2 {
					t.Errorf("it took %v", took)
				}
				if accepted != (err == nil) || mail.IsPermanent(err) {
					t.Errorf("accepted: %v, error: %v", accepted, err)
				}
			})
		})
		t.Run("until the end of the context, at "+verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := script{greeting: "220 mx", silent: verb}
				if verb == "" {
					s.greeting = ""
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				_, accepted, err := s.against(t, ctx)
				if took := time.Since(began); took != time.Second {
					t.Errorf("it took %v", took)
				}
				if accepted && err != nil || !accepted && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("accepted: %v, error: %v", accepted, err)
				}
			})
		})
	}
}

func TestAServerThatHangsUp(t *testing.T) {
	for _, verb := range []string{"EHLO", "NOOP", "MAIL", "RCPT", "DATA", ".", "RSET", "QUIT"} {
		t.Run("at "+verb, func(t *testing.T) {
			_, accepted, err := script{greeting: "220 mx", hangsUp: verb}.against(t, t.Context())
			if accepted != (err == nil) || mail.IsPermanent(err) {
				t.Errorf("accepted: %v, error: %v", accepted, err)
			}
		})
	}
}

func TestAServerByTheLetter(t *testing.T) {
	for name, test := range map[string]struct {
		greeting          string
		replies           map[string]string
		sent, isPermanent bool
	}{
		"polite":                       {"220 mx", nil, true, false},
		"turned away at the door":      {"554 no service here", nil, false, false},
		"busy":                         {"421 too many connections", nil, false, false},
		"nonsense":                     {"HTTP/1.1 400 Bad Request", nil, false, false},
		"neither EHLO nor HELO":        {"220 mx", map[string]string{"EHLO": "502 no", "HELO": "502 no"}, false, false},
		"no 8BITMIME":                  {"220 mx", map[string]string{"EHLO": "250 mx"}, true, false},
		"only HELO":                    {"220 mx", map[string]string{"EHLO": "502 no", "HELO": "250 mx"}, true, false},
		"many lines":                   {"220 mx", map[string]string{"RCPT": "550-5.1.1 no such\r\n550 5.1.1 user"}, false, true},
		"final after the data":         {"220 mx", map[string]string{".": "554 5.7.1 spam"}, false, true},
		"full after the data":          {"220 mx", map[string]string{".": "452 4.3.1 full"}, false, false},
		"rude after the mail":          {"220 mx", map[string]string{"RSET": "500 what", "QUIT": "500 what"}, true, false},
		"refused, and rude afterwards": {"220 mx", map[string]string{"RCPT": "550 no", "RSET": "421 bye", "QUIT": "421 bye"}, false, true},
		"busy, and rude afterwards":    {"220 mx", map[string]string{"RCPT": "450 later", "RSET": "500 what", "QUIT": "500 what"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			verbs, accepted, err := script{greeting: test.greeting, replies: test.replies}.against(t, t.Context())
			if accepted != test.sent || (err == nil) != test.sent || mail.IsPermanent(err) != test.isPermanent {
				t.Errorf("accepted: %v, error: %v, after %s", accepted, err, verbs)
			}
		})
	}
}

// A handshake that never ends is bounded too.
func TestTLSThatStopsAnswering(t *testing.T) {
	for name, scheme := range map[string]string{"smtps": "smtps", "smtp to a port of smtps": "smtp"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				m := mail.Dialing(open(t, scheme, nil, "mx.example", ""), func(context.Context, string, string) (net.Conn, error) {
					client, server := net.Pipe()
					go func() {
						defer close(gone)
						if scheme == "smtp" {
							_ = tls.Server(server, &tls.Config{Certificates: []tls.Certificate{trusted}}).HandshakeContext(t.Context())
						}
						_, _ = io.Copy(io.Discard, server)
						server.Close()
					}()
					return client, nil
				})
				began := time.Now()
				err := m.Send(t.Context(), hello)
				<-gone
				if took := time.Since(began); err == nil || mail.IsPermanent(err) || took > 30*time.Second {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

func TestADialThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mail.Dialing(open(t, "smtp", nil, "mx.example", ""), func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		began := time.Now()
		if err := m.Send(t.Context(), hello); err == nil || mail.IsPermanent(err) {
			t.Error(err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
