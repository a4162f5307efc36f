package collect_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/collect"
	"github.com/firstpick/firstpick/server/state"
	"github.com/firstpick/firstpick/server/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// body is as large as a usual event.
var body = make([]byte, 400)

// BenchmarkWriter measures how many events a second are stored by requests of n
// events from several callers. FIRSTPICK_DURABLE=1 makes PostgreSQL sync to disk.
func BenchmarkWriter(b *testing.B) {
	for _, engine := range statetest.Engines() {
		for _, c := range []struct{ n, callers int }{{1, 64}, {100, 8}} {
			b.Run(engine+"/"+strconv.Itoa(c.n)+"x"+strconv.Itoa(c.callers), func(b *testing.B) {
				w := collect.NewWriter(statetest.Open(b, statetest.Address(b, engine)))
				defer w.Close()
				var next atomic.Int64
				var all sync.WaitGroup
				b.ResetTimer()
				for range c.callers {
					all.Go(func() {
						for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
							events := make([]state.CollectedEvent, c.n)
							for k := range events {
								events[k] = state.CollectedEvent{WorkspaceID: "ws_" + strconv.Itoa(k%7), ID: strconv.FormatInt(i, 36) + "-" + strconv.Itoa(k), ReceivedAt: time.Unix(1_800_000_000, 0), Body: body}
							}
							if _, err := w.Store(b.Context(), events); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N*c.n)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}
