package browser_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/firstpick/firstpick/server/servertest/chrome"
)

// A click is on a link by its text; In is a text of its row, where several are alike.
type click struct{ Text, In string }

// follow clicks on a link of the page's content that is seen.
func follow(t *testing.T, b *chrome.Tab, c click) {
	t.Helper()
	found := chrome.Eval[bool](b, `(() => {
		const link = [...document.querySelectorAll("main a")].find(e => e.innerText.trim() === `+quote(c.Text)+` &&
			(e.closest("tr, li, section") ?? e).innerText.includes(`+quote(c.In)+`));
		link?.setAttribute("data-here", "");
		return !!link;
	})()`)
	if !found {
		t.Fatalf("there is no link %q at %q in\n%s", c.Text, c.In, chrome.Eval[string](b, `document.body.innerText`))
	}
	b.Load(chromedp.Click(chromedp.CSS("[data-here]")))
}

// TestTenQuestions: what a growth lead asks about the own tool is answered on its page or
// within two clicks, in words that the lead can read. The log of the test is the transcript.
func TestTenQuestions(t *testing.T) {
	b := stranger(t, newPublic(t).URL)
	for _, q := range []struct {
		question string
		clicks   []click
		answer   string // a pattern of the text that is seen; its groups are the answer
	}{
		{"How often do agents pick Django?", nil, `(Django is \S+ of \d+ picked tools: models picked it in \S+% of answers; Flask is first with \S+%)`},
		{"Which models pick it?", nil, `(GPT-4o)\s+(\d\S+%)\s+(\S+–\S+%)\s+(72)`},
		{"Who wins where we lose?", nil, `(Who took the other \d+ answers) share of these\s+(Flask)\s+(\d+)\s+(\S+%)`},
		{"On which prompts do we lose?", nil, `Where it loses[\s\S]*?\n(\S.*)\t(Build a.*)\t(0 of 3)\t(\S+ 3)`},
		{"Why did Claude pick another there?", []click{{"Claude 3.5 Sonnet", "admin page"}, {"Claude 3.5 Sonnet", "repeat 1"}}, `(Decided .*)\n[\s\S]*How it was decided[\s\S]*?(FastAPI)\s+statement\s+decided`},
		{"What do they say for and against us?", nil, `Picked it\n+[^\n]*\n+(I would use django here.*)[\s\S]*Picked something else\n+[^\n]*\n+(I would use .*)`},
		{"What is the trend?", nil, `(Trend \S+% .*points since 6 April 2026)[\s\S]*(Pick rate in 2 snapshots)`},
		{"How do we compare with Flask?", []click{{"Compare", "Flask"}}, `(Flask leads by)[\s\S]*?(\S+ points)\s+(\S+ to \S+)`},
		{"Is that significant?", nil, `(Significant\?)[\s\S]*(Flask)\t.*\t(yes p <0.001)`},
		{"What now?", nil, `(What now)\s+(Begin with GPT-4o, where it is nearest to the lead: Flask \S+%, Django \S+%.)`},
	} {
		b.Open("/tools/django")
		t.Logf("Q: %s", q.question)
		for _, c := range q.clicks {
			follow(t, b, c)
			t.Logf("   click %q: %s", c.Text, chrome.Get(b, chromedp.Title()))
		}
		text := chrome.Eval[string](b, `document.querySelector("main").innerText`)
		answer := regexp.MustCompile(q.answer).FindStringSubmatch(text)
		if len(answer) == 0 || len(q.clicks) > 2 {
			t.Fatalf("%s: after %d clicks no %s in\n%s", q.question, len(q.clicks), q.answer, text)
		}
		t.Logf("   answer: %s", strings.Join(answer[1:], " "))
	}
}
