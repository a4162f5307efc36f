package explain

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// sites counts the pages of transcripts by domain. A page counts once for an answer, and as
// opened where the agent opened it at least once.
func sites(slug string, domains []string, trials []Trial) []Site {
	byDomain := map[string]*Site{}
	pages := map[string]*Page{}
	order := map[string][]*Page{}
	for _, t := range trials {
		opened := map[string]bool{} // by address, and by domain
		hosts := map[string]string{}
		for _, s := range t.Sources {
			domain := domainOf(s.URL)
			if domain == "" {
				continue
			}
			hosts[s.URL] = domain
			opened[s.URL] = opened[s.URL] || s.Opened
			opened[domain] = opened[domain] || s.Opened
		}
		seen := map[string]bool{}
		for address, domain := range hosts {
			if byDomain[domain] == nil {
				byDomain[domain] = &Site{Domain: domain, Own: slices.ContainsFunc(domains, func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) })}
			}
			if pages[address] == nil {
				pages[address] = &Page{URL: address}
				order[domain] = append(order[domain], pages[address])
			}
			pages[address].add(opened[address], t.won(slug))
			if !seen[domain] {
				byDomain[domain].add(opened[domain], t.won(slug))
			}
			seen[domain] = true
		}
	}
	out := []Site{}
	for domain, s := range byDomain {
		for _, p := range order[domain] {
			s.Pages = append(s.Pages, *p)
		}
		s.NPages = len(s.Pages)
		sorting.Func(s.Pages, func(a, b Page) int { return cmp.Or(a.compare(b.Reads), cmp.Compare(a.URL, b.URL)) })
		out = append(out, *s)
	}
	sorting.Func(out, func(a, b Site) int { return cmp.Or(a.compare(b.Reads), cmp.Compare(a.Domain, b.Domain)) })
	return out
}

func (r *Reads) add(opened, picked bool) {
	r.NTrials++
	if opened {
		r.Opened++
	}
	if picked {
		r.Picked++
	}
}

// compare orders the most frequent first.
func (r Reads) compare(o Reads) int {
	return cmp.Or(cmp.Compare(o.NTrials, r.NTrials), cmp.Compare(o.Opened, r.Opened))
}

// maxAddress is the most bytes of an address that counts.
const maxAddress = 2048

// domainOf returns the host of a web address without "www."; empty for others, and for one
// that is too long.
func domainOf(address string) string {
	if len(address) > maxAddress {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}
