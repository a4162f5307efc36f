package propose

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Limits of what is read of a site.
const (
	MaxPages     = 8
	MaxPageBytes = 1 << 20
)

// A Fetcher gets a page. It returns at most MaxPageBytes of the body, and the address after
// redirects.
type Fetcher func(ctx context.Context, address string) (Page, error)

// A Page is a response with status 200.
type Page struct {
	URL, ContentType string
	Body             []byte
}

// Site reads at most MaxPages pages of a site: the page of the address, /llms.txt, /docs,
// and pages that it links about the product or its rivals. Pages of other sites are not
// read. The error is that of the first page; others may fail.
func Site(ctx context.Context, address string, fetch Fetcher) ([]Document, error) {
	home, err := Home(address)
	if err != nil {
		return nil, err
	}
	first, err := fetch(ctx, home.String())
	if err != nil {
		return nil, err
	}
	s := &site{root: home}
	if !s.add(first) {
		moved, err := url.Parse(first.URL)
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s redirects to another site: read %s instead", validPath(address), validPath(moved.Scheme+"://"+moved.Host))
	}
	next := []string{"/llms.txt", "/docs"}
	for _, l := range s.docs[0].page().links {
		if at, err := home.Parse(l.href); err == nil && s.same(at) && about(at.Path) {
			next = append(next, at.Path)
		}
	}
	for _, p := range next {
		if len(s.docs)+s.failed >= MaxPages || ctx.Err() != nil {
			break
		}
		at := *home
		at.Path, at.RawPath, at.RawQuery = p, "", ""
		if slices.Contains(s.seen, at.String()) {
			continue
		}
		s.seen = append(s.seen, at.String())
		page, err := fetch(ctx, at.String())
		if err != nil || !s.add(page) {
			s.failed++
		}
	}
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return s.docs, nil
}

// Home parses the address of a site.
func Home(address string) (*url.URL, error) {
	home, err := url.Parse(address)
	if err == nil && home.User != nil {
		return nil, errors.New("want an address without a name and password, as https://example.com")
	}
	if err != nil || home.Scheme != "https" && home.Scheme != "http" || home.Hostname() == "" {
		return nil, fmt.Errorf("%q: want an address as https://example.com", validPath(address))
	}
	home.Fragment = ""
	return home, nil
}

type site struct {
	root   *url.URL
	docs   []Document
	seen   []string
	failed int
}

// add keeps a page of the site; false if it belongs to another one.
func (s *site) add(p Page) bool {
	at, err := url.Parse(p.URL)
	if err != nil || !s.same(at) {
		return false
	}
	s.seen = append(s.seen, at.String())
	if len(s.docs) > 0 && strings.HasSuffix(at.Path, ".txt") && strings.Contains(p.ContentType, "html") {
		return true // a page in place of a file
	}
	at.RawQuery, at.Fragment = "", ""
	s.docs = append(s.docs, Document{Name: at.String(), Web: true, ContentType: p.ContentType, Text: p.Body[:min(len(p.Body), MaxPageBytes)]})
	return true
}

func (s *site) same(at *url.URL) bool {
	return SameSite(at, s.root)
}

// SameSite reports whether two addresses are of one site: the same host, or hosts of one
// registrable domain on one port.
func SameSite(a, b *url.URL) bool {
	if a.Scheme != "https" && a.Scheme != "http" {
		return false
	}
	return a.Host == b.Host || registrable(a.Hostname()) != "" && registrable(a.Hostname()) == registrable(b.Hostname()) && a.Port() == b.Port()
}

// about reports whether a path is that of a page about the product.
func about(p string) bool {
	for _, part := range strings.Split(strings.ToLower(p), "/") {
		stem := strings.TrimSuffix(part, path.Ext(part))
		if slices.Contains([]string{"about", "product", "products", "features", "compare", "comparison", "alternatives", "vs", "introduction", "overview", "docs", "documentation"}, stem) ||
			strings.Contains(stem, "-vs-") || strings.HasPrefix(stem, "vs-") || strings.HasSuffix(stem, "-alternative") || strings.HasSuffix(stem, "-alternatives") {
			return true
		}
	}
	return false
}

// registrable returns the domain that a customer of a registry owns; empty for an address
// of the network or a bare suffix.
func registrable(host string) string {
	d, err := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(strings.TrimSuffix(host, ".")))
	if err != nil || strings.Trim(d, "0123456789.") == "" {
		return ""
	}
	return d
}
