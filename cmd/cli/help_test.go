package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstpick/firstpick/cmd/cli/help"
)

// eachCommand calls do for every command that the help shows.
func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			eachCommand(sub, do)
		}
	}
}

// TestHelpPages: every command has a group, a sentence, two examples, and a page that shows each
// of its flags and none of the global ones.
func TestHelpPages(t *testing.T) {
	root := newRootCmd(referenceEnv())
	known := help.Examples()
	n := 0
	eachCommand(root, func(c *cobra.Command) {
		n++
		path := c.CommandPath()
		if len(known[path]) < 2 {
			t.Errorf("%s has %d examples in help/examples.txt, want 2", path, len(known[path]))
		}
		delete(known, path)
		if c.Parent() == root && c.GroupID == "" {
			t.Errorf("%s is in no group", path)
		}
		if strings.Contains(c.Short, ". ") || c.Short == "" {
			t.Errorf("%s: want one sentence, not %q", path, c.Short)
		}
		var out bytes.Buffer
		if err := help.Page(&out, c); err != nil {
			t.Error(err)
		}
		page := out.String()
		for _, want := range []string{strings.TrimSuffix(c.Short, ".") + ".\n\nUsage:\n  " + path, "\nExamples:\n  ", "Global flags: firstpick help flags\n"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q in\n%s", path, want, page)
			}
		}
		_, flags, _ := strings.Cut(page, "\nFlags:\n")
		root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
			if strings.Contains(flags, "      --"+f.Name+" ") {
				t.Errorf("%s repeats --%s", path, f.Name)
			}
		})
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if c != root && !f.Hidden && f.Name != "help" && !strings.Contains(flags, "--"+f.Name) {
				t.Errorf("%s does not show --%s", path, f.Name)
			}
		})
		for line := range strings.SplitSeq(page, "\n") {
			if len(line) > 140 {
				t.Errorf("%s: %d characters in %q", path, len(line), line)
			}
		}
	})
	for path := range known {
		t.Errorf("examples of %q, which does not exist", path)
	}
	if n < 100 {
		t.Errorf("only %d commands", n)
	}
}

// calls returns the calls of firstpick in an example, each as its words.
func calls(example string) (out [][]string) {
	example = strings.NewReplacer("\\\n", " ", "<(", " ", "bash)", "bash", "zsh)", "zsh").Replace(example)
	words := shellWords(example)
	for len(words) > 0 {
		end := slices.IndexFunc(words, func(w string) bool { return w == "&&" || w == "|" })
		call := words
		if end >= 0 {
			call = words[:end]
			words = words[end+1:]
		} else {
			words = nil
		}
		if redirect := slices.IndexFunc(call, func(w string) bool { return w == "<" || w == ">" }); redirect > 0 {
			call = call[:redirect]
		}
		if at := slices.Index(call, "firstpick"); at >= 0 {
			out = append(out, call[at+1:])
		}
	}
	return out
}

