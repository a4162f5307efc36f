package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestOpenOnKey(t *testing.T) {
	var stderr strings.Builder
	var opened []string
	a := &app{env: &Env{Stdin: strings.NewReader("xoqo"), Stderr: &stderr, OpenPage: func(_ context.Context, url string) error {
		if opened = append(opened, url); len(opened) > 1 {
			return errors.New("no display")
		}
		return nil
	}}}
	a.openOnKey(t.Context(), "http://127.0.0.1:8080/")
	if len(opened) != 2 || stderr.String() != "no browser opened (no display): open http://127.0.0.1:8080/ yourself\n" {
		t.Errorf("%q\n%s", opened, &stderr)
	}
}
