package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func config() Config {
	return Config{
		LookPath: exec.LookPath, Home: os.Getenv("HOME"), Superuser: os.Getuid() == 0,
		Try: func(ctx context.Context, argv []string) error {
			return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
		},
	}
}

// bubble returns the real thing, or skips; where FIRSTPICK_REQUIRE names bwrap, a
// machine without it fails.
func bubble(t *testing.T) Sandbox {
	t.Helper()
	s, err := Detect(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	if s.Warning() != "" {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "bwrap") {
			t.Fatal("FIRSTPICK_REQUIRE names bwrap: " + s.Warning())
		}
		t.Skip(s.Warning())
	}
	return s
}

// place makes the folders of a trial.
func place(t *testing.T, s Sandbox) Options {
	t.Helper()
	root := t.TempDir()
	o := Options{Workdir: filepath.Join(root, "t/work"), Home: filepath.Join(root, "t/home"), Tmp: filepath.Join(root, "t/tmp")}
	for _, dir := range []string{o.Workdir, o.Home, o.Tmp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Own(filepath.Join(root, "t")); err != nil {
		t.Fatal(err)
	}
	return o
}

// sh runs a script in the sandbox and returns what it wrote.
func sh(t *testing.T, s Sandbox, o Options, script string) string {
	t.Helper()
	argv := s.Wrap([]string{"/bin/sh", "-c", script}, o)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + o.Home, "TMPDIR=" + o.Tmp}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestBubblewrapFiles(t *testing.T) {
	s := bubble(t)
	o := place(t, s)
	outside := filepath.Join(filepath.Dir(filepath.Dir(o.Workdir)), "secret")
	if err := os.WriteFile(outside, []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := os.Getenv("HOME")
	for name, c := range map[string]struct{ script, want string }{
		"workdir":        {"pwd; echo a > file && cat file", o.Workdir + "\na"},
		"home":           {"echo b > $HOME/file && cat $HOME/file", "b"},
		"tmp":            {"echo c > /tmp/one && echo d > $TMPDIR/two && cat $TMPDIR/one /tmp/two", "c\nd"},
		"etc":            {"(echo x > /etc/firstpick-test) 2>/dev/null || echo refused", "refused"},
		"usr":            {"(mkdir /usr/local/firstpick-test) 2>/dev/null || echo refused", "refused"},
		"hidden folders": {"for d in /home /run /root; do (mkdir $d/x) 2>/dev/null && echo made; done; echo end", "end"},
		"another trial":  {"cat " + outside + " 2>/dev/null || echo hidden", "hidden"},
		"the real home":  {"ls -A " + home + " | grep -v '^\\.\\?$' | head -3; echo end", "end"},
		"services":       {"ls -A /run | grep -v -e systemd -e resolvconf -e NetworkManager; echo end", "end"},
		"processes":      {"ls -d /proc/[0-9]* | wc -l | tr -d ' ' | sed 's/^[1-9]$/few/'", "few"},
		"devices":        {"ls /dev/sda /dev/vda /dev/kmsg /dev/mem 2>/dev/null; echo end", "end"},
		"capabilities":   {"grep CapEff /proc/self/status | tr -d '\\t'", "CapEff:0000000000000000"},
	} {
		if got := sh(t, s, o, c.script); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(o.Workdir, "file")); err != nil || string(data) != "a\n" {
		t.Errorf("the workdir outside: %q %v", data, err)
	}
}

// TestBubblewrapShows sees that the program's folders show where homes are hidden,
// and that no folder shows that would show what is hidden.
func TestBubblewrapShows(t *testing.T) {
	s := bubble(t)
	o := place(t, s)
	root := t.TempDir()
	program := filepath.Join(root, "bin/program")
	data := filepath.Join(root, "data")
	for _, dir := range []string{filepath.Dir(program), data} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho started\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "runs"), []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := program + " 2>/dev/null || echo missing; (echo x > " + program + ") 2>/dev/null || echo refused; cat " + data + "/runs 2>/dev/null || echo hidden"
	if got := sh(t, s, o, script); got != "missing\nrefused\nhidden" {
		t.Errorf("without: %q", got)
	}
	o.ReadOnly, o.Hide = []string{filepath.Dir(program), root, "/tmp", "/", "/no/such/folder"}, []string{data, data + "/runs", "/no/such/folder"}
	if got := sh(t, s, o, script); got != "started\nrefused\nhidden" {
		t.Errorf("with: %q", got)
	}
}

// TestBubblewrapHidesFiles hides a file in a folder that shows.
func TestBubblewrapHidesFiles(t *testing.T) {
	s := bubble(t)
	o := place(t, s)
	secret := filepath.Join(t.TempDir(), "secrets.yaml")
	if err := os.WriteFile(secret, []byte("SECRET"), 0o644); err != nil {
		t.Fatal(err)
	}
	o.ReadOnly = []string{filepath.Dir(secret)}
	script := "cat " + secret + " 2>/dev/null; (echo x > " + secret + ") 2>/dev/null; echo end"
	s.hidden = nil // of the machine's folders, in one of which tests are
	if got := sh(t, s, o, script); got != "SECRETend" {
		t.Errorf("without: %q", got)
	}
	o.Hide = []string{secret}
	if got := sh(t, s, o, script); got != "end" {
		t.Errorf("with: %q", got)
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "SECRET" {
		t.Errorf("outside: %q %v", data, err)
	}
}

func TestBubblewrapNetwork(t *testing.T) {
	s := bubble(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed") // it can connect by itself
	}
	script := fmt.Sprintf("bash -c 'exec 3<>/dev/tcp/127.0.0.1/%d' 2>/dev/null && echo reached || echo cut; cat /proc/net/dev | grep -c :", l.Addr().(*net.TCPAddr).Port)
	o := place(t, s)
	o.Network = true
	if got := sh(t, s, o, script); !strings.HasPrefix(got, "reached\n") {
		t.Errorf("network on: %q", got)
	}
	o.Network = false
	if got := sh(t, s, o, script); got != "cut\n1" { // only its own loopback is there
		t.Errorf("network off: %q", got)
	}
}

// TestBubblewrapDies sees that nothing stays when bwrap is killed.
func TestBubblewrapDies(t *testing.T) {
	s := bubble(t)
	o := place(t, s)
	argv := s.Wrap([]string{"/bin/sh", "-c", "mkfifo pipe; (setsid cat pipe; echo over > end) & echo ready; cat pipe"}, o)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(out, new(string)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The pipe's other ends are all closed when all that held them are gone.
	done := make(chan error, 1)
	go func() { _, err := out.Read(make([]byte, 1)); done <- err }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("something still writes")
		}
	case <-time.After(time.Minute):
		t.Error("something still holds the output")
	}
	_ = cmd.Wait()
}

func TestDetect(t *testing.T) {
	fails := errors.New("no")
	for name, c := range map[string]struct {
		config        Config
		name, warning string
		err           string
	}{
		"off":                  {config: Config{Off: true}, name: "none", warning: "switched off"},
		"not there":            {config: Config{LookPath: func(string) (string, error) { return "", fails }}, name: "none", warning: "apt install bubblewrap"},
		"does not run":         {config: Config{LookPath: found, Try: func(context.Context, []string) error { return fails }}, name: "none", warning: "does not work here (no)"},
		"bubblewrap":           {config: Config{LookPath: found, Try: runs}, name: "bubblewrap"},
		"root without setpriv": {config: Config{LookPath: only("bwrap"), Try: runs, Superuser: true}, name: "bubblewrap", warning: "install setpriv"},
		"root":                 {config: Config{LookPath: found, Try: runs, Superuser: true}, name: "bubblewrap"},
		"docker":               {config: Config{LookPath: found, Try: runs, Runtime: "docker", Image: "node:22"}, name: "docker node:22"},
		"other":                {config: Config{LookPath: found, Try: runs, Runtime: "lxc", Image: "x"}, err: "docker:IMAGE"},
		"no image":             {config: Config{LookPath: found, Try: runs, Runtime: "podman"}, err: "image is missing"},
		"an option":            {config: Config{LookPath: found, Try: runs, Runtime: "podman", Image: "--privileged"}, err: "image is missing"},
		"no docker":            {config: Config{LookPath: func(string) (string, error) { return "", fails }, Runtime: "docker", Image: "x"}, err: "install it"},
		"no daemon":            {config: Config{LookPath: found, Try: func(context.Context, []string) error { return fails }, Runtime: "docker", Image: "x"}, err: "try docker run"},
	} {
		s, err := Detect(t.Context(), c.config)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", name, err, c.err)
			}
			continue
		}
		if err != nil || s.Name() != c.name || !strings.Contains(s.Warning(), c.warning) || (s.Warning() == "") != (c.warning == "") || s.CutsNetwork() != (c.name != "none") {
			t.Errorf("%s: %q %q %v", name, s.Name(), s.Warning(), err)
		}
	}
}

