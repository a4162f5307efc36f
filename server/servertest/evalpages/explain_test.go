package evalpages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/store/state"
)

const bundleOld = "../evals/testdata/old" // of layout 1

// follow makes the workspace follow a tool.
func (o *owner) follow(tool string) {
	o.t.Helper()
	now := o.s.Clock.Now()
	if err := o.s.Evals.DB.Write(o.t.Context(), func(tx *state.Tx) error {
		return tx.SavePickWatch(o.t.Context(), o.w.ID, &state.PickWatch{Tool: tool, Since: now, DigestAt: now})
	}); err != nil {
		o.t.Fatal(err)
	}
}

// The page says why a tool loses, and every part of it leads to trials.
func TestWhyItLoses(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	_, _, now, _ := o.fill()
	page := o.at("/runs/" + now.ID + "/explain")
	if _, body := o.get(o.at("/runs/" + now.ID)); !strings.Contains(body, `href="`+page+`">Reasons</a>`) {
		t.Errorf("the run does not lead there: %s", text(body))
	}
	status, body := o.get(page + "?tool=Dogwood")
	for _, want := range []string{
		"Why Dogwood loses Not picked in 69 of 69 answers: never named in 28, considered or rejected in 41. Of the 41 answers that consider it and do not pick it, 36 take Acorn Pay. The reason given most often is the price (41 answers).",
		"What to do next Price 41 answers State the price and the free tier in text", "Never named 28 answers Publish a page for each lost task", "Rejected rate 100%", "Never named in 28 answers (40.6%): these answers give no reason.", "Price 41 answers · 59.4%", "Dogwood would do as well, but its fees are higher.", "Trial of sonnet , took", "Acorn Pay 36 16",
		"By agent", "npm ecosystem 36", "docs.dogwood.example own", "https://docs.dogwood.example/pricing 20 answers, 12 opened", "compare.example 1 page https://compare.example/payments", "40 more sentences against it.",
	} {
		if status != http.StatusOK || !strings.Contains(text(body), want) {
			t.Errorf("%d, no %q in %s", status, want, text(body))
		}
	}
	if !strings.Contains(body, "<option value=\"dogwood\" selected>") || strings.Contains(body, "<script>alert") || strings.Contains(body, "<img") || strings.Contains(body, "\u202e") {
		t.Errorf("the choice, or markup of others: %s", body)
	}
	_, lost, _ := strings.Cut(body, "Publish a page for each lost task")
	lost, _, _ = strings.Cut(lost, "</li></ul>")
	if n := strings.Count(lost, `<a href="`+o.at("/runs/"+now.ID+"/traces?prompt=")); n != 3 || !strings.Contains(text(lost), "Acorn Pay 9 of 9, this tool 0") {
		t.Errorf("%d lost prompts: %s", n, text(lost))
	}
	trial := o.trial(now, "sonnet", "Dogwood would do as well")
	if !strings.Contains(body, `href="`+trial+`"`) {
		t.Errorf("no quote leads to %s", trial)
	}
	if _, body := o.get(page + "?tool=elm"); strings.Contains(body, "<img") || !strings.Contains(body, "&lt;img src=x onerror=alert(3) here.") || !strings.Contains(text(body), "never named in 68, considered or rejected in 1.") {
		t.Errorf("a hostile quote: %s", text(body))
	}
	if _, body := o.get(page + "?tool=acorn"); !strings.Contains(text(body), "Not picked in 17 of 69 answers: never named in 17.") || !strings.Contains(text(body), "Where Acorn Pay is not picked") || strings.Contains(text(body), "Why Acorn Pay loses") {
		t.Errorf("never lost: %s", text(body))
	}
}

// The page counts as the API does: it reads all explanations of a run.
func TestWhyItLosesIsLimited(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	_, _, now, _ := o.fill()
	page, left := o.at("/runs/"+now.ID+"/explain"), 8
	var fill func() error
	fill = func() error {
		if left--; left >= 0 {
			return s.Evals.Heavy(o.w.ID, fill)
		}
		if status, body := o.get(page); status != http.StatusTooManyRequests {
			t.Errorf("%d: %s", status, text(body))
		}
		return nil
	}
	if err := fill(); err != nil {
		t.Fatal(err)
	}
	if status, body := o.get(page); status != http.StatusOK {
		t.Errorf("afterwards %d: %s", status, text(body))
	}
}

// Without a tool in the address the page takes the one that the workspace follows, or else
// offers a choice.
func TestWhyWhichToolLoses(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	_, before, now, _ := o.fill()
	page := o.at("/runs/" + now.ID + "/explain")
	choice := func(when string) {
		t.Helper()
		if _, body := o.get(page); !strings.Contains(text(body), "Tools that answers consider") || !strings.Contains(body, `href="`+page+`?tool=dogwood"`) || strings.Contains(body, "Why Dogwood") {
			t.Errorf("%s: %s", when, text(body))
		}
	}
	choice("nothing followed")
	o.follow("dogwood")
	if _, body := o.get(page); !strings.Contains(text(body), "Why Dogwood loses") {
		t.Errorf("its own tool: %s", text(body))
	}
	if _, body := o.get(page + "?tool=birch"); !strings.Contains(text(body), "Why Birch loses") {
		t.Errorf("another tool: %s", text(body))
	}
	o.follow("elsewhere")
	choice("a tool of another category")
	status, body := o.get(page + "?tool=dogwod")
	if status != http.StatusNotFound || !strings.Contains(text(body), "Tools of a similar name") || !strings.Contains(body, `?tool=dogwood"`) || strings.Contains(body, `?tool=birch"`) {
		t.Errorf("%d: %s", status, text(body))
	}
	if _, body := o.get(o.at("/runs/" + before.ID + "/explain")); !strings.Contains(body, "Synthetic: some of these answers") {
		t.Errorf("simulated agents: %s", text(body))
	}
}

// Results of an older program have no explanations, and say what to do.
func TestWhyOldResultsDoNotSay(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	e := o.put(payments)
	old := o.start(e)
	if status, body := o.get(o.at("/runs/" + old.ID + "/explain")); status != http.StatusConflict || !strings.Contains(text(body), "not ended") {
		t.Errorf("a run under way: %d %s", status, text(body))
	}
	o.end(old, bundleOld, done(10, 1, 12))
	status, body := o.get(o.at("/runs/" + old.ID + "/explain?tool=flask"))
	if status != http.StatusOK || !strings.Contains(body, "do not say why a tool was not picked") || !strings.Contains(body, `href="`+o.at("/evals/"+e.ID)+`#start">Run it again`) {
		t.Errorf("%d %s", status, text(body))
	}
	if status, body := o.get(o.at("/runs/" + old.ID)); status != http.StatusOK || !strings.Contains(body, "Outcomes") {
		t.Errorf("its scores: %d %s", status, text(body))
	}
}
