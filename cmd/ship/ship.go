package ship

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	pollEvery    = 250 * time.Millisecond
	flushEvery   = 2 * time.Second  // how long an event waits for others
	spoolEvery   = 10 * time.Second // the same while the service is away: fewer files
	blockLines   = 2000             // read of a log at a time
	firstBackoff = time.Second
	maxBackoff   = time.Minute
	maxRetry     = time.Hour        // of a Retry-After
	retryFor     = 15 * time.Minute // of reading once, for a service that is away
	lastMoment   = 5 * time.Second  // for the last batch after an interrupt
	maxSamples   = 3                // lines shown of each kind of trouble
)

// ErrAway ends a run that reads once: the service was down for too long. What was
// read before is sent; the next run goes on from there.
var ErrAway = errors.New("the service does not take events")

// ErrNoHost ends a run on a log that names no host, without one in [Config]: its
// events would belong to no site, and sending them again would not fix them.
var ErrNoHost = errors.New("the log names no host")

// A Config sets the logs to read and the service. All fields are required but
// those that say otherwise.
type Config struct {
	Files    []string // paths; - is Stdin
	Stdin    io.Reader
	Format   Format
	Host     string // of lines that name none; optional
	Once     bool   // read to the end and stop
	Backfill bool   // what is there at the start is old: up to 400 days
	All      bool   // send people's page views too

	URL, Key string
	Client   *http.Client // optional

	Spool      string // folder
	SpoolLimit int64  // bytes of waiting batches; 0 is 256 MiB

	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	// Progress hears often how it goes; Say hears of lines that are lost, of the first
	// few that cannot be read or were refused, and when the service goes and comes.
	Progress func(Stats)
	Say      func(string)
}

// Stats counts since the start.
type Stats struct {
	Lines      int64 `json:"lines"`
	Agents     int64 `json:"agents"`     // lines of agents, or of people referred by assistants
	Sent       int64 `json:"sent"`       // events that the service had not yet
	Duplicates int64 `json:"duplicates"` // events that it had
	Rejected   int64 `json:"rejected"`   // events that it refused
	Skipped    int64 `json:"skipped"`    // lines of people, of assets, and empty ones
	Unreadable int64 `json:"unreadable"` // lines not of the format
	Old        int64 `json:"old"`        // lines of more than 30 days ago, or 400 of a backfill
	TooLong    int64 `json:"tooLong"`    // lines of more than 64 KiB
	Spooled    int64 `json:"spooled"`    // events that wait in the buffer now
	// Waiting says why nothing is sent now; empty otherwise.
	Waiting string `json:"waiting,omitempty"`
}

// A shipper is one run.
type shipper struct {
	Config
	client    *client
	state     *state
	spool     *spool
	followers []*follower
	parser    parser
	detect    detector
	stats     Stats
	samples   map[string]int // shown, by kind of trouble

	batch []line // of a block, reused
	texts []byte // of its lines

	pending []entry   // read, and neither sent nor buffered
	since   time.Time // when the oldest of them was read
	saved   time.Time // when the marks were
	retryAt time.Time // not before that is anything sent
	backoff time.Duration
	away    time.Time // since when the service has been away; zero if it is not
}

