package ranges

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/netip"
)

// A Format is how a list is published. The zero Format is that of Parse.
type Format string

// The other formats.
const (
	Page       Format = "page"       // a web page that holds a list in the format of Parse
	Cloudflare Format = "cloudflare" // Cloudflare's API
	CloudFront Format = "cloudfront" // the ranges of AWS, of which CloudFront's count
	Fastly     Format = "fastly"     // Fastly's API
	RIPEstat   Format = "ripestat"   // the prefixes that a network announces, from RIPE's data API
)

func (f Format) accept() string {
	if f == Page {
		return "text/html"
	}
	return "application/json"
}

// Parse reads a list of this format, within the bounds of the function Parse.
func (f Format) Parse(raw []byte) ([]netip.Prefix, error) {
	switch f {
	case "":
		return Parse(raw)
	case Page:
		return parsePage(raw)
	case Cloudflare:
		return parseList(raw, func(d *cloudflareList) []string { return append(d.Result.IPv4, d.Result.IPv6...) })
	case CloudFront:
		return parseList(raw, (*awsList).cloudFront)
	case Fastly:
		return parseList(raw, func(d *fastlyList) []string { return append(d.IPv4, d.IPv6...) })
	case RIPEstat:
		return parseList(raw, (*ripeList).announced)
	}
	return nil, fmt.Errorf("unknown list format %q", f)
}

type cloudflareList struct {
	Result struct {
		IPv4 []string `json:"ipv4_cidrs"`
		IPv6 []string `json:"ipv6_cidrs"`
	} `json:"result"`
}

type fastlyList struct {
	IPv4 []string `json:"addresses"`
	IPv6 []string `json:"ipv6_addresses"`
}

type awsList struct {
	IPv4 []awsPrefix `json:"prefixes"`
	IPv6 []awsPrefix `json:"ipv6_prefixes"`
}

type awsPrefix struct {
	IPv4    string `json:"ip_prefix"`
	IPv6    string `json:"ipv6_prefix"`
	Service string `json:"service"`
}

func (d *awsList) cloudFront() []string {
	var all []string
	for _, p := range append(d.IPv4, d.IPv6...) {
		if p.Service == "CLOUDFRONT" || p.Service == "CLOUDFRONT_ORIGIN_FACING" {
			all = append(all, p.IPv4+p.IPv6)
		}
	}
	return all
}

type ripeList struct {
	Data struct {
		Prefixes []struct {
			Prefix string `json:"prefix"`
		} `json:"prefixes"`
	} `json:"data"`
}

func (d *ripeList) announced() []string {
	var all []string
	for _, p := range d.Data.Prefixes {
		all = append(all, p.Prefix)
	}
	return all
}

// parseList reads a document and the prefixes that texts takes from it.
func parseList[D any](raw []byte, texts func(*D) []string) ([]netip.Prefix, error) {
	var doc D
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, errForm
	}
	return parsePrefixes(texts(&doc))
}

// parsePage reads the first list that a page holds, escaped as text or not.
func parsePage(raw []byte) ([]netip.Prefix, error) {
	if i := bytes.Index(raw, []byte("&quot;prefixes&quot;")); i >= 0 {
		raw = []byte(html.UnescapeString(string(raw)))
	}
	key := bytes.Index(raw, []byte(`"prefixes"`))
	if key < 0 {
		return nil, errForm
	}
	start := bytes.LastIndexByte(raw[:key], '{')
	if start < 0 {
		return nil, errForm
	}
	var doc json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(raw[start:])).Decode(&doc); err != nil {
		return nil, errForm
	}
	return Parse(doc)
}
