package sitecheck

import (
	"bufio"
	"context"
	"strings"
)

// Limits of a robots.txt. They bound the time of a query, because the file is not
// trusted.
const (
	maxRules = 1000
	maxRule  = 500 // bytes of a path, longer ones are left out
)

// Rules are the rules of a robots.txt (RFC 9309).
type Rules struct {
	groups   []group
	sitemaps []string
}

// A group is the rules for some agents, by their lower-case names; "*" is all.
type group struct {
	agents []string
	rules  []rule
}

type rule struct {
	allow    bool
	length   int      // of the path: the longest that matches decides
	parts    []string // between the stars
	anchored bool     // the path ended with $
}

// parseRules reads a robots.txt. Lines that are not known are passed over.
func parseRules(text string) Rules {
	var out Rules
	var g *group
	naming, read := false, 0
	lines := bufio.NewScanner(strings.NewReader(strings.TrimPrefix(text, "\xef\xbb\xbf")))
	lines.Buffer(nil, maxRobots+1)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		name, value, _ := strings.Cut(line, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case name == "sitemap" && len(out.sitemaps) < maxSitemaps:
			out.sitemaps = append(out.sitemaps, value)
		case name == "user-agent":
			if !naming { // consecutive names share the following rules
				out.groups = append(out.groups, group{})
				g = &out.groups[len(out.groups)-1]
			}
			naming = true
			g.agents = append(g.agents, strings.ToLower(value))
		case name == "allow" || name == "disallow":
			naming = false
			if g == nil || value == "" || len(value) > maxRule || read == maxRules {
				continue
			}
			read++
			path, anchored := strings.CutSuffix(value, "$")
			g.rules = append(g.rules, rule{name == "allow", len(value), strings.Split(path, "*"), anchored})
		}
	}
	return out
}

// matches reports whether a rule applies to a path. Each part is searched after the
// previous one; the first match is right, because it leaves most to the others.
func (r *rule) matches(path string) bool {
	rest, ok := strings.CutPrefix(path, r.parts[0])
	if !ok {
		return false
	}
	if len(r.parts) == 1 {
		return !r.anchored || rest == ""
	}
	last := len(r.parts) - 1
	for _, part := range r.parts[1:last] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	if r.anchored {
		return strings.HasSuffix(rest, r.parts[last])
	}
	return strings.Contains(rest, r.parts[last])
}

// of returns the rules for an agent: those of the groups that name it, else those
// for all (RFC 9309, 2.2.1).
func (r *Rules) of(agent string) []rule {
	var named, all []rule
	found := false
	agent = strings.ToLower(agent)
	for _, g := range r.groups {
		for _, name := range g.agents {
			switch name {
			case agent:
				named, found = append(named, g.rules...), true
			case "*":
				all = append(all, g.rules...)
			}
		}
	}
	if found {
		return named
	}
	return all
}

func allowed(rules []rule, path string) bool {
	best, allow := -1, true
	for i := range rules {
		r := &rules[i]
		if r.length > best || r.length == best && r.allow { // the longest, and of equals the kinder one
			if r.matches(path) {
				best, allow = r.length, r.allow
			}
		}
	}
	return allow
}

// Allows reports whether robots.txt lets an agent read a path.
func (r *Rules) Allows(agent, path string) bool { return allowed(r.of(agent), path) }

// Forbidden returns those of agents that may not read a path, or none when ctx
// ended.
func (r *Rules) Forbidden(ctx context.Context, agents []string, path string) []string {
	var out []string
	for _, a := range agents {
		if ctx.Err() != nil {
			return nil
		}
		if !r.Allows(a, path) {
			out = append(out, a)
		}
	}
	return out
}
