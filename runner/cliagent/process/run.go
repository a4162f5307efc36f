package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/firstpick/firstpick/runner/cliagent/stream"
)

const (
	defaultMaxLine = 16 << 20
	defaultMaxRaw  = 64 << 20
	defaultPatient = 5 * time.Second
	maxStderr      = 64 << 10
	// killTimeout limits the wait for killed processes to end: long, because a program that
	// starts processes without end leaves the supervisor little time to find them.
	// drainTimeout limits the reading of their output.
	killTimeout  = time.Minute
	drainTimeout = 2 * time.Second
)

// stepKill is the step of the ladder that kills.
const stepKill = 3

// Run runs a program to its end and returns when nothing of it is left. It fails
// only where the program could not be started; a context that is done ends the
// program; see Why.
func Run(ctx context.Context, clock Clock, s Spec) (Exit, error) {
	s.MaxLine, s.MaxRaw = cmp.Or(s.MaxLine, defaultMaxLine), cmp.Or(s.MaxRaw, defaultMaxRaw)
	s.Interrupt, s.Terminate = cmp.Or(s.Interrupt, defaultPatient), cmp.Or(s.Terminate, defaultPatient)
	out, outEnd, err := os.Pipe()
	if err != nil {
		return Exit{}, fmt.Errorf("process: %w", err)
	}
	defer func() { _ = out.Close() }()
	errs, errsEnd, err := os.Pipe()
	if err != nil {
		_ = outEnd.Close()
		return Exit{}, fmt.Errorf("process: %w", err)
	}
	defer func() { _ = errs.Close() }()

	start := clock.Now()
	c, err := s.start(outEnd, errsEnd)
	_, _ = outEnd.Close(), errsEnd.Close()
	if err != nil {
		return Exit{}, fmt.Errorf("process: %w", err)
	}
	r := &run{Spec: s, clock: clock, start: start, child: c, result: make(chan struct{})}
	r.raw = ends{head: int(s.MaxRaw / 2), tail: int(s.MaxRaw - s.MaxRaw/2)}
	r.errs = ends{tail: maxStderr}

	read := make(chan struct{})
	go func() {
		defer close(read)
		var both sync.WaitGroup
		both.Go(func() { r.read(out, &r.raw, s.Stdout) })
		both.Go(func() { r.read(errs, &r.errs, s.Stderr) })
		both.Wait()
	}()
	exit := r.watch(ctx)
	select {
	case <-read:
	case <-clock.After(drainTimeout): // an escaped process has the pipes open
		now := time.Unix(0, 1)
		_, _ = out.SetReadDeadline(now), errs.SetReadDeadline(now)
		<-read
	}
	exit.Wall = clock.Now().Sub(start)
	exit.Raw, exit.CutAt, exit.Cut = r.raw.bytes()
	exit.RawBytes, exit.LongLines = r.raw.total, r.long
	exit.Stderr, _, _ = r.errs.bytes()
	return exit, nil
}

// A run is a running program.
type run struct {
	Spec
	clock      Clock
	start      time.Time
	child      *child
	raw, errs  ends
	lastOutput atomic.Int64 // time of the last byte since the start

	mu     sync.Mutex // held while Stdout, Stderr and Ended are called
	long   int
	result chan struct{} // closed when Ended was true
	ended  bool
}

// A child is a program that was started: how to send it a signal, how to end all
// of it, and how it ended.
type child struct {
	pid     int // of the supervisor; 0 without one
	signal  func(syscall.Signal)
	kill    func()
	abandon func() // stops waiting for processes that kill did not end
	done    <-chan Exit
}

// read reads one stream to its end.
func (r *run) read(f *os.File, kept *ends, fn func(time.Duration, int64, []byte)) {
	_ = stream.Lines(listener{f, r, kept}, r.MaxLine, func(off int64, line []byte, cut bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case cut:
			r.long++
		case fn != nil:
			fn(r.since(), off, line)
		}
		if !r.ended && r.Ended != nil && r.Ended() {
			r.ended = true
			close(r.result)
		}
	})
}

func (r *run) since() time.Duration { return r.clock.Now().Sub(r.start) }

// A listener stores output and the time of the last output.
type listener struct {
	f    *os.File
	run  *run
	kept *ends
}

func (l listener) Read(p []byte) (int, error) {
	n, err := l.f.Read(p)
	if n > 0 {
		l.run.lastOutput.Store(int64(l.run.since()))
		l.kept.write(p[:n])
	}
	return n, err
}

// watch waits for the end of the program and enforces its limits. It is one loop, because each
// channel turns others off.
func (r *run) watch(ctx context.Context) Exit {
	var (
		why      = Exited
		cancel   = ctx.Done()
		result   = r.result
		wall     = r.after(r.Wall)
		stall    = r.after(r.Stall)
		grace    <-chan time.Time
		next     <-chan time.Time // of the ladder
		step     int
		descend  func()
		done     = make(chan struct{})
		over     = r.watchLimits(done)
		excess   string
		stopping = func(w Why) {
			why, cancel, result, wall, stall, grace = w, nil, nil, nil, nil, nil
			descend()
		}
	)
	defer close(done)
	descend = func() {
		switch step++; step {
		case 1:
			r.child.signal(syscall.SIGINT)
			next = r.clock.After(r.Interrupt)
		case 2:
			r.child.signal(syscall.SIGTERM)
			next = r.clock.After(r.Terminate)
		case stepKill:
			r.child.kill()
			next = r.clock.After(killTimeout)
		default:
			r.child.abandon()
			next = nil
		}
	}
	for {
		select {
		case exit := <-r.child.done:
			exit.Why, exit.Excess = why, excess
			r.lastLook(&exit)
			return exit
		case e := <-over:
			over = nil
			if step >= stepKill {
				continue
			}
			step = stepKill - 1 // no graceful stop: it would use more meanwhile
			if why != Exited {  // it was to end anyway
				descend()
				continue
			}
			excess = e.text
			stopping(e.why)
		case <-cancel:
			stopping(Cancelled)
		case <-wall:
			stopping(Wall)
		case <-stall:
			if quiet := r.since() - time.Duration(r.lastOutput.Load()); quiet >= r.Stall {
				stopping(Stall)
			} else {
				stall = r.clock.After(r.Stall - quiet)
			}
		case <-result: // the result is complete; the program only has to exit
			result, wall, stall, grace = nil, nil, nil, r.after(r.Grace)
		case <-grace:
			stopping(Grace)
		case <-next:
			descend()
		}
	}
}

// lastLook finds out whether a program failed for the size of a file, or of its folders.
func (r *run) lastLook(exit *Exit) {
	if exit.Why != Exited || exit.Code == 0 || r.child.pid == 0 {
		return
	}
	if e := r.Limits.overDisk(0); e != nil {
		exit.Why, exit.Excess = e.why, e.text
	}
}

func (r *run) after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return r.clock.After(d)
}

var errNoProgram = errors.New("no program to run")
