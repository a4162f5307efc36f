package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Podman's containers end with their parent process. Docker's are children of its
// daemon: they receive the client's signals, but outlive a killed client. Options.Limit
// ends those.

const (
	defaultProcesses  = 1024
	threadsPerProcess = 4
)

func detectContainer(ctx context.Context, c Config) (Sandbox, error) {
	fail := func(err error) (Sandbox, error) {
		return Sandbox{}, fmt.Errorf("sandbox %s:%s: %w", c.Runtime, c.Image, err)
	}
	switch {
	case c.Runtime != "docker" && c.Runtime != "podman":
		return fail(errors.New("want docker:IMAGE or podman:IMAGE"))
	case c.Image == "" || strings.HasPrefix(c.Image, "-"):
		return fail(errors.New("the image is missing"))
	}
	path, err := c.LookPath(c.Runtime)
	if err != nil {
		return fail(fmt.Errorf("%w: install it, or use sandbox auto", err))
	}
	s := Sandbox{kind: container, program: path, runtime: c.Runtime, image: c.Image}
	if c.Superuser {
		s.user = nobody()
	}
	if err := c.Try(ctx, s.Wrap([]string{"/bin/sh", "-c", "exit 0"}, Options{})); err != nil {
		return fail(fmt.Errorf("the image does not run (%w): try %s run --rm %s true", err, c.Runtime, c.Image))
	}
	return s, nil
}

func (s Sandbox) container(argv []string, o Options) []string {
	out := []string{
		s.program, "run", "--rm", "--init", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--pull=never",
		"--ulimit=core=0", fmt.Sprintf("--pids-limit=%d", threadsPerProcess*cmp.Or(o.Processes, defaultProcesses)),
	}
	if o.MemoryMB > 0 { // no swap
		out = append(out, fmt.Sprintf("--memory=%dm", o.MemoryMB), fmt.Sprintf("--memory-swap=%dm", o.MemoryMB))
	}
	if !o.Network {
		out = append(out, "--network=none")
	}
	// Files belong to the user of firstpick, inside and outside; root's belong to
	// nobody.
	switch {
	case s.user != nil:
		out = append(out, fmt.Sprintf("--user=%d:%d", s.user.UID, s.user.GID))
	case s.runtime == "podman":
		out = append(out, "--userns=keep-id")
	default:
		out = append(out, fmt.Sprintf("--user=%d:%d", os.Getuid(), os.Getgid()))
	}
	for _, path := range o.ReadOnly {
		out = append(out, "--volume="+path+":"+path+":ro")
	}
	for _, dir := range []string{o.Home, o.Workdir, o.Tmp} {
		if dir != "" {
			out = append(out, "--volume="+dir+":"+dir)
		}
	}
	if o.Tmp != "" {
		out = append(out, "--volume="+o.Tmp+":/tmp")
	}
	if o.Workdir != "" {
		out = append(out, "--workdir="+o.Workdir)
	}
	// Only names: the runtime reads the values from its environment, where other users
	// cannot read them. PATH is the image's.
	for _, e := range o.Env {
		if name, _, ok := strings.Cut(e, "="); ok && name != "PATH" {
			out = append(out, "--env="+name)
		}
	}
	out = append(out, "--entrypoint=", s.image)
	if o.Limit > 0 {
		out = append(out, "timeout", "-s", "KILL", fmt.Sprint(int(o.Limit.Seconds())+1))
	}
	return append(out, argv...)
}
