package export_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/export"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/store/state"
)

type reports struct{ traffic.Reports }

func (reports) Export(_ context.Context, _ string, _ traffic.Query, _ traffic.Format, w io.Writer) error {
	_, err := io.WriteString(w, "at\r\n")
	return err
}

// TestSampleIsMarked: the file of a workspace whose site cannot exist says that it is made up.
func TestSampleIsMarked(t *testing.T) {
	s := export.Sender{Reports: reports{}, Now: func() time.Time { return time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC) }}
	for site, name := range map[string]string{"https://shop.example": "shop-made-up-2026-05-06.csv", "https://example.com": "shop-2026-05-06.csv", "": "shop-2026-05-06.csv"} {
		w := httptest.NewRecorder()
		ws := &state.Workspace{Slug: "shop", Settings: state.Settings{Site: site}}
		err := s.Send(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/export?format=csv", nil), ws)
		if got := w.Header().Get("Content-Disposition"); err != nil || !strings.Contains(got, `"`+name+`"`) {
			t.Errorf("%q: %s, want %s: %v", site, got, name, err)
		}
	}
}
