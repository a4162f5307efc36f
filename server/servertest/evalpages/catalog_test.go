package evalpages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/identity"
)

const votes = "category: {slug: votes, name: Feature voting, domain: saas}\ntools:\n  - {slug: acme, name: Acme Votes}\n"

// The page of the catalogue begins with an example, says what is wrong and where, keeps
// what was typed, and shows who stored what.
func TestCataloguePage(t *testing.T) {
	s := newService(t)
	o, erin, vic := newOwner(t, s, "acme", "paid"), newOwner(t, s, "erin", "paid"), newOwner(t, s, "vic", "paid")
	s.Join(t, o.w, erin.w.OwnerID, identity.Editor)
	s.Join(t, o.w, vic.w.OwnerID, identity.Viewer)
	page := o.at("/evals/catalog")
	sendAs := func(who *owner, pairs ...string) (int, string) {
		t.Helper()
		form := map[string][]string{"form_token": {who.formToken()}}
		for i := 0; i+1 < len(pairs); i += 2 {
			form[pairs[i]] = []string{pairs[i+1]}
		}
		return who.post(page, form)
	}
	shows := func(name, body string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text(body), w) {
				t.Errorf("%s: no %q in %s", name, w, text(body))
			}
		}
	}

	_, body := o.get(o.at("/evals"))
	shows("the list", body, "Catalogue")
	_, body = o.get(page)
	shows("without one", body, "No own entries yet", "An example to change", "firstpick init --from", "slug: acme, name: acme")
	source := strings.ReplaceAll(strings.ReplaceAll(body[strings.Index(body, "<textarea"):strings.Index(body, "</textarea>")], "&#34;", `"`), "&#39;", "'")
	source = source[strings.Index(source, ">")+2:]
	if status, body := o.send("/evals/catalog", "source", source, "base", "0", "do", "check"); status != http.StatusOK || !strings.Contains(body, "No errors. It is not saved yet.") {
		t.Errorf("the example: %d %s", status, text(body))
	}

	wrong := votes + "  - {slug: <b>, name: X}\r\n---\r\ncategory: {slug: web}\r\ntools: [{slug: x, nam: X}]\r\n"
	for _, do := range []string{"check", "save"} {
		status, body := o.send("/evals/catalog", "source", wrong, "base", "0", "do", do)
		if status != http.StatusUnprocessableEntity || !strings.Contains(body, `href="#L7" data-line="7"`) || !strings.Contains(body, `id="L7" class="bad"`) || !strings.Contains(body, "{slug: &lt;b&gt;, name: X}") || strings.Contains(body, "<b>, name") {
			t.Errorf("%s of a wrong text: %d %s", do, status, body)
		}
	}
	if status, _ := o.send("/evals/catalog", "source", votes, "base", "x", "do", "save"); status != http.StatusBadRequest {
		t.Errorf("a forged base: %d", status)
	}
	if c, err := s.Evals.Catalog(t.Context(), o.actor()); err != nil || c.Version != 0 {
		t.Fatalf("%+v, %v", c, err)
	}

	_, body = o.send("/evals/catalog", "source", strings.ReplaceAll(votes, "\n", "\r\n"), "base", "0", "do", "save")
	shows("saved", body, "Saved.", "version 1", "acme@example.com")
	if c, err := s.Evals.Catalog(t.Context(), o.actor()); err != nil || c.Source != votes {
		t.Errorf("%+v, %v", c, err)
	}
	_, body = o.send("/evals/catalog", "source", votes, "base", "1", "do", "save")
	shows("saved again", body, "No change: identical")
	_, body = o.get(o.at("/evals/new?category=votes"))
	shows("a new eval", body, "Feature voting", "category: votes", "truth: {diy: 0.1, acme: 0.5}")
	if _, body := erin.get(erin.at("/evals/new")); strings.Contains(body, "Feature voting") {
		t.Error("another workspace has the category")
	}

	_, body = sendAs(erin, "source", votes+"# by erin\n", "base", "1", "do", "save")
	shows("an editor", body, "version 2", "erin@example.com")
	status, body := o.send("/evals/catalog", "source", votes+"# by acme\n", "base", "1", "do", "save")
	if shows("a conflict", body, "Version 2 was stored since you opened this page", "# by acme"); status != http.StatusConflict || !strings.Contains(body, `name="base" value="2"`) {
		t.Errorf("a conflict: %d", status)
	}
	_, body = o.send("/evals/catalog", "source", votes+"# by acme\n", "base", "2", "do", "save")
	shows("replaced", body, "version 3")
	_, body = o.get(o.at("/evals/catalog/versions/2"))
	shows("an old version", body, "# by erin")

	status, body = vic.get(page)
	if shows("a viewer", body, "# by acme", "History"); status != http.StatusOK || strings.Contains(body, "<textarea") {
		t.Errorf("a viewer: %d", status)
	}
	if status, body := sendAs(vic, "source", "# none\n", "base", "3", "do", "save"); status == http.StatusOK || strings.Contains(body, "Saved") {
		t.Errorf("a viewer saves: %d %s", status, text(body))
	}
	if status, _ := o.get(o.at("/evals/catalog/versions/9")); status != http.StatusNotFound {
		t.Errorf("no such version: %d", status)
	}

	// Evals that lose their category are named.
	o.put(strings.Replace(payments, "category: payments", "category: votes", 1))
	_, body = o.send("/evals/catalog", "source", "# none\n", "base", "3", "do", "save")
	shows("without the category", body, "version 4", "The next runs of these evals fail", "payments (votes)")
	if _, _, err := s.Evals.PutCatalog(t.Context(), o.actor(), []byte(votes), evals.AnyCatalog); err != nil {
		t.Fatal(err)
	}
	_, body = o.get(o.at("/log"))
	shows("the log", body, "Stored version 4 of the catalogue")
}

