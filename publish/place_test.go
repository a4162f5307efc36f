package publish_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/storage/s3test"
)

// buckets returns a place in a bucket behind a proxy, and the same one without it.
func buckets(t *testing.T) (proxy *s3test.Proxy, faulty, direct publish.Place) {
	t.Helper()
	s := s3test.Start(t)
	s.Bucket(t, "results")
	proxy = s3test.NewProxy(t, s)
	at := func(endpoint string) publish.Place {
		b, err := storage.NewBucket(storage.BucketConfig{
			Name: "results", Prefix: "p", Getenv: s3test.Env(endpoint),
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
		if err != nil {
			t.Fatal(err)
		}
		return publish.Place{Store: b, Cache: filepath.Join(t.TempDir(), "cache"), Now: time.Now}
	}
	return proxy, at(proxy.URL), at(s.URL)
}

// TestTornUploadsAreNotSeen cuts uploads off at every kind of file.
func TestTornUploadsAreNotSeen(t *testing.T) {
	proxy, faulty, direct := buckets(t)
	in := testInput(t, 1)
	m, id := build(t, in)
	in.Place = faulty
	ctx := t.Context()
	for _, file := range []string{"/", "boards/alpha.json", "traces.zst", "manifest.json"} {
		proxy.Set(func(r *http.Request) s3test.Fault {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, file) {
				return s3test.Deny
			}
			return s3test.None
		})
		if _, _, err := publish.Build(ctx, in); err == nil || !strings.Contains(err.Error(), "s3:PutObject") {
			t.Errorf("without %s: %v", file, err)
		}
		if all, err := direct.List(ctx); err != nil || len(all) != 0 {
			t.Errorf("without %s: listed %v, %v", file, all, err)
		}
		if _, err := direct.Load(ctx, id); !errors.Is(err, publish.ErrNotFound) {
			t.Errorf("without %s: load: %v", file, err)
		}
		if err := direct.Promote(ctx, id); !errors.Is(err, publish.ErrNotFound) {
			t.Errorf("without %s: promote: %v", file, err)
		}
	}
	proxy.Set(func(*http.Request) s3test.Fault { return s3test.None })
	if _, err := direct.Prune(ctx, nil, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if list, err := direct.Store.List(ctx, id); err != nil || len(list) != len(m.Files) {
		t.Errorf("an upload of this hour has %d files, %v", len(list), err)
	}
	if _, err := direct.Prune(ctx, nil, time.Now().Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if list, err := direct.Store.List(ctx, ""); err != nil || len(list) != 0 {
		t.Errorf("an upload of yesterday leaves %v, %v", list, err)
	}
	if _, again := build(t, in); again != id {
		t.Errorf("id %s, in a folder %s", again, id)
	}
	if _, err := direct.Verify(ctx, id, nil); err != nil {
		t.Error(err)
	}
	if err := direct.Store.Put(ctx, id+"/extra.json", strings.NewReader("{}")); err != nil {
		t.Fatal(err)
	}
	var damage *publish.DamageError
	if _, err := direct.Verify(ctx, id, nil); !errors.As(err, &damage) || damage.Path != "extra.json" {
		t.Errorf("an added file: %v", err)
	}
}

// TestTwoPublishers publishes two snapshots at once, each from two processes.
func TestTwoPublishers(t *testing.T) {
	_, one, two := buckets(t)
	inputs := []publish.Input{testInput(t, 1), testInput(t, 1)}
	inputs[1].Runs = inputs[1].Runs[:1]
	ids := make([]string, 2)
	var all sync.WaitGroup
	for i, in := range inputs {
		for _, place := range []publish.Place{one, two} {
			in.Place = place
			all.Go(func() {
				_, id, err := publish.Build(t.Context(), in)
				if err == nil {
					err = place.Promote(t.Context(), id)
				}
				if err != nil {
					t.Error(err)
				}
				if place.Store == one.Store {
					ids[i] = id
				}
			})
		}
	}
	all.Wait()
	for _, id := range ids {
		if _, err := two.Verify(t.Context(), id, nil); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if id, err := one.Current(t.Context()); err != nil || id != ids[0] && id != ids[1] {
		t.Errorf("current is %s, %v", id, err)
	}
	if infos, err := one.List(t.Context()); err != nil || len(infos) != 2 {
		t.Errorf("%v, %v", infos, err)
	}
}

// TestPromoteAgainstOthers changes the pointer before each swap.
func TestPromoteAgainstOthers(t *testing.T) {
	proxy, faulty, direct := buckets(t)
	in := testInput(t, 1)
	in.Place = direct
	_, id := build(t, in)
	for _, others := range []int64{0, 3, 4} {
		left := others
		proxy.Set(func(r *http.Request) s3test.Fault {
			if r.Method == http.MethodPut && left > 0 {
				left--
				_, tag, _ := storage.ReadAll(t.Context(), direct.Store, "current") // missing at first
				if _, err := direct.Store.Swap(t.Context(), "current", []byte(strings.Repeat(string('0'+rune(left)), 20)), tag); err != nil {
					t.Error(err)
				}
			}
			return s3test.None
		})
		err := faulty.Promote(t.Context(), id)
		if current, _ := direct.Current(t.Context()); (err == nil) != (others < 4) || (current == id) != (others < 4) {
			t.Errorf("%d others: current is %s, %v", others, current, err)
		}
		if err != nil && !strings.Contains(err.Error(), "run `firstpick snapshot promote "+id) {
			t.Error(err)
		}
	}
}

// TestFetchUnderFaults never makes a damaged or incomplete copy readable.
func TestFetchUnderFaults(t *testing.T) {
	proxy, faulty, direct := buckets(t)
	in := testInput(t, 1)
	in.Place = direct
	_, id := build(t, in)
	for _, fault := range []s3test.Fault{s3test.ChangeAnswer, s3test.EmptyAnswer, s3test.Deny, s3test.Busy} {
		proxy.Set(func(r *http.Request) s3test.Fault {
			if strings.HasSuffix(r.URL.Path, "/refs.json") {
				return fault
			}
			return s3test.None
		})
		var damage *publish.DamageError
		_, err := faulty.Load(t.Context(), id)
		if damaged := errors.As(err, &damage) && damage.Path == "refs.json"; err == nil || damaged != (fault == s3test.ChangeAnswer) {
			t.Errorf("fault %d: %v", fault, err)
		}
		if _, err := os.Stat(filepath.Join(faulty.Cache, id, "manifest.json")); err == nil {
			t.Errorf("fault %d: the copy has a manifest", fault)
		}
	}
	proxy.Set(func(*http.Request) s3test.Fault { return s3test.None })
	var all sync.WaitGroup
	for range 4 { // as several processes
		all.Go(func() {
			if _, err := faulty.Load(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	before := proxy.Requests.Load()
	if _, err := faulty.Load(t.Context(), id); err != nil || proxy.Requests.Load() > before+1 {
		t.Errorf("%d requests for a copy, %v", proxy.Requests.Load()-before, err)
	}
	if err := os.Truncate(filepath.Join(faulty.Cache, id, "refs.json"), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := faulty.Load(t.Context(), id); err != nil {
		t.Errorf("a damaged copy is not replaced: %v", err)
	}
	if gone, err := direct.Prune(t.Context(), []string{id}, time.Now()); err != nil || len(gone) != 1 {
		t.Errorf("pruned %v, %v", gone, err)
	}
	if err := faulty.Promote(t.Context(), id); !errors.Is(err, publish.ErrNotFound) {
		t.Errorf("promote of a copy whose snapshot was removed: %v", err)
	}
}
