package cli

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"time"
)

// openTimeout bounds the program that opens a page: it hands over and ends.
const openTimeout = 10 * time.Second

// offerBrowser lets a person at the terminal open the page by a key, while the server runs.
func (a *app) offerBrowser(ctx context.Context, url string) {
	if !a.env.StdinIsTTY || !a.env.StderrIsTTY || a.env.OpenPage == nil || !a.env.Terminal.Keys() {
		return
	}
	_, _ = fmt.Fprintln(a.env.Stderr, "press o to open the browser")
	go a.openOnKey(ctx, url) // ends with the terminal, or with the process
}

// openOnKey opens a page at each o that is typed, until the input ends.
func (a *app) openOnKey(ctx context.Context, url string) {
	key := make([]byte, 1)
	for ctx.Err() == nil {
		if _, err := a.env.Stdin.Read(key); err != nil {
			return
		}
		if key[0] != 'o' {
			continue
		}
		if err := a.env.OpenPage(ctx, url); err != nil {
			_, _ = fmt.Fprintf(a.env.Stderr, "no browser opened (%v): open %s yourself\n", err, url)
		}
	}
}

// openPage opens a page with the program of the system.
func openPage(ctx context.Context, url string) error {
	args := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		args[0] = "open"
	case "windows":
		args = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	return exec.CommandContext(ctx, args[0], args[1:]...).Run()
}
