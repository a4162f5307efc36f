package evals_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/state"
)

// A sentFile is a file of a run that is pushed. The server reads none of them: that is the
// worker's part.
type sentFile struct{ name, text string }

func uploadFiles() []sentFile {
	return []sentFile{{"run.json", "{}"}, {"journal-000001.ndjson", strings.Repeat("0123456789abcdef\n", 9000)}}
}

const pushedID = "20261121-091500-k3x9qd"

// announced is the request that announces files.
func announced(digest string, files []sentFile) string {
	type file struct {
		Name   string `json:"name"`
		Bytes  int    `json:"bytes"`
		SHA256 string `json:"sha256"`
	}
	body := struct {
		Run        string `json:"run"`
		EvalDigest string `json:"evalDigest"`
		Files      []file `json:"files"`
	}{pushedID, digest, nil}
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.text))
		body.Files = append(body.Files, file{f.name, len(f.text), hex.EncodeToString(sum[:])})
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (a *api) begin(eval, digest string, files []sentFile) *answer {
	a.t.Helper()
	return a.do("POST", "/api/v1/evals/"+eval+"/uploads", announced(digest, files))
}

func (a *api) part(id, name string, offset int, text string) *answer {
	a.t.Helper()
	return a.do("PUT", fmt.Sprintf("/api/v1/uploads/%s/files/%s?offset=%d", id, url.PathEscape(name), offset), text)
}

func (a *api) complete(id string) *answer {
	a.t.Helper()
	return a.do("POST", "/api/v1/uploads/"+id+"/complete", "")
}

// pushed pushes a run, and returns its id.
func (a *api) pushed(eval, digest string, files []sentFile) string {
	a.t.Helper()
	id := a.begin(eval, digest, files).is(201).text("id")
	for _, f := range files {
		a.part(id, f.name, 0, f.text).is(200)
	}
	return a.complete(id).is(202).text("id")
}

// received is how much the server has of each file.
func (a *answer) received() (out []int) {
	a.t.Helper()
	for _, f := range a.list("files") {
		n, _ := f["received"].(float64)
		out = append(out, int(n))
	}
	return out
}

func stored(t *testing.T, s *servertest.Service, w *state.Workspace) *evals.Eval {
	t.Helper()
	e, _, _, err := s.Evals.Put(t.Context(), servertest.Owner(w), []byte(servertest.EvalText))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestAnInterruptedPushContinues sends parts, looks, sends the rest, and pushes once more.
func TestAnInterruptedPushContinues(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, a, files := stored(t, s, w), newAPI(t, s, s.EvalKey(t, w)), uploadFiles()
		id := a.begin(e.ID, e.Digest, files).is(201).text("id")
		a.part(id, files[0].name, 0, files[0].text).is(200)
		a.part(id, files[1].name, 0, files[1].text[:1000]).is(200)
		a.part(id, files[1].name, 1001, "x").refused(409, "upload_offset")
		a.complete(id).refused(409, "upload_incomplete")
		again := a.begin(e.ID, e.Digest, files).is(200)
		if got := again.received(); again.text("id") != id || got[0] != 2 || got[1] != 1000 {
			t.Errorf("the upload of then: %s", again.body)
		}
		a.part(id, files[1].name, 500, files[1].text[500:2000]).is(200) // what is sent twice is the same
		if got := a.get("/api/v1/uploads/" + id).is(200).received(); got[1] != 2000 {
			t.Errorf("received: %v", got)
		}
		a.part(id, files[1].name, 2000, files[1].text[2000:]+"x").refused(400, "invalid_request")
		a.part(id, files[1].name, 2000, files[1].text[2000:]).is(200)
		run := a.complete(id).is(202)
		if o := run.object(); o["id"] != id || o["origin"] != "pushed" || o["status"] != "queued" || !strings.HasPrefix(run.text("pushedBy"), "evk_") {
			t.Errorf("the run: %s", run.body)
		}
		if again := a.complete(id).is(202); again.text("id") != id || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("completed twice: %v %s", again.header, again.body)
		}
		last := a.begin(e.ID, e.Digest, files).is(200)
		if last.text("id") != id || last.object()["complete"] != true || !strings.HasSuffix(last.text("runUrl"), "/api/v1/runs/"+id) {
			t.Errorf("pushed twice: %s", last.body)
		}
		if runs := a.get("/api/v1/runs").is(200).list("runs"); len(runs) != 1 || runs[0]["origin"] != "pushed" {
			t.Errorf("runs: %v", runs)
		}
		grown := uploadFiles()
		grown[1].text += "more"
		if got := a.begin(e.ID, e.Digest, grown).refused(409, "upload_conflict"); !strings.Contains(got.body, id) {
			t.Errorf("the conflict does not name the run: %s", got.body)
		}
		for _, f := range files {
			data, err := os.ReadFile(filepath.Join(s.Evals.Uploads, w.ID, "uploads", id, pushedID, f.name))
			if err != nil || string(data) != f.text {
				t.Errorf("%s: %d bytes, %v", f.name, len(data), err)
			}
		}
	})
}

