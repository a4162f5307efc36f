package views

import (
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A Filter selects trials of a board. The zero Filter selects all.
type Filter struct {
	Agent    string
	Tag      string // NAME:VALUE
	Template string
}

// path is the path of a board with a filter.
func (f Filter) path(category string) string {
	q := url.Values{}
	for name, value := range map[string]string{"agent": f.Agent, "tag": f.Tag, "template": f.Template} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return boardPath(category)
	}
	return boardPath(category) + "?" + q.Encode()
}

// filters lists what a board can be filtered by; now is the filter of the page.
func (r *Renderer) filters(b *analytics.Board, now Filter, templates ...string) (out []filter) {
	if !r.in.Trials {
		return nil
	}
	add := func(name, all string, values []string, text func(string) string, chosen *string) {
		if len(values) < 2 {
			return
		}
		f, kept := filter{Name: name}, *chosen
		*chosen = ""
		f.Options = append(f.Options, option{Text: all, Link: now.path(b.Category), On: kept == ""})
		for _, v := range values {
			*chosen = v
			f.Options = append(f.Options, option{Text: text(v), Title: v, Link: now.path(b.Category), On: kept == v})
		}
		*chosen = kept
		out = append(out, f)
	}
	var agents []string
	for _, a := range b.Agents {
		agents = append(agents, a.Agent)
	}
	same := func(s string) string { return s }
	add("Agent", "All agents", agents, render.AgentName, &now.Agent)
	for _, tag := range analytics.CutTags() {
		var values []string
		for _, c := range b.Cuts {
			if c.Tag == tag {
				values = append(values, tag+":"+c.Value)
			}
		}
		add(strings.ToUpper(tag[:1])+tag[1:], "All", values, func(v string) string { return strings.TrimPrefix(v, tag+":") }, &now.Tag)
	}
	add("Project", "All projects", templates, same, &now.Template)
	return out
}
