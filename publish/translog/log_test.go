package translog_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
)

func key(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(seed), ed25519.SeedSize)))
}

func at(i int) time.Time { return time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC) }

func erratum(text string) translog.Entry {
	return translog.Entry{Kind: translog.Erratum, At: at(0), Snapshot: "s", Text: text}
}

func appendAll(t *testing.T, l translog.Log, entries ...translog.Entry) int64 {
	t.Helper()
	first, err := l.Append(t.Context(), entries...)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

func open(t *testing.T, from storage.Opener) *translog.View {
	t.Helper()
	v, err := translog.Open(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// texts returns the texts of all entries.
func texts(t *testing.T, v *translog.View) (out []string) {
	t.Helper()
	entries, err := v.Entries(t.Context(), 0, v.Size)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Text)
	}
	return out
}

// root is the tree hash by the recursive definition of RFC 6962, 2.1.
func root(leaves [][]byte) [32]byte {
	if len(leaves) == 1 {
		return sha256.Sum256(append([]byte{0}, leaves[0]...))
	}
	k := 1
	for k*2 < len(leaves) {
		k *= 2
	}
	left, right := root(leaves[:k]), root(leaves[k:])
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

// leaves reads the entries as the layout stores them, without the package.
func leaves(t *testing.T, dir string, size int) (out [][]byte) {
	t.Helper()
	for n := 0; n*256 < size; n++ {
		name := fmt.Sprintf("log/tile/entries/%03d", n)
		if width := size - n*256; width < 256 {
			name += fmt.Sprintf(".p/%d", width)
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for len(data) > 0 {
			end := 2 + int(data[0])<<8 + int(data[1])
			out, data = append(out, data[2:end]), data[end:]
		}
	}
	return out
}

func TestHeadsAreRFC6962(t *testing.T) {
	dir := t.TempDir()
	l := translog.Log{Store: storage.Folder(dir), Signer: key('k')}
	var heads []translog.Head
	var first []byte
	for size, step := 0, 1; size < 600; step = (step*7)%61 + 1 {
		var batch []translog.Entry
		for range step {
			batch = append(batch, erratum(fmt.Sprint("entry ", size+len(batch))))
		}
		if first := appendAll(t, l, batch...); first != int64(size) {
			t.Fatalf("first index %d, want %d", first, size)
		}
		size += step
		v := open(t, l.Store)
		heads = append(heads, v.Head)
		if first == nil {
			first = v.Checkpoint
		}
		if want := root(leaves(t, dir, size)); v.Size != int64(size) || v.Hash != want {
			t.Fatalf("size %d, root %s, want %d, %x", v.Size, v.Hash, size, want)
		}
	}
	v := open(t, l.Store)
	for i, text := range texts(t, v) {
		if text != fmt.Sprint("entry ", i) {
			t.Fatalf("entry %d is %q", i, text)
		}
	}
	for _, h := range heads {
		if err := v.Extends(t.Context(), h); err != nil {
			t.Error(err)
		}
		h.Hash[3]++
		if err := v.Extends(t.Context(), h); !errors.As(err, new(*translog.ForkError)) {
			t.Errorf("another head of size %d: %v", h.Size, err)
		}
		if err := v.Agrees(t.Context(), h); !errors.As(err, new(*translog.ForkError)) {
			t.Errorf("another head of size %d: %v", h.Size, err)
		}
	}
	small, err := translog.ParseCheckpoint(first)
	if err != nil {
		t.Fatal(err)
	}
	was := *v
	was.Head = small
	if err := was.Agrees(t.Context(), v.Head); err != nil {
		t.Errorf("a newer head: %v", err)
	}
	was.Hash[3]++
	if err := was.Agrees(t.Context(), v.Head); !errors.As(err, new(*translog.ForkError)) {
		t.Errorf("a newer head that forks: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "log/tile/*/000.p")); len(left) > 1 { // that of level 1
		t.Errorf("partial tiles of full ones are left: %v", left)
	}
	if err := heads[0].Key.Equal(v.Key); !err {
		t.Error("the key changed")
	}
	if first := heads[0]; errors.As((&translog.View{Head: first}).Extends(t.Context(), v.Head), new(*translog.ForkError)) != true {
		t.Error("a truncated log is accepted")
	}
}

func TestAnotherKeyIsRefused(t *testing.T) {
	s := storage.Folder(t.TempDir())
	if _, err := translog.Open(t.Context(), s); !errors.Is(err, translog.ErrNoLog) {
		t.Errorf("a place without a log: %v", err)
	}
	appendAll(t, translog.Log{s, key('a')}, erratum("one"))
	if _, err := (translog.Log{s, key('b')}).Append(t.Context(), erratum("two")); !errors.Is(err, translog.ErrOtherKey) {
		t.Errorf("another key: %v", err)
	}
	before := open(t, s).Head
	other := storage.Folder(t.TempDir())
	appendAll(t, translog.Log{other, key('b')}, erratum("one"))
	if err := open(t, other).Extends(t.Context(), before); !errors.As(err, new(*translog.ForkError)) {
		t.Errorf("the log of another key: %v", err)
	}
}

func TestEntriesAreValidated(t *testing.T) {
	l := translog.Log{storage.Folder(t.TempDir()), key('k')}
	for want, e := range map[string]translog.Entry{
		`unknown kind "note"`: {Kind: "note", At: at(0)}, "at of the removal is missing": {Kind: translog.Removal, Snapshot: "s"},
		"reason of the retraction is missing":                       {Kind: translog.Retraction, At: at(0), Snapshot: "s"},
		"text of the erratum is too long: 2001 bytes, at most 2000": erratum(strings.Repeat("x", 2001)),
		"manifestSha256 of the snapshot is missing":                 {Kind: translog.Snapshot, At: at(0), ID: "s"},
		"planned of the registration is missing":                    {Kind: translog.Registration, At: at(0), Eval: "e", Category: "c", SHA256: "d"},
	} {
		if _, err := l.Append(t.Context(), e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	hostile := erratum("line\nbreak \u2028 \x00\x7f \xff <script> \u202e")
	appendAll(t, l, hostile)
	if got := texts(t, open(t, l.Store)); len(got) != 1 || got[0] != strings.ToValidUTF8(hostile.Text, "\ufffd") {
		t.Errorf("%q", got)
	}
}

// A crashing store fails from its n-th writing operation on. An operation that fails has
// happened or not.
type crashing struct {
	storage.Store
	left     int
	happened bool
}

var errCrash = errors.New("crashed")

func (c *crashing) step(op func() error) error {
	if c.left--; c.left > 0 || c.left == 0 && c.happened {
		if err := op(); err != nil {
			return err
		}
	}
	if c.left <= 0 {
		return errCrash
	}
	return nil
}

func (c *crashing) Put(ctx context.Context, name string, body io.ReadSeeker) error {
	return c.step(func() error { return c.Store.Put(ctx, name, body) })
}

func (c *crashing) Swap(ctx context.Context, name string, data []byte, tag string) (etag string, err error) {
	err = c.step(func() error { etag, err = c.Store.Swap(ctx, name, data, tag); return err })
	return etag, err
}

// A writer that dies between any two steps leaves a log that the next one continues.
func TestCrashBetweenAnyTwoSteps(t *testing.T) {
	for _, size := range []int{0, 1, 254, 255, 300} {
		for n := 1; n < 12; n++ {
			for _, happened := range []bool{false, true} {
				s := storage.Folder(t.TempDir())
				var before []translog.Entry
				for i := range size {
					before = append(before, erratum(fmt.Sprint(i)))
				}
				var old translog.Head
				if size > 0 {
					appendAll(t, translog.Log{s, key('k')}, before...)
					old = open(t, s).Head
				}
				_, err := translog.Log{&crashing{s, n, happened}, key('k')}.Append(t.Context(), erratum("dies a"), erratum("dies b"))
				if err != nil && !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				if size > 0 { // readers do not see a difference
					if err := open(t, s).Extends(t.Context(), old); err != nil {
						t.Error(err)
					}
				}
				next := int(appendAll(t, translog.Log{s, key('k')}, erratum("next")))
				got := texts(t, open(t, s))
				if next != size && next != size+2 || len(got) != next+1 || got[next] != "next" || next > size && got[size] != "dies a" {
					t.Errorf("size %d, step %d: next at %d of %d", size, n, next, len(got))
				}
			}
		}
	}
}

// Writers of one process and readers at the same time.
func TestWritersTakeTurns(t *testing.T) {
	s := storage.Folder(t.TempDir())
	const writers, each = 4, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if _, err := (translog.Log{s, key('k')}).Append(t.Context(), erratum(fmt.Sprint(w, "-", i))); err != nil {
					t.Error(err)
				}
				v, err := translog.Open(t.Context(), s)
				if err == nil {
					_, err = v.Entries(t.Context(), 0, v.Size)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	complete(t, texts(t, open(t, s)), writers, each)
}

// complete checks that every writer's entries are there once and in their order.
func complete(t *testing.T, got []string, writers, each int) {
	t.Helper()
	next := map[string]int{}
	for _, text := range got {
		w, n, _ := strings.Cut(text, "-")
		if fmt.Sprint(next[w]) != strings.TrimSpace(n) {
			t.Errorf("writer %s: entry %s, want %d", w, n, next[w])
		}
		next[w]++
	}
	for w, n := range next {
		if n != each {
			t.Errorf("writer %s: %d entries, want %d", w, n, each)
		}
	}
	if len(next) != writers {
		t.Errorf("%d writers", len(next))
	}
}

const writerEnv = "FIRSTPICK_TEST_LOG"

func TestWriterToBeKilled(t *testing.T) {
	dir := os.Getenv(writerEnv)
	if dir == "" {
		t.Skip("a part of TestKilledWriters")
	}
	for i := 0; ; i++ {
		appendAll(t, translog.Log{storage.Folder(dir), key('k')}, erratum(fmt.Sprintf("%d-%d", os.Getpid(), i)))
	}
}

// Two processes append, and are killed again and again: no entry is lost or changed.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	var last *translog.View
	for round := range 6 {
		var cmds []*exec.Cmd
		for range 2 {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWriterToBeKilled$")
			cmd.Env = append(os.Environ(), writerEnv+"="+dir)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cmds = append(cmds, cmd)
		}
		begin, want := time.Now(), int64(30*(round+1)) // killed in the middle of what follows
		for v := last; v == nil || v.Size < want; {
			if time.Since(begin) > time.Minute {
				t.Fatal("the writers stopped")
			}
			now, err := translog.Open(t.Context(), storage.Folder(dir))
			if errors.Is(err, translog.ErrNoLog) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if v = now; last != nil {
				if err := v.Extends(t.Context(), last.Head); err != nil {
					t.Fatal(err)
				}
			}
			last = v
		}
		for _, cmd := range cmds {
			_ = cmd.Process.Kill()
		}
		for _, cmd := range cmds {
			_ = cmd.Wait()
		}
	}
	at := appendAll(t, translog.Log{storage.Folder(dir), key('k')}, erratum("end"))
	v := open(t, storage.Folder(dir))
	if err := v.Extends(t.Context(), last.Head); err != nil {
		t.Error(err)
	}
	got := texts(t, v)
	if got[at] != "end" || v.Hash != root(leaves(t, dir, int(v.Size))) {
		t.Error("the last entry or the root is wrong")
	}
	seen := map[string]bool{}
	for _, text := range got {
		if seen[text] {
			t.Errorf("entry %s twice", text)
		}
		seen[text] = true
	}
}