// TestBytesThatDifferAreDropped: a wrong digest costs that file, not the upload. The files
// of an incomplete upload may change.
func TestBytesThatDifferAreDropped(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, a, files := stored(t, s, w), newAPI(t, s, s.EvalKey(t, w)), uploadFiles()
		id := a.begin(e.ID, e.Digest, files).is(201).text("id")
		a.part(id, files[0].name, 0, files[0].text).is(200)
		a.part(id, files[1].name, 0, strings.ToUpper(files[1].text)).is(200)
		a.complete(id).refused(409, "upload_digest")
		if got := a.get("/api/v1/uploads/" + id).is(200).received(); got[0] != 2 || got[1] != 0 {
			t.Errorf("after the wrong bytes: %v", got)
		}
		files[1].text = files[1].text[:17*100]
		if again := a.begin(e.ID, e.Digest, files).is(201); again.text("id") != id || again.received()[0] != 0 {
			t.Errorf("announced with other files: %s", again.body)
		}
		if got := a.pushedAt(id, files); got != id {
			t.Errorf("run %s of upload %s", got, id)
		}
	})
}

// pushedAt sends the files of an upload and completes it.
func (a *api) pushedAt(id string, files []sentFile) string {
	a.t.Helper()
	for _, f := range files {
		a.part(id, f.name, 0, f.text).is(200)
	}
	return a.complete(id).is(202).text("id")
}

// TestRefusedUploads: names that are paths, and more than a workspace may send.
func TestRefusedUploads(t *testing.T) {
	files := func(names ...string) (out []sentFile) {
		for _, name := range names {
			out = append(out, sentFile{name, "{}"})
		}
		return out
	}
	s := servertest.New(t, servertest.Options{Evals: func(e *evals.Service) {
		e.Caps.UploadBytes, e.Caps.UploadsBytes, e.Caps.OpenUploads = 1000, 1500, 2
	}})
	w := s.Workspace(t, "dana", paid)
	e, a := stored(t, s, w), newAPI(t, s, s.EvalKey(t, w))
	good := announced(e.Digest, files("run.json", "journal-000001.ndjson"))
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"a path":                  {announced(e.Digest, files("run.json", "../../journal-000001.ndjson")), 400, "invalid_request"},
		"a folder":                {announced(e.Digest, files("run.json/", "journal-000001.ndjson")), 400, "invalid_request"},
		"raw answers":             {announced(e.Digest, files("run.json", "journal-000001.ndjson", "raw-000001.zst")), 400, "invalid_request"},
		"without a plan":          {announced(e.Digest, files("journal-000001.ndjson", "journal-000002.ndjson")), 400, "invalid_request"},
		"a gap":                   {announced(e.Digest, files("run.json", "journal-000002.ndjson")), 400, "invalid_request"},
		"a file twice":            {announced(e.Digest, files("run.json", "journal-000001.ndjson", "journal-000001.ndjson")), 400, "invalid_request"},
		"one file":                {announced(e.Digest, files("run.json")), 400, "invalid_request"},
		"a run id that is a path": {strings.Replace(good, pushedID, "../"+pushedID, 1), 400, "invalid_request"},
		"dots as run id":          {strings.Replace(good, pushedID, "..", 1), 400, "invalid_request"},
		"no run id":               {strings.Replace(good, pushedID, "", 1), 400, "invalid_request"},
		"a short digest":          {strings.Replace(good, `"sha256":"`, `"sha256":"0`, 1), 400, "invalid_request"},
		"negative bytes":          {strings.Replace(good, `"bytes":2`, `"bytes":-2`, 1), 413, "request_too_large"},
		"bytes that overflow":     {strings.Replace(good, `"bytes":2`, `"bytes":9223372036854775807`, 1), 413, "request_too_large"},
		"too large":               {strings.Replace(good, `"bytes":2`, `"bytes":999`, 1), 413, "request_too_large"},
		"another eval":            {strings.Replace(good, e.Digest, "other", 1), 404, "eval_version_not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			one := *a
			one.t = t
			one.do("POST", "/api/v1/evals/"+e.ID+"/uploads", c.body).refused(c.status, c.code)
		})
	}
	id := a.begin(e.ID, e.Digest, files("run.json", "journal-000001.ndjson")).is(201).text("id")
	for _, name := range []string{"..", "../run.json", "run.json/../../x", "lock", "journal-000002.ndjson"} {
		if got := a.part(id, name, 0, "x"); got.status != 404 && got.status != 400 {
			t.Errorf("%q: %d %s", name, got.status, got.body)
		}
	}
	a.do("PUT", "/api/v1/uploads/"+id+"/files/run.json?offset=-1", "{}").refused(400, "invalid_request")
	a.do("PUT", "/api/v1/uploads/"+id+"/files/run.json", "{}", "Content-Type", "text/html").refused(415, "unsupported_media_type")
	next := func(run string, bytes string) *answer {
		return a.do("POST", "/api/v1/evals/"+e.ID+"/uploads", strings.Replace(strings.Replace(good, pushedID, run, 1), `"bytes":2`, `"bytes":`+bytes, 1))
	}
	next("b", "900").is(201)
	next("c", "2").refused(409, "too_many_uploads") // incomplete ones
	next("b", "998").is(201)
	a.pushedAt(id, files("run.json", "journal-000001.ndjson"))
	next("c", "998").refused(409, "too_many_uploads") // bytes
	next("c", "400").is(201)
}

