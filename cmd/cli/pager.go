package cli

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"

	"github.com/firstpick/firstpick/runner/shell"
)

// page shows a long text: by a pager where a person watches, plainly elsewhere.
func (a *app) page(ctx context.Context, write func(io.Writer)) error {
	text := harmless(write)
	pager := a.env.Getenv("PAGER")
	if pager == "" {
		pager = "less -FRX"
	}
	words, ok := shell.Words(pager)
	if a.env.StdoutIsTTY && ok && len(words) > 0 {
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), a.env.Stdout, a.env.Stderr
		if err := cmd.Run(); err == nil {
			return nil
		} // a pager that is not there must not hide the text
	}
	_, err := io.WriteString(a.env.Stdout, text)
	return err
}

// harmless is a text with parts by agents and providers, without bytes that would
// steer the terminal.
func harmless(write func(io.Writer)) string {
	var text bytes.Buffer
	write(&text)
	return printableText(text.String())
}
