package agentid

import "sync"

const (
	cacheSize   = 4096 // strings of a generation; two are kept
	longestKept = 1024 // bytes of a User-Agent that are read
)

// A cache maps strings to agents. It keeps two generations and drops the older one
// when the younger is full, so that a flood of invented strings uses bounded memory.
type cache struct {
	mu         sync.RWMutex
	young, old map[string]*Agent
}

func (c *cache) get(key string) *Agent {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if a, ok := c.young[key]; ok {
		return a
	}
	return c.old[key]
}

func (c *cache) put(key string, a *Agent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || len(c.young) >= cacheSize {
		c.old, c.young = c.young, make(map[string]*Agent, cacheSize/4)
	}
	c.young[key] = a
}
