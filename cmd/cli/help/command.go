package help

import (
	"github.com/spf13/cobra"
)

// NewCommand returns the help command. unknown makes the error for a command that does not
// exist.
func NewCommand(unknown func(c *cobra.Command, name string) error) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command, or the global flags",
		Long:  `Show the help page of a command, or with "flags" the flags that every command has.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 1 && args[0] == "flags" {
				return Flags(cmd.OutOrStdout(), root)
			}
			c := root
			for _, name := range args {
				sub := find(c, name)
				if sub == nil {
					return unknown(c, name)
				}
				c = sub
			}
			return Page(cmd.OutOrStdout(), c)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			c := cmd.Root()
			for _, name := range args {
				if c = find(c, name); c == nil {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
			}
			names := []string{}
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, sub.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func find(c *cobra.Command, name string) *cobra.Command {
	for _, sub := range c.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}
