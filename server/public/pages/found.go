package pages

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/views"
)

// found is the answer of a search as JSON.
type found struct {
	Query       string          `json:"query"`
	Tool        *foundTool      `json:"tool"` // that q names exactly
	Suggestions []foundTool     `json:"suggestions"`
	Categories  []foundCategory `json:"categories"`
	Observed    []foundObserved `json:"observedCategories,omitempty"`
	// ObservedTool is the tool that q names exactly, where it was observed and no trials
	// measure it.
	ObservedTool *foundObserved `json:"observedTool,omitempty"`
	Pages        []foundPage    `json:"pages,omitempty"` // whose names match q, in any of their kinds
	known        bool           // the tool, but nothing of it is measured
	tools        []string       // slugs of the tools with a page, the best match first
	unmeasured   []string       // names of tools of the catalogue without a page
	unknown      []string       // names of a comparison that no tool has
	rivals       []render.Link  // of a known tool: others of its category
	unused       string         // of a known tool: that it was not used in real work
	named        bool           // boards have q in their name
	languages    []string       // that q names
}

// A foundPage is a page to go to. Kind is tool, board, agent or comparison.
type foundPage struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Note string `json:"note,omitempty"`
	URL  string `json:"url"`
}

type foundTool struct {
	Tool     string `json:"tool"`
	Slug     string `json:"slug"`
	Category string `json:"category"`
	URL      string `json:"url"`
}

type foundCategory struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
	URL  string `json:"url"`

	named bool // q names it
}

// A foundObserved is an observed board near the query or with a tool near it, or an observed
// tool.
type foundObserved struct {
	Name     string `json:"name"`
	Slug     string `json:"slug"`
	Observed bool   `json:"observed"`
	URL      string `json:"url"`
	heading  string
	named    bool // q names it, or its language
}

// nothing reports whether nothing was found.
func (f found) nothing() bool {
	return f.Tool == nil && f.ObservedTool == nil && !f.known && len(f.tools)+len(f.Suggestions)+len(f.Categories)+len(f.Observed)+len(f.unmeasured) == 0
}

// observe adds an observed board once. named: the query names it, or its language.
func (f *found) observe(b observed.Board, named bool) {
	at := slices.IndexFunc(f.Observed, func(o foundObserved) bool { return o.Slug == b.Category })
	if at < 0 {
		at, f.Observed = len(f.Observed), append(f.Observed, foundObserved{Name: b.Name, Slug: b.Category, Observed: true, URL: b.URL, heading: b.Heading()})
	}
	f.Observed[at].named = f.Observed[at].named || named
	f.named = f.named || named
}

func (f found) page() views.Found {
	out := views.Found{Query: f.Query, Known: f.known, Named: f.named, Tools: f.tools, Unmeasured: f.unmeasured, Unknown: f.unknown, Rivals: f.rivals, Unused: f.unused, Languages: f.languages}
	near := !f.named && len(f.tools) == 0 // the table of tools leads to their boards
	for _, c := range f.Categories {
		if c.named || near {
			out.Categories = append(out.Categories, c.Slug)
		}
	}
	for _, o := range f.Observed {
		if o.named || near {
			out.Observed = append(out.Observed, o.Slug)
		}
	}
	return out
}

// markdown is the answer as Markdown. base is the address of the site.
func (f found) markdown(base string) []byte {
	var b strings.Builder
	line := func(name, url string) {
		page, part, cut := strings.Cut(url, "#")
		if page += ".md"; cut {
			page += "#" + part
		}
		b.WriteString("- [" + strings.NewReplacer("[", "(", "]", ")").Replace(name) + "](" + page + ")\n")
	}
	measure := "Measure it with your own prompts: " + base + "/docs/evals.md\n"
	b.WriteString("# Find a tool\n\n")
	switch {
	case f.Tool != nil:
		line(f.Tool.Tool, f.Tool.URL)
	case f.ObservedTool != nil:
		b.WriteString("No trials measure this tool, but it was observed in real work:\n\n")
		line(f.ObservedTool.Name, f.ObservedTool.URL)
	case f.known:
		b.WriteString("This tool is in the catalogue. No trials measure it yet.")
		if f.unused != "" {
			b.WriteString(" " + views.EscapeMarkdown(f.unused))
		}
		for i, l := range f.rivals {
			text := views.EscapeMarkdown(l.Text)
			if l.Path != "" {
				text = "[" + text + "](" + base + l.Path + ".md)"
			}
			b.WriteString([]string{" Others of its category: ", ", "}[min(i, 1)] + text)
		}
		if len(f.rivals) > 0 {
			b.WriteString(".")
		}
		b.WriteString(" " + measure + "\n")
		if len(f.Suggestions)+len(f.Categories)+len(f.Observed) > 0 {
			b.WriteString("Near it:\n\n")
		}
	case len(f.unknown) > 0:
		b.WriteString("No tool here is called " + views.EscapeMarkdown(strings.Join(f.unknown, " or ")) + ". " + measure + "\n")
	case len(f.Suggestions)+len(f.Categories)+len(f.Observed)+len(f.unmeasured)+len(f.Pages) == 0:
		b.WriteString("Nothing has this name, and nothing is near it. " + measure)
	case f.named:
		b.WriteString("Boards of this name or language, and tools near it:\n\n")
	default:
		b.WriteString("No tool has exactly this name. " + measure + "\nNear it:\n\n")
	}
	for _, p := range f.Pages {
		if f.Tool == nil && f.ObservedTool == nil && (p.Kind == "agent" || p.Kind == "tool") && p.Note != noTrials {
			line(p.Name, p.URL)
		}
	}
	for _, t := range f.Suggestions {
		if !slices.ContainsFunc(f.Pages, func(p foundPage) bool { return p.URL == t.URL }) {
			line(t.Tool, t.URL)
		}
	}
	for _, c := range f.Categories {
		line(c.Name+" (category)", c.URL)
	}
	for _, o := range f.Observed {
		line(o.heading, o.URL)
	}
	for _, name := range f.unmeasured {
		b.WriteString("- " + views.EscapeMarkdown(name) + " (in the catalogue, not measured yet)\n")
	}
	return []byte(b.String())
}
