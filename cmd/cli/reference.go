package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Reference returns the reference of the command line as markdown: a section for each
// command, with its flags. Hidden ones are left out.
func Reference(env *Env) string {
	root := newRootCmd(env)
	var b strings.Builder
	b.WriteString("## Flags of every command\n\n")
	writeFlags(&b, root.PersistentFlags())
	b.WriteString("\n## Commands\n")
	commands := visible(root, nil)
	for _, g := range append(root.Groups(), &cobra.Group{Title: "Other commands"}) { // the last is of those without a group
		writeGroup(&b, g, commands, len(root.Groups()) > 0)
	}
	for _, c := range commands {
		writeCommand(&b, c)
	}
	return b.String()
}

// writeGroup writes the table of a group's commands.
func writeGroup(b *strings.Builder, g *cobra.Group, commands []*cobra.Command, titled bool) {
	rows := ""
	for _, c := range commands {
		top := c
		for top.Parent().HasParent() {
			top = top.Parent()
		}
		if top.GroupID == g.ID {
			rows += fmt.Sprintf("| [`%s`](#%s) | %s |\n", c.CommandPath(), anchorOf(c), inCell(c.Short))
		}
	}
	if rows == "" {
		return
	}
	if titled {
		fmt.Fprintf(b, "\n### %s\n", strings.TrimSuffix(g.Title, ":"))
	}
	b.WriteString("\n| Command | What it does |\n| --- | --- |\n" + rows)
}

// visible appends the commands below one in the order of the help.
func visible(c *cobra.Command, out []*cobra.Command) []*cobra.Command {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" { // to cobra, help is none
			out = visible(sub, append(out, sub))
		}
	}
	return out
}

func anchorOf(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func writeCommand(b *strings.Builder, c *cobra.Command) {
	level := "##"
	if c.Parent().HasParent() {
		level = "###"
	}
	fmt.Fprintf(b, "\n<a id=\"%s\"></a>\n%s %s\n\n%s.\n", anchorOf(c), level, c.CommandPath(), strings.TrimSuffix(c.Short, "."))
	if c.Runnable() {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", c.UseLine())
	}
	if long := strings.TrimSpace(c.Long); long != "" && long != c.Short {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", long)
	}
	if c.Example != "" {
		b.WriteString("\n```sh\n")
		for line := range strings.Lines(strings.Trim(c.Example, "\n")) {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
		b.WriteString("```\n")
	}
	if c.NonInheritedFlags().HasAvailableFlags() {
		b.WriteString("\n")
		writeFlags(b, c.NonInheritedFlags())
	}
}

// writeFlags writes the table of flags.
func writeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| Flag | Default | Meaning |\n| --- | --- | --- |\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		value, meaning := pflag.UnquoteUsage(f)
		if value != "" {
			name += " " + value
		}
		fallback := ""
		if f.DefValue != "" && f.DefValue != "[]" {
			fallback = "`" + inCell(f.DefValue) + "`"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, fallback, inCell(meaning))
	})
}

// inCell keeps a text in one cell of a table, and from being read as markup.
func inCell(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "_", `\_`).Replace(s)
}
