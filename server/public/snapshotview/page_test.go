package snapshotview_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// forms returns a page of a site as it is sent: HTML and markdown.
func forms(t *testing.T, s *snapshotview.Site, path string) (page, words string) {
	t.Helper()
	sender := snapshotview.NewSender(sitetest.Base)
	for _, accept := range []string{"text/html", "text/markdown"} {
		r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
		r.Header.Set("Accept", accept)
		sender.SendPage(w, r, s.Page(path))
		page, words = words, w.Body.String()
	}
	return page, words
}

var number = regexp.MustCompile(`[<+-]?\d+(?:[.,]\d+)*%?`)

// numbers returns the numbers of a text, each as often as it stands there.
func numbers(s string) map[string]int {
	out := map[string]int{}
	for _, n := range number.FindAllString(s, -1) {
		out[n]++
	}
	return out
}

var address = regexp.MustCompile(`\]\([^)]*\)`)

// TestPagesSayTheSameFigures: every number of the one form is in the other, and so is
// every name of a tool.
func TestPagesSayTheSameFigures(t *testing.T) {
	s := sitetest.New(t, 3)
	for _, path := range []string{"/", "/leaderboards/webserver", "/leaderboards/payments", "/tools/bottle", "/tools/stripe"} {
		page, words := forms(t, s, path)
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for n := range doc.Descendants() {
			if n.Type == html.TextNode && n.Parent.Data != "style" && n.Parent.Data != "script" && n.Parent.Data != "text" && n.Parent.Data != "title" { // ticks and tooltips of drawings
				b.WriteString(n.Data + "\n")
			}
			if n.Type == html.ElementNode && n.Data == "a" && n.Parent.Parent != nil {
				if name := n.FirstChild; name != nil && name.Type == html.TextNode && strings.Contains(n.Attr[0].Val, "/tools/") && !strings.Contains(words, "["+name.Data+"]") {
					t.Errorf("%s: the markdown does not name %s", path, name.Data)
				}
			}
		}
		shown := numbers(b.String())
		written := numbers(strings.ReplaceAll(address.ReplaceAllString(words, "]"), `\`, ""))
		if len(shown) < 5 {
			t.Fatalf("%s shows %d numbers", path, len(shown))
		}
		for n := range shown {
			if written[n] == 0 {
				t.Errorf("%s: %s is in the HTML alone", path, n)
			}
		}
		for n := range written {
			if shown[n] == 0 {
				t.Errorf("%s: %s is in the markdown alone", path, n)
			}
		}
		if !strings.Contains(page, "A citation &amp; more") || !strings.Contains(words, "A citation & more") {
			t.Errorf("%s: a form lacks the citation", path)
		}
	}
}

func TestNamesAreNoMarkup(t *testing.T) {
	s := sitetest.New(t, 1)
	boards, category := slices.Clone(s.Boards), s.Boards[0].Category
	boards[0].Name = "Pay | [me](https://evil.example) <script>*now*\n# x"
	evil, err := snapshotview.Build(snapshotview.Input{ID: "x", AsOf: sitetest.AsOf(), Boards: boards, BaseURL: sitetest.Base, Synthetic: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/leaderboards/" + category} {
		_, words := forms(t, evil, path)
		if !strings.Contains(words, `Pay \| \[me\](https://evil.example) \<script\>\*now\* \# x`) || !strings.Contains(words, "**Synthetic:") {
			t.Errorf("%s: %s", path, words)
		}
	}
}
