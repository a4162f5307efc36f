package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"

	"github.com/firstpick/firstpick/server/servertest/chrome"
)

// TestOnPagesOfOthers: a page of another origin, whose policy allows no more than frames and
// pictures of ours, shows the plot of a board and a badge. The plot runs no script.
func TestOnPagesOfOthers(t *testing.T) {
	s := newPublic(t)
	theirs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-src "+s.URL+"; img-src "+s.URL)
		fmt.Fprintf(w, `<!doctype html><title>Theirs</title><iframe src="%s/embed%s" title="Plot" width="600" height="420"></iframe><img src="%s/badge/flask.svg" alt="Flask">`, s.URL, board, s.URL)
	}))
	defer theirs.Close()
	b := stranger(t, theirs.URL)
	b.Open("/")
	if width := chrome.Eval[int](b, `document.querySelector("img").naturalWidth`); width < 100 {
		t.Errorf("the badge is %d pixels wide", width)
	}
	all, through := int64(-1), true
	tree := chrome.Get(b, chromedp.Action[[]byte](func(ctx context.Context, tab *chromedp.Target) ([]byte, error) {
		doc, err := cdp.Call(ctx, tab, dom.GetDocument, dom.GetDocumentParams{Depth: &all, Pierce: &through})
		if err != nil {
			return nil, err
		}
		return json.Marshal(doc)
	}))
	if text := string(tree); !strings.Contains(text, `"FastAPI"`) || !strings.Contains(text, `"circle"`) || strings.Contains(strings.ToLower(text), `"script"`) {
		t.Errorf("the frame holds %s", text)
	}
	for _, told := range b.Errors() {
		t.Error(told)
	}
}
