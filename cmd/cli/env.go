// Package cli is the command line: one file a command. A command parses, wires
// and prints; the work is done in the stages. Messages for people go to
// stderr, results to stdout, so that a pipe carries results alone.
package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"
)

// An Env is everything the program takes from the process it runs in. No other
// code reads the arguments, the environment, the streams, the clock or the
// system's randomness, so that a test can replace all of it.
type Env struct {
	// Build is where the program comes from.
	Build  Build
	Args   []string
	Getenv func(string) string
	// Environ lists all variables as NAME=VALUE; nil if absent.
	Environ        func() []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// StdoutIsTTY and StderrIsTTY say whether a person watches; a terminal that
	// reports no width counts as none, for a live view draws nothing there.
	StdoutIsTTY, StderrIsTTY bool
	// Terminal reads keys of a person; nil without a terminal. StdinIsTTY says that
	// standard input is it.
	Terminal   *Terminal
	StdinIsTTY bool
	Now        func() time.Time
	Sleep      func(context.Context, time.Duration) error
	After      func(time.Duration) <-chan time.Time
	// Executable returns the path of this program.
	Executable func() (string, error)
	// ConfigDir returns the folder of the user's configuration.
	ConfigDir func() (string, error)
	// OpenPage opens a page in the person's browser; nil if absent.
	OpenPage func(ctx context.Context, url string) error
	// NewID returns 26 random letters and digits.
	NewID func() string
	// Signals returns a context that ends at the first interrupt.
	Signals func(context.Context) (context.Context, context.CancelFunc)
	// Interrupt sends the signal of Ctrl-C to those that a terminal would send it to.
	Interrupt func()
}

// OS returns the Env of this process.
func OS() *Env {
	e := &Env{
		Args: os.Args[1:], Getenv: os.Getenv, Environ: os.Environ,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdinIsTTY: term.IsTerminal(int(os.Stdin.Fd())), StdoutIsTTY: isTTY(os.Stdout), StderrIsTTY: isTTY(os.Stderr) && os.Getenv("TERM") != "dumb",
		Now: time.Now, Sleep: sleep, After: time.After, Executable: os.Executable, ConfigDir: os.UserConfigDir, NewID: rand.Text, OpenPage: openPage,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		},
		Interrupt: interrupt,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		e.Build = BuildOf(info)
	}
	switch {
	case isTTY(os.Stderr):
		e.Terminal = &Terminal{fd: int(os.Stderr.Fd())}
	case e.StdinIsTTY:
		e.Terminal = &Terminal{fd: int(os.Stdin.Fd())}
	}
	return e
}

// next prints the next step where a person watches.
func (e *Env) next(step string) {
	if e.StderrIsTTY {
		_, _ = fmt.Fprintln(e.Stderr, "next: "+printableText(step))
	}
}

func isTTY(f *os.File) bool {
	width, _, err := term.GetSize(int(f.Fd()))
	return err == nil && width > 0
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
