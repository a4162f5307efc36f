package agentcollect

import (
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Wrap returns a handler that calls next and reports requests of possible agents.
// Panics pass through it.
func (c *Collector) Wrap(next http.Handler) http.Handler {
	if c.off {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !c.wanted(r) {
			next.ServeHTTP(w, r)
			return
		}
		e, start := c.event(r), c.now() // before next, which may change the request
		rec := &recorder{ResponseWriter: w}
		panics := true
		defer func() {
			e.Status, e.Bytes = rec.outcome(r), rec.written
			if panics && r.Context().Err() == nil { // and not because the client disconnected
				e.Status = http.StatusInternalServerError
			}
			e.ContentType = w.Header().Get("Content-Type")
			e.DurationMS = float64(c.now().Sub(start).Microseconds()) / 1000
			c.Report(e)
		}()
		next.ServeHTTP(rec.dressed(), r)
		panics = false
	})
}

// wanted reports whether to report a request.
func (c *Collector) wanted(r *http.Request) bool {
	if !Page(r.Method, r.URL.Path) {
		return false
	}
	if c.cfg.SendAll {
		return true
	}
	return Visit{
		UserAgent: r.UserAgent(), Accept: r.Header.Get("Accept"), Referrer: r.Referer(),
		SignatureAgent: r.Header.Get("Signature-Agent"), Tagged: Tagged(r.URL.RawQuery),
	}.MayBeAgent()
}

// event converts a request to a visit event.
func (c *Collector) event(r *http.Request) Event {
	e := Event{
		Type: Touch, TS: c.now().Round(time.Millisecond).UTC(), Host: cut(r.Host, maxHost), Path: cut(r.URL.EscapedPath(), maxPath), Method: r.Method,
		Signals: Signals{
			Source: c.cfg.Source, IP: c.clientAddress(r),
			UserAgent: cut(r.UserAgent(), maxUserAgent), Accept: cut(strings.Join(r.Header.Values("Accept"), ", "), maxAccept),
			Referrer:  cut(withoutQuery(r.Referer()), maxReferrer),
			Signature: whole(r.Header.Get("Signature"), maxSignature), SignatureInput: whole(r.Header.Get("Signature-Input"), maxSignature),
			SignatureAgent: whole(r.Header.Get("Signature-Agent"), maxSignature),
		},
	}
	e.Signals.tags(r.URL.RawQuery)
	if c.cfg.Visitor != nil {
		e.VisitorToken = c.cfg.Visitor(r)
	}
	return e
}

// withoutQuery removes the query of a referrer, which may identify a person.
func withoutQuery(referrer string) string {
	if end := strings.IndexAny(referrer, "?#"); end >= 0 {
		return referrer[:end]
	}
	return referrer
}

// clientAddress returns the client's address, or "" if unknown. It ignores every part
// of X-Forwarded-For that the client could have written: a forged address would verify
// a spoofed agent.
func (c *Collector) clientAddress(r *http.Request) string {
	from := r.RemoteAddr
	switch {
	case c.cfg.IPHeader != "":
		from = ""
		if all := r.Header.Values(c.cfg.IPHeader); len(all) == 1 {
			from = all[0]
		}
	case c.cfg.TrustedProxies > 0:
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if len(hops) < c.cfg.TrustedProxies {
			return ""
		}
		from = hops[len(hops)-c.cfg.TrustedProxies]
	}
	from = strings.TrimSpace(from)
	ip, err := netip.ParseAddr(from)
	if err != nil {
		port, err := netip.ParseAddrPort(from)
		if err != nil {
			return ""
		}
		ip = port.Addr()
	}
	return ip.Unmap().WithZone("").String()
}
