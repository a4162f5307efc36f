package audit_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish/audit"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
)

// logged returns a place with a log of n errata, and a current snapshot that is missing.
func logged(t *testing.T, text string, n int) storage.Folder {
	t.Helper()
	place := storage.Folder(t.TempDir())
	l := translog.Log{Store: place, Signer: ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))}
	for i := range n {
		e := translog.Entry{Kind: translog.Erratum, At: time.Unix(1, 0), Snapshot: "s", Text: fmt.Sprint(text, i)}
		if _, err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := place.Swap(t.Context(), "current", []byte("0123456789abcdef0123\n"), ""); err != nil {
		t.Fatal(err)
	}
	return place
}

// hooked calls a function before a file is opened.
type hooked struct {
	storage.Opener
	before func(name string) error
}

func (h hooked) Open(ctx context.Context, name string) (storage.File, error) {
	if err := h.before(name); err != nil {
		return nil, err
	}
	return h.Opener.Open(ctx, name)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// seen writes the memory of a check of another place under the same address.
func seen(t *testing.T, heads, checkpoint string) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"a": map[string]string{"checkpoint": checkpoint, "seen": "2026-01-01T00:00:00Z"}})
	if err == nil {
		err = os.WriteFile(heads, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Two checks at the same time that are shown two heads: the second to remember compares.
func TestSimultaneousChecks(t *testing.T) {
	same := map[int]storage.Folder{}
	same[6] = logged(t, "a", 6)
	for name, tc := range map[string]struct {
		shown, other storage.Folder
		want         string
	}{
		"a shorter fork": {logged(t, "b", 5), same[6], "does not have the entries"},
		"a longer fork":  {logged(t, "b", 7), same[6], "the log was rewritten (fork)"},
		"as long":        {logged(t, "b", 6), same[6], "the log was rewritten (fork)"},
		"older":          {same[6], logged(t, "a", 4), ""},
		"the same":       {same[6], same[6], ""},
	} {
		t.Run(name, func(t *testing.T) {
			heads := filepath.Join(t.TempDir(), "heads.json")
			place := hooked{tc.shown, func(name string) error {
				if strings.HasPrefix(name, "log/tile/entries") {
					seen(t, heads, readFile(t, filepath.Join(string(tc.other), "log/checkpoint")))
				}
				return nil
			}}
			_, err := audit.Run(t.Context(), audit.Options{From: place, Address: "a", Heads: heads, Now: time.Unix(0, 0)})
			var problem *audit.PlaceError
			if !errors.As(err, &problem) {
				t.Fatal(err)
			}
			if tc.want == "" {
				if !strings.Contains(err.Error(), "the snapshot is not there") || !strings.Contains(readFile(t, heads), `\n6\n`) {
					t.Errorf("%v\n%s", err, readFile(t, heads))
				}
				return
			}
			if problem.File != "log/checkpoint" || !strings.Contains(problem.Reason, tc.want) || !strings.Contains(problem.Next, heads) {
				t.Errorf("%v; next: %s", err, problem.Next)
			}
			if !strings.Contains(readFile(t, heads), `\n6\n`) {
				t.Error("the other head is forgotten")
			}
		})
	}
}

// A damaged memory blames no one but itself; wrong entries are not remembered; a file that
// cannot be read is not called wrong.
func TestWhoIsBlamed(t *testing.T) {
	busy := errors.New("503")
	for name, tc := range map[string]struct {
		memory  string
		damaged string // file of the log
		busy    string
		want    string
	}{
		"no JSON":         {memory: "{", want: "heads.json: unexpected end"},
		"damaged head":    {memory: `{"a":{"checkpoint":"firstpick-log/00"}}`, want: "heads.json: the head of a is damaged"},
		"missing entries": {damaged: "log/tile/entries/000.p/3", want: "log/tile/entries/000.p/3: missing"},
		"missing tile":    {damaged: "log/tile/0/000.p/3", want: "log/tile/0/000.p/3: missing"},
		"busy":            {busy: "log/tile/0/000.p/3", want: "503"},
		"busy current":    {busy: "current", want: "503"},
	} {
		t.Run(name, func(t *testing.T) {
			place := logged(t, "a", 3)
			heads := filepath.Join(t.TempDir(), "heads.json")
			if tc.memory != "" {
				if err := os.WriteFile(heads, []byte(tc.memory), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tc.damaged != "" {
				if err := place.Remove(t.Context(), tc.damaged); err != nil {
					t.Fatal(err)
				}
			}
			_, err := audit.Run(t.Context(), audit.Options{Address: "a", Heads: heads, From: hooked{place, func(name string) error {
				if name == tc.busy {
					return busy
				}
				return nil
			}}})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatal(err)
			}
			if got := errors.As(err, new(*audit.PlaceError)); got != (tc.damaged != "") {
				t.Errorf("wrong files: %t: %v", got, err)
			}
			if got := errors.As(err, new(*audit.HeadsError)); got != (tc.memory != "") {
				t.Errorf("wrong memory: %t: %v", got, err)
			}
			if _, err := os.Stat(heads); err == nil && tc.memory == "" {
				t.Error("the head is remembered")
			}
		})
	}
}
