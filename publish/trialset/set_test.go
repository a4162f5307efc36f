package trialset

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestMakingAnIndexByHandIsReadingIt(t *testing.T) {
	idx, traces := made(t, 200, 256, 7)
	b, err := inMemory(t, idx, traces)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := b.WriteNDJSON(t.Context(), &out, Filter{Agent: "b", Picked: "x"}); err != nil {
		t.Fatal(err)
	}
	want := 0
	for n := range 463 {
		var id [10]byte
		binary.BigEndian.PutUint32(id[:], uint32(n))
		line, err := b.Trace(t.Context(), hex.EncodeToString(id[:]))
		if err != nil {
			t.Fatal(err)
		}
		takes := n%2 == 1 && n%4 == 1
		if takes {
			want++
		}
		if takes != bytes.Contains(out.Bytes(), append(line, '\n')) {
			t.Errorf("trial %d is in the list or not, against the filter", n)
		}
	}
	if got := bytes.Count(out.Bytes(), []byte("\n")); got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
}

// TestABombIsRefused unpacks a frame that holds a thousand times what the index says.
func TestABombIsRefused(t *testing.T) {
	enc, err := zstd.NewWriter(nil, zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = enc.Close() }()
	packed := enc.EncodeAll(make([]byte, 32<<20), nil)
	whole, _ := made(t, 1)
	head, entry := whole[:headerSize], whole[headerSize+frameSize:]
	for name, size := range map[string]int{"more than it says": 32 << 10, "more than may be": maxFrame + 1} {
		frames, traces := appendFrame(nil, nil, packed, size, 1)
		b, err := inMemory(t, append(append(bytes.Clone(head), frames...), entry...), traces)
		if err != nil {
			t.Fatal(err)
		}
		var failure error
		taken := testing.Benchmark(func(bench *testing.B) {
			bench.ReportAllocs()
			for bench.Loop() {
				failure = b.WriteNDJSON(context.Background(), io.Discard, Filter{})
			}
		}).AllocedBytesPerOp()
		damaged(t, failure)
		if taken > 2<<20 {
			t.Errorf("%s: %d bytes were taken before it was refused", name, taken)
		}
	}
}

func TestManyReadersShareABundle(t *testing.T) {
	idx, traces := made(t, 256, 256, 40)
	b, err := inMemory(t, idx, traces)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := b.WriteNDJSON(t.Context(), &want, Filter{Outcome: "diy"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				var got bytes.Buffer
				_, err := b.Traces(t.Context(), Filter{Prompt: "p3"}, "", 20)
				_, traceErr := b.Trace(t.Context(), "0000012c"+strings.Repeat("0", 12))
				err = errors.Join(err, traceErr, b.WriteNDJSON(t.Context(), &got, Filter{Outcome: "diy"}))
				if err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Errorf("%d bytes, want %d: %v", got.Len(), want.Len(), err)
				}
			}
		})
	}
	wg.Wait()
}

func TestAnEndedContextEndsReading(t *testing.T) {
	idx, traces := made(t, 256)
	b, err := inMemory(t, idx, traces)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, page := b.Traces(ctx, Filter{}, "", 5)
	_, trace := b.Trace(ctx, strings.Repeat("0", 20))
	for _, err := range []error{page, trace, b.WriteNDJSON(ctx, io.Discard, Filter{})} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}
