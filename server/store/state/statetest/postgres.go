// Package statetest gives tests real state stores: SQLite in a temporary folder,
// and databases of a PostgreSQL cluster that the test binary starts once.
package statetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// ErrNoPostgres means that this machine has no PostgreSQL to start.
var ErrNoPostgres = errors.New("no postgres on this machine")

// A Cluster is a private PostgreSQL server with a socket in its folder.
type Cluster struct {
	dir     string
	admin   *sql.DB
	process *exec.Cmd
	bin     string
	log     bytes.Buffer

	mu sync.Mutex
	n  int
}

// StartCluster creates and starts a cluster. PostgreSQL refuses to run as root, so for
// root it runs as the user postgres or nobody. Durable clusters sync to disk, as
// benchmarks must.
func StartCluster(durable bool) (*Cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fpg") // short: socket paths have a limit
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, bin: bin}
	if err := c.start(durable); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

// binaries returns the folder of initdb and postgres.
func binaries() (string, error) {
	candidates, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	if found, err := exec.LookPath("postgres"); err == nil {
		candidates = append(candidates, found)
	}
	for i := len(candidates) - 1; i >= 0; i-- {
		real, err := filepath.EvalSymlinks(candidates[i])
		if err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(real), "initdb")); err == nil {
			return filepath.Dir(real), nil
		}
	}
	return "", ErrNoPostgres
}

func (c *Cluster) command(name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(filepath.Join(c.bin, name), args...) //nolint:noctx // it ends with Stop
	cmd.Dir = c.dir
	cmd.Stdout, cmd.Stderr = &c.log, &c.log
	if os.Geteuid() != 0 {
		return cmd, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uerr, gerr, os.Chown(c.dir, int(uid), int(gid))); err != nil {
			return nil, err
		}
		runAs(cmd, uint32(uid), uint32(gid))
		return cmd, nil
	}
	return nil, errors.New("postgres does not run as root, and there is neither a user postgres nor nobody")
}

func (c *Cluster) start(durable bool) error {
	init, err := c.command("initdb", "-D", filepath.Join(c.dir, "data"), "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8")
	if err != nil {
		return err
	}
	if err := init.Run(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, c.log.String())
	}
	sync := "fsync=off"
	if durable {
		sync = "fsync=on"
	}
	if c.process, err = c.command("postgres", "-D", filepath.Join(c.dir, "data"), "-k", c.dir, "-c", "listen_addresses=", "-c", sync, "-c", "max_connections=200"); err != nil {
		return err
	}
	if err := c.process.Start(); err != nil {
		return err
	}
	if c.admin, err = sql.Open("pgx", c.address("postgres")); err != nil {
		return err
	}
	for range 200 {
		if err = c.admin.PingContext(context.Background()); err == nil {
			return nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	return errors.Join(fmt.Errorf("postgres does not answer: %w: %s", err, c.log.String()), c.process.Process.Kill())
}

func (c *Cluster) address(database string) string {
	return fmt.Sprintf("postgres://postgres@/%s?host=%s", database, c.dir)
}

// Database makes a new database and returns its address.
func (c *Cluster) Database(ctx context.Context) (string, error) {
	c.mu.Lock()
	c.n++
	name := fmt.Sprintf("t%d", c.n)
	c.mu.Unlock()
	_, err := c.admin.ExecContext(ctx, "create database "+name+" strategy file_copy")
	return c.address(name), err
}

// Restart stops the server in a mode of pg_ctl (fast, immediate) and starts it again.
func (c *Cluster) Restart(mode string) error {
	stop, err := c.command("pg_ctl", "-D", filepath.Join(c.dir, "data"), "-m", mode, "-w", "stop")
	if err != nil {
		return err
	}
	if err := stop.Run(); err != nil {
		return fmt.Errorf("pg_ctl stop: %w: %s", err, c.log.String())
	}
	_ = c.process.Wait() // pg_ctl ended it
	if c.process, err = c.command("postgres", c.process.Args[1:]...); err != nil {
		return err
	}
	return c.process.Start()
}

// Stop ends the cluster and deletes it.
func (c *Cluster) Stop() error {
	err := c.admin.Close()
	if serr := c.process.Process.Signal(syscall.SIGINT); serr != nil {
		err = errors.Join(err, serr)
	}
	_ = c.process.Wait() // it ends by our signal
	return errors.Join(err, os.RemoveAll(c.dir))
}
