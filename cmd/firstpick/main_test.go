package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firstpick/firstpick/cmd/cli"
	"github.com/firstpick/firstpick/cmd/porttest"
)

var update = flag.Bool("update", false, "rewrite the expected output inside the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"firstpick":      func() { os.Exit(cli.Main(cli.OS())) },
		"firstpick-then": firstpickThen,
		"fetch":          fetch,
		"damage":         damage,
		"person":         person,
		"age":            age,
		"shape":          shape,
		"site":           sellersSite,
		"keyed":          keyed,
		"stranger":       stranger,
		"exits":          exits,
		"pgrelay":        pgrelay,
		"billed":         billed,
	})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update,
		RequireExplicitExec: true, RequireUniqueNames: true, Condition: installed,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			scripts, err := filepath.Abs("../../.ci")
			if err != nil {
				return err
			}
			e.Setenv("SCRIPTS", scripts)
			for _, name := range []string{"ADDR", "ADDR2"} { // nobody listens there
				address, err := porttest.Free()
				if err != nil {
					return err
				}
				e.Setenv(name, address)
			}
			return nil
		},
	})
}

// installed is the condition of scripts that need a program of this machine. Where
// FIRSTPICK_REQUIRE names it, a machine without it fails.
func installed(program string) (bool, error) {
	if _, err := exec.LookPath(program); err == nil {
		return true, nil
	}
	if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), program) {
		return false, fmt.Errorf("FIRSTPICK_REQUIRE names %s, and it is not installed", program)
	}
	return false, nil
}
