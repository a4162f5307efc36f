package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/firstpick/firstpick/server/public/docs/docstest"
)

// TestBothFormsSayTheSame compares the words of each page's HTML, as a browser shows
// them, with those of its markdown, read by rules of this test's own.
func TestBothFormsSayTheSame(t *testing.T) {
	for _, p := range docstest.New(t).Pages {
		shown, written := wordsOfHTML(t, string(p.HTML)), wordsOfMarkdown(string(p.Markdown))
		for i := range max(len(shown), len(written)) {
			if i >= len(shown) || i >= len(written) || shown[i] != written[i] {
				t.Errorf("%s: the forms differ after %d words: HTML %q, markdown %q", p.Path, i, after(shown, i), after(written, i))
				break
			}
		}
		if len(shown) < 60 && p.Path != "/docs/cli" {
			t.Errorf("%s has only %d words", p.Path, len(shown))
		}
	}
}

func after(list []string, i int) []string {
	return list[min(len(list), max(0, i-3)):min(len(list), i+6)]
}

// word is a run of letters, digits and what numbers and names are made of.
var word = regexp.MustCompile(`[\p{L}\p{N}](?:[\p{L}\p{N}._:/-]*[\p{L}\p{N}])?`)

func wordsOfHTML(t *testing.T, s string) []string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode && n.Data == "a" {
			for _, a := range n.Attr {
				if a.Key == "class" && a.Val == "anchor" {
					return
				}
			}
		}
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if n.Type == html.ElementNode && strings.Contains(" p li h1 h2 h3 h4 td th tr pre table ul ol div ", " "+n.Data+" ") {
			b.WriteString("\n")
		}
	}
	walk(doc)
	return word.FindAllString(b.String(), -1)
}

var (
	codeFence = regexp.MustCompile("(?m)^ *```.*$")
	anchorTag = regexp.MustCompile(`<a id="[^"]*"></a>`)
	linkMark  = regexp.MustCompile(`\[((?:[^\]\\]|\\.|\[\])*)\]\([^)\s]*\)`)
	rowRule   = regexp.MustCompile(`(?m)^\|(?: *:?-+:? *\|)+$`)
	itemMark  = regexp.MustCompile(`(?m)^( *)(?:[-*]|\d+\.) `)
	autoLink  = regexp.MustCompile(`<(https?://[^>]*)>`)
	escaped   = regexp.MustCompile(`\\([|<*_\[\]#~\x60])`)
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
)

// wordsOfMarkdown leaves out what markdown marks with: fences, anchors, addresses of
// links, rules of tables, numbers of items. Code stays as it is.
func wordsOfMarkdown(s string) []string {
	var out []string
	for i, part := range codeFence.Split(s, -1) {
		if i%2 == 0 {
			part = anchorTag.ReplaceAllString(part, "")
			part = linkMark.ReplaceAllString(part, "$1")
			part = rowRule.ReplaceAllString(part, "")
			part = itemMark.ReplaceAllString(part, "$1")
			part = autoLink.ReplaceAllString(part, "$1")
			code := codeSpan.FindAllString(part, -1)
			part = codeSpan.ReplaceAllString(part, "\x00")
			part = strings.ReplaceAll(escaped.ReplaceAllString(part, "$1"), "**", "")
			for _, c := range code {
				part = strings.Replace(part, "\x00", strings.ReplaceAll(strings.Trim(c, "`"), `\|`, "|"), 1)
			}
		}
		out = append(out, word.FindAllString(part, -1)...)
	}
	return out
}
