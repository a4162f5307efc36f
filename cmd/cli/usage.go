package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstpick/firstpick/cmd/cli/help"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/nearest"
)

// usage marks the errors of a cobra argument check as usage errors: cobra itself does so for
// flags only. The error has the arguments that the command takes, and an example.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		if len(args) > 0 && cmd.HasAvailableSubCommands() {
			return unknownCommand(cmd, args[0])
		}
		_, wanted, _ := strings.Cut(cmd.Use, " ")
		wanted, _, _ = strings.Cut(wanted, " --")
		got := "none" // arguments may be secrets: they are counted and not shown
		if len(args) > 0 {
			got = counted(len(args), "argument")
		}
		if wanted == "" {
			wanted = "no arguments"
		}
		return usageErr(exampleOf(cmd), "%s wants %s (got %s)", cmd.CommandPath(), wanted, got)
	}
}

// exampleOf returns the hint for a call that lacks something: an example, and the help page.
func exampleOf(cmd *cobra.Command) string {
	page := cmd.CommandPath() + " --help"
	list := help.Examples()[cmd.CommandPath()]
	if len(list) == 0 {
		return page
	}
	example, _, _ := strings.Cut(list[0], "\n")
	return "for example " + strings.TrimSuffix(example, " \\") + "; more: " + page
}

// unknownValue returns the error for an unknown value.
func unknownValue(what, value string, known []string) error {
	return usageErr(nearest.Hint(value, known), "%s %q", what, value)
}

// meant returns what follows an unknown value: the one that was probably meant.
func meant(value string, known ...string) string {
	if near, ok := nearest.Close(value, known); value != "" && ok {
		return "; " + near
	}
	return ""
}

func unknownCommand(cmd *cobra.Command, name string) error {
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	hint := cmd.CommandPath() + " --help"
	if near, ok := nearest.Close(name, known); ok {
		hint = near
	}
	return usageErr(hint, "unknown command %q for %q", name, cmd.CommandPath())
}

// flagErr adds the flag that was probably meant, or the values that a flag takes.
func flagErr(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		if near, ok := nearest.Close("--"+unknown.GetSpecifiedName(), known); ok {
			hint = near
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if kind := map[string]string{
			"int": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a duration such as 30s",
		}[invalid.GetFlag().Value.Type()]; kind != "" {
			return usageErr(hint, "--%s must be %s (got %q)", invalid.GetFlag().Name, kind, invalid.GetValue())
		}
	}
	return usageErr(hint, "%w", err)
}

var flagGroup = lazyregexp.MustCompile(`group \[([^\]]*)\].*; \[([^\]]*)\] were all set`)

// flagsTogether checks the flags that a command requires, and those that cannot be combined.
func flagsTogether(cmd *cobra.Command) error {
	var missing []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, must := f.Annotations[cobra.BashCompOneRequiredFlag]; must && !f.Changed {
			missing = append(missing, "--"+f.Name)
		}
	})
	if len(missing) == 1 {
		return usageErr(exampleOf(cmd), "%s is missing", missing[0])
	}
	if len(missing) > 1 {
		return usageErr(exampleOf(cmd), "%s are missing", strings.Join(missing, ", "))
	}
	err := cmd.ValidateFlagGroups()
	if err == nil {
		return nil
	}
	hint := cmd.CommandPath() + " --help"
	if m := flagGroup.FindStringSubmatch(err.Error()); m != nil {
		flags := func(names string) string { return "--" + strings.Join(strings.Fields(names), ", --") }
		return usageErr(hint, "choose one of %s (got %s)", flags(m[1]), flags(m[2]))
	}
	return usageErr(hint, "%w", err)
}

// otherFiles returns the advice for a file that does not exist: those like it that do.
func otherFiles(path string) string {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Sprintf("there is no folder %s", dir)
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*"+filepath.Ext(path)))
	if near, ok := nearest.Close(path, found); ok {
		return near
	}
	if len(found) > 5 {
		found = append(found[:5:5], "...")
	}
	if len(found) == 0 || filepath.Ext(path) == "" {
		return "check the path: relative ones begin in the working folder"
	}
	return "existing: " + strings.Join(found, ", ")
}

// otherEvals returns the advice for an eval file that does not exist.
func otherEvals(path string) string {
	found, _ := filepath.Glob(filepath.Join("evals", "*.yaml"))
	if beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.yaml")); filepath.Dir(path) != "." {
		found = append(found, beside...)
		slices.Sort(found)
		found = slices.Compact(found)
	}
	if near, ok := nearest.Close(path, found); ok {
		return near
	}
	if len(found) > 5 {
		found = append(found[:5:5], "...")
	}
	if len(found) > 0 {
		return "existing: " + strings.Join(found, ", ")
	}
	return "firstpick init writes an example, firstpick new eval CATEGORY one with built-in prompts"
}
