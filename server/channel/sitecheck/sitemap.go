package sitecheck

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// A listing holds the addresses of a sitemap.
type listing struct{ pages, sitemaps []string }

var errNoSitemap = errors.New("it is not a sitemap")

// parseSitemap parses a sitemap, or an index of sitemaps, in XML or as text with one
// address per line (sitemaps.org/protocol.html). For a broken file it also returns the
// part before the error.
func parseSitemap(body []byte) (listing, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))), []byte("<")) {
		return parseLines(body)
	}
	var out listing
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // the protocol knows UTF-8 only
	inside := ""
	for len(out.pages)+len(out.sitemaps) < maxPages {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, errors.New("the XML is broken")
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "html":
			return out, errNoSitemap
		case "url", "sitemap":
			inside = start.Name.Local
		case "loc":
			var loc string
			if err := dec.DecodeElement(&loc, &start); err != nil {
				return out, errors.New("the XML is broken")
			}
			if loc = strings.TrimSpace(loc); loc == "" {
				continue
			}
			switch {
			case len(loc) > maxAddress: // no page has such an address (sitemaps.org)
			case inside == "url":
				out.pages = append(out.pages, loc)
			case inside == "sitemap":
				out.sitemaps = append(out.sitemaps, loc)
			}
			inside = "" // a <loc> of an image or video follows
		}
	}
	if len(out.pages)+len(out.sitemaps) == 0 {
		return out, errNoSitemap
	}
	return out, nil
}

func parseLines(body []byte) (listing, error) {
	var out listing
	lines := bufio.NewScanner(bytes.NewReader(body))
	for lines.Scan() && len(out.pages) < maxPages {
		line := strings.TrimSpace(lines.Text())
		if len(line) <= maxAddress && (strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://")) {
			out.pages = append(out.pages, line)
		}
	}
	if lines.Err() != nil {
		return out, errors.New("a line is too long")
	}
	if len(out.pages) == 0 {
		return out, errNoSitemap
	}
	return out, nil
}
