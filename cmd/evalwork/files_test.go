package evalwork_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// unpacked is a file's text: what is packed is unpacked.
func unpacked(t *testing.T, path string, data []byte) []byte {
	t.Helper()
	if !strings.HasSuffix(path, ".zst") {
		return data
	}
	r, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []byte
	for len(data) > 0 {
		frame := data
		if bytes.HasPrefix(data, []byte("fpZ1")) { // an answer as it came, behind a header with its length
			frame = data[16 : 16+binary.BigEndian.Uint32(data[4:])]
			data = data[16+len(frame):]
		} else {
			data = nil
		}
		if out, err = r.DecodeAll(frame, out); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return out
}

// holdJournal begins a run's journal and keeps it, as another process would.
func holdJournal(t *testing.T, root, id, source string) (release func()) {
	t.Helper()
	e, err := eval.Parse("eval", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(root, journal.Run{ID: id, Eval: *e, Planned: 5})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}
