package translog_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
)

var errBusy = errors.New("503")

// busy cannot read one file.
type busy struct {
	storage.Opener
	name string
}

func (b busy) Open(ctx context.Context, name string) (storage.File, error) {
	if name == b.name {
		return nil, errBusy
	}
	return b.Opener.Open(ctx, name)
}

// Damaged files are named; those that cannot be read are not called damaged.
func TestDamageNamesTheFile(t *testing.T) {
	base := t.TempDir()
	var entries []translog.Entry
	for i := range 300 {
		entries = append(entries, erratum(fmt.Sprint(i)))
	}
	l := translog.Log{Store: storage.Folder(base), Signer: key('k')}
	appendAll(t, l, entries[:3]...)
	before := open(t, l.Store).Head
	appendAll(t, l, entries[3:]...)
	for _, name := range []string{"tile/0/000", "tile/0/001.p/44", "tile/1/000.p/1", "tile/entries/000", "tile/entries/001.p/44"} {
		name = "log/" + name
		for damage, change := range map[string]func(place string, data []byte) error{
			"missing": func(place string, _ []byte) error { return os.Remove(place) },
			"short":   func(place string, data []byte) error { return os.WriteFile(place, data[:len(data)-5], 0o600) },
			"changed": func(place string, data []byte) error {
				data[20] ^= 1
				return os.WriteFile(place, data, 0o600)
			},
			"busy": func(string, []byte) error { return nil },
		} {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			place := filepath.Join(dir, name)
			if err := change(place, sampleFile(t, dir, name)); err != nil {
				t.Fatal(err)
			}
			var from storage.Opener = storage.Folder(dir)
			if damage == "busy" {
				from = busy{from, name}
			}
			v := open(t, from)
			_, err := v.Entries(t.Context(), 0, v.Size)
			var file *translog.FileError
			if wrong := errors.As(err, &file); wrong == (damage == "busy") || errors.Is(err, errBusy) != (damage == "busy") {
				t.Errorf("%s of %s: %v", damage, name, err)
			} else if wrong && file.Path != name && (damage != "changed" || !strings.Contains(file.Error(), name)) {
				t.Errorf("%s of %s: %v", damage, name, err)
			}
			if strings.Contains(name, "tile/0/000") || strings.Contains(name, "tile/1") {
				if err := v.Extends(t.Context(), before); errors.As(err, &file) == (damage == "busy") {
					t.Errorf("%s of %s: consistency: %v", damage, name, err)
				}
			}
		}
	}
}

// A head of more entries than are read is refused before any of them is read.
func TestSizeIsLimited(t *testing.T) {
	k := key('k')
	origin := translog.Origin(open(t, storage.Folder(sample(t))).Key)
	text := fmt.Sprintf("%s\n%d\n%s\n", origin, 1_000_001, base64.StdEncoding.EncodeToString(make([]byte, 32)))
	keyID := sha256.Sum256(append([]byte(origin+"\n\x01"), k[32:]...))
	sig := append(keyID[:4:4], ed25519.Sign(k, []byte(text))...)
	data := text + "\n\u2014 " + origin + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
	_, err := translog.ParseCheckpoint([]byte(data))
	if err == nil || !strings.Contains(err.Error(), "log/checkpoint: 1000001 entries, and a log has at most 1000000") {
		t.Error(err)
	}
}
