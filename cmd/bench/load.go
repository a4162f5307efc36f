package main

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A rate is the throughput of a number of callers.
type rate struct {
	perSecond float64
	p99       time.Duration
}

// load calls do from some callers at once for a while. do gets numbers that count up
// from 1; the first error ends the measurement.
func load(callers int, span time.Duration, do func(i int64) error) (rate, error) {
	return pacedLoad(callers, span, 0, do)
}

// pacedLoad is load with callers that begin at most one call in each pace.
func pacedLoad(callers int, span, pace time.Duration, do func(i int64) error) (rate, error) {
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	var next atomic.Int64
	var stop atomic.Bool
	var all sync.WaitGroup
	began := time.Now()
	for n := range callers {
		all.Go(func() {
			time.Sleep(pace * time.Duration(n) / time.Duration(callers)) // callers do not come together
			var mine []time.Duration
			var err error
			for err == nil && !stop.Load() && time.Since(began) < span {
				start := time.Now()
				if err = do(next.Add(1)); err == nil {
					mine = append(mine, time.Since(start))
					time.Sleep(pace - time.Since(start))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			if err != nil {
				stop.Store(true)
				failed = errors.Join(failed, err)
			}
		})
	}
	all.Wait()
	elapsed := time.Since(began)
	if failed != nil {
		return rate{}, failed
	}
	slices.Sort(took)
	return rate{perSecond: float64(len(took)) / elapsed.Seconds(), p99: took[len(took)*99/100]}, nil
}

// medians returns the median of each figure apart.
func medians(of []rate) rate {
	perSecond, p99 := make([]float64, len(of)), make([]time.Duration, len(of))
	for i, r := range of {
		perSecond[i], p99[i] = r.perSecond, r.p99
	}
	slices.Sort(perSecond)
	slices.Sort(p99)
	return rate{perSecond: perSecond[len(of)/2], p99: p99[len(of)/2]}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
