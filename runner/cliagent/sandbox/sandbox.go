// Package sandbox keeps a program in: it can write to its own folders only, does
// not see the user's, and has a network or none.
//
// Bubblewrap is used where it works: it needs no daemon and no rights. The program
// sees the machine's files read-only, without the homes, the sockets of services and
// the temporary files, and no other processes. A container is used where an image is
// configured: the image brings the system, the agent's own program comes from this
// machine. What both leave open: readable system files such as those of /etc, the
// kernel's own bugs, and with a network whatever listens on this machine.
//
// Without a network a program reaches nothing but its own loopback, which is not the
// machine's: neither a model of a provider nor one on this machine. Only a program
// that needs no model, or brings it along, can run so.
package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Config is what Detect looks with.
type Config struct {
	LookPath func(name string) (string, error)
	// Try runs a program to see whether it works.
	Try  func(ctx context.Context, argv []string) error
	Home string // the user's own, to be hidden
	// Runtime, docker or podman, and Image ask for a container.
	Runtime, Image string
	// Off asks for none at all.
	Off bool
}

type kind int

const (
	none kind = iota
	bubblewrap
	container
)

// A Sandbox wraps the argv of programs. The zero Sandbox keeps nothing in.
type Sandbox struct {
	kind    kind
	program string // path of bwrap or the container runtime
	runtime string // docker, podman
	image   string
	hidden  []string // folders, parents first
	shown   []string // in them
	warning string
}

// Detect returns the best sandbox that works here. It fails where a container is
// asked for and cannot be had; for want of bubblewrap there is a warning.
func Detect(ctx context.Context, c Config) (Sandbox, error) {
	switch {
	case c.Off:
		return unkept("the sandbox is switched off"), nil
	case c.Runtime != "" || c.Image != "":
		return detectContainer(ctx, c)
	}
	path, err := c.LookPath("bwrap")
	if err != nil {
		return unkept(fmt.Sprintf("bubblewrap is not installed (%v): apt install bubblewrap, or dnf install bubblewrap", err)), nil
	}
	s := Sandbox{kind: bubblewrap, program: path, hidden: hidden(c.Home), shown: resolver()}
	if err := c.Try(ctx, s.Wrap([]string{"/bin/sh", "-c", "exit 0"}, Options{})); err != nil {
		return unkept(fmt.Sprintf("%s does not work here (%v): the kernel must let users make user namespaces", path, err)), nil
	}
	return s, nil
}

func unkept(why string) Sandbox {
	return Sandbox{warning: "no sandbox: " + why + ". Agents run with your rights: what they start can read your keys and change your files, and two trials can see each other"}
}

// hidden are the folders with what is somebody's own, as far as there are any.
func hidden(home string) []string {
	var out []string
	for _, dir := range []string{home, "/home", "/root", "/run", "/var/run", "/tmp", "/var/tmp", "/mnt", "/media"} {
		if dir == "" {
			continue
		}
		// Nothing can be laid over a link.
		real, err := filepath.EvalSymlinks(dir)
		if err == nil && real != "/" && isDir(real) && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	slices.Sort(out)
	return out
}

// resolver is the file that says how names become addresses; it may lie in /run.
func resolver() []string {
	if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		return []string{real}
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Name is what the manifest says of it: bubblewrap, "docker IMAGE", none.
func (s Sandbox) Name() string {
	switch s.kind {
	case bubblewrap:
		return "bubblewrap"
	case container:
		return s.runtime + " " + s.image
	case none:
	}
	return "none"
}

// Warning says what programs can do for lack of a sandbox; empty when there is one.
func (s Sandbox) Warning() string { return s.warning }

// CutsNetwork reports whether Options.Network may be off.
func (s Sandbox) CutsNetwork() bool { return s.kind != none }

// Options are what one program may see and do.
type Options struct {
	Workdir, Home, Tmp string // that it may write to; they have the same paths inside, and Tmp is /tmp too
	Network            bool
	// ReadOnly is to be seen where it is hidden, or missing: the program's own
	// folders. A folder that holds one that is hidden stays as it is.
	ReadOnly []string
	// Hide are further folders and files to hide, such as the runs' data. What is not
	// there yet, or is replaced meanwhile, is hidden too.
	Hide []string
	Env  []string // the program's environment, which the wrapped program is started with
	// Limit ends the program in a container, which does not always end with what
	// started it; 0 for none.
	Limit time.Duration
}

// Wrap returns the argv that runs argv in the sandbox. It is to be started with
// o.Env as its environment.
func (s Sandbox) Wrap(argv []string, o Options) []string {
	switch s.kind {
	case bubblewrap:
		return s.bubblewrap(argv, o)
	case container:
		return s.container(argv, o)
	case none:
	}
	return argv
}

func (s Sandbox) bubblewrap(argv []string, o Options) []string {
	out := []string{
		s.program, "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
	}
	if !o.Network {
		out = append(out, "--unshare-net")
	}
	// What comes later lies over what came before.
	for _, dir := range s.hidden {
		out = append(out, "--tmpfs", dir)
	}
	if o.Tmp != "" {
		out = append(out, "--bind", o.Tmp, "/tmp")
	}
	hide := newHiding(o.Hide)
	for _, dir := range hide.dirs {
		out = append(out, "--tmpfs", dir)
	}
	hidden := slices.Concat(s.hidden, hide.dirs)
	var shown []string
	for _, path := range slices.Concat(s.shown, argv[:1], o.ReadOnly) {
		if filepath.IsAbs(path) && !slices.ContainsFunc(hidden, func(dir string) bool { return within(dir, path) }) {
			shown = append(shown, path)
			out = append(out, "--ro-bind-try", path, path)
		}
	}
	own := []string{o.Home, o.Workdir, o.Tmp}
	in := func(dir string) func(string) bool { return func(of string) bool { return within(dir, of) } }
	mounts, covered := hide.cover(func(dir string) bool {
		return slices.ContainsFunc(shown, in(dir)) || !slices.ContainsFunc(hidden, in(dir))
	}, own)
	out = append(out, mounts...)
	for _, dir := range own {
		if dir != "" {
			out = append(out, "--bind", dir, dir)
		}
	}
	out = append(out, hide.blank(own)...)
	for _, dir := range append(hidden, covered...) { // what hides takes nothing in: it would be memory
		if dir != "/tmp" {
			out = append(out, "--remount-ro", dir)
		}
	}
	if o.Workdir != "" {
		out = append(out, "--chdir", o.Workdir)
	}
	return append(append(out, "--"), argv...)
}
