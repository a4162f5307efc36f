package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/publish"
)

const verifyScript = "../../server/public/docs/pages/verify.py"

// python skips, or fails where FIRSTPICK_REQUIRE names python.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		return path
	}
	if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "python") {
		t.Fatal("FIRSTPICK_REQUIRE names python, and there is no python3")
	}
	t.Skip("there is no python3")
	return ""
}

// recompute runs the script of the documents.
func recompute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python(t), append([]string{verifyScript}, args...)...).CombinedOutput()
	return string(out), err
}

// Two evals of one category: agents with weights, families of one and of three prompts,
// and an agent that answers half of the families.
const unevenEvals = `name: uneven
category: payments
repeats: 50
weights: {a: 3, b: 1, c: 0.5}
prompts:
  - {id: p0, text: Take payments in project 0., family: shop}
  - {id: p1, text: Take payments in project 1., family: shop}
  - {id: p2, text: Take payments in project 2., family: shop}
  - {id: p3, text: Take payments in project 3., family: blog}
  - {id: p4, text: Take payments in project 4.}
  - {id: p5, text: Take payments in project 5.}
  - {id: p6, text: Take payments in project 6., family: rent}
  - {id: p7, text: Take payments in project 7., family: rent}
  - {id: p8, text: Take payments in project 8.}
  - {id: p9, text: Take payments in project 9.}
agents:
  - {name: a, kind: simulated, seed: 1, truth: {stripe: 2, paypal: 1}}
  - {name: b, kind: simulated, seed: 2, truth: {stripe: 1, paypal: 1, square: 1}}
  - {name: c, kind: simulated, seed: 3, truth: {adyen: 1, stripe: 3}}
---
name: more
category: payments
repeats: 50
weights: {c: 0.5}
prompts:
  - {id: p0, text: Refund an order in project 0., family: refund}
  - {id: p1, text: Refund an order in project 1., family: refund}
  - {id: p2, text: Refund an order in project 2., family: other}
  - {id: p3, text: Refund an order in project 3., family: blog}
  - {id: p4, text: Refund an order in project 4.}
  - {id: p5, text: Refund an order in project 5.}
  - {id: p6, text: Refund an order in project 6.}
  - {id: p7, text: Refund an order in project 7.}
  - {id: p8, text: Refund an order in project 8.}
  - {id: p9, text: Refund an order in project 9.}
agents:
  - {name: c, kind: simulated, seed: 4, truth: {mollie: 1, stripe: 1}}
`

// pythonAgrees checks that script and program agree on every rate of the recorded study.
func pythonAgrees(t *testing.T, p publisher) {
	p.publish(t)
	url := p.serve(t)
	for _, args := range [][]string{{url, "--key", p.pub}, {p.root()}, {url, "--snapshot", p.older}} {
		out, err := recompute(t, args...)
		if err != nil || !strings.Contains(out, "rates of ") || !strings.Contains(out, "log of 3 entries has the snapshot") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	out, err := recompute(t, url)
	if err != nil || !strings.Contains(out, "4000 trials give the rates of 60 tools on 5 boards") {
		t.Errorf("%v\n%s", err, out)
	}
	_, other := keyPair(t, "o")
	if out, err := recompute(t, url, "--key", other); err == nil || !strings.Contains(out, "did not sign it") {
		t.Errorf("another key: %v\n%s", err, out)
	}
}

// Script and program agree on every rate of 2,000 trials of an uneven design.
func TestPythonAgreesOnAnUnevenDesign(t *testing.T) {
	python(t)
	data := t.TempDir()
	for i, text := range strings.Split(unevenEvals, "---\n") {
		file := filepath.Join(data, []string{"uneven.yaml", "more.yaml"}[i])
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		firstpick(t, data, "run", file, "--register")
	}
	firstpick(t, data, "publish", "--allow-synthetic")
	q := publisher{data: data}
	var err error
	if q.current, err = publish.Local(q.root()).Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := recompute(t, q.root())
	if err != nil || !strings.Contains(out, "2000 trials give the rates of") || !strings.Contains(out, "log of 3 entries") {
		t.Errorf("%v\n%s", err, out)
	}
	if code, out := verify(t, t.TempDir(), q.root()); code != exitOK || strings.Contains(out, "registration") {
		t.Errorf("code %d\n%s", code, out)
	}
	s, err := publish.LoadSigned(q.root(), q.current, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range s.Manifest.Evals { // sorted by name: more, uneven
		if reg := e.Runs[0].Registered; reg == nil || reg.Index != int64(1-i) || reg.At.IsZero() {
			t.Errorf("eval %s: registered %+v", e.Name, reg)
		}
	}
	b, _ := s.Board("payments")
	if raw := b.Tools[0].RawRate; raw == nil || *raw == b.Tools[0].PickRate {
		t.Error("the design is not uneven: every trial counts the same")
	}
	q.forge(t, "boards/payments.json", replace(`"pickRate":0.`, `"pickRate":0.0`))
	if err := os.RemoveAll(filepath.Join(q.root(), "log")); err != nil {
		t.Fatal(err)
	}
	if out, err := recompute(t, q.root()); err == nil || !strings.Contains(out, "boards/payments.json: ") || !strings.Contains(out, ": pickRate is 0.0") {
		t.Errorf("a changed figure: %v\n%s", err, out)
	}
}
