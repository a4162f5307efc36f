package evalclient

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// uploadOf is an upload of a file of 10 bytes, of which the server has some.
func uploadOf(received int) string {
	return fmt.Sprintf(`{"id":"run_1","files":[{"name":"run.json","bytes":10,"sha256":"x","received":%d}]}`, received)
}

// TestPush sends what is missing, and looks anew after each kind of failure.
func TestPush(t *testing.T) {
	const begin, complete = "POST /api/v1/evals/evl_1/uploads " + `{"run":"r","evalDigest":"d","files":[{"name":"run.json","bytes":10,"sha256":"x"}]}`, "POST /api/v1/uploads/run_1/complete"
	put := func(at int) string {
		return fmt.Sprintf("PUT /api/v1/uploads/run_1/files/run.json?offset=%d %s", at, "0123456789"[at:])
	}
	wrong := refuse(409, CodeUploadDigest)
	done := ok(`{"id":"run_1","origin":"pushed"}`)
	for name, c := range map[string]struct {
		script []reply
		asked  []string
		code   string
	}{
		"at once":        {[]reply{ok(uploadOf(0)), ok(uploadOf(10)), done}, []string{begin, put(0), complete}, ""},
		"the rest":       {[]reply{ok(uploadOf(4)), ok(uploadOf(10)), done}, []string{begin, put(4), complete}, ""},
		"nothing":        {[]reply{ok(uploadOf(10)), done}, []string{begin, complete}, ""},
		"a wrong digest": {[]reply{ok(uploadOf(10)), refuse(409, CodeUploadDigest), ok(uploadOf(0)), ok(uploadOf(10)), done}, []string{begin, complete, begin, put(0), complete}, ""},
		"a digest that stays wrong": {
			[]reply{ok(uploadOf(0)), ok(uploadOf(10)), wrong, ok(uploadOf(0)), ok(uploadOf(10)), wrong, ok(uploadOf(0)), ok(uploadOf(10)), wrong},
			[]string{begin, put(0), complete, begin, put(0), complete, begin, put(0), complete}, CodeUploadDigest,
		},
		"an offset too far":      {[]reply{ok(uploadOf(8)), refuse(409, CodeUploadOffset), ok(uploadOf(3)), ok(uploadOf(10)), done}, []string{begin, put(8), begin, put(3), complete}, ""},
		"a part that is refused": {[]reply{ok(uploadOf(0)), {status: http.StatusRequestEntityTooLarge, body: "proxy"}, ok(uploadOf(0)), ok(uploadOf(10)), done}, []string{begin, put(0), begin, put(0), complete}, ""},
		"an expired upload":      {[]reply{ok(uploadOf(0)), refuse(404, CodeUploadNotFound), ok(uploadOf(0)), ok(uploadOf(10)), done}, []string{begin, put(0), begin, put(0), complete}, ""},
		"busy":                   {[]reply{ok(uploadOf(0)), busy(429, "7"), ok(uploadOf(10)), done}, []string{begin, put(0), put(0), complete}, ""},
		"a conflict":             {[]reply{refuse(409, CodeUploadConflict)}, []string{begin}, CodeUploadConflict},
		"a revoked key":          {[]reply{ok(uploadOf(0)), refuse(401, CodeInvalidToken)}, []string{begin, put(0)}, CodeInvalidToken},
		"no progress":            {[]reply{ok(uploadOf(0)), ok(uploadOf(0)), ok(uploadOf(0)), ok(uploadOf(0)), ok(uploadOf(0)), ok(uploadOf(0)), ok(uploadOf(0)), ok(uploadOf(0)), ok(uploadOf(0)), ok(uploadOf(0))}, []string{begin, put(0), begin, put(0), begin, put(0), begin, put(0), begin, put(0)}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.script...)
			client, _ := newClient(f)
			have := int64(-1)
			r, err := client.Push(t.Context(), "evl_1", UploadRequest{Run: "r", EvalDigest: "d", Files: []AnnouncedFile{{Name: "run.json", Bytes: 10, SHA256: "x"}}},
				func(string) (io.ReaderAt, error) { return strings.NewReader("0123456789"), nil }, func(n, _ int64) { have = n })
			f.asked(c.asked...)
			refused := (*Error)(nil)
			switch {
			case c.code == "" && (err != nil || r.ID != "run_1" || r.Origin != "pushed" || have != 10):
				t.Errorf("%+v %v, %d sent", r, err, have)
			case c.code == "none" && (err == nil || errors.As(err, &refused)):
				t.Errorf("%v", err)
			case c.code != "" && c.code != "none" && !IsCode(err, c.code):
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
}

// TestPushOfAFileThatShrank ends: another try would be the same.
func TestPushOfAFileThatShrank(t *testing.T) {
	f := newFake(t, ok(uploadOf(0)))
	client, clock := newClient(f)
	_, err := client.Push(t.Context(), "evl_1", UploadRequest{}, func(string) (io.ReaderAt, error) { return strings.NewReader("0123"), nil }, func(_, _ int64) {})
	if err == nil || !strings.Contains(err.Error(), "run.json: byte 0") || len(clock.slept) > 0 {
		t.Errorf("%v, slept %v", err, clock.slept)
	}
}
