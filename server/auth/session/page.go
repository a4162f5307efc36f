package session

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/reqctx"
)

// Pages answers with the pages that belong to a person.
type Pages struct {
	Forms *render.Forms
	Log   *slog.Logger
}

// Show answers with a page of package web.
func (p Pages) Show(w http.ResponseWriter, status int, name, title string, data any) {
	body, err := p.Forms.Render(name, title, reqctx.Operator(w), data)
	if err != nil {
		p.Log.Error("a page cannot be rendered", "page", name, "err", err)
		status, body = http.StatusInternalServerError, []byte("The page cannot be rendered.")
	}
	Send(w, status, body)
}

// SendMessage writes a page with a message and no form.
func (p Pages) SendMessage(w http.ResponseWriter, status int, title string, m render.Message) {
	p.Show(w, status, "ended", title, m)
}

// Form reads the form of a request, or answers and returns false.
func (p Pages) Form(w http.ResponseWriter, r *http.Request) bool {
	err := r.ParseForm()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		p.SendMessage(w, http.StatusRequestEntityTooLarge, "Too large", render.Message{Text: "The form is too large. Go back and shorten it."})
	case err != nil:
		p.SendMessage(w, http.StatusBadRequest, "The form cannot be read", render.Message{Text: "Go back and send it again."})
	}
	return err == nil
}

// Send writes a personal page. Its headers forbid caches and frames, and restrict
// scripts, forms and connections to our origin.
func Send(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a write error means that the client disconnected
}

// See answers with a redirect that is fetched with GET.
func See(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, path, http.StatusSeeOther)
}
