package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// A bench is one store and the program that runs on it.
type bench struct {
	options
	engine  string
	dir     string // removed at the end
	cluster *statetest.Cluster
	client  *http.Client

	base    string // address of the running server
	listen  string // the same without scheme
	state   string // its store
	process *exec.Cmd

	sent   atomic.Int64 // numbers the events of all measurements: an id counts once
	stores int          // opened in this process
}

func newBench(o options, engine string) (*bench, error) {
	if o.program == "" {
		return nil, errors.New("-program: the built firstpick is needed")
	}
	b := &bench{options: o, engine: engine, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: time.Minute}}
	var err error
	if engine == "postgres" {
		if b.cluster, err = statetest.StartCluster(true); err != nil {
			return nil, err
		}
	}
	b.dir, err = os.MkdirTemp("", "firstpick-bench")
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	if b.state, err = b.store("state"); err == nil {
		err = b.start()
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// store returns the address of a new, empty store of the engine.
func (b *bench) store(name string) (string, error) {
	if b.cluster != nil {
		return b.cluster.Database(context.Background())
	}
	return "sqlite://" + filepath.Join(b.dir, name+".db"), nil
}

// flags name the program's data and store.
func (b *bench) flags(args ...string) []string {
	return append(args, "--data", filepath.Join(b.dir, "data"), "--state", b.state, "--base-url", b.base)
}

func (b *bench) command(args ...string) *exec.Cmd { return b.run(b.flags(args...)...) }

// onData is a command that works on the data folder alone.
func (b *bench) onData(args ...string) *exec.Cmd {
	return b.run(append(args, "--data", filepath.Join(b.dir, "data"))...)
}

func (b *bench) run(args ...string) *exec.Cmd {
	cmd := exec.Command(b.program, args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "FIRSTPICK_LIMITS=off", // all requests come from one address
		"FIRSTPICK_STATE_KEY="+base64.StdEncoding.EncodeToString(masterKey())) // that of the stores that this process opens
	return cmd
}

// start starts the server with the settings that it has by itself and waits until it
// answers. Its log, with a line for each request, goes into a file.
func (b *bench) start() error {
	if b.listen == "" {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		b.listen = ln.Addr().String()
		if err := ln.Close(); err != nil {
			return err
		}
		b.base = "http://" + b.listen
	}
	log, err := os.OpenFile(filepath.Join(b.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := b.command("server", "--listen", b.listen)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	b.process = cmd
	for range 200 {
		if resp, err := b.client.Get(b.base + "/healthz"); err == nil {
			_ = resp.Body.Close()
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name()) // the error below says enough without it
	return fmt.Errorf("the server does not answer: %s", text[max(0, len(text)-1000):])
}

func (b *bench) close() error {
	var err error
	if b.process != nil {
		err = b.process.Process.Signal(syscall.SIGTERM)
		_ = b.process.Wait() // it ends by our signal
	}
	if b.cluster != nil {
		err = errors.Join(err, b.cluster.Stop())
	}
	if b.dir != "" {
		err = errors.Join(err, os.RemoveAll(b.dir))
	}
	return err
}

// memory returns the resident memory of the server, in MiB.
func (b *bench) memory() (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, errors.New("no VmRSS in /proc")
	}
	kib, err := strconv.Atoi(fields[0])
	return kib / 1024, err
}
