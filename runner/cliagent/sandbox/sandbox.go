// Package sandbox isolates a program: it can write only to its own folders, does not
// see the user's, and has a network or none.
//
// It uses bubblewrap if that works: it needs no daemon and no privileges. The program
// sees the machine's files read-only, without home folders, sockets of services and
// temporary files, and no other processes. It uses a container if an image is
// configured: the image is the system, the agent's program comes from this machine.
// Neither protects readable system files such as /etc, against kernel bugs, or, with a
// network, services that listen on this machine.
//
// Without a network a program reaches only its own loopback, not the machine's: neither
// a provider's model nor a local one. Only a program that needs no model, or includes
// it, can run so.
package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Config is the input of Detect.
type Config struct {
	LookPath func(name string) (string, error)
	// Try runs a program to see whether it works.
	Try  func(ctx context.Context, argv []string) error
	Home string // the user's home, to be hidden
	// Root is the working folder of programs and Hide are the hidden paths: Detect
	// tries the same mounts as trials. Without a Root it tries none.
	Root string
	Hide []string
	// Superuser means that this process is root. Its programs then run as nobody.
	Superuser bool
	// Runtime, docker or podman, and Image ask for a container.
	Runtime, Image string
	// Off disables the sandbox.
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
	masked  []string // kernel files that programs do not need
	user    *User    // of programs; nil for the user of this process
	setpriv string   // the program that makes them this user
	warning string
}

// A User owns the files that programs write.
type User struct{ UID, GID int }

// Detect returns the best sandbox that works here. It fails if a container is requested
// but unavailable; without bubblewrap it returns a warning.
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
	s := Sandbox{kind: bubblewrap, program: path, hidden: hidden(c.Home), shown: resolver(), masked: existing(kernelFiles)}
	if !c.Superuser {
		if err := s.try(ctx, c); err != nil {
			return unkept(fmt.Sprintf("%s does not work here (%v): the kernel must let users make user namespaces", path, err)), nil
		}
		return s, nil
	}
	asNobody := s
	asNobody.user = nobody()
	asNobody.hidden = slices.Sorted(slices.Values(append(slices.Clone(s.hidden), closed(c.Root)...)))
	asNobody.setpriv, err = c.LookPath("setpriv")
	if err == nil {
		err = asNobody.try(ctx, c)
	}
	if err == nil {
		return asNobody, nil
	}
	if err := s.try(ctx, c); err != nil {
		return unkept(fmt.Sprintf("%s does not work here (%v)", path, err)), nil
	}
	s.warning = fmt.Sprintf("programs run as root in the sandbox: they cannot be made another user (%v). "+
		"What root may read and the sandbox shows, such as /etc/shadow, is open to them. Run firstpick as an ordinary user, or install setpriv (util-linux)", err)
	return s, nil
}

func unkept(why string) Sandbox {
	return Sandbox{warning: "no sandbox: " + why + ". Agents run with your rights: their processes can read your keys and change your files, and trials can see each other"}
}

// hidden returns the existing folders with personal files.
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

// resolver returns the DNS configuration file; it may be in /run.
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

// Name returns the name for the manifest: bubblewrap, "docker IMAGE", none.
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

// Describe returns the name, and the user of programs if it is not that of this process.
func (s Sandbox) Describe() string {
	if s.user == nil {
		return s.Name()
	}
	return fmt.Sprintf("%s; programs run as user %d", s.Name(), s.user.UID)
}

// Warning describes the access of programs without a sandbox; empty with one.
func (s Sandbox) Warning() string { return s.warning }

// CutsNetwork reports whether Options.Network may be off.
func (s Sandbox) CutsNetwork() bool { return s.kind != none }

