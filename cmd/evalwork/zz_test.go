package evalwork_test

import (
	"os"
	"runtime"
	"fmt"
	"strings"
	"testing"
	"time"
	"sync/atomic"
	"net/http"
	"net/http/httptest"

	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/server/state"
)

func TestZZExcludedOnly(t *testing.T) {
	w := newWorld(t, "sqlite")
	f := fake(t, providertest.Always(providertest.Step{Do: providertest.Malformed}))
	id := w.queue(asked(3, model("api", f.URL)), 5)
	w.start()
	r := w.ended(id)
	t.Logf("%+v", r)
	if r.Bundle != "" { b := w.results(r); t.Logf("%s %+v", b.Scores()[:200], b.Manifest.Counts) }
}

func rss() string { b, _ := os.ReadFile("/proc/self/status"); for _, l := range strings.Split(string(b), "\n") { if strings.HasPrefix(l, "VmHWM") { return l } }; return "" }

func TestZZMemory(t *testing.T) {
	w := newWorld(t, "sqlite")
	big := strings.Repeat("x", 7<<20)
	body := fmt.Sprintf(`{"id":"1","model":"fake-1","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"%s I would use Flask."}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, big)
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		n.Add(1)
		rw.Header().Set("Content-Type", "application/json")
		rw.Write([]byte(body))
	}))
	defer srv.Close()
	w.worker.Lease = 30*time.Second
	id := w.queue("concurrency: 64\n"+asked(200, model("api", srv.URL)), 500)
	w.start()
	at := time.Now()
	for time.Since(at) < 100*time.Second { if r := w.run(id); !r.EndedAt.IsZero() { t.Logf("%+v", r); break }; time.Sleep(50*time.Millisecond) }
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%s asked %d in %s, heap sys %d MB, %+v", rss(), n.Load(), time.Since(at), m.HeapSys>>20, w.run(id).RunProgress)
	_ = state.RunDone
}
