// Package rdns verifies the operator of an address by reverse DNS: the address has a
// name under the operator's domain, and that name resolves to the address. Google,
// Bing, Apple, Common Crawl and others document this method.
//
// Check returns a cached result at once; Run looks unknown addresses up in the
// background for a later Check.
//
// Some resolvers, such as those of closed networks, report every name as missing.
// Before such a result counts, the resolver must find a host that is known to exist.
package rdns

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	queueSize  = 1024             // addresses that wait
	cacheSize  = 8192             // addresses of a generation; two are kept
	goodFor    = 24 * time.Hour   // an answer
	failedFor  = 10 * time.Minute // a failure to get one
	probedFor  = 10 * time.Minute // a probe of the resolver
	lookupTime = 5 * time.Second
	maxNames   = 8 // of one address that are looked at
)

// hosts are public resolvers, whose names and addresses have been the same for
// years. One that is found shows that a resolver works.
func hosts() map[string]string {
	return map[string]string{"8.8.8.8": "dns.google", "1.1.1.1": "one.one.one.one", "9.9.9.9": "dns9.quad9.net"}
}

// A Resolver asks the DNS. *net.Resolver is one.
type Resolver interface {
	LookupAddr(ctx context.Context, addr string) (names []string, err error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// A Result is the result of the reverse look-up of an address.
type Result uint8

// The results.
const (
	Pending   Result = iota // not looked up yet
	Confirmed               // a name under one of the suffixes leads back to the address
	Refuted                 // the address has no such name
	Failed                  // the DNS did not answer, or answers that nothing exists
)

// A Checker looks up the names of addresses. It is safe for concurrent use.
type Checker struct {
	resolver Resolver
	now      func() time.Time
	queue    chan netip.Addr

	mu         sync.Mutex
	young, old map[netip.Addr]answer

	probing sync.Mutex // one probe of the resolver at a time
	works   bool       // the last probe found a host
	probed  time.Time  // until when that holds
	warn    func(error)
}

// An answer is the names of an address that lead back to it.
type answer struct {
	names  []string
	failed bool
	waits  bool // in the queue
	until  time.Time
}

// ErrResolver means that the resolver finds no host.
var ErrResolver = errors.New("the DNS resolver finds none of the hosts dns.google, one.one.one.one and dns9.quad9.net")

// New returns a Checker. Nothing is looked up until Run runs.
func New(resolver Resolver, now func() time.Time) *Checker {
	return &Checker{resolver: resolver, now: now, queue: make(chan netip.Addr, queueSize), warn: func(error) {}}
}

// Warn makes the Checker call f with ErrResolver when the resolver stops working.
// Call it before Run.
func (c *Checker) Warn(f func(error)) { c.warn = f }

// Check reports whether the address has a name under one of the suffixes, if that
// is known. Otherwise it asks for a look-up and returns Pending; while too many
// wait it only returns Pending.
func (c *Checker) Check(ip netip.Addr, suffixes []string) Result {
	ip = ip.WithZone("").Unmap()
	if !ip.IsValid() {
		return Failed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.get(ip)
	if ok && a.waits {
		return Pending
	}
	if !ok || !c.now().Before(a.until) {
		select {
		case c.queue <- ip:
			c.put(ip, answer{waits: true})
		default:
		}
		return Pending
	}
	return a.judge(suffixes)
}

// Run looks up the addresses that Check queued until the context ends. Several may run.
func (c *Checker) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case ip := <-c.queue:
			c.look(ctx, ip)
		}
	}
}

// look asks the DNS and remembers the answer.
func (c *Checker) look(ctx context.Context, ip netip.Addr) {
	ctx, stop := context.WithTimeout(ctx, lookupTime)
	defer stop()
	names, err := c.names(ctx, ip)
	if err == nil && len(names) == 0 && !c.working(ctx) {
		err = ErrResolver
	}
	a := answer{names: names, failed: err != nil, until: c.now().Add(goodFor)}
	if a.failed {
		a.until = c.now().Add(failedFor)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(ip, a)
}

// working reports whether the resolver finds a host that exists.
func (c *Checker) working(ctx context.Context) bool {
	c.probing.Lock()
	defer c.probing.Unlock()
	if c.now().Before(c.probed) {
		return c.works
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
	defer stop()
	found := false
	for addr, name := range hosts() {
		ip := netip.MustParseAddr(addr)
		if names, err := c.names(ctx, ip); err == nil && slices.Contains(names, name) {
			found = true
			break
		}
	}
	if first := c.probed.IsZero(); !found && (c.works || first) {
		c.warn(ErrResolver)
	}
	c.works, c.probed = found, c.now().Add(probedFor)
	return found
}

// names returns the names of an address that resolve to it. It is empty, without an
// error, for an address without a name.
func (c *Checker) names(ctx context.Context, ip netip.Addr) ([]string, error) {
	found, err := c.resolver.LookupAddr(ctx, ip.String())
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var good []string
	for _, name := range found[:min(len(found), maxNames)] {
		back, err := c.resolver.LookupNetIP(ctx, "ip", name)
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, b := range back {
			if b.Unmap() == ip {
				good = append(good, strings.ToLower(strings.TrimSuffix(name, ".")))
				break
			}
		}
	}
	return good, nil
}

// missing reports whether an error means that the name does not exist.
func missing(err error) bool {
	var e *net.DNSError
	return errors.As(err, &e) && e.IsNotFound
}

func (a answer) judge(suffixes []string) Result {
	if a.failed {
		return Failed
	}
	for _, name := range a.names {
		for _, suffix := range suffixes {
			if name == suffix || strings.HasSuffix(name, "."+suffix) {
				return Confirmed
			}
		}
	}
	return Refuted
}

func (c *Checker) get(ip netip.Addr) (answer, bool) {
	if a, ok := c.young[ip]; ok {
		return a, true
	}
	a, ok := c.old[ip]
	return a, ok
}

func (c *Checker) put(ip netip.Addr, a answer) {
	if _, ok := c.young[ip]; !ok && (c.young == nil || len(c.young) >= cacheSize) {
		c.old, c.young = c.young, map[netip.Addr]answer{}
	}
	c.young[ip] = a
}
