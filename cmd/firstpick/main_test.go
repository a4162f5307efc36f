package main

import (
	"flag"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firstpick/firstpick/cmd/cli"
)

var update = flag.Bool("update", false, "rewrite the expected output inside the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"firstpick": func() { os.Exit(cli.Main(cli.OS())) },
		"fetch":     fetch,
		"damage":    damage,
		"person":    person,
		"age":       age,
		"shape":     shape,
		"site":      sellersSite,
		"keyed":     keyed,
		"stranger":  stranger,
		"exits":     exits,
		"pgrelay":   pgrelay,
		"billed":    billed,
	})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update,
		RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			scripts, err := filepath.Abs("../../.ci")
			if err != nil {
				return err
			}
			e.Setenv("SCRIPTS", scripts)
			for _, name := range []string{"ADDR", "ADDR2"} { // nobody listens there
				ln, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					return err
				}
				e.Setenv(name, ln.Addr().String())
				if err := ln.Close(); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
