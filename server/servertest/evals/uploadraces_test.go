package evals_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
)

// A readerFunc is a body that is made when it is read.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestAPartThatIsLate does not change a run that was completed while it was sent.
func TestAPartThatIsLate(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, a, files := stored(t, s, w), newAPI(t, s, s.EvalKey(t, w)), uploadFiles()
		id, journal := a.begin(e.ID, e.Digest, files).is(201).text("id"), files[1]
		others := strings.NewReader(strings.ToUpper(journal.text))
		completed := false
		u, err := s.Evals.Receive(t.Context(), servertest.Owner(w), id, journal.name, 0, readerFunc(func(p []byte) (int, error) {
			if !completed {
				completed = true
				a.pushedAt(id, files)
			}
			return others.Read(p)
		}))
		if err != nil || !u.Complete {
			t.Errorf("%+v, %v", u, err)
		}
		data, err := os.ReadFile(filepath.Join(s.Evals.Uploads, w.ID, "uploads", id, pushedID, journal.name))
		if err != nil || string(data) != journal.text {
			t.Errorf("the journal of the run was changed (%v)", err)
		}
	})
}

// TestAPartOfOtherFiles is refused: the run was announced again while it was sent.
func TestAPartOfOtherFiles(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	e, a, files := stored(t, s, w), newAPI(t, s, s.EvalKey(t, w)), uploadFiles()
	id := a.begin(e.ID, e.Digest, files).is(201).text("id")
	grown, old := uploadFiles(), strings.NewReader(files[1].text)
	grown[1].text = "more" + grown[1].text
	announced := false
	_, err := s.Evals.Receive(t.Context(), servertest.Owner(w), id, files[1].name, 0, readerFunc(func(p []byte) (int, error) {
		if !announced {
			announced = true
			a.begin(e.ID, e.Digest, grown).is(201)
		}
		return old.Read(p)
	}))
	if err == nil || err.Error() != "upload_conflict" {
		t.Errorf("%v", err)
	}
	if got := a.get("/api/v1/uploads/" + id).is(200).received(); got[1] != 0 {
		t.Errorf("received: %v", got)
	}
	a.pushedAt(id, grown)
}
