package archive

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/firstpick/firstpick/server/public/snapshotview"
)

const (
	maxMade     = 512             // answers that are kept
	makeTimeout = 2 * time.Minute // of one answer
)

// A memo keeps answers that follow from the snapshots of a place, until these change. One
// answer is made at a time, as it may read the trials of many snapshots.
type memo struct {
	group singleflight.Group
	one   sync.Mutex

	mu    sync.Mutex
	stamp string
	made  map[string]any
}

// get returns the answer of a key, made once for each stamp. The caller may leave before
// the answer is made; it is then kept for the next.
func (m *memo) get(ctx context.Context, stamp, key string, make func(context.Context) (any, error)) (any, error) {
	if v, ok := m.kept(stamp, key); ok {
		return v, nil
	}
	result := m.group.DoChan(stamp+" "+key, func() (any, error) {
		m.one.Lock()
		defer m.one.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeTimeout)
		defer cancel()
		v, err := make(ctx)
		if err == nil {
			m.keep(stamp, key, v)
		}
		return v, err
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-result:
		return r.Val, r.Err
	}
}

func (m *memo) kept(stamp, key string) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stamp != stamp {
		return nil, false
	}
	v, ok := m.made[key]
	return v, ok
}

func (m *memo) keep(stamp, key string, v any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stamp != stamp || m.made == nil || len(m.made) >= maxMade {
		m.stamp, m.made = stamp, map[string]any{}
	}
	m.made[key] = v
}

// get returns the answer of a key as values.
func get[T any](ctx context.Context, h *Handler, key string, make func(context.Context) (T, error)) (v T, err error) {
	stamp, err := h.stamp.get(ctx)
	if err != nil {
		return v, err
	}
	made, err := h.made.get(ctx, stamp, key, func(ctx context.Context) (any, error) { return make(ctx) })
	if err != nil {
		return v, err
	}
	return made.(T), nil //nolint:forcetypeassert // of this key
}

// resource packs a value as JSON.
func resource(v any) (*snapshotview.Resource, error) {
	return snapshotview.NewPacker(time.Time{}).JSON(v)
}
