package snapshotview

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

// maxKept is how many bytes of bodies a site keeps. They are compressed, and those of JSON
// also as they are, so it is some thousands of pages.
const maxKept = 32 << 20

// A press makes the bodies of a site's resources when they are first asked for, as many at a
// time as there are processors. It keeps the latest of them, up to a total size.
type press struct {
	modified time.Time
	packers  chan *Packer // nil for one that was not made yet

	mu   sync.Mutex
	kept []kept // oldest first
	size int
	most int
}

type kept struct {
	res  *Resource
	size int
}

// A source makes the body of one resource.
type source struct {
	press *press
	body  func() ([]byte, error)
	one   sync.Mutex
}

func newPress(modified time.Time, most int) *press {
	n := runtime.GOMAXPROCS(0)
	p := &press{modified: modified.UTC().Truncate(time.Second), packers: make(chan *Packer, n), most: most}
	for range n {
		p.packers <- nil
	}
	return p
}

// later returns a resource whose body is made when it is first asked for. The function must
// return the same bytes each time.
func (p *press) later(contentType string, body func() ([]byte, error)) *Resource {
	r := newResource(contentType, p.modified)
	r.source = &source{press: p, body: body}
	return r
}

// json returns the resource of a value.
func (p *press) json(value func() any) *Resource {
	return p.later(JSONType, func() ([]byte, error) { return EncodeJSON(value()) })
}

// variants returns the encodings of a resource. It panics where its body cannot be made: the
// server logs that and answers 500.
func (res *Resource) variants() *variants {
	if v := res.made.Load(); v != nil {
		return v
	}
	v, err := res.make()
	if err != nil {
		panic(fmt.Errorf("make a response: %w", err))
	}
	return v
}

// make makes the body, once for all who wait for it.
func (res *Resource) make() (*variants, error) {
	s := res.source
	s.one.Lock()
	defer s.one.Unlock()
	if v := res.made.Load(); v != nil {
		return v, nil
	}
	packer := s.press.take()
	defer s.press.give(packer)
	body, err := s.body()
	if err != nil {
		return nil, err
	}
	v, err := packer.encode(body, strings.HasPrefix(res.contentType[0], "application/json"))
	if err != nil {
		return nil, err
	}
	res.made.Store(v)
	s.press.keep(res, v)
	return v, nil
}

// take waits for a packer, which must be given back.
func (p *press) take() *Packer {
	packer := <-p.packers
	if packer == nil {
		packer = NewPacker(p.modified)
	}
	return packer
}

func (p *press) give(packer *Packer) { p.packers <- packer }

func (v *variants) size() (n int) {
	for i := range v {
		n += v[i].Size()
	}
	return n
}

// keep drops the oldest bodies where all of them are too much.
func (p *press) keep(res *Resource, v *variants) {
	size := v.size()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept, p.size = append(p.kept, kept{res, size}), p.size+size
	for p.size > p.most && len(p.kept) > 1 {
		p.kept[0].res.made.Store(nil)
		p.size -= p.kept[0].size
		p.kept = p.kept[1:]
	}
}
