//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user whom permissions bind; they do not bind root.
const nobody = 65534

// TestAFolderWithoutPermissionIsNamed goes through the commands that read or write a
// data folder, with one that may not be entered: an error that names it, what is wrong
// and what to do, and never "there are no runs".
func TestAFolderWithoutPermissionIsNamed(t *testing.T) {
	work, err := os.MkdirTemp("", "denied") //nolint:usetesting // others may enter it, unlike t.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(work, "firstpick")
	copyProgram(t, program)
	eval := filepath.Join(work, "e.yaml")
	data := filepath.Join(work, "data")
	for _, err := range []error{
		os.Chmod(work, 0o755), os.Mkdir(data, 0o755), os.Mkdir(filepath.Join(data, "runs"), 0o755),
		os.WriteFile(eval, []byte("name: e\ncategory: auth\nprompts: [{id: p, text: Add a login page.}]\nagents: [{name: s, kind: simulated, truth: {clerk: 1}}]\n"), 0o644),
		os.Chmod(data, 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(data, 0o755); _ = os.RemoveAll(work) })
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = work, append(os.Environ(), "HOME="+work, "TMPDIR=/tmp")
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	for _, args := range []string{
		"rank", "runs", "runs rebuild", "runs ctl last", "trial", "trial abc", "why abc", "publish", "gate coverage>=1%", "diff current abc", "snapshot list", "snapshot verify",
		"snapshot prune", "run " + eval, "run --resume abc", "extract --run abc", "merge a b", "server --listen 127.0.0.1:0", "agent workspace", "admin workspaces", "traffic reindex", "doctor",
		"demo --no-serve",
	} {
		t.Run(args, func(t *testing.T) {
			said, err := run(append(strings.Fields(args), "--data", data)...)
			if err == nil || !strings.Contains(said, "ermission denied") || !strings.Contains(said, data) || !strings.Contains(said, "hint") || strings.Contains(said, "firstpick demo") {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
	for _, name := range []string{"trials.duckdb", "runs"} {
		whole, locked := filepath.Join(work, "of-"+name), filepath.Join(work, "of-"+name, name)
		for _, err := range []error{os.Mkdir(whole, 0o755), os.Chmod(whole, 0o777), os.Mkdir(filepath.Join(whole, "runs"), 0o755)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if name != "runs" {
			if err := os.WriteFile(locked, nil, 0); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Chmod(locked, 0); err != nil {
			t.Fatal(err)
		}
		if said, err := run("rank", "--data", whole); err == nil || !strings.Contains(said, locked+": permission denied") || !strings.Contains(said, "hint: this user may not use ") {
			t.Errorf("without permission for %s: %v\n%s", name, err, said)
		}
	}
	file := filepath.Join(work, "a-file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := run("rank", "--data", file); err == nil || !strings.Contains(said, file+" is a file, not a folder") {
		t.Errorf("a file for a data folder: %v\n%s", err, said)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