func only(program string) func(string) (string, error) {
	return func(name string) (string, error) {
		if name != program {
			return "", errors.New("no " + name)
		}
		return found(name)
	}
}

func found(name string) (string, error)             { return "/usr/bin/" + name, nil }
func runs(ctx context.Context, argv []string) error { return nil }

func TestNoSandboxChangesNothing(t *testing.T) {
	argv := []string{"claude", "-p", "x"}
	if got := (Sandbox{}).Wrap(argv, Options{Workdir: "/w"}); !slices.Equal(got, argv) {
		t.Errorf("argv %q", got)
	}
}

func TestContainerOfRootIsNobodys(t *testing.T) {
	s, err := Detect(t.Context(), Config{LookPath: found, Try: runs, Runtime: "docker", Image: "node:22", Superuser: true})
	if err != nil {
		t.Fatal(err)
	}
	if argv := s.Wrap([]string{"cli"}, Options{}); !slices.Contains(argv, fmt.Sprintf("--user=%d:%d", nobody().UID, nobody().GID)) {
		t.Errorf("argv %q", argv)
	}
}

func TestContainerArgv(t *testing.T) {
	s, err := Detect(t.Context(), Config{LookPath: found, Try: runs, Runtime: "podman", Image: "node:22"})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Workdir: "/t/w", Home: "/t/h", Tmp: "/t/t", ReadOnly: []string{"/opt/cli"}, Limit: 20 * time.Minute, MemoryMB: 50, Processes: 100,
		Env: []string{"PATH=/bin", "API_KEY=SECRET", "HOME=/t/h"},
	}
	want := "/usr/bin/podman run --rm --init --read-only --cap-drop=ALL --security-opt=no-new-privileges --pull=never --ulimit=core=0 --pids-limit=400 --memory=50m --memory-swap=50m --network=none --userns=keep-id " +
		"--volume=/opt/cli:/opt/cli:ro --volume=/t/h:/t/h --volume=/t/w:/t/w --volume=/t/t:/t/t --volume=/t/t:/tmp --workdir=/t/w --env=API_KEY --env=HOME --entrypoint= node:22 " +
		"timeout -s KILL 1201 /opt/cli/run -p x"
	if got := strings.Join(s.Wrap([]string{"/opt/cli/run", "-p", "x"}, o), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBubblewrapArgv holds the order, on which everything depends.
func TestBubblewrapArgv(t *testing.T) {
	s := Sandbox{
		kind: bubblewrap, program: "/usr/bin/bwrap", setpriv: "/usr/bin/setpriv", hidden: []string{"/home", "/tmp", "/tmp/me"}, shown: []string{"/run/resolv.conf"},
		masked: []string{"/proc", "/proc/keys"}, // a folder, and what is none
	}
	o := Options{Workdir: "/home/me/w", Home: "/home/me/h", Tmp: "/tmp/firstpick-argv-test", ReadOnly: []string{"/home/me/.nvm", "/home", "/"}}
	wrapped := "--ro-bind / / --dev /dev --proc /proc " +
		"--ro-bind-try /proc/sys /proc/sys --ro-bind-try /proc/sysrq-trigger /proc/sysrq-trigger --ro-bind-try /proc/bus /proc/bus --ro-bind-try /proc/fs /proc/fs --ro-bind-try /proc/irq /proc/irq " +
		"--tmpfs /proc --remount-ro /proc --ro-bind /dev/null /proc/keys --unshare-net --bind /tmp/firstpick-argv-test /dev/shm --remount-ro /dev " +
		"--tmpfs /home --tmpfs /tmp --bind /tmp/firstpick-argv-test /tmp --ro-bind-try /run/resolv.conf /run/resolv.conf --ro-bind-try /usr/bin/cli /usr/bin/cli --ro-bind-try /home/me/.nvm /home/me/.nvm " +
		"--bind /home/me/h /home/me/h --bind /home/me/w /home/me/w --bind /tmp/firstpick-argv-test /tmp/firstpick-argv-test --remount-ro /home "
	const begin = "/usr/bin/bwrap --die-with-parent --new-session --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL "
	if got, want := strings.Join(s.Wrap([]string{"/usr/bin/cli", "-p", "x"}, o), " "), begin+wrapped+"--chdir /home/me/w -- /usr/bin/cli -p x"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.user = &User{7, 8}
	want := begin + "--cap-add CAP_SETUID --cap-add CAP_SETGID " + wrapped + "-- /usr/bin/setpriv --reuid=7 --regid=8 --clear-groups --inh-caps=-all -- /bin/sh -c cd \"$0\" && exec \"$@\" /home/me/w /usr/bin/cli -p x"
	if got := strings.Join(s.Wrap([]string{"/usr/bin/cli", "-p", "x"}, o), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
