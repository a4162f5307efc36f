package webbotauth

import (
	"sync"
	"time"
)

const (
	noncesOfKey = 8192 // of a generation; two are kept
	nonceKeys   = 256
)

// Nonces remembers the nonces of each key, the latest 8,192 to 16,384 of each: a
// signer that floods us can only make us forget its own. The zero value is ready.
type Nonces struct {
	mu   sync.Mutex
	keys map[string]*generations
}

type generations struct {
	young, old map[string]struct{}
	until      time.Time // when the last of them expires
}

// use notes a nonce and reports whether it was new.
func (n *Nonces) use(key, nonce string, expires time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.keys == nil {
		n.keys = map[string]*generations{}
	}
	g := n.keys[key]
	if g == nil {
		if len(n.keys) >= nonceKeys {
			n.drop()
		}
		g = &generations{}
		n.keys[key] = g
	}
	if expires.After(g.until) {
		g.until = expires
	}
	if _, used := g.young[nonce]; used {
		return false
	}
	if _, used := g.old[nonce]; used {
		return false
	}
	if g.young == nil || len(g.young) >= noncesOfKey {
		g.old, g.young = g.young, map[string]struct{}{}
	}
	g.young[nonce] = struct{}{}
	return true
}

// drop forgets the key whose nonces expire first. Keys are those of our list, so
// there are few.
func (n *Nonces) drop() {
	first := ""
	for key, g := range n.keys {
		if first == "" || g.until.Before(n.keys[first].until) {
			first = key
		}
	}
	delete(n.keys, first)
}