// Run ships until ctx ends, or until all was read. Lines read by then are sent,
// or buffered, or read again by the next run. The error is ctx's when
// it ended, a *RefusedError, a *SpoolError, ErrAway, ErrLocked, ErrNoHost, or one of a file.
func Run(ctx context.Context, cfg Config) (_ Stats, err error) {
	s := &shipper{Config: cfg, detect: newDetector(), samples: map[string]int{}, backoff: firstBackoff}
	s.URL = strings.TrimRight(s.URL, "/")
	if s.SpoolLimit == 0 {
		s.SpoolLimit = SpoolLimit
	}
	own := http.Client{}
	if s.Client != nil {
		own = *s.Client
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client = &client{url: s.URL, key: s.Key, http: &own, now: s.Now}
	s.parser = parser{host: s.Host, all: s.All, report: s.sample, stats: &s.stats}
	if s.spool, err = openSpool(s.Spool, s.SpoolLimit); err != nil {
		return s.stats, err
	}
	defer func() { err = errors.Join(err, s.spool.close()) }()
	if s.state, err = readState(s.Spool); err != nil {
		return s.stats, err
	}
	if err := s.state.belongs(s.URL, ""); err != nil {
		return s.stats, err
	}
	s.stats.Spooled = s.spool.wait
	if err := s.open(); err != nil {
		return s.stats, err
	}
	defer func() {
		for _, f := range s.followers {
			f.close()
		}
	}()
	err = s.run(ctx)
	s.Progress(s.stats)
	return s.stats, err
}

func (s *shipper) open() error {
	for _, path := range s.Files {
		if path == "-" {
			s.followers = append(s.followers, &follower{path: path, once: s.Once, state: s.state, say: s.Say, current: newStream(s.Stdin)})
			continue
		}
		f, err := newFollower(path, s.Once, s.state, s.Say)
		if err != nil {
			return err
		}
		s.followers = append(s.followers, f)
		if f.current.packed && !s.Backfill {
			return fmt.Errorf("%s is a packed log, of old visits: add --backfill", path)
		}
	}
	return nil
}

// sample logs a line, unless many of its kind were logged.
func (s *shipper) sample(kind, where, message string) {
	s.samples[kind]++
	switch n := s.samples[kind]; {
	case n <= maxSamples:
		s.Say(fmt.Sprintf("%s: %s: %s", where, kind, message))
	case n == maxSamples+1:
		s.Say("more lines are " + kind + "; they are counted")
	}
}

func (s *shipper) run(ctx context.Context) error {
	workspace, err := s.client.probe(ctx)
	var away *awayError
	if errors.As(err, &away) {
		s.wentAway(away)
	} else if err = errors.Join(err, s.state.belongs(s.URL, workspace)); err != nil {
		return err
	}
	for _, f := range s.followers { // what is followed is known before a line is read
		if err := f.look(s.Now()); err != nil {
			return err
		}
	}
	if err := s.state.save(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := s.drain(ctx); err != nil {
			return err
		}
		read, over, err := s.read()
		if err != nil {
			return err
		}
		now := s.Now()
		every := flushEvery
		if !s.away.IsZero() {
			every = spoolEvery
		}
		if over || len(s.pending) >= batchEvents || now.Sub(s.since) >= every && now.Sub(s.saved) >= every {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
		s.Progress(s.stats)
		switch {
		case over && len(s.pending) == 0 && len(s.spool.names) == 0:
			return nil
		case ctx.Err() == nil && !read:
			_ = s.Sleep(ctx, pollEvery) // the loop sees that ctx ended
		}
	}
	return errors.Join(ctx.Err(), s.last(ctx))
}

// read reads a block of every log. over means that nothing will come any more.
func (s *shipper) read() (read, over bool, err error) {
	over = true
	for _, f := range s.followers {
		if f.over {
			continue
		}
		if err := f.look(s.Now()); err != nil {
			return read, false, err
		}
		for _, src := range f.sources() {
			if src.broken {
				continue
			}
			n, err := s.block(src)
			if errors.Is(err, ErrNoHost) || err != nil && src == f.current && !src.final {
				return read, false, err
			}
			if err != nil {
				s.Say(err.Error() + "; the rest of it is left out")
				src.final, src.ended, src.broken = true, true, true
			}
			read = read || n > 0
		}
		over = over && f.over
		if !f.over && f.current != nil && f.current.final {
			break // old logs are read one after another
		}
	}
	return read, over && !read, nil
}

// block reads some lines of a log and makes events of them.
func (s *shipper) block(src *source) (n int, err error) {
	now := s.Now()
	backfill := s.Backfill && !src.ended
	tooLong, size := src.lines.tooLong, 0
	batch, texts := s.batch[:0], s.texts[:0]
	for len(batch) < blockLines && size < bufferSize {
		var at line
		var ok bool
		if at, ok, err = src.next(s.state, now); !ok {
			break
		}
		texts = append(texts, at.text...)
		size += len(at.text)
		at.text = texts[len(texts)-len(at.text):]
		batch = append(batch, at)
	}
	s.batch, s.texts = batch, texts
	if errors.Is(err, errTaken) {
		src.ended, err = true, nil
	}
	s.stats.TooLong += src.lines.tooLong - tooLong
	if len(batch) == 0 {
		return 0, err
	}
	if src.format == "" {
		if src.format = s.Format; src.format == Auto {
			src.format = s.detect.of(src.head)
		}
	}
	s.stats.Lines += int64(len(batch))
	if len(s.pending) == 0 {
		s.since = now
	}
	events := s.parser.block(src, backfill, now, batch)
	if s.parser.hostless != nil {
		return 0, s.parser.hostless
	}
	s.pending = append(s.pending, events...)
	return len(batch), err
}
