package process

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain makes the test binary the program that is run, and its supervisor.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(Supervise(os.Args[2:]))
	}
	if mode := os.Getenv("CHILD"); mode != "" {
		os.Exit(child1(mode))
	}
	os.Exit(m.Run())
}

func forever() { select {} }

// again starts the test binary as another child with the same output.
func again(mode string, attr *syscall.SysProcAttr) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"CHILD=" + mode}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, attr
	if err := cmd.Start(); err != nil {
		fmt.Println("error", err)
	}
	return cmd
}

// say writes a line at once, from several processes in one piece.
func say(format string, args ...any) {
	_, _ = os.Stdout.WriteString(fmt.Sprintf(format, args...) + "\n")
}

func child1(mode string) int {
	time.AfterFunc(time.Minute, func() { os.Exit(99) }) // whatever the test does
	switch mode {
	case "plain":
		say("one")
		say("two")
		fmt.Fprint(os.Stderr, "warning\nlast")
		_, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		stdin, _ := io.ReadAll(os.Stdin)
		wd, _ := os.Getwd()
		say("tty %t, stdin %q, dir %s, env %s", err == nil, stdin, wd, strings.Join(os.Environ(), " "))
		files, _ := os.ReadDir("/proc/self/fd")
		open := 0
		for _, f := range files {
			if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && (strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "/tmp")) {
				open++
			}
		}
		fmt.Printf("%d pipes", open)
		return 3
	case "signal":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		forever()
	case "hang":
		say("pid %d", os.Getpid())
		say("ready")
		forever()
	case "deaf": // to all that can be heard
		c := make(chan os.Signal, 8)
		signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		say("pid %d", os.Getpid())
		for s := range c {
			say("heard %s", s)
		}
	case "family": // a deaf child and grandchild that keep the output open
		c := make(chan os.Signal, 8)
		signal.Notify(c, syscall.SIGINT, syscall.SIGTERM)
		again("deaf", nil)
		again("deaf", &syscall.SysProcAttr{Setpgid: true})
		forever()
	case "daemon": // leaves a daemon behind, with a session and a parent of its own
		_ = again("daemon2", &syscall.SysProcAttr{Setsid: true}).Wait()
		say("done")
		return 0
	case "daemon2":
		say("pid %d", again("deaf", &syscall.SysProcAttr{Setsid: true}).Process.Pid)
		return 0
	case "result":
		say("result")
		forever()
	case "dots": // bytes, never a line
		for {
			fmt.Print(".")
			time.Sleep(5 * time.Millisecond)
		}
	case "long":
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range 200 {
			_, _ = os.Stdout.Write(chunk)
		}
		say("")
		say("after")
	case "parent": // runs a family, to be killed itself
		_, _ = Run(context.Background(), realClock(), Spec{
			Argv: []string{"/proc/self/exe"}, Env: []string{"CHILD=family"}, Dir: "/",
			Supervisor: []string{"/proc/self/exe", "supervise"},
			Stdout:     func(_ time.Duration, _ int64, line []byte) { say("%s", line) },
		})
	case "hold": // memory, in every page
		var all [][]byte
		for range 700 {
			all = append(all, bytes.Repeat([]byte("x"), 1<<20))
		}
		say("held %d", len(all))
		forever()
	case "memfd": // memory that is mapped nowhere
		fd, err := unix.MemfdCreate("held", 0)
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for i := 0; i < 700 && err == nil; i++ {
			_, err = unix.Write(fd, chunk)
		}
		say("held %v", err)
		forever()
	case "files": // 300 MiB, in the working folder
		for i := range 300 {
			_ = os.WriteFile(fmt.Sprint("file", i), bytes.Repeat([]byte("x"), 1<<20), 0o600)
		}
		say("written")
		forever()
	case "unlinked": // 300 MiB in a file that has no name any more
		f, err := os.Create("file")
		_ = os.Remove("file")
		for i := 0; i < 300 && err == nil; i++ {
			_, err = f.Write(bytes.Repeat([]byte("x"), 1<<20))
		}
		say("written %v", err)
		for {
			time.Sleep(time.Hour)
			runtime.KeepAlive(f) // otherwise the garbage collector closes it, and its blocks are free
		}
	case "file": // of 300 MiB, in one go
		signal.Ignore(syscall.SIGXFSZ)
		f, err := os.Create("file")
		for i := 0; i < 300 && err == nil; i++ {
			_, err = f.Write(bytes.Repeat([]byte("x"), 1<<20))
		}
		if err != nil {
			return 1
		}
	case "limits": // of the system
		var core, size unix.Rlimit
		_, _ = unix.Getrlimit(unix.RLIMIT_CORE, &core), unix.Getrlimit(unix.RLIMIT_FSIZE, &size)
		say("core %d %d, file %d %d", core.Cur, core.Max, size.Cur, size.Max)
	case "bomb": // forks without an end, each with a session of its own
		say("pid %d", os.Getpid())
		for range 4 {
			again("bomb2", &syscall.SysProcAttr{Setsid: true})
		}
		forever()
	case "bomb2":
		for {
			again("hang", &syscall.SysProcAttr{Setsid: true})
			time.Sleep(30 * time.Millisecond)
		}
	}
	return 0
}

func realClock() Clock { return Clock{Now: time.Now, After: time.After} }
