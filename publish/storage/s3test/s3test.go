// Package s3test starts an S3 server for tests: versitygw on a folder.
package s3test

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing" //nolint:depguard // a package of tests
	"time"
)

// program is the file that .ci/versitygw builds.
const program = "versitygw-v1.8.0"

// The credentials of the server.
const (
	AccessKey = "AKIAFIRSTPICKTEST"
	SecretKey = "firstpick-test-secret"
)

// A Server is a running S3 server.
type Server struct {
	// URL is its endpoint.
	URL string
	dir string
}

// Start starts a server that ends with the test. Without the program the test is skipped, or
// fails where FIRSTPICK_REQUIRE names s3.
func Start(t testing.TB) *Server {
	t.Helper()
	path, err := find()
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "s3") { //nolint:forbidigo // the switch of all tests
			t.Fatalf("FIRSTPICK_REQUIRE names s3: %v", err)
		}
		t.Skipf("no S3 server on this machine: %v", err)
	}
	s := &Server{dir: t.TempDir()}
	sidecar := t.TempDir()
	for try := range 4 { // another process may take the port in between
		backend := []string{"posix", s.dir}
		if try > 1 { // or the file system has no attributes
			backend = []string{"posix", "--sidecar", sidecar, s.dir}
		}
		if s.URL, err = s.start(t, path, backend); err == nil {
			return s
		}
	}
	t.Fatal(err)
	return nil
}

// find returns the path of the program: where .ci/versitygw puts it.
func find() (string, error) {
	tools := os.Getenv("FIRSTPICK_TOOLS") //nolint:forbidigo // as .ci/lint
	if tools == "" {
		tools = filepath.Join(filepath.SplitList(build.Default.GOPATH)[0], "firstpick-tools")
	}
	path := filepath.Join(tools, program)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w; .ci/versitygw builds it", err)
	}
	return path, nil
}

func (s *Server) start(t testing.TB, path string, backend []string) (string, error) {
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return "", err
	}
	log := &strings.Builder{}
	args := []string{"--access", AccessKey, "--secret", SecretKey, "--port", address, "--health", "/healthz", "--keep-alive", "--quiet"}
	cmd := exec.CommandContext(context.Background(), path, append(args, backend...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		if healthy(ctx, "http://"+address) {
			t.Cleanup(func() {
				_ = cmd.Process.Kill() // it may have ended
				<-ended                //nolint:errcheck // it was killed
			})
			return "http://" + address, nil
		}
		select {
		case err := <-ended:
			return "", fmt.Errorf("%s: %w: %s", path, err, log)
		case <-ctx.Done():
			return "", errors.Join(ctx.Err(), cmd.Process.Kill(), <-ended)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func healthy(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// Bucket creates a bucket.
func (s *Server) Bucket(t testing.TB, name string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(s.dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

// Object is the path of an object of a bucket, for tests that damage it.
func (s *Server) Object(bucket, name string) string {
	return filepath.Join(s.dir, bucket, filepath.FromSlash(name))
}

// Env returns an environment with the credentials, and an endpoint: that of the server, or
// of a proxy in front of it.
func Env(endpoint string) func(string) string {
	env := map[string]string{
		"AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey, "AWS_ENDPOINT_URL": endpoint,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	}
	return func(name string) string { return env[name] }
}
