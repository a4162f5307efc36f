package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// The exit codes. They are part of the interface: scripts read them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2 // usage or configuration that the user can fix
	exitGate        = 3 // a gate was not met
	exitIncomplete  = 4 // trials are missing, or the budget was reached
	exitUnread      = 5 // verify could not read what it should check
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

// usageErr is an error that the user can fix on the command line.
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
	for inner := err; errors.As(inner, &coded); inner = coded.err {
		if coded.hint != "" {
			return coded.hint
		}
	}
	return fileHint(err)
}

// fileHint returns the advice for a file or folder that cannot be used; "" where that is
// not the cause.
func fileHint(err error) string {
	var path *fs.PathError
	if !errors.As(err, &path) {
		return ""
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && codeOf(err) == exitUsage:
		return otherFiles(path.Path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("this user may not use %s: run as its owner, change its owner or mode (chown, chmod), or choose another folder with --data", path.Path)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("a part of %s is a file and not a folder: choose another folder with --data", path.Path)
	default:
		return ""
	}
}
