// Command firstpick measures whether AI agents pick a developer tool over its
// competitors, publishes the result and serves it. The program itself is
// package cli; this file only hands it the process and takes its exit code.
package main

import (
	"os"

	"github.com/firstpick/firstpick/cmd/cli"
)

func main() { os.Exit(cli.Main(cli.OS())) }
