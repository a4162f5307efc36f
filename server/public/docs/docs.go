// Package docs renders the documentation of the service as markdown and HTML, once, from
// markdown templates that are filled with addresses, limits, lifetimes, codes, the
// description of the API and the reference of the command line. It also searches them.
package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/quota"
)

// A Config is the data of the documents.
type Config struct {
	BaseURL string // public address without trailing slash
	// OpenAPI is the description of the API, as YAML.
	OpenAPI []byte
	// CLI is the reference of the command line as markdown, without its title. Where
	// it is nil, the page says how to print it.
	CLI   string
	Rules quota.Rules
	Evals evals.Caps
	// PublicPerMinute is how many requests one address may send in a minute, and
	// MCPPerMinute how many calls of tools, FilesPerMinute how many files of snapshots.
	PublicPerMinute, MCPPerMinute, FilesPerMinute int
	// Streams may be open at a time in all, OwnStreams of one workspace's keys or one account.
	Streams, OwnStreams int
}

// A Page is a document.
type Page struct {
	Path        string // such as /docs/quickstart; its Markdown is at Path + ".md"
	Title       string
	Description string // a sentence
	Section     string // the title of its group, such as How to
	Markdown    []byte // with its title, and absolute addresses
	HTML        template.HTML
	Headings    []Heading      // below the title, in order
	parts       []part         // for the search
	group       string         // by its name in files
	words       map[string]int // of its title
	keywords    map[string]int // that its file gives for the search
}

// A Heading is one that can be linked to. Level is 2 for the highest.
type Heading struct {
	Level     int
	ID, Title string
}

// A Set is all documents.
type Set struct {
	Pages  []*Page // in reading order
	byPath map[string]*Page
}

// New makes the documents.
func New(c Config) (*Set, error) {
	api, err := readAPI(c.OpenAPI, c.BaseURL)
	if err != nil {
		return nil, err
	}
	s := &Set{byPath: map[string]*Page{}}
	all, err := drafts(c, api)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		s.Pages = append(s.Pages, &Page{Path: d.path, Title: d.title, Description: d.Description, Section: d.groupTitle(), group: d.Group, keywords: count(d.Keywords)})
		s.byPath[d.path] = s.Pages[len(s.Pages)-1]
	}
	marks := regexp.MustCompile("(?m)^( *```[a-z]+) [^`\n]*$") // what tests do with a block: no reader needs it
	f := newFiller(c, api, s.Pages)
	for i, d := range all { // now that every page can name all
		p := s.Pages[i]
		text, err := d.write(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Path, err)
		}
		p.Markdown = bytes.TrimLeft(marks.ReplaceAll([]byte(text), []byte("$1")), "\n")
		if err := s.convert(p, c.BaseURL); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	return s, nil
}

// Page returns the page at a path, of itself or of its markdown, or nil.
func (s *Set) Page(path string) *Page { return s.byPath[strings.TrimSuffix(path, ".md")] }

// Around returns the pages before and after one in reading order; nil if absent.
func (s *Set) Around(p *Page) (before, after *Page) {
	for i := range s.Pages {
		if s.Pages[i] != p {
			continue
		}
		if i > 0 {
			before = s.Pages[i-1]
		}
		if i+1 < len(s.Pages) {
			after = s.Pages[i+1]
		}
	}
	return before, after
}
