package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/store/state"
)

// runChaos runs fault-injection experiments on the server and its store and prints the
// results. An experiment that loses something that was acknowledged is an error.
func runChaos(b *bench) error {
	c := &chaos{bench: b}
	experiments := []struct {
		name string
		run  func() (string, error)
	}{
		{"server killed 5 times under 6 writers", c.kills},
		{"promote, publish and prune under load", c.swaps},
		{"backup, restore, to the other store and back", c.backups},
		{"read model of traffic damaged", c.damagedReports},
	}
	if b.cluster != nil {
		experiments = append(experiments, []struct {
			name string
			run  func() (string, error)
		}{{"PostgreSQL stopped fast and at once, frozen for 6 s", c.stops}}...)
	}
	for _, e := range experiments {
		result, err := e.run()
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		fmt.Printf("  %-52s %s\n", e.name, result)
	}
	return nil
}

// A chaos counts the acknowledged events.
type chaos struct {
	*bench
	key     string
	mu      sync.Mutex
	acked   map[string]bool
	refused atomic.Int64 // answers with 503, and broken connections
}

// write sends events from 6 writers until stop, and records the acknowledged ones.
func (c *chaos) write(stop <-chan struct{}) *sync.WaitGroup {
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if !c.batch() {
					c.refused.Add(1)
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	return &all
}

func (c *chaos) batch() (acknowledged bool) {
	const n = 50
	ids := make([]string, n)
	events := make([]map[string]any, n)
	for k := range ids {
		ids[k] = fmt.Sprintf("c-%d-%d", c.sent.Add(1), k)
		events[k] = map[string]any{"type": "touch", "id": ids[k], "url": "https://acme.example/docs", "status": 200, "userAgent": "ClaudeBot/1.0"}
	}
	body, err := json.Marshal(events)
	if err != nil {
		return false
	}
	got, err := c.send(http.MethodPost, "/api/collect", c.key, "application/json", body)
	if err != nil || got.status != http.StatusAccepted {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.acked[id] = true
	}
	return true
}

func (c *chaos) acknowledged() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.acked)
}

// kills kills the server while writers send, until as many events were acknowledged as
// -events says, and at least five times.
func (c *chaos) kills() (string, error) {
	w, err := c.claimedWorkspace("chaos@example.com")
	if err != nil {
		return "", err
	}
	c.key, c.acked = w.key, map[string]bool{}
	stop := make(chan struct{})
	writers := c.write(stop)
	kills := 0
	for kills < 5 || c.acknowledged() < c.events {
		time.Sleep(time.Second + time.Duration(rand.IntN(2000))*time.Millisecond) // the moment of the kill is the test
		if kills < 5 {
			if err := c.kill(syscall.SIGKILL); err != nil {
				return "", err
			}
			kills++
			if err := c.start(); err != nil {
				return "", err
			}
		}
	}
	close(stop)
	writers.Wait()
	if err := c.kill(syscall.SIGTERM); err != nil {
		return "", err
	}
	stored, err := c.stored(c.state)
	if err != nil {
		return "", err
	}
	lost := 0
	for id := range c.acked {
		if stored[id] != 1 {
			lost++
		}
	}
	for id, n := range stored {
		if n != 1 {
			return "", fmt.Errorf("event %s is stored %d times", id, n)
		}
	}
	if lost > 0 {
		return "", fmt.Errorf("%d of %d acknowledged events are lost", lost, len(c.acked))
	}
	return fmt.Sprintf("%d acknowledged, each stored once (%d stored)", len(c.acked), len(stored)), c.start()
}

func (c *chaos) kill(signal syscall.Signal) error {
	if err := c.process.Process.Signal(signal); err != nil {
		return err
	}
	_ = c.process.Wait() // it ends by our signal
	c.process = nil
	return nil
}

// stored returns how often each event is stored.
func (c *chaos) stored(address string) (map[string]int, error) {
	vault, err := benchVault() // events are not sealed
	if err != nil {
		return nil, err
	}
	db, err := state.Open(context.Background(), address, vault)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for seq := int64(0); ; {
		page, err := db.Read().EventsAfter(context.Background(), seq, 10_000)
		if err != nil || len(page) == 0 {
			return counts, errors.Join(err, db.Close())
		}
		for _, e := range page {
			counts[e.ID]++
			seq = e.Seq
		}
	}
}

// snapshots makes two snapshots and returns the ids of all.
func (c *chaos) snapshots() ([]string, error) {
	if out, err := c.onData("demo", "--no-serve").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("demo: %w: %s", err, out)
	}
	if out, err := c.onData("publish", "--run", "demo-twist-database-"+pick.Version).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("publish: %w: %s", err, out)
	}
	out, err := c.onData("snapshot", "list", "--json").Output()
	if err != nil {
		return nil, err
	}
	var list struct{ Snapshots []struct{ ID string } }
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range list.Snapshots {
		ids = append(ids, s.ID)
	}
	if len(ids) < 2 {
		return nil, fmt.Errorf("one snapshot is not enough: %v", ids)
	}
	return ids, nil
}

