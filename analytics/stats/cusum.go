package stats

// A CUSUM detects a slow rise of a series above a target (Page 1954):
//
//	S = max(0, S + (x - Target)/Sigma - Slack), S = 0 at first.
//
// Usual values are Slack 0.5, half the shift to detect in units of Sigma, and Limit 4.
// It is a chart for eyes: false alarms come once in some hundred points, without bound on
// their number. NightTest keeps its error rate over any number of nights.
type CUSUM struct{ Target, Sigma, Slack, Limit float64 }

// Upper returns S after each point, and the index of the first one above Limit, -1
// without an alarm.
func (c CUSUM) Upper(series []float64) (sums []float64, alarm int) {
	sums, alarm = make([]float64, len(series)), -1
	s := 0.0
	for i, x := range series {
		s = max(0, s+(x-c.Target)/c.Sigma-c.Slack)
		sums[i] = s
		if s > c.Limit && alarm < 0 {
			alarm = i
		}
	}
	return sums, alarm
}