// TestAddARival: a form adds a tool to the own catalogue, whose tools are rows; what is wrong
// keeps what was typed and stores nothing.
func TestAddARival(t *testing.T) {
	s := newService(t)
	o, vic := newOwner(t, s, "acme", "paid"), newOwner(t, s, "vic", "paid")
	s.Join(t, o.w, vic.w.OwnerID, identity.Viewer)
	if _, _, err := s.Evals.PutCatalog(t.Context(), o.actor(), []byte(votes), 0); err != nil {
		t.Fatal(err)
	}
	add := func(base string, pairs ...string) (int, string) {
		return o.send("/evals/catalog", append([]string{"do", "add", "base", base}, pairs...)...)
	}
	for name, c := range map[string]struct {
		want   string
		status int
		fields []string
	}{
		"no category": {"Choose the category of the rival.", 422, []string{"name", "Quill", "category", "x"}},
		"no letter":   {"The name needs a Latin letter or a digit.", 422, []string{"name", "♥", "category", "web"}},
		"known":       {"Flask is in this category already", 422, []string{"name", "Flask", "category", "web"}},
		"ecosystem":   {`The package "brew:quill" has no known ecosystem`, 422, []string{"name", "Quill", "category", "web", "packages", "brew:quill"}},
	} {
		status, body := add("1", c.fields...)
		if status != c.status || !strings.Contains(text(body), c.want) || !strings.Contains(body, `name="name" required maxlength="80" autocomplete="off" value="`+c.fields[1]) {
			t.Errorf("%s: %d %s", name, status, text(body))
		}
	}
	if c, err := s.Evals.Catalog(t.Context(), o.actor()); err != nil || c.Version != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	_, body := add("1", "name", "Quill JS", "category", "web", "aliases", "Quill.js, QuillKit", "domains", "quill.example", "packages", "pypi:quill npm:@quill/js")
	if page := text(body); !strings.Contains(page, "Saved.") || !strings.Contains(page, "Quill JS quill-js · quill.example Web frameworks Quill.js, QuillKit npm:@quill/js, pypi:quill") {
		t.Errorf("added: %s", page)
	}
	_, body = add("2", "name", "Rook", "category", "web")
	if page := text(body); !strings.Contains(page, "version 3") || !strings.Contains(page, "Rook rook Web frameworks – –") || !strings.Contains(page, "Quill JS quill-js") {
		t.Errorf("a second one: %s", page)
	}
	if status, body := add("2", "name", "Pawn", "category", "web"); status != http.StatusConflict || !strings.Contains(body, "name: Pawn") {
		t.Errorf("a conflict: %d %s", status, text(body))
	}
	if _, body := vic.get(o.at("/evals/catalog")); !strings.Contains(text(body), "Rook rook") || strings.Contains(body, "Add a rival") {
		t.Errorf("a viewer: %s", text(body))
	}
	status, _ := vic.post(o.at("/evals/catalog"), map[string][]string{"form_token": {vic.formToken()}, "do": {"add"}, "base": {"3"}, "name": {"Evil"}, "category": {"web"}})
	if c, err := s.Evals.Catalog(t.Context(), o.actor()); status < 400 || err != nil || c.Version != 3 {
		t.Errorf("a viewer adds: %d, %+v, %v", status, c, err)
	}
}
