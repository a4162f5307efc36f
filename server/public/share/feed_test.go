package share_test

import (
	"encoding/xml"
	"net/url"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/public/share"
)

// TestAtom: a feed has what RFC 4287 requires: of itself and of each entry an id that is an
// address, a title and a date; an author; links; ids occur once; hostile text stays text.
func TestAtom(t *testing.T) {
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.FixedZone("", 7200))
	f := share.Feed{Title: "What <moved>", URL: "https://x.example/changes", Self: "https://x.example/feed.atom", Updated: at}
	for _, slug := range []string{"flask", "django"} {
		f.Entries = append(f.Entries, share.Entry{ID: "https://x.example/snapshots/a/tools/" + slug, Title: slug + " </title>\x00&", URL: "https://x.example/tools/" + slug, Text: "]]> <b>", Updated: at})
	}
	body, err := share.Atom(f)
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		ID      string `xml:"http://www.w3.org/2005/Atom id"`
		Title   string `xml:"http://www.w3.org/2005/Atom title"`
		Updated string `xml:"http://www.w3.org/2005/Atom updated"`
		Content string `xml:"http://www.w3.org/2005/Atom content"`
		Links   []struct {
			Rel  string `xml:"rel,attr"`
			Href string `xml:"href,attr"`
		} `xml:"http://www.w3.org/2005/Atom link"`
	}
	var feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		node
		Author  string `xml:"http://www.w3.org/2005/Atom author>name"`
		Entries []node `xml:"http://www.w3.org/2005/Atom entry"`
	}
	if err := xml.Unmarshal(body, &feed); err != nil {
		t.Fatalf("%v:\n%s", err, body)
	}
	if feed.Author == "" || len(feed.Entries) != 2 || len(feed.Links) != 2 || feed.Links[0].Rel != "self" || feed.Links[0].Href != f.Self {
		t.Errorf("author %q, %d entries, links %v", feed.Author, len(feed.Entries), feed.Links)
	}
	seen := map[string]bool{}
	for _, n := range append(feed.Entries, feed.node) {
		id, err := url.Parse(n.ID)
		if err != nil || !id.IsAbs() || seen[n.ID] || n.Title == "" || len(n.Links) == 0 {
			t.Errorf("%+v", n)
		}
		if when, err := time.Parse(time.RFC3339, n.Updated); err != nil || !when.Equal(at) {
			t.Errorf("updated %q", n.Updated)
		}
		seen[n.ID] = true
	}
	if feed.Title != f.Title || feed.Entries[0].Content != "]]> <b>" || feed.Entries[0].Title != "flask </title>\ufffd&" {
		t.Errorf("%q, %+v", feed.Title, feed.Entries[0])
	}
}
