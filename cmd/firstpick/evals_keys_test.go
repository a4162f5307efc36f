package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestProviderKeysStandNowhere runs evals in a server that has a worker in it. Their
// model says the key that it was asked with, in answers and in errors. Afterwards the
// key is in no file of the data folder, journals, bundles and store included, and in
// no log; then the operator adopts a run, and neither is it in what is published.
func TestProviderKeysStandNowhere(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			const key = "sk-proj-PLANTED/key+of=the-workspace-4711"
			said := 0
			model := newPaidModel(t, func() time.Duration { return time.Millisecond }, func(r *http.Request) string {
				said++
				return "I would use Flask. You asked with " + r.Header.Get("Authorization") + ", ANSWERED."
			})
			h := newHouse(t, engine)
			h.workspace("wsp_1", ownEval(model.URL, 10, 1), key)
			address := freeAddress(t)
			server := h.start("server", "--listen", address, "--with-worker", "--worker-runs", "1", "--log-level", "debug")
			id := h.queue("wsp_1", 1, 5)[0]
			r := h.until("wsp_1", id, func(r *state.EvalRun) bool { return !r.EndedAt.IsZero() })
			if r.Status != state.RunDone || r.Valid != 20 || r.SpentMicros != 20*ownAnswerMicros || said != 20 {
				t.Fatalf("%+v", r)
			}
			if err := server.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = server.Wait()
			must(t, firstpick(t, h.dir, append([]string{"admin", "adopt-run", id}, h.state...)...))
			again, err := firstpick(t, h.dir, append([]string{"admin", "adopt-run", id}, h.state...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(again), "already exists") {
				t.Errorf("adopted twice: %v, %s", err, again)
			}
			must(t, firstpick(t, h.dir, "publish"))
			events, err := h.db.Read().RunEventsAfter(t.Context(), id, 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]string{"row": fmt.Sprintf("%+v", r)}
			for _, e := range events {
				texts["events"] += string(e.Body)
			}
			if err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(path)
				texts[path] = string(unpackedFile(t, path, data))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			answered := 0
			for where, text := range texts {
				for _, form := range []string{key, strings.ReplaceAll(key, "/", `\/`), "PLANTED", "of=the-workspace"} {
					if strings.Contains(text, form) && where != "row" {
						t.Errorf("%q stands in %s", form, where)
					}
				}
				if strings.Contains(text, "ANSWERED.") {
					answered++
				}
			}
			if answered < 5 { // journal, raw answers and their copies, traces
				t.Errorf("the answers are in %d of %d files: the test looks at the wrong places", answered, len(texts))
			}
		})
	}
}

// unpackedFile is a file's text: what is packed is unpacked.
func unpackedFile(t *testing.T, path string, data []byte) []byte {
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
