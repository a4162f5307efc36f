package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/trialset"
)

// onDisk writes a bundle of a workspace and returns its id.
func onDisk(t *testing.T, root, workspace, generator string) string {
	t.Helper()
	dir := t.TempDir()
	set := writeSet(t, dir, slices.Repeat([]trialset.Entry{{Agent: "a", Prompt: "p", Outcome: "tool", Picked: "x"}}, 7)...)
	for name, text := range map[string]string{format.ScoresName: "{}\n", format.TrialsName: "PAR1"} {
		f, err := content.WriteFile(filepath.Join(dir, name), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, f)
	}
	slices.SortFunc(set, func(a, b trialset.File) int { return strings.Compare(a.Path, b.Path) })
	data, err := json.Marshal(format.Manifest{SchemaVersion: 1, Generator: generator, Files: set})
	if err != nil {
		t.Fatal(err)
	}
	id := format.ID(data)
	if err := os.WriteFile(filepath.Join(dir, format.ManifestName), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(root, workspace, id), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return id
}

// writeSet writes the trial files of trials.
func writeSet(t *testing.T, dir string, trials ...trialset.Entry) []trialset.File {
	t.Helper()
	w, err := trialset.NewWriter(dir, []string{"tool", "diy"})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range trials {
		e.ID = fmt.Sprintf("%020d", i)
		if err := w.Add(&trialset.Trace{Entry: e}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// openFiles lists what this process has open below a folder.
func openFiles(t *testing.T, root string) []string {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system has no /proc")
	}
	var out []string
	for _, fd := range fds {
		if path, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(path, root) {
			out = append(out, path)
		}
	}
	return out
}

const perBundle = 3 // files that a bundle keeps open: its folder, index and traces

func TestACacheKeepsWhatIsAskedForOften(t *testing.T) {
	root := t.TempDir()
	var ids []string
	for _, name := range []string{"a", "b", "c"} {
		ids = append(ids, onDisk(t, root, "ws_1", name))
	}
	s := NewCache(root, nil, 2)
	get := func(i int) (*Bundle, func()) {
		t.Helper()
		b, release, err := s.Get("ws_1", ids[i])
		if err != nil {
			t.Fatal(err)
		}
		return b, release
	}
	count := func(want int, when string) {
		t.Helper()
		if got := openFiles(t, root); len(got) != want*perBundle {
			t.Errorf("%s: %d files are open, want those of %d bundles: %v", when, len(got), want, got)
		}
	}
	first, release := get(0)
	release()
	release() // counts once
	if again, release := get(0); again != first {
		t.Error("opened twice")
	} else {
		release()
	}
	_, release = get(1)
	release()
	count(2, "two were read")
	_, releaseFirst := get(0)
	_, release = get(2) // b was asked for longest ago
	release()
	count(2, "a third was read")
	if slices.Contains(s.open.Keys(), cacheKey{"ws_1", ids[1]}) {
		t.Error("the one that was asked for longest ago is kept")
	}
	_, release1 := get(1)
	_, release2 := get(2)
	count(3, "one more is in use")
	if _, err := first.Trace(t.Context(), strings.Repeat("0", 20)); err != nil {
		t.Errorf("a bundle evicted while in use: %v", err)
	}
	releaseFirst()
	count(2, "the evicted bundle was released")
	if _, err := first.Trace(t.Context(), strings.Repeat("0", 20)); !errors.Is(err, trialset.ErrClosed) {
		t.Errorf("it is not closed: %v", err)
	}
	release1()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	count(1, "the cache is closed but one is in use")
	release2()
	count(0, "all were released")
	if _, _, err := s.Get("ws_1", ids[0]); !errors.Is(err, trialset.ErrClosed) {
		t.Errorf("a closed cache: error %v", err)
	}
}

func TestACacheKeepsNoFailure(t *testing.T) {
	root := t.TempDir()
	id := onDisk(t, root, "ws_1", "a")
	s := NewCache(root, nil, 2)
	path := filepath.Join(root, "ws_1", id, "traces.idx")
	whole, err := os.ReadFile(path)
	if err == nil {
		err = os.Truncate(path, 5)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Get("ws_1", id)
	if told := new(*trialset.DamageError); !errors.As(err, told) {
		t.Errorf("error %v", err)
	}
	if got := openFiles(t, root); len(got) > 0 {
		t.Errorf("left open: %v", got)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	_, release, err := s.Get("ws_1", id)
	if err != nil {
		t.Fatalf("mended: %v", err)
	}
	release()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestACacheStaysInItsFolder(t *testing.T) {
	root := t.TempDir()
	id := onDisk(t, root, "ws_1", "a")
	s := NewCache(filepath.Join(root, "ws_2"), nil, 2)
	for _, workspace := range []string{"", ".", "..", "../ws_1", "..\\ws_1", "ws_1/", "/", "ws_1\x00", "ws 1", "wß", strings.Repeat("a", 65)} {
		if _, _, err := s.Get(workspace, id); !errors.Is(err, trialset.ErrNotFound) {
			t.Errorf("workspace %q: error %v", workspace, err)
		}
	}
	cache := NewCache(root, nil, 2)
	for _, bad := range []string{"", ".", "..", "../ws_1/" + id, strings.ToUpper(id), id + "/", id + "\x00"} {
		if _, _, err := cache.Get("ws_1", bad); !errors.Is(err, trialset.ErrNotFound) {
			t.Errorf("bundle %q: error %v", bad, err)
		}
	}
	if _, _, err := cache.Get("ws_2", id); !errors.Is(err, trialset.ErrNotFound) {
		t.Errorf("another workspace's: error %v", err)
	}
	if n := len(cache.open.Keys()); n > 0 {
		t.Errorf("%d failures are kept", n)
	}
}

func TestManyShareACache(t *testing.T) {
	root := t.TempDir()
	var ids []string
	for _, name := range []string{"a", "b", "c", "d"} {
		ids = append(ids, onDisk(t, root, "ws_1", name))
	}
	ids = append(ids, strings.Repeat("0", len(ids[0]))) // not there
	s := NewCache(root, nil, 2)
	var wg sync.WaitGroup
	for reader := range 8 {
		wg.Go(func() {
			for n := range 200 {
				id := ids[(reader*7+n*n)%len(ids)]
				b, release, err := s.Get("ws_1", id)
				if id == ids[4] {
					if !errors.Is(err, trialset.ErrNotFound) {
						t.Errorf("not there: error %v", err)
					}
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if p, err := b.Traces(t.Context(), trialset.Filter{}, "", 10); b.ID != id || err != nil || len(p.Traces) != 7 {
					t.Errorf("%s of %s: %d entries, %v", b.ID, id, len(p.Traces), err)
				}
				release()
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := openFiles(t, root); len(got) > 0 {
		t.Errorf("left open: %v", got)
	}
}

// TestABundleIsOpenedOnceForMany lets many ask before the first has it.
func TestABundleIsOpenedOnceForMany(t *testing.T) {
	root := t.TempDir()
	id := onDisk(t, root, "ws_1", "a")
	s := NewCache(root, nil, 2)
	got := make([]*Bundle, 16)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			<-start
			b, release, err := s.Get("ws_1", id)
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = b
			release()
		})
	}
	close(start)
	wg.Wait()
	for _, b := range got {
		if b != got[0] {
			t.Error("opened more than once")
		}
	}
	if n := len(openFiles(t, root)); n != perBundle {
		t.Errorf("%d files are open, want %d", n, perBundle)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
