package setupdocs_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/setup"
	"github.com/firstpick/firstpick/server/setupdocs"
)

const base = "https://collect.example"

func ask(method, path, etag string) *http.Response {
	r := chi.NewRouter()
	setupdocs.New(base, apierr.Writer{Base: base}).Mount(r)
	req := httptest.NewRequest(method, path, nil)
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Result()
}

func text(resp *http.Response) string {
	var b strings.Builder
	_ = resp.Write(&b) // into memory
	_, body, _ := strings.Cut(b.String(), "\r\n\r\n")
	return body
}

func TestDocuments(t *testing.T) {
	express, _ := setup.Find("express")
	for path, want := range map[string]string{
		"/setup.md": setup.Guide(base), "/docs/attribution.md": setup.Attribution(base), "/setup/express.md": express.Recipe(base),
	} {
		t.Run(path, func(t *testing.T) {
			resp := ask(http.MethodGet, path, "")
			for name, value := range map[string]string{
				"Content-Type": "text/markdown; charset=utf-8", "Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=300",
			} {
				if got := resp.Header.Get(name); got != value {
					t.Errorf("%s is %q", name, got)
				}
			}
			if got := text(resp); resp.StatusCode != http.StatusOK || got != want || !strings.Contains(got, base) {
				t.Errorf("%d:\n%s", resp.StatusCode, got)
			}
			etag := resp.Header.Get("ETag")
			if again := ask(http.MethodGet, path, etag); etag == "" || again.StatusCode != http.StatusNotModified {
				t.Errorf("with its ETag %q: %d", etag, again.StatusCode)
			}
			if head := ask(http.MethodHead, path, ""); head.StatusCode != http.StatusOK || head.Header.Get("ETag") != etag || text(head) != "" {
				t.Errorf("HEAD: %d", head.StatusCode)
			}
		})
	}
}

func TestEveryRecipeIsServed(t *testing.T) {
	for _, slug := range setup.Slugs() {
		if resp := ask(http.MethodGet, "/setup/"+slug+".md", ""); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", slug, resp.StatusCode)
		}
	}
}

func TestUnknownRecipe(t *testing.T) {
	resp := ask(http.MethodGet, "/setup/cobol.md", "")
	var e struct {
		Error       string
		Suggestions []string
	}
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusNotFound || e.Error != "not_found" || !slices.Equal(e.Suggestions, setup.Slugs()) {
		t.Errorf("%d %+v", resp.StatusCode, e)
	}
}
