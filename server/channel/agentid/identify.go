package agentid

import "strings"

// Identify returns the agent that a User-Agent names. The longest token wins; without a
// token the patterns of the broad layer decide, and then the form of the string. It
// never identifies a person's browser as an agent. The result is an unverified claim.
func (t *Table) Identify(ua string) Agent { return *t.find(ua) }

// find is Identify without a copy: callers must not change the agent.
func (t *Table) find(ua string) *Agent {
	if len(ua) > longestKept {
		ua = ua[:longestKept]
	}
	if a := t.cache.get(ua); a != nil {
		return a
	}
	a := t.identify(ua)
	t.cache.put(strings.Clone(ua), &a)
	return &a
}

func (t *Table) identify(ua string) Agent {
	ua = strings.TrimSpace(ua)
	low := strings.ToLower(ua)
	row := t.tokens.longest(low)
	if row < 0 || !t.agents[row].Class.Headline() { // a library may name the agent that uses it
		if a, ok := t.suffixed(ua, low); ok {
			return a
		}
	}
	if row >= 0 {
		return t.agents[row]
	}
	if row := t.patterns.longest(ua); row >= 0 {
		if ours := t.byName[strings.ToLower(t.broad[row].Name)]; ours != nil {
			return *ours // a name of ours inside another word: it has to prove itself as such
		}
		return t.broad[row]
	}
	return Agent{Class: shape(low), Source: Shape}
}

// suffixed parses the products by which a tool names the agent that runs it:
// Coding-Agent/<name> of glab, agent/<name> of the Databricks SDKs.
func (t *Table) suffixed(ua, low string) (Agent, bool) {
	for _, product := range []string{"coding-agent/", "agent/"} {
		for from := 0; ; {
			i := strings.Index(low[from:], product)
			if i < 0 {
				break
			}
			i += from
			from = i + len(product)
			if i > 0 && low[i-1] != ' ' && low[i-1] != '(' && low[i-1] != ';' {
				continue
			}
			if len(low) != len(ua) { // lower-casing moved the bytes of odd letters
				ua = low
			}
			if name := nameAt(ua[from:]); name != "" {
				return t.coding(name), true
			}
		}
	}
	return Agent{}, false
}

// nameAt returns the name that s starts with, at most 40 bytes long.
func nameAt(s string) string {
	end := 0
	for end < len(s) && (alphanumeric(s[end]) || strings.IndexByte("-_.", s[end]) >= 0) {
		end++
	}
	if end > 40 || end == 0 || !strings.ContainsFunc(s[:end], func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }) {
		return ""
	}
	return s[:end]
}

// coding returns the coding agent of that name, known or not.
func (t *Table) coding(name string) Agent {
	flat := flatten(name)
	for i := range t.agents {
		a := &t.agents[i]
		if a.Class == CodingAgent && (flatten(a.Name) == flat || flatten(a.Token) == flat) {
			return *a
		}
	}
	return Agent{Name: name, Family: name, Class: CodingAgent, Source: Shape}
}

// flatten leaves the letters and digits of a name, lower-cased.
func flatten(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
}

// shape judges a lower-cased string that names nothing we know.
func shape(low string) Class {
	switch {
	case low == "" || low == "-":
		return None
	case botlike(low):
		return UnknownBot
	case strings.HasPrefix(low, "mozilla/") || strings.HasPrefix(low, "opera/") || strings.HasPrefix(low, "nokia"),
		strings.Contains(low, "opera mini"), strings.Contains(low, "ucbrowser"), strings.Contains(low, "ucweb"):
		return Browser
	}
	return HTTPLibrary
}

// botlike reports whether a string has a contact address or a word for bots. Phones
// called Cubot are not bots.
func botlike(low string) bool {
	if strings.Contains(low, "+http") || strings.Contains(low, "crawler") || strings.Contains(low, "spider") ||
		strings.Contains(low, "scraper") {
		return true
	}
	if strings.Contains(low, "compatible;") && !strings.Contains(low, "msie") && !strings.Contains(low, "konqueror") {
		return true // current browsers do not send it
	}
	for rest := low; ; {
		i := strings.Index(rest, "bot")
		if i < 0 {
			return false
		}
		ends := i+3 == len(rest) || !alphanumeric(rest[i+3]) && rest[i+3] != '_'
		if ends && !strings.HasSuffix(rest[:i], "cu") {
			return true
		}
		rest = rest[i+3:]
	}
}
