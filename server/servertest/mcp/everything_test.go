package mcp_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/public/mcp"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/servertest"
)

// buildEverything builds the SDK's server for the suite, in the version that go.mod names.
func buildEverything(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "everything-server")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// startEverything runs it and returns its address.
func startEverything(t *testing.T, program string, stateless bool) *url.URL {
	t.Helper()
	var listen net.ListenConfig
	ln, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	_ = ln.Close() // the port is free now, and the program cannot choose one
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-http", address, "-stateless="+strconv.FormatBool(stateless))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	for range 1000 {
		var dialer net.Dialer
		if conn, err := dialer.DialContext(t.Context(), "tcp", address); err == nil {
			_ = conn.Close()
			return &url.URL{Scheme: "http", Host: address}
		}
		time.Sleep(10 * time.Millisecond) // nothing tells that a process listens but that it answers
	}
	t.Fatal("the server of the SDK does not listen")
	return nil
}

// inFrontOf returns the address of our handler in front of another server.
func inFrontOf(t *testing.T, behind *url.URL) string {
	t.Helper()
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(behind)
			r.Out.URL.Path = "/"
		},
		Transport: &http.Transport{},
	}
	s := sitetest.New(t, 1)
	front := httptest.NewUnstartedServer(nil)
	base := "http://" + front.Listener.Addr().String()
	h := mcp.New(mcp.Config{
		Current: func() *snapshotview.Site { return s }, Name: "example.firstpick/firstpick", Version: "1.2.3", BaseURL: base,
		Errors: apierr.Writer{Base: base}, Log: slog.New(slog.DiscardHandler), Now: servertest.Start, LimitsOff: true, Next: proxy,
	})
	front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&reqctx.Writer{ResponseWriter: w, ID: "test", Client: netip.MustParseAddr("127.0.0.1")}, r)
	})
	front.Start()
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	return base + mcp.Path
}
