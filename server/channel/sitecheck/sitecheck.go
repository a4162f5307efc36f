// Package sitecheck checks a site as agents see it: the pages of its sitemap, the rules
// of its robots.txt, and texts for agents.
package sitecheck

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/safehttp"
)

// Limits of a check.
const (
	maxRobots   = 500 << 10 // bytes, as RFC 9309, 2.5 has it
	maxSitemap  = 16 << 20  // bytes of one sitemap, unpacked
	maxSitemaps = 20        // files
	maxPages    = 20_000
	maxAddress  = 2048    // bytes of an address in a sitemap
	maxListing  = 4 << 20 // bytes of all pages as JSON, for that is stored
	maxText     = 4 << 10 // of llms.txt, to see that it is one
)

// A Result is the result of a check. Its JSON is stored.
type Result struct {
	Site string    `json:"site"`
	At   time.Time `json:"at"`
	// Pages are the addresses that the sitemaps name, on the site's own host.
	Pages []Page `json:"pages,omitempty"`
	// Robots is the text of robots.txt; empty when all may read all.
	Robots   string `json:"robots,omitempty"`
	LLMs     bool   `json:"llms"`     // there is an /llms.txt
	Markdown bool   `json:"markdown"` // a page answers in Markdown, asked for by Accept or as .md
	// Problems are error texts for the owner.
	Problems []string `json:"problems,omitempty"`
}

// A Page is an address of a site. The path is escaped, as requests have it.
type Page struct {
	Host string `json:"host"`
	Path string `json:"path"`
}

// A Checker looks at sites. Client should reach public addresses only.
type Checker struct {
	Client    *http.Client
	UserAgent string
	Now       func() time.Time
}

// Check checks a site, such as https://acme.dev. Missing or broken parts are Problems of
// the result; the error is the context's.
func (c *Checker) Check(ctx context.Context, site string) (*Result, error) {
	r := &Result{Site: site, At: c.Now().UTC()}
	base, err := url.Parse(site)
	if err != nil || base.Host == "" {
		r.problem("%q is not an address", site)
		return r, ctx.Err()
	}
	sitemaps := c.robots(ctx, r, base)
	if len(sitemaps) == 0 {
		sitemaps = []string{base.JoinPath("/sitemap.xml").String()}
	}
	c.sitemaps(ctx, r, base, sitemaps)
	if kind, text, err := c.text(ctx, base.JoinPath("/llms.txt").String(), ""); err == nil {
		r.LLMs = !strings.Contains(kind, "html") && strings.TrimSpace(text) != ""
	}
	if len(r.Pages) > 0 {
		r.Markdown = c.markdown(ctx, base, r.Pages[len(r.Pages)/2])
	}
	return r, ctx.Err()
}

// Unreachable reports that the check reached nothing of the site, so that LLMs and Markdown
// say nothing.
func (r *Result) Unreachable() bool {
	return !r.LLMs && len(r.Pages) == 0 && slices.ContainsFunc(r.Problems, func(p string) bool {
		return strings.HasPrefix(p, robotsProblem) && !strings.HasSuffix(p, errLarge.Error())
	})
}

// robotsProblem begins the problem of a robots.txt that was not read.
const robotsProblem = "robots.txt: "

