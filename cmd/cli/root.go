package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/cli/help"
)

// Main runs the program and returns its exit code.
func Main(env *Env) int {
	ctx, stop := env.Signals(context.Background())
	defer stop()
	defer env.Terminal.Show()
	context.AfterFunc(ctx, func() {
		env.Terminal.Show()
		stop() // a second signal finds the default action: it kills
	})
	err := newRootCmd(env).ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := codeOf(err)
	if code == exitInterrupted && errors.Is(err, context.Canceled) {
		_, _ = fmt.Fprintln(env.Stderr, "interrupted")
		return code
	}
	_, _ = fmt.Fprintf(env.Stderr, "error: %s\n", strings.ReplaceAll(printableText(err.Error()), "\n", "\n       "))
	if hint := hintOf(err); hint != "" {
		_, _ = fmt.Fprintf(env.Stderr, "hint: %s\n", hint)
	}
	return code
}

func newRootCmd(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "firstpick",
		Short: "Measure which tools AI agents pick",
		Long: `firstpick asks AI agents unbranded questions, counts which tools they pick,
publishes leaderboards with confidence intervals, and serves them to people and agents.`,
		SilenceUsage: true, SilenceErrors: true,
		Args:    usage(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version: env.Build.String(),
	}
	root.SetVersionTemplate("firstpick {{.Version}}\n")
	// cobra's own errors of required and exclusive flags would exit 1.
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := flagsTogether(cmd); err != nil {
			return err
		}
		warnRenamed(env, cmd)
		return nil
	}
	root.PersistentPostRun = func(cmd *cobra.Command, args []string) {
		if step := help.Next(cmd, args); step != "" {
			env.next(step)
		}
	}
	root.SetArgs(env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(flagErr)
	addConfigFlags(root.PersistentFlags())
	root.AddCommand(
		newDemoCmd(env), newInitCmd(env), newNewCmd(env), newLintCmd(env), newCatalogCmd(env), newDoctorCmd(env), newPlanCmd(env),
		newRunCmd(env, nil), newMergeCmd(env), newImportCmd(env), newExtractCmd(env),
		newRunsCmd(env), newTrialCmd(env), newWhyCmd(env), newLabelCmd(env),
		newRankCmd(env), newExplainCmd(env), newDiffCmd(env), newHistoryCmd(env), newGateCmd(env), newFieldCmd(env),
		newPublishCmd(env), newSnapshotCmd(env), newLogCmd(env), newVerifyCmd(env), newServerCmd(env, nil), newWorkerCmd(env),
		newEvalsCmd(env), newAgentCmd(env), newSetupCmd(env), newTrafficCmd(env), newAdminCmd(env),
		newVersionCmd(env), newManCmd(env), newHealthcheckCmd(env), newSuperviseCmd(),
	)
	root.SetHelpCommand(help.NewCommand(unknownCommand))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" { // cobra's answers an unknown shell with its help
			c.Args, c.RunE = usage(cobra.NoArgs), func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	help.Install(root)
	return root
}
