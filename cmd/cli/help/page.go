package help

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Page writes the help page of a command: a sentence, how it is called, examples, commands,
// flags, and what else there is to know.
func Page(w io.Writer, c *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nUsage:\n", strings.TrimSuffix(c.Short, "."))
	if !groupsOnly(c) {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", c.CommandPath())
	}
	section(&b, "Examples", c.Example+"\n")
	if c.HasParent() {
		section(&b, "Commands", commands(c, func(*cobra.Command) bool { return true }))
	} else {
		for _, g := range c.Groups() {
			section(&b, g.Title, commands(c, func(sub *cobra.Command) bool { return sub.GroupID == g.ID }))
		}
		section(&b, "Other commands", commands(c, func(sub *cobra.Command) bool { return sub.GroupID == "" }))
	}
	section(&b, "Flags", usages(Shown(c)))
	if long := strings.TrimSpace(c.Long); long != "" && long != c.Short {
		fmt.Fprintf(&b, "\n%s\n", long)
	}
	b.WriteString("\n")
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "Help of a command: %s COMMAND --help\n", c.CommandPath())
	}
	fmt.Fprintf(&b, "Global flags: %s help flags\n", c.Root().Name())
	_, err := io.WriteString(w, b.String())
	return err
}

// Flags writes the page of the flags that every command has.
func Flags(w io.Writer, root *cobra.Command) error {
	var list []*pflag.Flag
	root.PersistentFlags().SortFlags = false
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { list = append(list, f) })
	_, err := fmt.Fprintf(w, `Flags of every command.

%s  -h, --help                help of a command

Each is also an environment variable, as FIRSTPICK_DATA, and but for --config a key of
firstpick.yaml. Flags win over the environment, the environment over the file.
`, usages(list))
	return err
}

// groupsOnly reports a command that has commands and does nothing itself.
func groupsOnly(c *cobra.Command) bool {
	does := false
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { does = does || f.Name != "help" && f.Name != "version" })
	return c.HasAvailableSubCommands() && !does
}

// available reports a command that pages list. To cobra, help is none.
func available(c *cobra.Command) bool { return c.IsAvailableCommand() || c.Name() == "help" }

func section(b *strings.Builder, title, text string) {
	if strings.TrimSpace(text) != "" {
		fmt.Fprintf(b, "\n%s:\n%s", title, text)
	}
}

func commands(c *cobra.Command, in func(*cobra.Command) bool) string {
	var b strings.Builder
	for _, sub := range ordered(c) {
		if available(sub) && in(sub) {
			fmt.Fprintf(&b, "  %-13s %s\n", sub.Name(), sub.Short)
		}
	}
	return b.String()
}

// ordered returns the commands below one, the root's in the order of their groups.
func ordered(c *cobra.Command) []*cobra.Command {
	if c.HasParent() {
		return c.Commands()
	}
	var out []*cobra.Command
	for _, g := range Groups() {
		for _, name := range g.Commands {
			for _, sub := range c.Commands() {
				if sub.Name() == name {
					out = append(out, sub)
				}
			}
		}
	}
	for _, sub := range c.Commands() {
		if sub.GroupID == "" {
			out = append(out, sub)
		}
	}
	return out
}

func usages(list []*pflag.Flag) string {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	for _, f := range list {
		set.AddFlag(f)
	}
	return set.FlagUsagesWrapped(100)
}
