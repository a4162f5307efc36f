package share

import (
	"bytes"
	"encoding/xml"
	"time"
)

// A Feed is a list of news (Atom, RFC 4287).
type Feed struct {
	Title, URL, Self string // URL is the page, Self the feed
	Updated          time.Time
	Entries          []Entry
}

// An Entry is a piece of news. ID never changes.
type Entry struct {
	ID, Title, URL, Text string
	Updated              time.Time
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Link    atomLink `xml:"link"`
	Content string   `xml:"content"`
}

type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

// Atom writes a feed.
func Atom(f Feed) ([]byte, error) {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	out := atomFeed{
		ID: f.Self, Title: f.Title, Updated: at(f.Updated), Author: "firstpick",
		Links: []atomLink{{Rel: "self", Type: "application/atom+xml", Href: f.Self}, {Rel: "alternate", Type: "text/html", Href: f.URL}},
	}
	for _, e := range f.Entries {
		out.Entries = append(out.Entries, atomEntry{e.ID, e.Title, at(e.Updated), atomLink{Rel: "alternate", Type: "text/html", Href: e.URL}, e.Text})
	}
	var buf bytes.Buffer
	buf.WriteString(xml.Header)
	enc := xml.NewEncoder(&buf)
	enc.Indent("", " ")
	err := enc.Encode(out)
	buf.WriteByte('\n')
	return buf.Bytes(), err
}
