package ship_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/porttest"
	"github.com/firstpick/firstpick/cmd/ship"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// newKey registers an agent with a server and returns a key.
func newKey(t *testing.T, s *servertest.Service, kind string) string {
	t.Helper()
	ask := func(path, bearer, contentType, body string) (out map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		if bearer != "" {
			req.Header.Set("Authorization", "Bearer "+bearer)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode >= 300 {
			t.Fatal(resp.Status, out, err)
		}
		return out
	}
	a := ask("/api/agent/identity", "", "application/json", `{"type":"anonymous"}`)
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {a["identity_assertion"].(string)}}
	token := ask("/api/oauth2/token", "", "application/x-www-form-urlencoded", form.Encode())
	return ask("/api/agent/keys", token["access_token"].(string), "application/json", `{"kind":"`+kind+`","label":"test"}`)["key"].(string)
}

// stored returns the events that a server has, in order.
func stored(t *testing.T, s *servertest.Service) (out []event.Record) {
	t.Helper()
	list, err := s.Agents.DB.Read().EventsAfter(t.Context(), 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		var r event.Record
		if err := json.Unmarshal(e.Body, &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestRealServer ships to one, with a key that can do no more than that, twice.
func TestRealServer(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := newWorld(t)
	w.cfg.URL, w.cfg.Key, w.cfg.Client, w.cfg.Once = s.URL, newKey(t, s, "log"), nil, true
	w.now = s.Clock.Now()
	w.write(w.log, visits(0, 1234))
	if got := w.shipped(); got.Sent != 1234 {
		t.Errorf("%+v", got)
	}
	w.cfg.Spool += "2"
	if got := w.shipped(); got.Sent != 0 || got.Duplicates != 1234 {
		t.Errorf("again: %+v", got)
	}
	all := stored(t, s)
	if len(all) != 1234 {
		t.Fatalf("%d events", len(all))
	}
	if r := all[61]; r.Path != "/p/61" || r.Status != 200 || r.Network != "203.0.113.0/24" || !r.At.Equal(start().Add(-59*time.Minute+time.Second)) || r.Source != "log" {
		t.Errorf("%+v", r)
	}
	w.cfg.Key, w.cfg.Spool = "log_live_none", w.cfg.Spool+"3"
	var refused *ship.RefusedError
	if _, err := w.run(); !errors.As(err, &refused) || refused.Status != 401 {
		t.Error(err)
	}
}

// needs skips a test that needs a program of this machine, unless it is required.
func needs(t *testing.T, name string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), name) {
		t.Fatal("FIRSTPICK_REQUIRE names " + name + ", and it is not installed")
	}
	t.Skip("no " + name + " on this machine")
	return ""
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// A webServer is a real one, in a folder of its own, on a free port.
type webServer struct {
	t       *testing.T
	name    string
	address string
	dir     string
	cmd     *exec.Cmd
	out     *strings.Builder
}

// start runs the server until the test ends, and waits until it answers.
func (s *webServer) start(path string, args ...string) {
	s.t.Helper()
	s.out = &strings.Builder{}
	s.cmd = exec.Command(path, args...)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	s.cmd.Env = append(os.Environ(), "HOME="+s.dir, "XDG_DATA_HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir)
	if os.Getuid() == 0 { // as such servers should not be run
		s.own(s.dir)
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- s.cmd.Wait() }()
	s.t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		<-over
	})
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", s.address)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case err := <-over:
			over <- err
			s.t.Fatalf("%s ended: %v\n%s", s.name, err, s.out)
		default:
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s does not answer", s.name)
		}
	}
}

