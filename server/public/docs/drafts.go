package docs

import (
	"embed"
	"strings"

	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/setup"
)

//go:embed pages/*.md pages/verify.py
var files embed.FS

// The sections, in the order in which they are listed.
const (
	start     = "Start"
	measure   = "Data"
	reference = "API"
	forAgents = "Agent tools"
	site      = "Your site"
	own       = "Your own evals"
	rules     = "Rules"
	operate   = "Run it yourself"
)

// A draft is a page that is not written yet.
type draft struct {
	section, path, title, description string
	write                             func(*filler) (string, error)
}

// drafts returns all pages in reading order.
func drafts(c Config, api *api) []draft {
	page := func(section, name, title, description string) draft {
		return draft{section, "/docs/" + name, title, description, func(f *filler) (string, error) { return f.file(name + ".md") }}
	}
	ready := func(section, path, title, description string, text func() string) draft {
		return draft{section, path, title, description, func(*filler) (string, error) { return text(), nil }}
	}
	index := page(start, "index", "Documentation", "All documents, with a line on each.")
	index.path = "/docs"
	out := []draft{
		index,
		page(start, "quickstart", "Quickstart", "A number in one request, an agent with the tools, the program on your machine."),
		page(measure, "methodology", "What the numbers mean", "Trials, outcomes, rates, intervals, ranks and warnings."),
		page(measure, "evidence", "Evidence", "From a rate to its trials: reads, files, and how to cite."),
		page(measure, "history", "Rates over time", "Series of pick rates over snapshots, breaks, and tests of drops and rises."),
		page(measure, "verify", "Check published results", "Verify files, figures, signatures and the public log, with the program or without it."),
		page(measure, "catalogue", "The catalogue", "Categories, their tools, and how a tool is recognized."),
		page(measure, "prompts", "Prompts", "How prompts are written, grouped by family and tags, and checked."),
		page(measure, "share", "Badges and embeds", "A badge, an embedded plot, pictures for links, and a feed of what moved."),
		page(reference, "api", "HTTP API", "Conventions of all answers, and the list of operations."),
	}
	for _, g := range api.groups {
		out = append(out, draft{reference, "/docs/api/" + g.Name, "API: " + g.Title, g.Description, func(f *filler) (string, error) { return f.reference(g), nil }})
	}
	out = append(out,
		page(forAgents, "mcp", "MCP server", "Tools, clients, links and errors of the Model Context Protocol endpoint."),
		page(forAgents, "webmcp", "WebMCP", "The same tools for agents in a browser."),
		page(site, "collector", "Collector", "How a site reports agent visits, and what is stored."),
		page(site, "identification", "How agents are identified", "Names, verdicts and their reasons, and the dates of the lists behind them."),
		ready(site, "/setup", "Install the collector", "One file that a coding agent can follow in any stack.", func() string { return setup.Guide(c.BaseURL) }),
	)
	for _, s := range setup.Stacks() {
		out = append(out, ready(site, "/setup/"+s.Slug, "Install: "+s.Title, s.Summary, func() string { return s.Recipe(c.BaseURL) }))
	}
	return append(out,
		ready(site, "/docs/attribution", "How credit is given to agents", "Evidence, models and windows of credit for conversions.", func() string { return setup.Attribution(c.BaseURL) }),
		ready(site, "/docs/webhooks", "Webhooks", "What is sent when something changed, and how it is signed.", alert.Docs),
		page(own, "evals", "Your own evals", "Store an eval, run it under a budget, watch it, read and compare the traces."),
		page(rules, "authentication", "Authentication", "The three kinds of credentials, and how an agent gets one by itself."),
		page(rules, "limits", "Limits", "Every rate limit, quota and size, in numbers."),
		page(rules, "errors", "Errors", "The error body, and the table of codes and statuses."),
		page(rules, "versioning", "Versions and deprecation", "What may change when, and how you are informed."),
		page(operate, "self-hosting", "Run it yourself", "Server, worker, stores, snapshots, backups, keys, proxy, metrics."),
		draft{operate, "/docs/cli", "Command line", "Every command and flag of the program.", func(f *filler) (string, error) { return f.commandLine() }},
		page(operate, "changelog", "Changelog", "What changed, for people who run it."),
	)
}

// VerifyScript returns the program that checks snapshots without firstpick.
func VerifyScript() ([]byte, error) { return files.ReadFile("pages/verify.py") }

// Changelog returns the program's CHANGELOG.md as it is served.
func Changelog() (string, error) {
	data, err := files.ReadFile("pages/changelog.md")
	return string(data), err
}

func (f *filler) commandLine() (string, error) {
	head, err := f.file("cli.md")
	if err != nil || f.config.CLI == "" {
		return strings.TrimRight(head, "\n") + "\n\n`firstpick help`, and `firstpick help COMMAND`, print the reference of the program that you have.\n", err
	}
	return strings.TrimRight(head, "\n") + "\n\n" + strings.TrimLeft(f.config.CLI, "\n"), nil
}
