// Package help renders the help pages of the commands, from their flags and from one file of
// examples.
package help

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var (
	//go:embed examples.txt
	examples string
	//go:embed next.txt
	next string
)

// A Group is a heading of the root's help page, and the names of its commands.
type Group struct {
	ID, Title string
	Commands  []string
}

// Groups returns the groups in their order.
func Groups() []Group {
	return []Group{
		{"start", "Start", []string{"demo", "init", "new", "lint", "doctor"}},
		{"measure", "Measure", []string{"plan", "run", "runs", "import", "extract", "label", "merge", "field", "catalog"}},
		{"read", "Read", []string{"rank", "explain", "trial", "why", "diff", "history", "gate"}},
		{"publish", "Publish", []string{"publish", "snapshot", "log", "verify"}},
		{"site", "Your site", []string{"setup", "traffic", "agent"}},
		{"server", "Server", []string{"server", "worker", "evals", "admin", "healthcheck"}},
		{"other", "Other", []string{"help", "version", "completion", "man"}},
	}
}

// Examples returns the examples of each command, by its path.
func Examples() map[string][]string { return parse(examples) }

// NextSteps returns the steps after each command, by its path.
func NextSteps() map[string][]string { return parse(next) }

// Next returns the step after a command that was called with args; "" if absent.
func Next(c *cobra.Command, args []string) string {
	for _, step := range NextSteps()[c.CommandPath()] {
		if !strings.Contains(step, "{0}") {
			return step
		}
		if len(args) > 0 {
			return strings.ReplaceAll(step, "{0}", args[0])
		}
	}
	return ""
}

// parse reads a file of lines by command.
func parse(text string) map[string][]string {
	out, path := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		list := out[path]
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			path = strings.Trim(line, "[]")
		case len(list) > 0 && strings.HasSuffix(list[len(list)-1], "\\"):
			list[len(list)-1] += "\n" + line
		default:
			out[path] = append(list, line)
		}
	}
	return out
}

// Install gives root and the commands below it their groups, examples and help pages. It is
// called when all of them are there.
func Install(root *cobra.Command) {
	for _, g := range Groups() {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		for _, name := range g.Commands {
			for _, c := range root.Commands() {
				if c.Name() == name {
					c.GroupID = g.ID
				}
			}
		}
	}
	known := Examples()
	walk(root, func(c *cobra.Command) {
		c.Flags().SortFlags, c.PersistentFlags().SortFlags = false, false
		c.Example = ""
		for i, e := range known[c.CommandPath()] {
			if i > 0 {
				c.Example += "\n"
			}
			c.Example += "  " + strings.ReplaceAll(e, "\n", "\n  ")
		}
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		_ = Page(c.OutOrStdout(), c)
	})
	root.SetUsageFunc(func(c *cobra.Command) error { return Page(c.OutOrStderr(), c) })
}

func walk(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		walk(sub, do)
	}
}

// Shown returns the flags of a command's page: those that root does not have, required ones
// first, and the formats of the output last.
func Shown(c *cobra.Command) []*pflag.Flag {
	global := c.Root().PersistentFlags()
	var required, own, formats []*pflag.Flag
	c.InheritedFlags() // merges the flags of parents
	c.Flags().SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		_, must := f.Annotations[cobra.BashCompOneRequiredFlag]
		switch {
		case f.Hidden || f.Name == "help" || global.Lookup(f.Name) == f:
		case must || strings.Contains(f.Usage, "(required"):
			required = append(required, f)
		case f.Name == "json" || f.Name == "csv" || f.Name == "md":
			formats = append(formats, f)
		default:
			own = append(own, f)
		}
	})
	return append(append(required, own...), formats...)
}
