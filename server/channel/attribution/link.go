package attribution

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The keys that decorating a link may add.
const (
	keyTag      = "vt"
	keyVia      = "via"
	keySource   = "utm_source"
	keyMedium   = "utm_medium"
	keyCampaign = "utm_campaign"
	utm         = "utm_"
)

// Marks are what a decorated link says to the site it leads to, besides its
// signed tag. Those that are empty are not added.
type Marks struct {
	Via                      string // firstpick-mcp
	Source, Medium, Campaign string // firstpick, ai_agent, mcp
}

// Links decorates the URLs of one catalogue, and no others: what a user or an
// agent hands in must not become a link that we signed. It may be used by many
// goroutines.
type Links struct {
	signer *Signer
	urls   map[string]target
}

// A target is what a URL of the catalogue leads to, and which keys it has.
type target struct {
	host, path    string
	tag, via, utm bool
}

// NewLinks takes the URLs of a catalogue. Each is absolute, http or https, and
// holds no user or password.
func NewLinks(signer *Signer, catalogue []string) (*Links, error) {
	l := &Links{signer: signer, urls: make(map[string]target, len(catalogue))}
	for _, raw := range catalogue {
		u, err := url.Parse(raw)
		if err != nil {
			return nil, fmt.Errorf("catalogue link: %w", err)
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			return nil, fmt.Errorf("catalogue link %q: want http or https, a host and no user", u.Redacted())
		}
		t := target{host: u.Host, path: u.EscapedPath()}
		for pair := range strings.SplitSeq(u.RawQuery, "&") {
			key, _, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(key); err == nil {
				key = plain
			}
			key = strings.ToLower(key)
			t.tag = t.tag || key == keyTag
			t.via = t.via || key == keyVia
			t.utm = t.utm || strings.HasPrefix(key, utm)
		}
		l.urls[raw] = t
	}
	return l, nil
}

// Decorate returns a URL of the catalogue with marks and the tag of link id, and
// whether it is of the catalogue; others come back as they are. What the URL
// has stays as it is, byte for byte: a via or vt of its own is not replaced, and
// with any utm_ key of its own none is added.
func (l *Links) Decorate(raw string, m Marks, id uint64, at time.Time) (string, bool) {
	t, ok := l.urls[raw]
	if !ok {
		return raw, false
	}
	var add []string
	put := func(key, value string) {
		if value != "" {
			add = append(add, key+"="+url.QueryEscape(value))
		}
	}
	if !t.utm {
		put(keySource, m.Source)
		put(keyMedium, m.Medium)
		put(keyCampaign, m.Campaign)
	}
	if !t.via {
		put(keyVia, m.Via)
	}
	if !t.tag {
		put(keyTag, l.signer.Sign(id, t.host, t.path, at))
	}
	if len(add) == 0 {
		return raw, true
	}
	before, fragment, hasFragment := strings.Cut(raw, "#")
	switch {
	case !strings.Contains(before, "?"):
		before += "?"
	case !strings.HasSuffix(before, "?") && !strings.HasSuffix(before, "&"):
		before += "&"
	}
	before += strings.Join(add, "&")
	if hasFragment {
		before += "#" + fragment
	}
	return before, true
}
