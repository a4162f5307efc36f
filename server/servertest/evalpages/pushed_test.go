package evalpages_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestPagesMarkPushedRuns: a queued and an ended one, in lists and on their own pages, with
// the label of the key. Runs of the server have no mark.
func TestPagesMarkPushedRuns(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	e := o.put(payments)
	_, key, err := s.Evals.CreateKey(t.Context(), o.actor(), evals.KeyRequest{Label: "kim's <laptop>"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Evals.Authenticate(t.Context(), key, o.actor().IP, "")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := s.Evals.Eval(t.Context(), *a, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	req := evals.UploadRequest{Run: "20261121-091500-k3x9qd", EvalDigest: stored.Digest}
	for _, name := range []string{"run.json", "journal-000001.ndjson"} {
		sum := sha256.Sum256([]byte(name))
		req.Files = append(req.Files, resource.AnnouncedFile{Name: name, Bytes: int64(len(name)), SHA256: hex.EncodeToString(sum[:])})
	}
	u, _, err := s.Evals.BeginUpload(t.Context(), *a, e.ID, req)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range req.Files {
		if _, err := s.Evals.Receive(t.Context(), *a, u.ID, f.Name, 0, strings.NewReader(f.Name)); err != nil {
			t.Fatal(err)
		}
	}
	r, _, err := s.Evals.CompleteUpload(t.Context(), *a, u.ID)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "Pushed by the eval key kim's <laptop> : this run was made elsewhere." // text puts a blank after each element
	shows := func(name string) {
		t.Helper()
		for _, page := range []string{"/runs", "/evals/" + e.ID} {
			if _, body := o.get(o.at(page)); !strings.Contains(text(body), "pushed") || !strings.Contains(text(body), "elsewhere") {
				t.Errorf("%s: no mark at %s: %s", name, page, text(body))
			}
		}
		if _, body := o.get(o.at("/runs/" + r.ID)); !strings.Contains(text(body), mark) || strings.Contains(text(body), "Budget") || strings.Contains(text(body), "of $0") {
			t.Errorf("%s: %s", name, text(body))
		}
	}
	shows("queued")
	row := s.Begin(t)
	if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
		return tx.FinishRun(t.Context(), row.Lease(), s.Clock.Now(), state.RunOutcome{Status: state.RunFailed, Failure: "The pushed journal was not accepted."})
	}); err != nil {
		t.Fatal(err)
	}
	shows("failed")
	own, _, err := s.Evals.Start(t.Context(), o.actor(), evals.StartRequest{EvalID: e.ID, BudgetUSD: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, body := o.get(o.at("/runs/" + own.ID)); strings.Contains(text(body), "Pushed") {
		t.Errorf("an own run is marked: %s", text(body))
	}
}