// TestConcurrentPushesAreOne: many clients push the same run at once.
func TestConcurrentPushesAreOne(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, a, files := stored(t, s, w), newAPI(t, s, s.EvalKey(t, w)), uploadFiles()
		var pushing sync.WaitGroup
		ids := make([]string, 6)
		for i := range ids {
			pushing.Go(func() {
				id := a.begin(e.ID, e.Digest, files).text("id")
				for _, f := range files {
					const size = 20_000
					for at := 0; at < len(f.text); at += size {
						if got := a.part(id, f.name, at, f.text[at:min(at+size, len(f.text))]); got.status != 200 {
							t.Errorf("part at %d: %d %s", at, got.status, got.body)
						}
					}
				}
				if got := a.complete(id); got.status == 202 {
					ids[i] = got.text("id")
				} else {
					t.Errorf("complete: %d %s", got.status, got.body)
				}
			})
		}
		pushing.Wait()
		runs := a.get("/api/v1/runs").is(200).list("runs")
		if len(runs) != 1 {
			t.Errorf("%d runs", len(runs))
		}
		for _, id := range ids {
			if id != runs[0]["id"] {
				t.Errorf("run %s, and the list has %v", id, runs[0]["id"])
			}
		}
	})
}

// TestExpiredUploads are gone with their files, and may be pushed again.
func TestExpiredUploads(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, a, files := stored(t, s, w), newAPI(t, s, s.EvalKey(t, w)), uploadFiles()
		id := a.begin(e.ID, e.Digest, files).is(201).text("id")
		a.part(id, files[0].name, 0, files[0].text).is(200)
		folder := filepath.Join(s.Evals.Uploads, w.ID, "uploads")
		s.Clock.Add(47 * time.Hour)
		a.begin(e.ID, e.Digest, files).is(200) // continued in time
		s.Clock.Add(47 * time.Hour)
		if err := s.Evals.SweepUploads(t.Context()); err != nil || entries(folder) != 1 {
			t.Errorf("swept too early: %v", err)
		}
		s.Clock.Add(time.Hour)
		a.get("/api/v1/uploads/"+id).refused(404, "upload_not_found")
		a.part(id, files[0].name, 0, files[0].text).refused(404, "upload_not_found")
		a.complete(id).refused(404, "upload_not_found")
		if err := s.Evals.SweepUploads(t.Context()); err != nil || entries(folder) != 0 {
			t.Errorf("%d uploads stay: %v", entries(folder), err)
		}
		run := a.pushed(e.ID, e.Digest, files)
		s.Clock.Add(1000 * time.Hour)
		if err := s.Evals.SweepUploads(t.Context()); err != nil || entries(folder) != 1 {
			t.Errorf("a complete upload was swept: %v", err)
		}
		a.get("/api/v1/runs/" + run).is(200)
	})
}

func entries(folder string) int {
	list, err := os.ReadDir(folder)
	if err != nil {
		return -1
	}
	return len(list)
}

// TestARevokedKeyEndsAPush, and another key of the workspace continues it.
func TestARevokedKeyEndsAPush(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		key := s.EvalKey(t, w)
		e, a, files := stored(t, s, w), newAPI(t, s, key), uploadFiles()
		id := a.begin(e.ID, e.Digest, files).is(201).text("id")
		a.part(id, files[0].name, 0, files[0].text).is(200)
		keys := must(s.Evals.Keys(t.Context(), servertest.Owner(w)))(t)
		if err := s.Evals.RevokeKey(t.Context(), servertest.Owner(w), keyOf(t, keys, key)); err != nil {
			t.Fatal(err)
		}
		a.part(id, files[1].name, 0, files[1].text).refused(401, "invalid_token")
		a.complete(id).refused(401, "invalid_token")
		if got := a.with(s.EvalKey(t, w)).pushedAt(id, files); got != id {
			t.Errorf("run %s of upload %s", got, id)
		}
	})
}