// TestHelpExamplesParse: every example is a call that the commands accept, by its flags and
// arguments, and the first calls the command of its page.
func TestHelpExamplesParse(t *testing.T) {
	n := 0
	for path, list := range help.Examples() {
		for _, example := range list {
			own := false
			for _, words := range calls(example) {
				n++
				root := newRootCmd(referenceEnv())
				c, rest, err := root.Find(words)
				if err == nil {
					err = c.ParseFlags(rest)
				}
				if err == nil {
					err = errors.Join(c.ValidateArgs(c.Flags().Args()), c.ValidateRequiredFlags(), c.ValidateFlagGroups())
				}
				if err != nil || c == root {
					t.Errorf("%s: %s: %v", path, example, err)
				}
				c.Flags().Visit(func(f *pflag.Flag) {
					if f.Hidden {
						t.Errorf("%s: --%s is an old name", example, f.Name)
					}
				})
				own = own || strings.HasPrefix(c.CommandPath(), path)
			}
			if !own && path != "firstpick catalog add" && path != "firstpick catalog export" {
				t.Errorf("%s: %s calls another command", path, example)
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d calls", n)
	}
}

// TestNextSteps: each step is a call that exists, and stands on stderr of a terminal alone.
func TestNextSteps(t *testing.T) {
	for path, steps := range help.NextSteps() {
		if c, _, err := newRootCmd(referenceEnv()).Find(strings.Fields(path)[1:]); err != nil || c.CommandPath() != path {
			t.Errorf("%s does not exist: %v", path, err)
		}
		for _, step := range steps {
			c, rest, err := newRootCmd(referenceEnv()).Find(strings.Fields(step)[1:])
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil {
				err = errors.Join(c.ValidateArgs(c.Flags().Args()), flagsTogether(c))
			}
			if err != nil {
				t.Errorf("%s: %s: %v", path, step, err)
			}
		}
	}
	t.Chdir(t.TempDir())
	for _, tty := range []bool{true, false} {
		var stdout, stderr bytes.Buffer
		env := referenceEnv()
		env.Signals = func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
		env.Args, env.Stdout, env.Stderr, env.StderrIsTTY = []string{"new", "eval", "crm"}, &stdout, &stderr, tty
		_ = Main(env)
		stderr.Reset()
		env.Args = []string{"lint"}
		if code := Main(env); code != exitOK || strings.Contains(stderr.String(), "next: firstpick run evals/crm.yaml\n") != tty || stdout.Len() > 0 {
			t.Errorf("terminal %v: code %d\n%s%s", tty, code, &stderr, &stdout)
		}
	}
}

// TestHelpExamplesRun runs the examples that need no store, network or file.
func TestHelpExamplesRun(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("README.md", []byte("# Ledgerly\n\nA payments API: subscriptions, invoices and payouts.\n"), 0o600); err != nil { // of init --from
		t.Fatal(err)
	}
	for _, path := range []string{
		"firstpick init", "firstpick new", "firstpick catalog", "firstpick catalog add", "firstpick catalog explain", "firstpick lint", "firstpick plan",
		"firstpick completion", "firstpick completion fish", "firstpick help", "firstpick setup print", "firstpick version",
	} {
		for _, example := range help.Examples()[path] {
			if strings.Contains(example, " /") || strings.Contains(example, " - ") || strings.Contains(example, "--write") || strings.Contains(example, "https://") {
				continue // these need a place on the machine, an input, or a network
			}
			for _, args := range calls(example) {
				var stderr bytes.Buffer
				env := referenceEnv()
				env.Args, env.Stderr = args, &stderr
				env.Signals = func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
				if code := Main(env); code != exitOK {
					t.Errorf("%s: code %d: %s", example, code, &stderr)
				}
			}
			if path == "firstpick init" { // the plan is of the eval in shop
				for _, args := range [][]string{{"new", "eval", "payments"}} {
					env := referenceEnv()
					env.Args = args
					env.Signals = func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
					_ = Main(env)
				}
			}
		}
	}
}

// TestHelpOfWhatDoesNotExist: help and completion refuse what they do not know.
func TestHelpOfWhatDoesNotExist(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"help", "rnk"}, exitUsage, "hint: did you mean rank?"},
		{[]string{"help", "admin", "eval-kye"}, exitUsage, "hint: did you mean eval-key?"},
		{[]string{"completion", "bsh"}, exitUsage, "hint: did you mean bash"},
		{[]string{"help", "flags"}, exitOK, "--log-format string"},
		{[]string{"help", "admin", "eval-key"}, exitOK, "firstpick admin eval-key COMMAND"},
		{[]string{"help"}, exitOK, "\nYour site:\n  setup "},
	} {
		var out bytes.Buffer
		env := referenceEnv()
		env.Args, env.Stdout, env.Stderr = tt.args, &out, &out
		env.Signals = func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
		if code := Main(env); code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%v: code %d, want %d and %q in\n%s", tt.args, code, tt.code, tt.want, &out)
		}
	}
}

// TestUnknownCommands: every command that has commands refuses others, and exits with 2.
func TestUnknownCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	eachCommand(newRootCmd(referenceEnv()), func(c *cobra.Command) {
		if !c.HasAvailableSubCommands() {
			return
		}
		var stderr bytes.Buffer
		env := referenceEnv()
		env.Args, env.Stderr = append(strings.Fields(c.CommandPath())[1:], "nosuchcommand"), &stderr
		env.Signals = func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
		if code := Main(env); code != exitUsage || !strings.Contains(stderr.String(), `unknown command "nosuchcommand"`) {
			t.Errorf("%v: code %d: %s", env.Args, code, &stderr)
		}
	})
}
