// Package process runs one program to its end, for any behaviour of the program: with
// limits of time and memory, with its output line by line, and without processes left
// running afterwards.
//
// It finds all processes that a program started, also in other sessions: on Linux the
// program is started by a supervisor, a process that adopts every orphan (see
// Supervise). The supervisor kills all of them when the program ends, when it is
// ordered to, and when the process that called Run ends or is killed.
//
// A cgroup would do the same, but an unprivileged user cannot create one.
//
// It cannot reach a program with more rights than its starter (setuid), nor processes
// that a service of the machine starts on request (a container daemon, cron). A sandbox
// denies a program both.
package process

import (
	"time"
)

// A Clock is the time, as Run sees it.
type Clock struct {
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
}

// A Spec is a program with its limits. A Wall, Stall or Grace of 0 does not
// hold.
type Spec struct {
	// Argv is the program and its arguments. A name without a slash is looked up in the
	// PATH of Env.
	Argv []string
	Dir  string
	// Env is the whole environment; nothing is inherited.
	Env []string
	// Supervisor is the argv that runs Supervise; the program's is appended. Without it
	// only the program's process group is killed.
	Supervisor []string

	Wall  time.Duration // for the whole run, until Ended
	Stall time.Duration // without a byte on stdout or stderr, until Ended
	Grace time.Duration // alive after Ended

	Limits Limits

	// Stdout and Stderr receive whole lines without their newline, with the time since
	// the start and the line's offset in its stream. They are never called concurrently
	// and must not retain the line. They may be nil.
	Stdout, Stderr func(at time.Duration, off int64, line []byte)
	// Ended reports after each line whether the result was seen. It may be nil.
	Ended func() bool

	MaxLine int   // bytes; longer lines are dropped. 0: 16 MiB
	MaxRaw  int64 // stored bytes of stdout, from both ends. 0: 64 MiB

	// Interrupt is how long the program has after SIGINT, and Terminate after the
	// SIGTERM that follows, before SIGKILL. 0: 5 s.
	Interrupt, Terminate time.Duration
}

// Why is the reason of a program's end.
type Why string

// The ends of a program.
const (
	Exited    Why = "exited" // by itself
	Wall      Why = "wall"
	Stall     Why = "stall"
	Grace     Why = "grace"
	Cancelled Why = "cancelled"
	// Memory, Processes and Disk are the Limits. Exit.Excess says more.
	Memory    Why = "memory"
	Processes Why = "processes"
	Disk      Why = "disk"
)

// An Exit is how a program ended.
type Exit struct {
	Code   int    // -1 if a signal ended it
	Signal string // "killed", "interrupt", ...; empty if there was none
	Why    Why
	Excess string // which limit it exceeded, and by how much
	Wall   time.Duration
	// CPU is the user and system time of all processes of the program; MaxRSSMB is the
	// largest resident size of one of them, in MiB. It is at least that of the starter,
	// some 50 with a supervisor.
	CPU      time.Duration
	MaxRSSMB int
	// Raw is stdout. Where RawBytes, the size of all of it, is more, its middle is
	// missing: Cut bytes from offset CutAt on.
	Raw          []byte
	RawBytes     int64
	CutAt, Cut   int64
	LongLines    int    // lines that were left out for their length
	Stderr       []byte // the last 64 KiB
	CouldNotKill bool   // something of it may still be running
}