func (r *Result) problem(format string, args ...any) {
	if len(r.Problems) < 10 {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// robots reads robots.txt and returns the sitemaps that it names.
func (c *Checker) robots(ctx context.Context, r *Result, base *url.URL) []string {
	body, status, _, err := c.get(ctx, base.JoinPath("/robots.txt").String(), "", maxRobots)
	switch {
	case err != nil:
		r.problem(robotsProblem+"%s", reason(err))
		return nil
	case status != http.StatusOK: // then all may read all (RFC 9309, 2.3.1.3)
		return nil
	}
	r.Robots = strings.ToValidUTF8(string(body), "?")
	rules := r.Rules()
	return rules.sitemaps
}

func (c *Checker) sitemaps(ctx context.Context, r *Result, base *url.URL, queue []string) {
	seen, known := map[string]bool{}, map[Page]bool{}
	read, size := 0, 0
	for len(queue) > 0 && ctx.Err() == nil && len(r.Pages) < maxPages {
		at, err := base.Parse(queue[0])
		queue = queue[1:]
		if err != nil || seen[at.String()] {
			continue
		}
		seen[at.String()] = true
		if !sameSite(at.Hostname(), base.Hostname()) {
			r.problem("the sitemap %s is on another host and was left out", at)
			continue
		}
		if read++; read > maxSitemaps {
			r.problem("there are more than %d sitemaps; the rest was left out", maxSitemaps)
			return
		}
		body, status, _, err := c.get(ctx, at.String(), "", maxSitemap)
		switch {
		case err != nil:
			r.problem("%s: %s", at.Path, reason(err))
			continue
		case status != http.StatusOK:
			r.problem("%s answers %d; name your sitemap in robots.txt", at.Path, status)
			continue
		}
		found, err := parseSitemap(body)
		if err != nil {
			r.problem("%s: %s", at.Path, err)
		}
		queue = append(queue, found.sitemaps...)
		for _, loc := range found.pages {
			u, err := base.Parse(loc)
			if err != nil || !sameSite(u.Hostname(), base.Hostname()) {
				continue
			}
			page := Page{u.Host, u.EscapedPath()}
			if page.Path == "" {
				page.Path = "/"
			}
			if known[page] || len(r.Pages) == maxPages {
				continue
			}
			if size += stored(page); size > maxListing {
				r.problem("the sitemaps name more than can be kept; the rest was left out")
				return
			}
			known[page] = true
			r.Pages = append(r.Pages, page)
		}
	}
}

// stored returns how many bytes a page takes as JSON.
func stored(p Page) int {
	text, _ := json.Marshal(p) // two strings
	return len(text) + 1
}

// markdown reports whether a page is available as Markdown.
func (c *Checker) markdown(ctx context.Context, base *url.URL, p Page) bool {
	root := base.Scheme + "://" + p.Host
	if kind, _, err := c.text(ctx, root+p.Path, "text/markdown, */*;q=0.1"); err == nil && strings.Contains(kind, "markdown") {
		return true
	}
	kind, _, err := c.text(ctx, root+strings.TrimSuffix(p.Path, "/")+".md", "")
	return err == nil && !strings.Contains(kind, "html")
}

// text fetches the beginning of a response with status 200.
func (c *Checker) text(ctx context.Context, at, accept string) (kind, text string, err error) {
	body, status, kind, err := c.get(ctx, at, accept, maxText)
	if err != nil && !errors.Is(err, errLarge) {
		return "", "", err
	}
	if status != http.StatusOK {
		return "", "", fmt.Errorf("it answers %d", status)
	}
	return strings.ToLower(kind), string(body), nil
}

var errLarge = errors.New("it is too large")

// get returns a body, unpacked; errLarge and its beginning when it is too large.
func (c *Checker) get(ctx context.Context, at, accept string, most int64) (body []byte, status int, kind string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return nil, 0, "", err
	}
	req.Header.Set("User-Agent", c.UserAgent)
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	res, err := c.Client.Do(req)
	if err != nil {
		return nil, 0, "", err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	body, err = io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return nil, 0, "", err
	}
	if len(body) > 2 && body[0] == 0x1f && body[1] == 0x8b { // a .gz file, or an encoding that was not asked for
		z, err := gzip.NewReader(strings.NewReader(string(body)))
		if err != nil {
			return nil, 0, "", err
		}
		if body, err = io.ReadAll(io.LimitReader(z, most+1)); err != nil {
			return nil, 0, "", err
		}
	}
	if int64(len(body)) > most {
		return body[:most], res.StatusCode, res.Header.Get("Content-Type"), errLarge
	}
	return body, res.StatusCode, res.Header.Get("Content-Type"), nil
}

// sameSite reports whether two hosts are of one site: they may differ in www.
func sameSite(a, b string) bool {
	plain := func(h string) string { return strings.TrimPrefix(strings.ToLower(h), "www.") }
	return plain(a) == plain(b)
}

// reason returns the error text for the owner. All connection failures have the same
// text, because details would reveal names and addresses in the server's network.
func reason(err error) string {
	var outer *url.Error
	var connection *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &outer) && outer.Timeout():
		return "the site does not answer"
	case errors.Is(err, safehttp.ErrPort):
		return "the port is not one at which sites are looked at: use 443"
	case errors.As(err, &certificate): // of a public address that answered
		return "the certificate of the site is not valid"
	case outer != nil, errors.As(err, &connection):
		return "could not connect: the address must be of a site on the public internet"
	}
	return err.Error()
}

// Rules returns the rules of the site's robots.txt.
func (r *Result) Rules() Rules { return parseRules(r.Robots) }
