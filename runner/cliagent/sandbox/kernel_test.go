package sandbox

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBubblewrapKernel sees that a program cannot change the kernel's settings, as root
// or not: each is written the value that it has.
func TestBubblewrapKernel(t *testing.T) {
	const script = `v=$(cat "$0") && { printf '%s' "$v" > "$0"; } 2>/dev/null && echo written || echo refused`
	s := bubble(t)
	asRoot := s
	asRoot.user = nil // on a machine without setpriv
	for name, s := range map[string]Sandbox{"as trials run": s, "as the user of this process": asRoot} {
		o := place(t, s)
		for _, setting := range []string{"/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory", "/proc/sys/net/ipv4/ip_forward", "/proc/irq/default_smp_affinity"} {
			if _, err := os.Stat(setting); err != nil {
				continue // this kernel has none
			}
			argv := s.Wrap([]string{"/bin/sh", "-c", script, setting}, o)
			out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "refused" {
				t.Errorf("%s, %s: %q %v, want refused", name, setting, out, err)
			}
		}
		for _, dir := range []string{"/proc/acpi", "/sys/firmware"} {
			if got := sh(t, s, o, "ls -A "+dir+" 2>/dev/null; echo end"); got != "end" {
				t.Errorf("%s: %s shows %q", name, dir, got)
			}
		}
		if got := sh(t, s, o, "for f in /dev/x /dev/shm/../y; do (: > $f) 2>/dev/null && echo made $f; done; echo shared > /dev/shm/z && cat /tmp/z"); got != "shared" {
			t.Errorf("%s: devices: %q", name, got)
		}
	}
}

// TestBubblewrapUser sees that programs of root are nobody's, and own their folders.
func TestBubblewrapUser(t *testing.T) {
	s := bubble(t)
	if os.Getuid() != 0 {
		if s.user != nil {
			t.Errorf("user %+v for programs of an ordinary user", *s.user)
		}
		return
	}
	o := place(t, s)
	got := sh(t, s, o, "id -u; (cat /etc/shadow >/dev/null) 2>/dev/null && echo read; echo x > file && stat -c %u file . ~; grep -c '^Cap[EPI][a-z]*.*[1-9a-f]$' /proc/self/status; true")
	if got != "65534\n65534\n65534\n65534\n0" {
		t.Errorf("as nobody: %q", got)
	}
}
