package installs_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A stack is a recipe as it is tested.
type stack struct {
	name, source string
	// make returns the project, ready to run, whose code has the address url in it.
	make func(t *testing.T, url string) *project
	// noStatus is set where the code cannot know how a request was answered, and
	// noVisitor where the site of the test tells no visitor.
	noStatus, noVisitor bool
	// noPeer is set where the code is not told who the connection is from: the
	// framework writes that into X-Forwarded-For, unless the request has one.
	noPeer bool
	// network is what the platform, and not a header, says of every agent's address.
	network string
	// waits says why pages wait for the collector; empty where they do not.
	waits string
}

func node(slug, script string) func(*testing.T, string) *project {
	return func(t *testing.T, url string) *project {
		t.Helper()
		libraries := modules(t)
		p := newProject(t, slug, url, "js")
		if err := os.Symlink(libraries, filepath.Join(p.dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
		p.command = []string{program(t, "node"), script}
		return p
	}
}

func stacks() []stack {
	const edge = "203.0.113.0/24"
	return []stack{
		{name: "node", source: "express", make: node("express", "http.mjs")},
		{name: "express", source: "express", make: node("express", "express.mjs")},
		{name: "fastify", source: "fastify", make: node("fastify", "fastify.mjs")},
		{name: "hono", source: "hono", make: node("hono", "hono.mjs")},
		{name: "hono at the edge", source: "hono", make: node("hono", "hono-edge.mjs"), network: edge},
		{name: "worker", source: "cloudflare-worker", make: node("cloudflare-worker", "cloudflare-worker.mjs"), noVisitor: true, network: edge},
		{name: "netlify", source: "netlify", make: node("netlify", "netlify.mjs"), noVisitor: true, network: edge},
		{name: "next", source: "nextjs", make: next, noStatus: true, noVisitor: true, noPeer: true},
		{name: "wsgi", source: "python", make: func(t *testing.T, url string) *project {
			p := newProject(t, "python", url, "python")
			p.command = []string{program(t, "python3"), "wsgi.py"}
			return p
		}},
		{name: "asgi", source: "python", make: func(t *testing.T, url string) *project {
			p := newProject(t, "python", url, "python")
			p.command = []string{program(t, "python3"), "asgi.py"}
			return p
		}},
		{name: "rack", source: "rack", make: func(t *testing.T, url string) *project {
			p := newProject(t, "rails", url, "ruby")
			p.command = []string{program(t, "ruby"), "app.rb"}
			return p
		}},
		{name: "php", source: "php", noVisitor: true, waits: "the server of the php command answers when the script has ended; PHP-FPM answers before",
			make: func(t *testing.T, url string) *project {
				p := newProject(t, "php", url, "php")
				p.command = []string{program(t, "php"), "-d", "display_errors=0", "-S", "127.0.0.1:" + freePort(t), "index.php"}
				return p
			}},
	}
}

// next builds a site of Next.js.
func next(t *testing.T, url string) *project {
	t.Helper()
	libraries := modules(t)
	p := newProject(t, "nextjs", url, "next")
	if err := os.Symlink(libraries, filepath.Join(p.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	// Its compiler reads nothing outside of its root, and the libraries lie elsewhere.
	config := []byte(`export default { turbopack: { root: "/" } };`)
	if err := os.WriteFile(filepath.Join(p.dir, "next.config.mjs"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(libraries, "next", "dist", "bin", "next")
	build := exec.CommandContext(t.Context(), program(t, "node"), script, "build")
	build.Dir, build.Env = p.dir, append(os.Environ(), "NEXT_TELEMETRY_DISABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("next build: %v\n%s", err, out)
	}
	p.command = []string{build.Path, script, "start", "--port", "0", "--hostname", "127.0.0.1"}
	return p
}

func freePort(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(nil)
	defer s.Close()
	return s.URL[strings.LastIndex(s.URL, ":")+1:]
}

func TestInstalls(t *testing.T) {
	for _, o := range stacks() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()                         // they wait more than they work
			p := o.make(t, "http://127.0.0.1:1") // nobody needs the default
			t.Run("what is reported", func(t *testing.T) { reported(t, p, &o) })
			t.Run("proxies of strangers", func(t *testing.T) { strangers(t, p, &o) })
			t.Run("a collector that is slow", func(t *testing.T) { slow(t, p, &o) })
			t.Run("a collector whose answer is lost", func(t *testing.T) { lost(t, p, &o) })
			t.Run("a collector that is gone", func(t *testing.T) { gone(t, p) })
			t.Run("no key", func(t *testing.T) { noKey(t, p) })
		})
	}
}

// reported makes all visits and ends the site at once: what waited is sent while
// it ends.
func reported(t *testing.T, p *project, o *stack) {
	g := newGate(t)
	s := p.start(t, "FIRSTPICK_KEY="+g.Key, "FIRSTPICK_URL="+g.URL, "FIRSTPICK_TRUSTED_PROXIES=1")
	var want []string
	for _, v := range visits() {
		v.send(s)
		v.peer = o.noPeer && v.forwarded == "" && !v.person() // believed as a proxy's word
		if w := v.want(o); w != "" {
			want = append(want, w)
		}
	}
	s.stop()
	compare(t, g, o, want)
}

// strangers may write what they like into X-Forwarded-For: without a word of the
// owner nothing of it is believed.
func strangers(t *testing.T, p *project, o *stack) {
	g := newGate(t)
	s := p.start(t, "FIRSTPICK_KEY="+g.Key, "FIRSTPICK_URL="+g.URL)
	v := visit{target: "/", userAgent: gptBot, forwarded: "203.0.113.9", touch: "GPTBot"}
	v.send(s)
	s.stop()
	compare(t, g, o, []string{v.want(o)})
}

// slow lets pages wait for nobody: while the collector holds what it was sent,
// and answers nothing, the site goes on.
func slow(t *testing.T, p *project, o *stack) {
	if o.waits != "" {
		t.Skip(o.waits)
	}
	g := newGate(t, holding)
	s := p.start(t, "FIRSTPICK_KEY="+g.Key, "FIRSTPICK_URL="+g.URL)
	var want []string
	for range 3 {
		v := visit{target: "/docs", userAgent: gptBot, touch: "GPTBot", peer: !o.noPeer}
		v.send(s)
		want = append(want, v.want(o))
		if len(want) == 1 {
			<-g.arrived // and is not answered
		}
	}
	if n := len(g.seen()); n != 0 {
		t.Fatalf("%d deliveries were answered", n)
	}
	g.release()
	s.stop()
	compare(t, g, o, want)
}

// lost has the first delivery stored and its answer lost. It comes again, and
// nothing counts twice.
func lost(t *testing.T, p *project, o *stack) {
	g := newGate(t, losing)
	s := p.start(t, "FIRSTPICK_KEY="+g.Key, "FIRSTPICK_URL="+g.URL)
	var want []string
	for range 3 {
		v := visit{target: "/docs", userAgent: gptBot, touch: "GPTBot", peer: !o.noPeer}
		v.send(s)
		want = append(want, v.want(o))
	}
	s.stop()
	compare(t, g, o, want)
	seen := g.seen()
	if len(seen) < 2 || !slices.Equal(seen[0].ids, seen[1].ids) && !twice(seen) {
		t.Errorf("what was lost did not come again: %v", seen)
	}
}

// twice says whether some delivery came again as it was.
func twice(seen []delivery) bool {
	for i := range seen[1:] {
		if slices.Equal(seen[0].ids, seen[i+1].ids) {
			return true
		}
	}
	return false
}

func gone(t *testing.T, p *project) {
	s := p.start(t, "FIRSTPICK_KEY=sk_live_x", "FIRSTPICK_URL=http://127.0.0.1:"+freePort(t))
	for _, v := range visits() {
		v.send(s)
	}
	s.stop()
}

func noKey(t *testing.T, p *project) {
	g := newGate(t)
	s := p.start(t, "FIRSTPICK_URL="+g.URL)
	for _, v := range visits() {
		v.send(s)
	}
	s.stop()
	if seen := g.seen(); len(seen) > 0 {
		t.Errorf("%v was sent", seen)
	}
}
