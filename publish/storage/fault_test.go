package storage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/storage/s3test"
)

const bucket = "results"

// start starts a server with a bucket.
func start(t *testing.T) *s3test.Server {
	t.Helper()
	t.Parallel()
	s := s3test.Start(t)
	s.Bucket(t, bucket)
	return s
}

// faulty returns a bucket behind a proxy, and the same bucket without it. The faulty one is
// impatient, and does not sleep between attempts.
func faulty(t *testing.T, s *s3test.Server) (proxy *s3test.Proxy, b, direct storage.Store) {
	t.Helper()
	proxy = s3test.NewProxy(t, s)
	open := func(endpoint string) storage.Store {
		b, err := storage.NewBucket(storage.BucketConfig{
			Name: bucket, Prefix: "p", Getenv: s3test.Env(endpoint), Timeout: 600 * time.Millisecond,
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return proxy, open(proxy.URL), open(s.URL)
}

const forever = 1000

// TestWritesUnderFaults checks that a write under a fault happens whole or not at all, and
// that the writer learns which.
func TestWritesUnderFaults(t *testing.T) {
	s := start(t)
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<11)
	for _, tc := range []struct {
		name    string
		method  string
		fault   s3test.Fault
		times   int64
		want    string // in the error
		written bool
	}{
		{"busy for a while", "PUT", s3test.Busy, 3, "", true},
		{"busy", "PUT", s3test.Busy, forever, "is busy", false},
		{"no answer for a while", "PUT", s3test.Hang, 1, "", true},
		{"no answer", "PUT", s3test.Hang, forever, "(time-out)", false},
		{"connection cut while sending", "PUT", s3test.CutRequest, 2, "", true},
		{"connection cut while sending, always", "PUT", s3test.CutRequest, forever, "no complete answer", false},
		{"answer lost after the write", "PUT", s3test.LoseAnswer, 1, "", true},
		{"every answer lost after the write", "PUT", s3test.LoseAnswer, forever, "", true},
		{"denied", "PUT", s3test.Deny, forever, "allow the access key AKIAFIRSTPICKTEST to s3:PutObject on s3://results/p", false},
		{"clock wrong", "PUT", s3test.Skew, forever, "set its clock", false},
		{"no conditions", "PUT", s3test.Unsupported, forever, "If-None-Match", false},
		{"not S3", "GET", s3test.NotS3, 0, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			proxy, b, direct := faulty(t, s)
			name := strings.ReplaceAll(tc.name, " ", "-")
			for op, write := range map[string]func() error{
				"put":  func() error { return b.Put(t.Context(), name+"/put", bytes.NewReader(body)) },
				"swap": func() error { _, err := b.Swap(t.Context(), name+"/swap", body, ""); return err },
			} {
				proxy.Set(s3test.Times(tc.times, tc.method, tc.fault))
				err := write()
				if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
					t.Errorf("%s: %v, want %q", op, err, tc.want)
				}
				data, _, err := storage.ReadAll(t.Context(), direct, name+"/"+op)
				if tc.written != (err == nil) || err == nil && !bytes.Equal(data, body) || err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: afterwards %d bytes, %v", op, len(data), err)
				}
			}
		})
	}
}

