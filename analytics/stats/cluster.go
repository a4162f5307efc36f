package stats

// A Cluster is the contribution of one prompt: the sum of its trials' scores, the
// sum of their squares and their number.
type Cluster struct {
	Sum, Squares float64
	N            int
}

// A Critical holds the 97.5 % quantile of Student's t for a number of clusters.
// It spares callers that make many intervals over the same prompts from
// computing it for each.
type Critical struct {
	clusters int
	t975     float64
}

// NewCritical computes the quantile for G-1 degrees of freedom; it is infinite
// with fewer than two clusters.
func NewCritical(clusters int) Critical {
	return Critical{clusters, TQuantile(1-alpha/2, float64(clusters-1))}
}

// of returns k, or the right quantile where k belongs to another number.
func (k Critical) of(clusters int) Critical {
	if k.clusters == clusters {
		return k
	}
	return NewCritical(clusters)
}

// shrink turns effective trials into those whose normal interval is as wide as
// the t interval of these clusters.
func (k Critical) shrink(n float64) float64 { return n * (Z975 / k.t975) * (Z975 / k.t975) }
