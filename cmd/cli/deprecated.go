package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// renamed is the annotation of flags and commands with an old name; its value is the new one.
const renamed = "firstpick_renamed"

// An oldFlag is the value of a flag under an old name: it is the flag's own.
type oldFlag struct {
	pflag.Value
	set  *pflag.FlagSet
	name string
}

// Set sets the flag under its new name, so that it counts as given.
func (o oldFlag) Set(value string) error { return o.set.Set(o.name, value) }

// renameFlag lets a flag keep an old name: hidden, with the same value, and reported as
// deprecated. pflag's own deprecation would write to stdout.
func renameFlag(f *pflag.FlagSet, old, now string) {
	flag := f.Lookup(now)
	f.AddFlag(&pflag.Flag{
		Name: old, Usage: "deprecated: use --" + now, Hidden: true, DefValue: flag.DefValue, NoOptDefVal: flag.NoOptDefVal,
		Value: oldFlag{flag.Value, f, now}, Annotations: map[string][]string{renamed: {now}},
	})
}

// renameCommand hides a command that has another name now.
func renameCommand(c *cobra.Command, now string) {
	c.Hidden, c.Annotations = true, map[string]string{renamed: now}
}

// warnRenamed reports the old names that a command was called by.
func warnRenamed(env *Env, cmd *cobra.Command) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if now := f.Annotations[renamed]; now != nil {
			warnDeprecated(env, "--"+f.Name, "--"+now[0])
		}
	})
	for c := cmd; c.HasParent(); c = c.Parent() {
		if now := c.Annotations[renamed]; now != "" {
			warnDeprecated(env, c.CommandPath(), now)
		}
	}
}

func warnDeprecated(env *Env, old, now string) {
	_, _ = fmt.Fprintf(env.Stderr, "warning: %s is deprecated, use %s\n", old, now)
}
