package snapshotview_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// BenchmarkLoad builds the site of 100 boards of 50 tools, 30 agents and 20 prompts, and then
// serves every page of it as a crawler reads it: as HTML, gzipped. Beside the time it has the
// resident memory of the process in MB, also of the boards before they were built.
func BenchmarkLoad(b *testing.B) {
	in := sitetest.Large(b, 100, 50, 30, 20)
	var s *snapshotview.Site
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			var err error
			own := in
			own.Boards = slices.Clone(in.Boards) // Build takes them over
			if s, err = snapshotview.Build(own); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(resident(b), "MB")
	})
	b.Run("crawl", func(b *testing.B) {
		if s == nil {
			var err error
			if s, err = snapshotview.Build(in); err != nil {
				b.Fatal(err)
			}
		}
		in = snapshotview.Input{}
		pages := s.Views.Paths()
		sender, bytes := snapshotview.NewSender(sitetest.Base), 0
		for i := 0; b.Loop(); i++ {
			r, w := httptest.NewRequest(http.MethodGet, pages[i%len(pages)], nil), httptest.NewRecorder()
			r.Header.Set("Accept-Encoding", "gzip")
			sender.SendPage(w, r, s.Page(pages[i%len(pages)]))
			bytes += w.Body.Len()
		}
		b.ReportMetric(float64(bytes)/float64(b.N), "B/page")
		b.ReportMetric(resident(b), "MB")
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB-live")
		runtime.KeepAlive(s)
	})
}

// resident returns the resident memory of the process in MB, after a collection.
func resident(b *testing.B) float64 {
	b.Helper()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0 // another system
	}
	for line := range strings.Lines(string(data)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}
