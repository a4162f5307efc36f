//go:build unix

package evals_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// A slowUpload has all its files, and a journal that is as slow to verify as a test wants.
type slowUpload struct {
	t          *testing.T
	a          *api
	e          *evals.Eval
	id         string
	files      []sentFile
	path, kept string // of the journal: a pipe, and its file
}

func newSlowUpload(t *testing.T, s *servertest.Service, w *state.Workspace) *slowUpload {
	t.Helper()
	u := &slowUpload{t: t, a: newAPI(t, s, s.EvalKey(t, w)), e: stored(t, s, w), files: uploadFiles()}
	u.id = u.a.begin(u.e.ID, u.e.Digest, u.files).is(201).text("id")
	for _, f := range u.files {
		u.a.part(u.id, f.name, 0, f.text).is(200)
	}
	u.path = filepath.Join(s.Evals.Uploads, w.ID, "uploads", u.id, pushedID, u.files[1].name)
	u.kept = filepath.Join(t.TempDir(), "kept")
	if err := errors.Join(os.Rename(u.path, u.kept), syscall.Mkfifo(u.path, 0o600)); err != nil {
		t.Fatal(err)
	}
	return u
}

// complete completes the upload. While the server reads the journal, something else happens.
func (u *slowUpload) complete(text string, meanwhile func()) *answer {
	u.t.Helper()
	done := make(chan *answer, 1)
	go func() { done <- u.a.complete(u.id) }()
	pipe, err := os.OpenFile(u.path, os.O_WRONLY, 0) // waits for the server
	if err != nil {
		u.t.Fatal(err)
	}
	meanwhile()
	if _, err := io.WriteString(pipe, text); err != nil {
		u.t.Fatal(err)
	}
	if err := pipe.Close(); err != nil {
		u.t.Fatal(err)
	}
	return <-done
}

// TestAFailedCompletionKeepsVerifiedFiles: another client sends the journal again and
// completes the run, while the wrong bytes of the first are verified.
func TestAFailedCompletionKeepsVerifiedFiles(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		u := newSlowUpload(t, s, s.Workspace(t, "dana", paid))
		u.complete(strings.ToUpper(u.files[1].text), func() {
			if err := os.Rename(u.kept, u.path); err != nil {
				t.Fatal(err)
			}
			u.a.complete(u.id).is(202)
		}).refused(409, "upload_digest")
		if data, err := os.ReadFile(u.path); err != nil || string(data) != u.files[1].text {
			t.Errorf("the journal of the run: %d bytes, %v", len(data), err)
		}
		u.a.complete(u.id).is(202)
	})
}

// TestACompletionOfReplacedFiles: the run is announced with other files, and again with the
// first ones, while the first are verified. None of them are there then.
func TestACompletionOfReplacedFiles(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		u := newSlowUpload(t, s, s.Workspace(t, "dana", paid))
		u.complete(u.files[1].text, func() {
			grown := uploadFiles()
			grown[1].text += "more"
			u.a.begin(u.e.ID, u.e.Digest, grown).is(201)
			u.a.begin(u.e.ID, u.e.Digest, u.files).is(201)
		}).refused(409, "upload_incomplete")
		if got := u.a.get("/api/v1/uploads/" + u.id).is(200); got.object()["complete"] == true {
			t.Errorf("%s", got.body)
		}
		u.a.pushedAt(u.id, u.files)
	})
}
