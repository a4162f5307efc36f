package runctl

import (
	"context"
	"net/http"
)

// Listening reports whether a process answers for the run whose folder is dir. It asks
// the process nothing, so a busy one blocks no client.
func Listening(ctx context.Context, dir string) bool {
	c, err := Dial(dir)
	if err != nil {
		return false
	}
	t, ok := c.http.Transport.(*http.Transport)
	if !ok {
		return false
	}
	conn, err := t.DialContext(ctx, "unix", "")
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