// own gives the folder, and those that lead to it within the test's, to nobody.
func (s *webServer) own(dir string) {
	s.t.Helper()
	for parent := dir; strings.HasPrefix(parent, os.TempDir()+"/"); parent = filepath.Dir(parent) {
		if err := os.Chmod(parent, 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, 65534, 65534))
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// A request and, if it is to be reported, what is stored of it.
type probe struct {
	method, target, ua string
	header             map[string]string
	want               string
}

// probes are what agents, people and scanners ask of a site that has /index.html
// and /docs/start.md. HOST is replaced.
func probes() []probe {
	const person = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
	return []probe{
		{"GET", "/docs/start.md?token=secret", agent, nil, "GET HOST/docs/start.md 200 " + agent},
		{"GET", "/", person, nil, ""},
		{"GET", "/style.css", agent, nil, ""},
		{"GET", "/llms.txt", "ClaudeBot/1.0", nil, "GET HOST/llms.txt 404 ClaudeBot/1.0"},
		{"HEAD", "/", "ClaudeBot/1.0", nil, "HEAD HOST/ 200 ClaudeBot/1.0"},
		{"POST", "/", "ClaudeBot/1.0", nil, ""},
		{"GET", "/?via=llms-txt", person, nil, "GET HOST/ 200 " + person + " via=llms-txt"},
		{"GET", "/?utm_source=chatgpt.com", person, map[string]string{"Referer": "https://chatgpt.com/c/1?q=secret"}, "GET HOST/ 200 " + person + " ref=chatgpt.com utm=chatgpt.com"},
		{"GET", "/docs/start.md", "axios/1.8.4", map[string]string{"Accept": "text/markdown, text/html;q=0.9"}, "GET HOST/docs/start.md 200 axios/1.8.4 md"},
		{"GET", "/d%C3%B6cs", `weird "quoted" \ bot`, nil, `GET HOST/d%C3%B6cs 404 weird "quoted" \ bot`},
		{"GET", "/docs/st%61rt.md", "Grüße-bot", nil, "GET HOST/docs/st%61rt.md 200 Grüße-bot"},
	}
}

const agent = "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"

// site writes the pages.
func (s *webServer) site() string {
	s.t.Helper()
	root := filepath.Join(s.dir, "www")
	err := os.MkdirAll(filepath.Join(root, "docs"), 0o755)
	for name, text := range map[string]string{"index.html": "<h1>Acme</h1>", "docs/start.md": "# Start", "style.css": "a{}"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return root
}

// ask makes a request and reads the answer to its end.
func (s *webServer) ask(p probe) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), p.method, "http://"+s.address+p.target, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("User-Agent", p.ua)
	for name, value := range p.header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// check makes the requests, with a rotation among them, ships the log meanwhile,
// and compares what is stored. Not every format tells full: the host, and what was
// accepted.
func (s *webServer) check(log string, rotate func(), full bool) {
	s.t.Helper()
	service := servertest.New(s.t, servertest.Options{})
	w := newWorld(s.t)
	w.now = time.Now() // as the web server's
	w.log = log
	service.Clock.Add(w.now.Sub(service.Clock.Now())) // before the key is made: its workspace takes events for a day
	w.cfg.Files, w.cfg.URL, w.cfg.Key, w.cfg.Client, w.cfg.Host = []string{log}, service.URL, newKey(s.t, service, "log"), nil, "acme.example"
	all := probes()
	var want []string
	for _, p := range all {
		if p.want == "" {
			continue
		}
		text := strings.Replace(p.want, "HOST", s.address, 1)
		if !full {
			text = strings.TrimSuffix(strings.Replace(p.want, "HOST", "acme.example", 1), " md")
		}
		want = append(want, text)
	}
	half := len(all) / 2
	for _, p := range all[:half] {
		s.ask(p)
	}
	settle := func() { s.settle(log, half) }
	w.shipped(settle, func() {
		rotate()
		for _, p := range all[half:] {
			s.ask(p)
		}
		s.settle(log, len(all))
	}, w.pass(3*time.Second), func() {}, func() {})
	var got []string
	for _, r := range stored(s.t, service) {
		text := fmt.Sprintf("%s %s%s %d %s", r.Method, r.Host, r.Path, r.Status, r.UserAgent)
		if r.Via != "" {
			text += " via=" + r.Via
		}
		if r.Referrer != "" {
			text += " ref=" + r.Referrer + " utm=" + r.UTMSource
		}
		if r.Markdown {
			text += " md"
		}
		got = append(got, text)
		if r.Network != "127.0.0.0/24" || time.Since(r.At).Abs() > time.Minute {
			s.t.Errorf("%+v", r)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	w.quiet()
}

// settle waits until the server has written so many lines: it does so after its
// answer.
func (s *webServer) settle(log string, lines int) {
	s.t.Helper()
	for range 500 {
		text, err := os.ReadFile(log)
		old, _ := os.ReadFile(log + ".1") // workers may write to it yet
		if err == nil && strings.Count(string(text), "\n")+strings.Count(string(old), "\n") >= lines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%s has no %d lines\n%s", log, lines, s.out)
}

func TestNginx(t *testing.T) {
	path := needs(t, "nginx")
	for name, c := range map[string]struct {
		format, log string
		json        bool
	}{
		"combined": {"", "access.log", false},
		"JSON": {`log_format agent escape=json '{"time":"$time_iso8601","method":"$request_method","uri":"$request_uri","status":$status,"bytes":$bytes_sent,'
			'"duration":$request_time,"host":"$http_host","ip":"$remote_addr","userAgent":"$http_user_agent","referrer":"$http_referer","accept":"$http_accept",'
			'"signature":"$http_signature","signatureInput":"$http_signature_input","signatureAgent":"$http_signature_agent"}';`, "access.log agent", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &webServer{t: t, name: "nginx", address: freeAddress(t), dir: t.TempDir()}
			log := filepath.Join(s.dir, "access.log")
			conf := fmt.Sprintf(`daemon off; pid %[1]s/nginx.pid; error_log stderr; worker_processes 1;
events {}
http {
  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  %[2]s
  access_log %[1]s/%[3]s;
  server { listen %[4]s; root %[5]s; }
}`, s.dir, c.format, c.log, s.address, s.site())
			if err := os.WriteFile(filepath.Join(s.dir, "nginx.conf"), []byte(conf), 0o644); err != nil {
				t.Fatal(err)
			}
			s.start(path, "-p", s.dir, "-e", "stderr", "-c", filepath.Join(s.dir, "nginx.conf"))
			rotate := func() { // as logrotate does: nginx opens the new log a little later
				if err := errors.Join(os.Rename(log, log+".1"), s.cmd.Process.Signal(syscall.SIGUSR1)); err != nil {
					t.Fatal(err)
				}
				s.settle(log, 0)
			}
			s.check(log, rotate, c.json)
		})
	}
}

func TestCaddy(t *testing.T) {
	path := needs(t, "caddy")
	s := &webServer{t: t, name: "caddy", address: freeAddress(t), dir: t.TempDir()}
	log := filepath.Join(s.dir, "access.log")
	conf := fmt.Sprintf(`{
	admin off
	auto_https off
}
http://%s {
	root * %s
	file_server
	log {
		output file %s
	}
}
`, s.address, s.site(), log)
	if err := os.WriteFile(filepath.Join(s.dir, "Caddyfile"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	s.start(path, "run", "--adapter", "caddyfile", "--config", filepath.Join(s.dir, "Caddyfile"))
	rotate := func() { // by somebody else, with copytruncate: Caddy's own begins at 100 MB
		data, err := os.ReadFile(log)
		if err = errors.Join(err, os.WriteFile(log+".1", data, 0o644), os.Truncate(log, 0)); err != nil {
			t.Fatal(err)
		}
	}
	s.check(log, rotate, true)
}
