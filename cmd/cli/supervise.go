package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/runner/cliagent/process"
)

// superviseCommand is how the program starts itself to watch over another.
const superviseCommand = "supervise-program"

// newSuperviseCmd builds the command that a run starts for each program: it sees
// that nothing of the program outlives the run. It is internal.
func newSuperviseCmd() *cobra.Command {
	return &cobra.Command{
		Use: superviseCommand, Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := process.Supervise(args); code != exitOK {
				return &codedError{fmt.Errorf("%s is internal to firstpick run", superviseCommand), code, ""}
			}
			return nil
		},
	}
}