// TestSwapLearnsWhoWon loses the answers of swaps, with and without another writer.
func TestSwapLearnsWhoWon(t *testing.T) {
	proxy, b, direct := faulty(t, start(t))
	etag, err := direct.Swap(t.Context(), "current", []byte("0"), "")
	if err != nil {
		t.Fatal(err)
	}
	proxy.Set(s3test.Times(1, "PUT", s3test.LoseAnswer))
	if etag, err = b.Swap(t.Context(), "current", []byte("mine"), etag); err != nil {
		t.Fatal(err)
	}
	// With the tag that was found out, the next swap succeeds.
	if etag, err = b.Swap(t.Context(), "current", []byte("mine again"), etag); err != nil {
		t.Fatal(err)
	}
	for name, fault := range map[string]s3test.Fault{"before the write": s3test.Busy, "after it": s3test.LoseAnswer} {
		var once atomic.Bool
		proxy.Set(func(r *http.Request) s3test.Fault {
			if r.Method == http.MethodPut && once.CompareAndSwap(false, true) {
				return fault
			}
			if r.Method == http.MethodPut { // the other writer comes before the second attempt
				_, now, err := storage.ReadAll(t.Context(), direct, "current")
				if err == nil {
					etag, err = direct.Swap(t.Context(), "current", []byte("theirs "+name), now)
				}
				if err != nil {
					t.Error(err)
				}
			}
			return s3test.None
		})
		if _, err := b.Swap(t.Context(), "current", []byte("mine "+name), etag); !errors.Is(err, storage.ErrChanged) {
			t.Errorf("another writer %s: %v", name, err)
		}
		if data, _, err := storage.ReadAll(t.Context(), direct, "current"); string(data) != "theirs "+name {
			t.Errorf("another writer %s: %q, %v", name, data, err)
		}
	}
}

// TestReadsUnderFaults resumes a download, and never returns half of a file as a whole.
func TestReadsUnderFaults(t *testing.T) {
	s := start(t)
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<11)
	_, _, direct := faulty(t, s)
	if err := direct.Put(t.Context(), "dir/file", bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		fault s3test.Fault
		times int64
		want  string
	}{
		{"busy for a while", s3test.Busy, 3, ""},
		{"busy", s3test.Busy, forever, "is busy"},
		{"no answer for a while", s3test.Hang, 1, ""},
		{"no answer", s3test.Hang, forever, "(time-out)"},
		{"cut", s3test.CutAnswer, 2, ""},
		{"cut at the start, always", s3test.EmptyAnswer, forever, "unexpected EOF"},
		{"denied", s3test.Deny, forever, "s3:GetObject"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			proxy, b, _ := faulty(t, s)
			proxy.Set(s3test.Times(tc.times, "GET", tc.fault))
			before := proxy.Requests.Load()
			data, _, err := storage.ReadAll(t.Context(), b, "dir/file")
			if tc.want == "" && (err != nil || !bytes.Equal(data, body)) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%d bytes, %v, want %q", len(data), err, tc.want)
			}
			if n := proxy.Requests.Load() - before; n > 12 {
				t.Errorf("%d requests", n)
			}
			if tc.fault == s3test.CutAnswer || tc.fault == s3test.EmptyAnswer {
				return // of a listing
			}
			proxy.Set(s3test.Times(tc.times, "GET", tc.fault))
			list, err := b.List(t.Context(), "dir/")
			if (tc.want == "") != (err == nil && len(list) == 1) {
				t.Errorf("list: %v, %v", list, err)
			}
		})
	}
}

// TestReadIsOfOneVersion replaces a file while it is read.
func TestReadIsOfOneVersion(t *testing.T) {
	_, b, direct := faulty(t, start(t))
	etag, err := direct.Swap(t.Context(), "file", []byte("first version"), "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := b.Open(t.Context(), "file")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(-7, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(f); err != nil || string(data) != "version" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := direct.Swap(t.Context(), "file", []byte("other version"), etag); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(6, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(f); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("%q, %v", data, err)
	}
}

// TestUnchangedFilesAreNotSent sends a conditional request.
func TestUnchangedFilesAreNotSent(t *testing.T) {
	for kind, s := range stores(t) {
		etag, err := s.Swap(t.Context(), "current", []byte("0"), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := storage.ReadChanged(t.Context(), s, "current", etag); !errors.Is(err, storage.ErrUnchanged) {
			t.Errorf("%s: unchanged: %v", kind, err)
		}
		if _, err := s.Swap(t.Context(), "current", []byte("1"), etag); err != nil {
			t.Fatal(err)
		}
		if data, now, err := storage.ReadChanged(t.Context(), s, "current", etag); err != nil || string(data) != "1" || now == etag {
			t.Errorf("%s: changed: %q, %v", kind, data, err)
		}
	}
}
