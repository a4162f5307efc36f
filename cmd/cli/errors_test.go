package cli

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// TestHints: what a command says to do comes before what a file of its kind needs.
func TestHints(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "/srv/key", Err: fs.ErrPermission}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a command's own hint":       {usageErr("give another key", "key: %w", denied), "give another key"},
		"a file without any":         {badInput(fmt.Errorf("key: %w", denied)), "this user may not use /srv/key"},
		"a file, and no command":     {denied, "this user may not use /srv/key"},
		"a command's, and no file":   {usageErr("firstpick runs lists them", "no run"), "firstpick runs lists them"},
		"neither a command nor file": {badInput(fmt.Errorf("no")), ""},
	} {
		if got := hintOf(c.err); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestVariablesOfOtherPrograms are no mistakes.
func TestVariablesOfOtherPrograms(t *testing.T) {
	if got := unknownVariables([]string{"FIRSTPICK_SEND_ALL=1", "FIRSTPICK_TOOLS=/opt/tools", "PATH=/bin"}); len(got) != 0 {
		t.Error(got)
	}
	if got := unknownVariables([]string{"FIRSTPICK_SEND_NONE=1"}); len(got) != 1 {
		t.Error(got)
	}
}
