package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firstpick/firstpick/server/servertest/chrome"
)

// TestSearchSuggests: a search suggests pages while somebody types, as a combobox that the keyboard alone
// can use, and axe finds nothing wrong with it.
func TestSearchSuggests(t *testing.T) {
	axe := chrome.Axe(t)
	b := stranger(t, newPublic(t).URL)
	type state struct {
		Expanded, Active, Selected, Status string
		Options                            []string
	}
	look := func(input string) state {
		return chrome.Eval[state](b, `(() => {
			const input = document.querySelector("`+input+`"), list = document.getElementById(input.getAttribute("aria-controls"));
			return {
				expanded: input.getAttribute("aria-expanded"), active: document.getElementById(input.getAttribute("aria-activedescendant"))?.innerText ?? "",
				selected: list.querySelector("[aria-selected=true]")?.innerText ?? "", status: input.form.querySelector("[role=status]").innerText,
				options: list.hidden ? [] : [...list.querySelectorAll("[role=option]")].map(e => e.innerText.replace(/\s+/g, " ")),
			};
		})()`)
	}
	key := func(k string) { b.Do(chromedp.KeyEvent(k)) }
	for _, c := range []struct{ page, input string }{{"/", "#mine"}, {"/search", "#find"}, {"/leaderboards", "#board"}} {
		b.Open(c.page)
		b.Do(chromedp.Focus(chromedp.CSS(c.input)))
		for _, letter := range "fla" {
			key(string(letter))
		}
		b.Until("suggestions", `document.querySelector("[role=option]")?.innerText.startsWith("Flask")`)
		got := look(c.input)
		if len(got.Options) < 2 || got.Options[0] != "Flask tool · Python web frameworks, asked 50%, observed 73% (63–82%)" || got.Expanded != "true" || got.Active != "" {
			t.Fatalf("%s suggests %+v", c.page, got)
		}
		key(kb.ArrowDown)
		key(kb.ArrowDown)
		if got = look(c.input); got.Active == "" || got.Active != got.Selected || got.Options[1] == "" {
			t.Errorf("%s: after two arrows %+v", c.page, got)
		}
		b.Look("suggestions", axe)
		key(kb.Escape)
		if got = look(c.input); got.Expanded != "false" || got.Active != "" || len(got.Options) != 0 {
			t.Errorf("%s: after Escape %+v", c.page, got)
		}
		key(kb.ArrowUp) // opens it again, at the last
		key(kb.ArrowDown)
		key(kb.Enter)
		b.Until("the page of the first suggestion", `location.pathname === "/tools/flask"`)
	}
}
