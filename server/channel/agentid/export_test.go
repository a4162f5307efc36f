package agentid

// Fresh identifies without the cache, for the benchmark.
func Fresh(t *Table, ua string) Agent { return t.identify(ua) }
