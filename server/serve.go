package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Timeouts of a connection. Bodies are small, so the read timeout is short; streams and
// downloads set a deadline per write.
const (
	readTimeout    = 10 * time.Second // headers and body
	writeTimeout   = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 32 << 10
	shutdownGrace  = 10 * time.Second
	flushEvery     = time.Second
)

// Serve answers on ln until ctx ends, then lets requests in flight finish for
// ten seconds. It returns nil after such a stop.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	handler := http.Handler(s)
	if s.cfg.Around != nil {
		handler = s.cfg.Around(handler)
	}
	srv := &http.Server{
		Handler: handler, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	srv.RegisterOnShutdown(s.streams.Close) // streams do not end by themselves; clients reconnect to the next server
	if s.access != nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		flushed := make(chan struct{})
		go s.flush(ctx, flushed)
		defer func() { stop(); <-flushed }()
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		return errors.Join(err, srv.Close())
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *Server) flush(ctx context.Context, flushed chan<- struct{}) {
	defer close(flushed)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.access.flush()
		case <-ctx.Done():
			s.access.flush()
			return
		}
	}
}