// Options are the permissions of one program.
type Options struct {
	Workdir, Home, Tmp string // that it may write to; they have the same paths inside, and Tmp is /tmp too
	Network            bool
	// ReadOnly are folders to show although hidden or missing: the program's own. A
	// folder that contains a hidden one stays unchanged.
	ReadOnly []string
	// Hide are further folders and files to hide, such as the data of runs. Files that
	// are created or replaced later are hidden too.
	Hide []string
	Env  []string // the program's environment, which the wrapped program is started with
	// MemoryMB and Processes limit a container, whose processes are not children of its
	// starter; 0 means unlimited memory, and 1024 processes. A process may have four
	// threads on average.
	MemoryMB, Processes int
	// Limit ends the program in a container, which may outlive its starter; 0 means
	// unlimited.
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
	}
	if s.user != nil { // setpriv drops these two
		out = append(out, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
	}
	out = append(out, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	// The kernel lets root write its settings by user id, regardless of capabilities;
	// bubblewrap does not protect all of /proc.
	for _, path := range kernelSettings {
		out = append(out, "--ro-bind-try", path, path)
	}
	for _, path := range s.masked {
		out = append(out, mask(path)...)
	}
	if !o.Network {
		out = append(out, "--unshare-net")
	}
	if o.Tmp != "" { // shared memory is files of the trial, so that it counts as disk
		out = append(out, "--bind", o.Tmp, "/dev/shm")
	}
	out = append(out, "--remount-ro", "/dev")
	out = append(out, s.folders(argv[0], o)...)
	if s.user == nil {
		if o.Workdir != "" {
			out = append(out, "--chdir", o.Workdir)
		}
		return append(append(out, "--"), argv...)
	}
	out = append(out, "--", s.setpriv, fmt.Sprintf("--reuid=%d", s.user.UID), fmt.Sprintf("--regid=%d", s.user.GID), "--clear-groups", "--inh-caps=-all", "--")
	if o.Workdir != "" { // without capabilities, root cannot enter folders of nobody
		out = append(out, "/bin/sh", "-c", `cd "$0" && exec "$@"`, o.Workdir)
	}
	return append(out, argv...)
}

// folders hides all folders but the program's. Later arguments override earlier ones.
func (s Sandbox) folders(program string, o Options) []string {
	hide := newHiding(o.Hide)
	own := []string{o.Home, o.Workdir, o.Tmp}
	hidden := slices.Concat(s.hidden, hide.dirs)
	if o.Tmp == "" {
		hidden = append(hidden, s.closed(hidden, own)...)
	} else {
		hidden = append(hidden, s.closed(append(slices.Clone(hidden), "/tmp"), own)...)
	}
	slices.Sort(hidden)
	tops := outermost(hidden)
	var out []string
	for _, dir := range tops {
		out = append(out, "--tmpfs", dir)
	}
	if o.Tmp != "" {
		out = append(out, "--bind", o.Tmp, "/tmp")
	}
	shown := slices.DeleteFunc(slices.Concat(s.shown, []string{program}, o.ReadOnly), func(path string) bool {
		return !filepath.IsAbs(path) || slices.ContainsFunc(hidden, func(dir string) bool { return within(dir, path) })
	})
	out = append(out, s.parents(append(slices.Clone(tops), "/tmp"), slices.Concat(own, shown))...)
	for _, path := range shown {
		out = append(out, "--ro-bind-try", path, path)
	}
	in := func(dir string) func(string) bool { return func(of string) bool { return within(dir, of) } }
	mounts, covered := hide.cover(func(dir string) bool {
		return slices.ContainsFunc(shown, in(dir)) || !slices.ContainsFunc(hidden, in(dir))
	}, own)
	out = append(append(out, mounts...), s.parents(covered, own)...)
	for _, dir := range own {
		if dir != "" {
			out = append(out, "--bind", dir, dir)
		}
	}
	out = append(out, hide.blank(own)...)
	for _, dir := range slices.Concat(tops, covered) { // read-only, because files in it would use memory
		if dir != "/tmp" {
			out = append(out, "--remount-ro", dir)
		}
	}
	return out
}

// closed returns the outermost folders above paths that others than their owner cannot
// enter and that are not hidden: an empty one in their place lets the program's user in.
func (s Sandbox) closed(hidden, paths []string) []string {
	if s.user == nil {
		return nil
	}
	var out []string
	for _, path := range paths {
		var above []string
		for dir := filepath.Dir(path); filepath.IsAbs(path) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			above = append(above, dir)
		}
		slices.Reverse(above)
		for _, dir := range above {
			info, err := os.Stat(dir)
			if err != nil || slices.ContainsFunc(hidden, func(of string) bool { return within(dir, of) }) {
				break
			}
			if info.Mode().Perm()&0o001 == 0 {
				out = append(out, dir)
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// parents creates the folders above paths in empty folders. If bubblewrap created them,
// only root could enter those above a closed path.
func (s Sandbox) parents(empty, paths []string) []string {
	if s.user == nil {
		return nil
	}
	var out []string
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil && slices.ContainsFunc(empty, func(dir string) bool { return within(path, dir) }) {
			out = append(out, "--dir", filepath.Dir(path))
		}
	}
	return out
}

// outermost returns the folders that are not inside another one. The input is sorted.
func outermost(sorted []string) []string {
	var out []string
	for _, dir := range sorted {
		if !slices.ContainsFunc(out, func(top string) bool { return within(dir, top) }) {
			out = append(out, dir)
		}
	}
	return out
}
