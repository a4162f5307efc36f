package cli

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/publish"
	assembly "github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// firstpick runs a command on a data folder.
func firstpick(t *testing.T, data string, args ...string) {
	t.Helper()
	env := OS()
	var out bytes.Buffer
	env.Args, env.Stdin, env.Stdout, env.Stderr = append(args, "--data", data), strings.NewReader(""), &out, &out
	env.Getenv = func(name string) string {
		if strings.HasPrefix(name, envPrefix) {
			return ""
		}
		return os.Getenv(name)
	}
	if err := newRootCmd(env).ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out.String())
	}
}

// keyPair writes an Ed25519 key as `openssl genpkey` and `openssl pkey -pubout` do.
func keyPair(t *testing.T, seed string) (private, public string) {
	t.Helper()
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat(seed, ed25519.SeedSize)))
	priv, err1 := x509.MarshalPKCS8PrivateKey(key)
	pub, err2 := x509.MarshalPKIXPublicKey(key.Public())
	dir := t.TempDir()
	private, public = filepath.Join(dir, "key.pem"), filepath.Join(dir, "key.pub")
	err3 := os.WriteFile(private, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: priv}), 0o600)
	err4 := os.WriteFile(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub}), 0o600)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return private, public
}

// TestServerTrustsSignedSnapshotsAlone: where keys are trusted, a snapshot without a
// signature or with one of another key is refused, and the one before stays.
func TestServerTrustsSignedSnapshotsAlone(t *testing.T) {
	data := t.TempDir()
	private, public := keyPair(t, "k")
	otherPrivate, otherPublic := keyPair(t, "o")
	root := filepath.Join(data, "snapshots")
	trusting := func(files ...string) *assembly.Follower {
		t.Helper()
		keys, err := trustedKeys(files)
		if err != nil {
			t.Fatal(err)
		}
		return &assembly.Follower{Snapshots: &published{place: publish.Local(root), trusted: keys}, BaseURL: "http://x", Holder: &snapshotview.Holder{}}
	}
	f := trusting(public)
	serves := func(about string, f *assembly.Follower, want string) {
		t.Helper()
		var log bytes.Buffer
		f.Log = slog.New(slog.NewTextHandler(&log, nil))
		f.Poll(t.Context())
		got := ""
		if s := f.Holder.Current(); s != nil {
			got = s.ID
		}
		current, err := publish.Local(root).Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got != want || strings.Contains(log.String(), "refused") != (want != current) {
			t.Errorf("%s: serves %q, want %q; current is %s; log: %s", about, got, want, current, log.String())
		}
	}
	// again returns a follower that refused no snapshot yet and serves the same one.
	again := func() *assembly.Follower {
		next := trusting(public)
		next.Holder = f.Holder
		return next
	}
	current := func() string {
		t.Helper()
		id, err := publish.Local(root).Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	firstpick(t, data, "demo", "--no-serve")
	first := current()
	serves("unsigned, before any", f, "")
	serves("unsigned, where no key is trusted", trusting(), first)
	firstpick(t, data, "publish", "--sign", private)
	if current() != first {
		t.Fatal("signing changed the id")
	}
	serves("signed", f, first)

	runs, err := os.ReadDir(filepath.Join(data, "runs"))
	if err != nil || len(runs) < 2 {
		t.Fatal(len(runs), err)
	}
	firstpick(t, data, "publish", "--run", runs[0].Name())
	second := current()
	if second == first {
		t.Fatal("another run gives the same snapshot")
	}
	serves("a newer one, unsigned", f, first)
	f = again()
	firstpick(t, data, "publish", "--run", runs[0].Name(), "--sign", otherPrivate)
	serves("a newer one, signed with another key", f, first)
	serves("a server that trusts both keys", trusting(public, otherPublic), second)
	f = again()
	forged := filepath.Join(root, second, "manifest.sig")
	if err := os.WriteFile(forged, []byte("not base64!\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	serves("a signature that is not one", f, first)
	firstpick(t, data, "publish", "--run", runs[0].Name(), "--sign", private)
	serves("a newer one, signed", f, second)
}

func TestTrustNamesPublicKeys(t *testing.T) {
	private, public := keyPair(t, "k")
	for _, files := range [][]string{{"/no/such/key"}, {public, private}} {
		if _, err := trustedKeys(files); err == nil || !strings.Contains(err.Error(), "trust: ") || !strings.Contains(err.Error(), files[len(files)-1]) {
			t.Errorf("%q: %v", files, err)
		}
	}
}
