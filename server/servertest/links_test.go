package servertest_test

import (
	"encoding/xml"
	"image/png"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/docs/docstest"
)

// published is a server whose links lead somewhere.
func published(t *testing.T) http.Handler {
	t.Helper()
	site, source := archivetest.Published(t)
	return newServer(t, site, func(c *server.Config) { c.Archive, c.CLI = source, docstest.CLI })
}

// A document is an answer with what it refers to.
type document struct {
	ids   map[string]bool
	links []*url.URL
	meta  map[string]string
}

func parse(t *testing.T, text string) document {
	t.Helper()
	d := document{map[string]bool{}, nil, map[string]string{}}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		at := map[string]string{}
		for _, a := range n.Attr {
			at[a.Key] = a.Val
			if a.Key == "href" || a.Key == "src" || a.Key == "action" {
				u, err := url.Parse(a.Val)
				if err != nil {
					t.Errorf("%q is no address: %v", a.Val, err)
					continue
				}
				d.links = append(d.links, u)
			}
		}
		if n.Data == "meta" {
			d.meta[at["property"]+at["name"]] = at["content"]
		}
		d.ids[at["id"]] = true
	}
	return d
}

// perKind is how many pages of one kind are read for their links: the first that are found.
const perKind = 12

// kindOf is a path without its names.
var kindOf = regexp.MustCompile(`^(/[^/]+)/.*?(/history|/trials|/prompts/.*|\.\w+)?$`)

// TestPagesLeadSomewhere follows the links of pages from the front page on: each is answered,
// and has the place that is named. Of one kind, and of one kind with a query, some are read.
func TestPagesLeadSomewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for page after page: a minute with the race detector")
	}
	srv, pages, read := published(t), map[string]*document{}, map[string]int{}
	type link struct{ from, to, place string }
	queue, n := []link{{"", "/", ""}}, 0
	for ; len(queue) > 0; queue = queue[1:] {
		l := queue[0]
		page, known := pages[l.to]
		if path, query, _ := strings.Cut(l.to, "?"); !known {
			kind := kindOf.ReplaceAllString(path, "$1/*$2")
			if query != "" {
				kind += "?"
			}
			if read[kind]++; read[kind] > perKind {
				continue
			}
			resp := ask(srv, "GET", l.to, "Accept", "text/html, */*;q=0.1")
			text := body(t, resp)
			if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusSeeOther && resp.StatusCode != http.StatusFound {
				t.Errorf("%s leads to %s: %d", l.from, l.to, resp.StatusCode)
			}
			pages[l.to] = nil
			if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
				d := parse(t, text)
				pages[l.to], page = &d, &d
				at, _ := url.Parse(base + l.to)
				for _, u := range d.links {
					if to := at.ResolveReference(u); base == to.Scheme+"://"+to.Host {
						queue = append(queue, link{l.to, to.RequestURI(), to.Fragment})
					}
				}
			}
		}
		if n++; page != nil && l.place != "" && !page.ids[l.place] {
			t.Errorf("%s leads to %s#%s, and there is no such place", l.from, l.to, l.place)
		}
	}
	if len(pages) < 200 || n < 2000 {
		t.Errorf("%d pages, %d links", len(pages), n)
	}
}

// TestPicturesOfLinks: what others show for a link to a page has whole addresses, and a
// picture of the size that it says.
func TestPicturesOfLinks(t *testing.T) {
	srv := published(t)
	for _, path := range []string{"/leaderboards/webserver", "/tools/flask", "/compare/django-vs-flask"} {
		m := parse(t, body(t, ask(srv, "GET", path))).meta
		picture, whole := strings.CutPrefix(m["og:image"], base)
		if !whole || m["og:url"] != base+path || m["og:title"] == "" || m["og:description"] == "" || m["twitter:card"] != "summary_large_image" {
			t.Errorf("%s says %q", path, m)
		}
		resp := ask(srv, "GET", picture)
		img, err := png.DecodeConfig(resp.Body)
		if err != nil || resp.Header.Get("Content-Type") != "image/png" || img.Width != 1200 || img.Height != 630 || m["og:image:width"] != "1200" || m["og:image:height"] != "630" {
			t.Errorf("%s: %v %v %v", picture, err, resp.Header, img)
		}
	}
}

// TestFeedsAndBadges: the feed, and that of a tool or a board, names its own address, and its entries lead to pages; a badge is
// well-formed and runs nothing, also that of a tool that nobody measures.
func TestFeedsAndBadges(t *testing.T) {
	srv := published(t)
	type link struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	var feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		Links   []link   `xml:"link"`
		Entries []struct {
			Link link `xml:"link"`
		} `xml:"entry"`
	}
	resp := ask(srv, "GET", "/feed.atom")
	if err := xml.NewDecoder(resp.Body).Decode(&feed); err != nil || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/atom+xml") {
		t.Fatal(err, resp.Header)
	}
	if !slices.Contains(feed.Links, link{"self", base + "/feed.atom"}) || len(feed.Entries) == 0 {
		t.Errorf("%+v", feed)
	}
	for _, e := range feed.Entries {
		if path, ours := strings.CutPrefix(e.Link.Href, base); !ours || ask(srv, "GET", path).StatusCode != http.StatusOK {
			t.Errorf("an entry leads to %q", e.Link.Href)
		}
	}
	for path, title := range map[string]string{"/feed.atom?tool=flask": "firstpick: Flask", "/feed.atom?category=webserver": "firstpick: Python web frameworks", "/feed.atom?tool=nothing": "", "/feed.atom?category=nothing": ""} {
		resp := ask(srv, "GET", path)
		var own struct {
			Title string `xml:"title"`
			Links []link `xml:"link"`
			Entry []struct {
				Link link `xml:"link"`
			} `xml:"entry"`
		}
		if title == "" {
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %d", path, resp.StatusCode)
			}
			continue
		}
		if err := xml.NewDecoder(resp.Body).Decode(&own); err != nil || own.Title != title || !slices.Contains(own.Links, link{"self", base + path}) || len(own.Entry) == 0 {
			t.Errorf("%s: %+v %v", path, own, err)
		}
	}
	for _, tool := range []string{"flask", "bottle", "no-such-tool"} {
		resp := ask(srv, "GET", "/badge/"+tool+".svg")
		text := body(t, resp)
		var svg struct {
			XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		}
		if err := xml.Unmarshal([]byte(text), &svg); err != nil || resp.Header.Get("Content-Type") != "image/svg+xml" || strings.Contains(text, "<script") {
			t.Errorf("%s: %v %v %s", tool, err, resp.Header, text)
		}
	}
}
