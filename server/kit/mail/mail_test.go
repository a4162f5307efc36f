package mail_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/firstpick/firstpick/server/kit/mail"
)

// A mistake in a flag is answered with what to write, and never with the
// password.
func TestAddressesThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ address, from, says string }{
		"nothing":              {"", from, "missing scheme; use log:, file:///FOLDER, smtp://HOST or smtps://HOST"},
		"another scheme":       {"sendmail:/usr/sbin", from, `unknown scheme "sendmail"; use log:`},
		"a host alone":         {"mail.example.com", from, "use log:"},
		"a host and port":      {"mail.example.com:25", from, "use log:"},
		"no address at all":    {"smtp://u:hush@host:po rt", from, "malformed address; use log:, file:///DIR or smtp://"},
		"a port of letters":    {"smtp://u:hush@host:port", from, "smtp://USER:PASSWORD@HOST:PORT"},
		"port 0":               {"smtp://u:hush@host:0", from, "port 0 is not between 1 and 65535"},
		"port 65536":           {"smtps://u:hush@host:65536", from, "port 65536 is not between 1 and 65535"},
		"smtp without host":    {"smtp://", from, "incomplete address; use smtp://USER:PASSWORD@HOST:PORT"},
		"smtp, user, no host":  {"smtp://u:hush@", from, "incomplete address; use smtp://USER:PASSWORD@HOST:PORT"},
		"smtp, port only":      {"smtps://:465", from, "incomplete address; use smtp://USER:PASSWORD@HOST:PORT"},
		"a relative folder":    {"file://mails", from, "absolute folder, such as file:///var/mail/firstpick"},
		"no folder":            {"file:", from, "absolute folder, such as file:///var/mail/firstpick"},
		"a sender without @":   {"log:", "firstpick", "mail-from: write NAME <ADDRESS>"},
		"no sender":            {"log:", "", "mail-from: write NAME <ADDRESS>"},
		"two senders":          {"log:", "a@example.com, b@example.com", "mail-from: write NAME <ADDRESS>"},
		"a sender with a line": {"log:", "a@example.com\r\nBcc: b@example.com", "mail-from: write NAME <ADDRESS>"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := mail.Open(test.address, test.from, slog.New(slog.DiscardHandler), ids())
			if err == nil || m != nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("%v, %v", m, err)
			}
			if strings.Contains(err.Error(), "hush") {
				t.Error("the password stands in:", err)
			}
		})
	}
}

func TestAddressesThatAreTaken(t *testing.T) {
	for _, address := range []string{
		"log:", "smtp://host", "smtps://host", "smtp://host:2525", "smtp://[::1]:25?tls=off", "smtp://u:p@host", "smtp://u@host", "smtp://u%40example.com:p%2F@host:587",
		"file://" + t.TempDir(),
	} {
		if m, err := mail.Open(address, from, slog.New(slog.DiscardHandler), ids()); err != nil || m == nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestMailsInAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by us")
	m, err := mail.Open("file://"+strings.ReplaceAll(dir, " ", "%20"), from, slog.New(slog.DiscardHandler), ids())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatal(info.Mode(), err)
	}
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if err := m.Send(t.Context(), mail.Message{To: address, Subject: fmt.Sprintf("Grüße %d", i), Text: fmt.Sprintf("text %d 世界\n", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	bodies := map[string]bool{}
	for _, file := range files {
		info, err := file.Info()
		if err != nil || info.Mode() != 0o600 || filepath.Ext(file.Name()) != ".eml" {
			t.Error(file.Name(), info.Mode(), err)
		}
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		msg, body := received{data: string(data)}.parse(t)
		if msg.Header.Get("To") != "<"+address+">" || msg.Header.Get("Subject") == "" || msg.Header.Get("Date") == "" {
			t.Errorf("%s", data)
		}
		bodies[strings.TrimSpace(body)] = true
	}
	for i := range 10 {
		if !bodies[fmt.Sprintf("text %d 世界", i)] {
			t.Errorf("mail %d is missing", i)
		}
	}
}

func TestAFolderThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := mail.Open("file://"+file+"/mails", from, slog.New(slog.DiscardHandler), ids()); m != nil || err == nil || !strings.Contains(err.Error(), "mail: ") {
		t.Errorf("%v, %v", m, err)
	}
	mails := filepath.Join(dir, "mails")
	m, err := mail.Open("file://"+mails, from, slog.New(slog.DiscardHandler), ids())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Send(t.Context(), mail.Message{To: "nobody", Subject: "s", Text: "t"}); !mail.IsPermanent(err) {
		t.Error("a bad recipient:", err)
	}
	if err := os.Remove(mails); err != nil { // and nothing was left in it
		t.Fatal(err)
	}
	if err := m.Send(t.Context(), hello); !errors.Is(err, fs.ErrNotExist) || mail.IsPermanent(err) {
		t.Error("a folder that is gone:", err)
	}
	if os.Geteuid() == 0 {
		return // root may write everywhere
	}
	if err := os.Mkdir(mails, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := m.Send(t.Context(), hello); !errors.Is(err, fs.ErrPermission) || mail.IsPermanent(err) {
		t.Error("a folder without rights:", err)
	}
}

// The log mailer is for development: the whole mail, links too, stands in the
// log, as one record that a message cannot break out of.
func TestMailsInTheLog(t *testing.T) {
	var out bytes.Buffer
	m, err := mail.Open("log:", from, slog.New(slog.NewTextHandler(&out, nil)), ids())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Send(t.Context(), mail.Message{To: address, Subject: "s\nlevel=ERROR", Text: "first\nsecond\n"}); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, want := range []string{"msg=mail", "to=" + address, `subject="s\nlevel=ERROR"`, `text="first\nsecond\n"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	if strings.Count(got, "\n") != 1 {
		t.Error("more than one line:", got)
	}
}

func TestOnlyRefusalsArePermanent(t *testing.T) {
	for _, err := range []error{nil, errors.New("550 no"), fs.ErrNotExist} {
		if mail.IsPermanent(err) {
			t.Error(err)
		}
	}
}
