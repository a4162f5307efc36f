// Package mail sends mail, plain text with at most one picture: by SMTP, into a folder of
// .eml files, or to the log. The last two are for development and tests.
package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// A Message is a mail to one person.
type Message struct {
	// ID names the mail, the same at every try; its Message-ID is made of it.
	ID      string `json:"-"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	// Unsubscribe is a page where the reader may end mails of the kind; empty for
	// requested mails.
	Unsubscribe string `json:"unsubscribe,omitempty"`
	// Picture is shown below the text; nil if absent.
	Picture *Picture `json:"picture,omitempty"`
}

// A Picture is a PNG in a mail.
type Picture struct {
	Name string `json:"name"` // of the file
	PNG  []byte `json:"png"`
	Alt  string `json:"alt"` // what it shows, for who does not see it
}

// A Mailer sends a message. An error that IsPermanent reports is not worth
// another try.
type Mailer interface {
	Send(ctx context.Context, m Message) error
}

const (
	dialTimeout = 10 * time.Second
	submission  = 587
	implicitTLS = 465
)

// Open returns the mailer of an address:
//
//	log:                              to the log
//	file:///DIR                       .eml files in DIR
//	smtp://USER:PASSWORD@HOST:587     STARTTLS; ?tls=off for a relay on this machine
//	smtps://USER:PASSWORD@HOST:465    TLS from the first byte
func Open(address, from string, log *slog.Logger, newID func() string) (Mailer, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("mail: malformed address; use log:, file:///DIR or smtp://USER:PASSWORD@HOST:PORT")
	}
	if _, err := compose(Message{To: "a@example.com", Subject: "s", Text: "t"}, from); err != nil {
		return nil, fmt.Errorf("mail-from: write NAME <ADDRESS>: %w", err)
	}
	switch u.Scheme {
	case "log":
		return logMailer{log}, nil
	case "file":
		if u.Host != "" || u.Path == "" {
			return nil, errors.New("mail: file: needs an absolute folder, such as file:///var/mail/firstpick")
		}
		dir := filepath.FromSlash(u.Path)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("mail: %w", err)
		}
		return fileMailer{dir: dir, from: from, newID: newID}, nil
	case "smtp", "smtps":
		return newSMTP(u, from)
	case "":
		return nil, errors.New("mail: missing scheme; use log:, file:///FOLDER, smtp://HOST or smtps://HOST")
	default:
		return nil, fmt.Errorf("mail: unknown scheme %q; use log:, file:///FOLDER, smtp://HOST or smtps://HOST", u.Scheme)
	}
}

var errRecipient = errors.New("the recipient is no mail address")

func compose(m Message, from string) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := msg.From(from); err != nil {
		return nil, err
	}
	if err := msg.To(m.To); err != nil {
		return nil, errRecipient // without the address: this ends in the log
	}
	msg.Subject(m.Subject)
	msg.SetDate()
	if m.ID != "" {
		_, domain, _ := strings.Cut(msg.GetFrom()[0].Address, "@")
		msg.SetMessageIDWithValue(m.ID + "@" + domain)
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834
	if m.Unsubscribe != "" {
		msg.SetGenHeader(gomail.HeaderListUnsubscribe, "<"+m.Unsubscribe+">") // RFC 2369
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text, gomail.WithPartEncoding(gomail.NoEncoding))
	if p := m.Picture; p != nil {
		page := `<div style="white-space: pre-wrap">` + html.EscapeString(m.Text) + `</div><p><img src="cid:` + p.Name + `" alt="` + html.EscapeString(p.Alt) + `" width="600"></p>`
		msg.AddAlternativeString(gomail.TypeTextHTML, page)
		if err := msg.EmbedReader(p.Name, bytes.NewReader(p.PNG), gomail.WithFileContentID(p.Name), gomail.WithFileDescription(p.Alt), gomail.WithFileContentType("image/png")); err != nil {
			return nil, err
		}
	}
	return msg, nil
}

type logMailer struct{ log *slog.Logger }

// InLog reports whether a mailer writes mails to the log, where their reader has to look.
func InLog(m Mailer) bool {
	_, ok := m.(logMailer)
	return ok
}

func (l logMailer) Send(_ context.Context, m Message) error {
	l.log.Info("mail", "to", m.To, "subject", m.Subject, "text", m.Text)
	return nil
}

type fileMailer struct {
	dir, from string
	newID     func() string
}

// Send writes the mail under a temporary name first, so that a reader of *.eml
// never sees half of one.
func (f fileMailer) Send(_ context.Context, m Message) error {
	msg, err := compose(m, f.from)
	if err != nil {
		return permanent{err}
	}
	var buf bytes.Buffer
	if _, err := msg.WriteTo(&buf); err != nil {
		return err
	}
	name := filepath.Join(f.dir, f.newID())
	if err := os.WriteFile(name+".tmp", buf.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name+".eml")
}

type smtpMailer struct {
	host, address, from string
	tls                 bool // from the first byte
	opts                []gomail.Option
	dial                gomail.DialContextFunc
}

func newSMTP(u *url.URL, from string) (Mailer, error) {
	if u.Hostname() == "" {
		return nil, errors.New("mail: incomplete address; use smtp://USER:PASSWORD@HOST:PORT")
	}
	port := submission
	opts := []gomail.Option{gomail.WithTimeout(dialTimeout)}
	switch {
	case u.Scheme == "smtps":
		port = implicitTLS
		opts = append(opts, gomail.WithTLSPolicy(gomail.TLSOpportunistic)) // finds that there is TLS already
	case u.Query().Get("tls") == "off":
		opts = append(opts, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		opts = append(opts, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if p := u.Port(); p != "" {
		var err error
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
			return nil, fmt.Errorf("mail: port %s is not between 1 and 65535", p)
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		opts = append(opts, gomail.WithUsername(u.User.Username()), gomail.WithPassword(password), gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover))
	}
	if _, err := gomail.NewClient(u.Hostname(), opts...); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	return smtpMailer{
		host: u.Hostname(), address: net.JoinHostPort(u.Hostname(), strconv.Itoa(port)), from: from,
		tls: u.Scheme == "smtps", opts: opts, dial: (&net.Dialer{}).DialContext,
	}, nil
}

// Send opens a connection per mail: mails are rare. The connection is closed when Send
// returns or ctx ends; the library does neither.
func (s smtpMailer) Send(ctx context.Context, m Message) error {
	msg, err := compose(m, s.from)
	if err != nil {
		return permanent{err}
	}
	sending, done := context.WithCancel(ctx)
	defer done()
	c, err := gomail.NewClient(s.host, append(s.opts[:len(s.opts):len(s.opts)], gomail.WithDialContextFunc(
		func(dialing context.Context, network, _ string) (net.Conn, error) {
			return s.connect(sending, dialing, network)
		}))...)
	if err != nil {
		return err
	}
	err = c.DialAndSendWithContext(ctx, msg)
	var refused *gomail.SendError
	switch {
	case err == nil, msg.IsDelivered(): // the mail was accepted, whatever failed afterwards
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refused) && !refused.IsTemp() && refused.ErrorCode() >= 500:
		return permanent{errors.New(hide(err.Error(), m.To))}
	default:
		return errors.New(hide(err.Error(), m.To))
	}
}

// connect dials while dialing lives. The connection lives as long as sending.
func (s smtpMailer) connect(sending, dialing context.Context, network string) (net.Conn, error) {
	conn, err := s.dial(dialing, network, s.address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(sending, func() { _ = conn.Close() })
	if !s.tls {
		return conn, nil
	}
	secure := tls.Client(conn, &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12})
	return secure, secure.HandshakeContext(dialing)
}

// hide removes an address from a server's reply, which is logged.
func hide(text, address string) string { return strings.ReplaceAll(text, address, "(recipient)") }

type permanent struct{ error }

// IsPermanent reports whether a retry would fail too.
func IsPermanent(err error) bool {
	var p permanent
	return errors.As(err, &p)
}