// swaps changes the current snapshot 20 times while 8 readers ask, with a publish and a
// prune among it. Every answer must be whole.
func (c *chaos) swaps() (string, error) {
	ids, err := c.snapshots()
	if err != nil {
		return "", err
	}
	for range 100 { // the server had no snapshot until now
		if got, err := c.send(http.MethodGet, "/api/public/leaderboard", "", "", nil); err == nil && got.status == http.StatusOK {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop, asked, failed := make(chan struct{}), atomic.Int64{}, atomic.Int64{}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got, err := c.send(http.MethodGet, "/api/public/leaderboard", "", "", nil)
				if asked.Add(1); err != nil || got.status != http.StatusOK || !json.Valid(got.body) {
					failed.Add(1)
				}
			}
		})
	}
	err = func() error {
		for i := 0; i < 20 || asked.Load() < int64(c.events); i++ {
			if out, err := c.onData("snapshot", "promote", ids[i%2]).CombinedOutput(); err != nil {
				return fmt.Errorf("promote: %w: %s", err, out)
			}
			if i == 10 {
				if out, err := c.onData("publish").CombinedOutput(); err != nil {
					return fmt.Errorf("publish: %w: %s", err, out)
				}
			}
			if i == 15 {
				if out, err := c.onData("snapshot", "prune", "--keep", "5").CombinedOutput(); err != nil {
					return fmt.Errorf("prune: %w: %s", err, out)
				}
			}
			time.Sleep(200 * time.Millisecond) // readers meet each
		}
		return nil
	}()
	close(stop)
	readers.Wait()
	if err == nil && failed.Load() > 0 {
		err = fmt.Errorf("%d of %d requests failed", failed.Load(), asked.Load())
	}
	return fmt.Sprintf("%d requests, 0 failed", asked.Load()), err
}

// backups writes the store to a file, fills a store of each engine from it, and compares.
func (c *chaos) backups() (string, error) {
	want, err := c.stored(c.state)
	if err != nil {
		return "", err
	}
	from := c.state
	defer func() { c.state = from }()
	for i, name := range []string{"first", "second"} {
		file := filepath.Join(c.dir, name+".backup")
		if out, err := c.command("admin", "backup", file).CombinedOutput(); err != nil {
			return "", fmt.Errorf("backup: %w: %s", err, out)
		}
		if i == 0 || c.cluster == nil {
			c.state = "sqlite://" + filepath.Join(c.dir, name+"-restored.db")
		} else if c.state, err = c.store(name); err != nil {
			return "", err
		}
		if out, err := c.command("admin", "restore", file).CombinedOutput(); err != nil {
			return "", fmt.Errorf("restore: %w: %s", err, out)
		}
		got, err := c.stored(c.state)
		if err != nil {
			return "", err
		}
		if len(got) != len(want) {
			return "", fmt.Errorf("%d events after a restore, %d before", len(got), len(want))
		}
	}
	return fmt.Sprintf("%d events equal after two restores", len(want)), nil
}

// damagedReports replaces the read model of traffic by rubbish; the server makes it again.
func (c *chaos) damagedReports() (string, error) {
	if err := c.kill(syscall.SIGTERM); err != nil {
		return "", err
	}
	file := filepath.Join(c.dir, "data", "traffic.duckdb")
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	_, err = f.WriteAt([]byte(strings.Repeat("rubbish!", 512)), info.Size()/2/4096*4096)
	if err = errors.Join(err, f.Close(), c.start()); err != nil {
		return "", err
	}
	if !c.batch() {
		return "", errors.New("the server takes no events beside a damaged read model")
	}
	return "events are taken in; `traffic reindex` makes it again", nil
}

// stops stops PostgreSQL in two ways and freezes it, while writers send.
func (c *chaos) stops() (string, error) {
	stop := make(chan struct{})
	before := c.acknowledged()
	writers := c.write(stop)
	var err error
	for _, mode := range []string{"fast", "immediate"} {
		time.Sleep(2 * time.Second) // writers are at work
		if err = c.cluster.Restart(mode); err != nil {
			break
		}
	}
	if err == nil {
		time.Sleep(2 * time.Second)
		err = c.cluster.Freeze(6 * time.Second)
	}
	time.Sleep(3 * time.Second) // the pool connects again
	close(stop)
	writers.Wait()
	if err != nil {
		return "", err
	}
	stored, err := c.stored(c.state)
	if err != nil {
		return "", err
	}
	for id := range c.acked {
		if stored[id] != 1 {
			return "", fmt.Errorf("event %s was acknowledged and is stored %d times", id, stored[id])
		}
	}
	return fmt.Sprintf("%d more acknowledged, 0 lost; %d requests refused meanwhile", len(c.acked)-before, c.refused.Load()), nil
}
