// Command firstpick measures whether AI agents pick a developer tool over its
// competitors, publishes the result and serves it. The program itself is
// package cli; this file only hands it the process and takes its exit code.
package main

import (
	"os"

	"github.com/firstpick/firstpick/cmd/cli"
)

// A release sets these with the linker's -X.
var version, commit, date string //nolint:gochecknoglobals // the linker writes to nothing else

func main() {
	env := cli.OS()
	if version != "" {
		env.Build = cli.Build{Version: version, Commit: commit, Date: date}
	}
	os.Exit(cli.Main(env))
}