// TestABrokenPartIsKept: the connection breaks within a part.
func TestABrokenPartIsKept(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	key := s.EvalKey(t, w)
	e, a, files := stored(t, s, w), newAPI(t, s, key), uploadFiles()
	id := a.begin(e.ID, e.Digest, files).is(201).text("id")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://")) //nolint:noctx // a test's connection
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "PUT /api/v1/uploads/%s/files/%s?offset=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
		id, files[1].name, key, len(files[1].text), files[1].text[:70_000])
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	reply, _ := io.ReadAll(conn) // until the server is done with it
	if !bytes.Contains(reply, []byte("400 Bad Request")) {
		t.Errorf("%s", reply)
	}
	_ = conn.Close()
	has := a.get("/api/v1/uploads/" + id).is(200).received()[1]
	if has != 70_000 {
		t.Fatalf("the server has %d bytes", has)
	}
	a.part(id, files[1].name, has, files[1].text[has:]).is(200)
	a.part(id, files[0].name, 0, files[0].text).is(200)
	a.complete(id).is(202)
}

// TestErasuresTakeUploads: complete and incomplete ones, with their files and names.
func TestErasuresTakeUploads(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		for _, kind := range []string{state.EraseRun, state.EraseEval, state.EraseWorkspace} {
			w := s.Workspace(t, "w-"+kind, paid)
			e, a, files := stored(t, s, w), newAPI(t, s, s.EvalKey(t, w)), uploadFiles()
			run := a.pushed(e.ID, e.Digest, files)
			open := run
			if kind != state.EraseRun {
				other := strings.Replace(announced(e.Digest, files), pushedID, "other", 1)
				open = a.do("POST", "/api/v1/evals/"+e.ID+"/uploads", other).is(201).text("id")
				a.part(open, files[0].name, 0, files[0].text).is(200)
			}
			svc := &erasure.Service{
				DB: s.Agents.DB, List: erasure.List(filepath.Join(t.TempDir(), erasure.ListFile)), Secrets: secret.Source{Rand: rand.Reader},
				Log: slog.New(slog.DiscardHandler), Now: s.Clock.Now, Folders: erasure.Folders{Journals: s.Evals.Uploads},
			}
			id := map[string]string{state.EraseRun: run, state.EraseEval: e.ID, state.EraseWorkspace: w.ID}[kind]
			if err := svc.Request(t.Context(), kind, id); err != nil {
				t.Fatal(err)
			}
			s.Clock.Add(time.Minute)
			if n, err := svc.Work(t.Context()); n != 0 || err != nil {
				t.Fatal(n, err)
			}
			found, err := erasure.SearchFiles(t.Context(), []string{s.Evals.Uploads}, []string{run, open})
			if err != nil || len(found.Finds) > 0 {
				t.Errorf("%s: files stay: %+v %v", kind, found.Finds, err)
			}
			rows, _, err := s.Agents.DB.Search(t.Context(), []string{run, open})
			if err != nil || len(rows) > 0 {
				t.Errorf("%s: rows stay: %+v %v", kind, rows, err)
			}
		}
	})
}

// TestAnIncompleteUploadIsErased by the id of the run that it would become; another workspace
// has no such run.
func TestAnIncompleteUploadIsErased(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, a, files := stored(t, s, w), newAPI(t, s, s.EvalKey(t, w)), uploadFiles()
		id := a.begin(e.ID, e.Digest, files).is(201).text("id")
		a.part(id, files[0].name, 0, files[0].text).is(200)
		a.with(s.EvalKey(t, s.Workspace(t, "eve", paid))).do("POST", "/api/v1/runs/"+id+"/erase", "").refused(404, "run_not_found")
		if got := a.do("POST", "/api/v1/runs/"+id+"/erase", "").is(200); got.object()["erased"] != true {
			t.Errorf("%s", got.body)
		}
		a.part(id, files[1].name, 0, files[1].text).refused(404, "upload_not_found")
		a.complete(id).refused(404, "upload_not_found")
		a.do("POST", "/api/v1/runs/"+id+"/erase", "").refused(404, "run_not_found")
		if again := a.pushed(e.ID, e.Digest, files); again == id {
			t.Errorf("upload %s was not erased", id)
		}
	})
}
