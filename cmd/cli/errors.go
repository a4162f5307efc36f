package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes. They are part of the interface: scripts read them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2 // usage or configuration that the user can mend
	exitGate        = 3 // a gate was not met
	exitIncomplete  = 4 // trials are missing, or the budget was reached
	exitInterrupted = 130
)

// A codedError carries its exit code and, where there is one, the next step.
type codedError struct {
	err  error
	code int
	hint string
}

func (e *codedError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *codedError) Unwrap() error { return e.err }

// usageErr is an error that the user mends by typing something else.
func usageErr(hint, format string, args ...any) error {
	return &codedError{fmt.Errorf(format, args...), exitUsage, hint}
}

// badInput marks an error in a file of the user's.
func badInput(err error) error {
	if err == nil {
		return nil
	}
	return &codedError{err, exitUsage, ""}
}

func codeOf(err error) int {
	var coded *codedError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}

func hintOf(err error) string {
	var coded *codedError
	if errors.As(err, &coded) {
		return coded.hint
	}
	return ""
}

// usage marks the errors of a cobra argument check as the user's to mend: cobra
// itself does so for flags only.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageErr(cmd.CommandPath()+" --help", "%w", err)
		}
		return nil
	}
}
