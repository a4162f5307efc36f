package wellknown_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/tools"
	"github.com/firstpick/firstpick/server/public/wellknown"
)

const base = sitetest.Base

func handler(t *testing.T, contact string) http.Handler {
	t.Helper()
	s := sitetest.New(t, 1)
	r := chi.NewRouter()
	r.Use(middleware.GetHead) // as the server does
	wellknown.New(wellknown.Service{
		Name: wellknown.NameOf(base), Version: "1.2.3", BaseURL: base, Contact: contact,
		Documents: func() []wellknown.Document {
			return []wellknown.Document{
				{Path: "/docs/share", Title: "Badges", Group: "How to", Description: "A badge.", Markdown: "# Badges"},
				{Path: "/docs/methodology", Title: "Methodology", Group: "Explanation", Description: "What the figures mean.", Markdown: "# Methodology\n\nWords."},
			}
		},
	}, func() *snapshotview.Site { return s }, apierr.Writer{Base: base}, func() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }).Mount(r)
	return r
}

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, base+path, nil))
	return w
}

func decode[T any](t *testing.T, h http.Handler, path string) (v T) {
	t.Helper()
	w := get(t, h, path)
	if w.Code != http.StatusOK || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("ETag") == "" || !strings.Contains(w.Header().Get("Cache-Control"), "max-age") {
		t.Errorf("%s: %d %v", path, w.Code, w.Header())
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return v
}

type card struct {
	Schema                    string `json:"$schema"`
	Name, Description, Title  string
	Version, WebsiteURL       string
	Remotes                   []struct{ Type, URL string }
	SpecVersion, Origin, Spec string
	Server                    struct{ URL string }
	Entries                   []struct {
		Identifier, DisplayName, Type, URL, Version string
		Capabilities, RepresentativeQueries         []string
	}
	Tools []struct {
		tools.Tool
		URL, Method string
		Parameters  []struct {
			Name, Argument, Description string
			Required                    bool
		}
	}
}

// All documents tell of the same service: its name, version, address and tools.
func TestDocumentsAgree(t *testing.T) {
	h := handler(t, "")
	registry, ard, web := decode[card](t, h, "/server.json"), decode[card](t, h, "/.well-known/ard.json"), decode[card](t, h, "/.well-known/webmcp")
	var first []byte
	for _, path := range []string{"/api/mcp/server-card", "/.well-known/mcp.json", "/.well-known/mcp/server-card.json"} {
		c := decode[card](t, h, path)
		if c.Name != registry.Name || c.Version != registry.Version || c.Remotes[0].URL != registry.Remotes[0].URL || !strings.HasPrefix(c.Schema, "https://static.modelcontextprotocol.io/schemas/v1/") {
			t.Errorf("%s: %+v", path, c)
		}
		body := get(t, h, path).Body.Bytes()
		if first == nil {
			first = body
		}
		if string(first) != string(body) {
			t.Errorf("%s differs", path)
		}
	}
	if registry.Name != "example.firstpick/firstpick" || len(registry.Description) > 100 || !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(registry.Name) ||
		registry.Version != "1.2.3" || registry.Remotes[0].URL != base+"/api/mcp" || registry.Remotes[0].Type != "streamable-http" {
		t.Errorf("%+v", registry)
	}
	if ard.SpecVersion != "1.0" || ard.Entries[0].URL != base+"/api/mcp/server-card" || ard.Entries[0].Version != registry.Version {
		t.Errorf("%+v", ard)
	}
	urn := regexp.MustCompile(`^urn:air:firstpick\.example(:[a-zA-Z0-9._-]+)+$`)
	for _, e := range ard.Entries {
		if !urn.MatchString(e.Identifier) || e.DisplayName == "" || len(e.RepresentativeQueries) < 2 || len(e.RepresentativeQueries) > 5 || get(t, h, strings.TrimPrefix(e.URL, base)).Code != http.StatusOK {
			t.Errorf("%+v", e)
		}
	}
	if web.Name != registry.Name || web.Version != registry.Version || web.Server.URL != registry.Remotes[0].URL || web.Origin != base {
		t.Errorf("%+v", web)
	}
	var named []tools.Tool
	for _, tool := range web.Tools {
		named = append(named, tool.Tool)
		if !strings.HasPrefix(tool.URL, base+"/api/") || tool.Method != "GET" {
			t.Errorf("%+v", tool)
		}
		for _, p := range tool.Parameters {
			if p.Description == "" || !strings.Contains(string(tool.InputSchema), `"`+p.Argument+`"`) {
				t.Errorf("%s: %+v", tool.Name, p)
			}
		}
	}
	if d := cmp.Diff(compact(t, tools.Tools()), compact(t, named)); d != "" {
		t.Error(d)
	}
	for i, tool := range named {
		if ard.Entries[0].Capabilities[i] != tool.Name || !strings.Contains(get(t, h, "/llms.txt").Body.String(), tool.Name) {
			t.Errorf("%s is missing in a document", tool.Name)
		}
	}
	if a, b := get(t, h, "/.well-known/webmcp").Body.String(), get(t, h, "/.well-known/webmcp.json").Body.String(); a != b {
		t.Error("the two manifests differ")
	}
}

func compact(t *testing.T, v any) (out any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil || json.Unmarshal(data, &out) != nil {
		t.Fatal(err)
	}
	return out
}

// A skill's digest is that of its file, and its front matter says what the index says.
func TestSkills(t *testing.T) {
	h := handler(t, "")
	index := decode[struct {
		Schema string `json:"$schema"`
		Skills []struct{ Name, Type, Description, URL, Digest string }
	}](t, h, "/.well-known/agent-skills/index.json")
	if len(index.Skills) != 2 {
		t.Fatalf("%+v", index)
	}
	for _, s := range index.Skills {
		w := get(t, h, strings.TrimPrefix(s.URL, base))
		sum := sha256.Sum256(w.Body.Bytes())
		if s.Digest != "sha256:"+hex.EncodeToString(sum[:]) || s.Type != "skill-md" || len(s.Description) > 1024 || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(s.Name) ||
			!strings.HasPrefix(w.Body.String(), "---\nname: "+s.Name+"\ndescription: "+s.Description+"\n---\n") || strings.Contains(s.Description, ": ") {
			t.Errorf("%+v\n%s", s, w.Body)
		}
	}
}

// The plain documents are in the form that their readers parse.
func TestPlainDocuments(t *testing.T) {
	h := handler(t, "mailto:security@firstpick.example")
	llms := get(t, h, "/llms.txt").Body.String()
	if !strings.HasPrefix(llms, "# firstpick\n\n> ") {
		t.Errorf("%s", llms)
	}
	if want := "## Documents: How to\n\n- [Badges](" + base + "/docs/share.md): A badge.\n\n## Documents: Explanation\n\n- [Methodology]("; !strings.Contains(llms, want) {
		t.Errorf("no %q in %s", want, llms)
	}
	for _, line := range strings.Split(llms, "\n") {
		if strings.HasPrefix(line, "- ") && !regexp.MustCompile(`^- \[[^\]]+\]\(https://[^)]+\): .+$`).MatchString(line) {
			t.Errorf("no markdown link: %s", line)
		}
	}
	if !strings.Contains(get(t, h, "/llms-full.txt").Body.String(), "Source: "+base+"/docs/methodology.md\n\n# Methodology") {
		t.Error("llms-full.txt lacks a document")
	}
	robots := get(t, h, "/robots.txt").Body.String()
	for _, want := range []string{"User-agent: *\n", "Content-Signal: search=yes, ai-input=yes", "Sitemap: " + base + "/sitemap.xml\n"} {
		if !strings.Contains(robots, want) {
			t.Errorf("no %q in %s", want, robots)
		}
	}
	var set struct {
		URLs []struct {
			Loc string `xml:"loc"`
		} `xml:"url"`
	}
	if err := xml.Unmarshal(get(t, h, "/sitemap.xml").Body.Bytes(), &set); err != nil || len(set.URLs) < 14 {
		t.Errorf("%+v %v", set, err)
	}
	var seen []string
	for _, u := range set.URLs {
		if _, err := url.Parse(u.Loc); err != nil || !strings.HasPrefix(u.Loc, base+"/") || slices.Contains(seen, u.Loc) {
			t.Errorf("%s %v", u.Loc, err)
		}
		seen = append(seen, u.Loc)
	}
	security := get(t, h, "/.well-known/security.txt")
	if security.Code != http.StatusOK || !strings.Contains(security.Body.String(), "Contact: mailto:security@firstpick.example\nExpires: 2027-05-20T00:00:00Z\n") {
		t.Errorf("%d %s", security.Code, security.Body)
	}
	if w := get(t, handler(t, ""), "/.well-known/security.txt"); w.Code != http.StatusNotFound {
		t.Errorf("without a contact: %d %s", w.Code, w.Body)
	}
}

// A document that is known is not sent again, and a probe gets its headers alone.
func TestCaching(t *testing.T) {
	h := handler(t, "")
	etag := get(t, h, "/llms.txt").Header().Get("ETag")
	r := httptest.NewRequest(http.MethodGet, base+"/llms.txt", nil)
	r.Header.Set("If-None-Match", etag)
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest(http.MethodHead, base+"/server.json", nil)); w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") == "0" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for name, value := range map[string]string{"Range": "bytes=0-3", "If-Match": `"another"`} { // whoever asks for a part gets all
		r := httptest.NewRequest(http.MethodGet, base+"/robots.txt", nil)
		r.Header.Set(name, value)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusOK || w.Body.String() != get(t, h, "/robots.txt").Body.String() {
			t.Errorf("%s: %d %.80s", name, w.Code, w.Body)
		}
	}
}

// The name of a service whose operator chose none is its domain's.
func TestNameOf(t *testing.T) {
	for base, want := range map[string]string{
		"https://pick.acme.dev": "dev.acme.pick/firstpick", "http://127.0.0.1:8080": "1.0.0.127/firstpick", "http://localhost": "localhost/firstpick", "": "localhost/firstpick", "http://[::1]:80": "--1/firstpick",
	} {
		if got := wellknown.NameOf(base); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}
