// The tests trust a certificate of their own in place of the system's.
//
//go:debug x509usefallbackroots=1

package mail_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	netmail "net/mail"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"go.uber.org/goleak"

	"github.com/firstpick/firstpick/server/kit/mail"
)

// Certificates for 127.0.0.1, ::1 and localhost, for another host, and one that
// nobody trusts.
var trusted, elsewhere, unknown tls.Certificate

func TestMain(m *testing.M) {
	roots := x509.NewCertPool()
	trusted = certificate("localhost", net.IPv4(127, 0, 0, 1), net.IPv6loopback)
	elsewhere = certificate("mail.example")
	unknown = certificate("localhost", net.IPv4(127, 0, 0, 1))
	roots.AddCert(trusted.Leaf)
	roots.AddCert(elsewhere.Leaf)
	x509.SetFallbackRoots(roots)
	goleak.VerifyTestMain(m)
}

func certificate(name string, ips ...net.IP) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{name}, IPAddresses: ips, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// A received is a mail as the server got it.
type received struct {
	from   string
	to     []string
	data   string
	user   string // who signed in
	secure bool
}

func (r received) parse(t *testing.T) (*netmail.Message, string) {
	t.Helper()
	msg, err := netmail.ReadMessage(strings.NewReader(r.data))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(msg.Body)
	if err != nil {
		t.Fatal(err)
	}
	return msg, string(body)
}

// A server is an SMTP server. Its fields are set before start.
type server struct {
	network    string // default: tcp4
	cert       *tls.Certificate
	implicit   bool     // TLS from the first byte
	mechanisms []string // of AUTH, also without TLS
	user, pass string
	refuse     map[string]*smtp.SMTPError // by verb

	at string // host and port

	mu    sync.Mutex
	mails []received
	auths int
}

func (s *server) start(t *testing.T) {
	t.Helper()
	be := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		_, secure := c.TLSConnectionState()
		plain := &session{server: s, mail: received{secure: secure}}
		if s.mechanisms == nil {
			return plain, nil
		}
		return &authSession{plain}, nil
	}))
	be.Domain, be.AllowInsecureAuth = "mx.test", true
	be.ErrorLog = log.New(io.Discard, "", 0) // broken handshakes are what some tests are about
	network, address := "tcp4", "127.0.0.1:0"
	if s.network == "tcp6" {
		network, address = "tcp6", "[::1]:0"
	}
	l, err := net.Listen(network, address)
	if err != nil {
		if network == "tcp6" {
			t.Skip("no IPv6 here:", err)
		}
		t.Fatal(err)
	}
	s.at = l.Addr().String()
	if s.cert != nil {
		be.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*s.cert}}
	}
	if s.implicit {
		l, be.TLSConfig = tls.NewListener(l, be.TLSConfig), nil
	}
	done := make(chan error, 1)
	go func() { done <- be.Serve(l) }()
	t.Cleanup(func() {
		err := be.Close()
		l.Close() // for a server that has not begun to serve
		if err = errors.Join(err, <-done); err != nil {
			t.Error(err)
		}
	})
}

func (s *server) got() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mails
}

// only returns the single mail that the server must have by now.
func (s *server) only(t *testing.T) received {
	t.Helper()
	got := s.got()
	if len(got) != 1 {
		t.Fatalf("the server has %d mails", len(got))
	}
	return got[0]
}

func (s *server) refusal(verb string) error {
	if e := s.refuse[verb]; e != nil {
		return e
	}
	return nil
}

type session struct {
	server *server
	mail   received
}

func (s *session) Reset()        { s.mail.from, s.mail.to = "", nil }
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mail.from = from
	return s.server.refusal("MAIL")
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.to = append(s.mail.to, to)
	return s.server.refusal("RCPT")
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.refusal("DATA"); err != nil {
		return err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.mail.data = string(data)
	s.server.mails = append(s.server.mails, s.mail)
	return nil
}

type authSession struct{ *session }

func (a *authSession) AuthMechanisms() []string { return a.server.mechanisms }

func (a *authSession) Auth(mech string) (sasl.Server, error) {
	check := func(user, pass string) error {
		a.server.mu.Lock()
		defer a.server.mu.Unlock()
		a.server.auths++
		if user != a.server.user || pass != a.server.pass {
			return smtp.ErrAuthFailed
		}
		a.mail.user = user
		return nil
	}
	if mech == "LOGIN" {
		return &login{check: check}, nil
	}
	return sasl.NewPlainServer(func(_, user, pass string) error { return check(user, pass) }), nil
}

// login is the server's side of AUTH LOGIN.
type login struct {
	check func(user, pass string) error
	user  *string
}

func (l *login) Next(response []byte) ([]byte, bool, error) {
	switch {
	case response == nil:
		return []byte("Username:"), false, nil
	case l.user == nil:
		user := string(response)
		l.user = &user
		return []byte("Password:"), false, nil
	default:
		return nil, true, l.check(*l.user, string(response))
	}
}

const (
	from    = "firstpick <service@firstpick.example>"
	address = "dana@example.com"
)

var hello = mail.Message{To: address, Subject: "Sign in", Text: "Open this link.\n"}

// open returns a mailer; scheme and query are put around HOST:PORT.
func open(t *testing.T, scheme string, user *url.Userinfo, at, query string) mail.Mailer {
	t.Helper()
	m, err := mail.Open((&url.URL{Scheme: scheme, User: user, Host: at, RawQuery: query}).String(), from, slog.New(slog.DiscardHandler), ids())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ids returns a source of ids that counts.
func ids() func() string {
	var mu sync.Mutex
	n := 0
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return "mail-" + strconv.Itoa(n)
	}
}
