package operator

import (
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/kit/chart"
)

const minute = "2 Jan 2006, 15:04"

// age writes a duration in its largest unit: 3 min, 5 h, 12 days.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(max(0, d).Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	}
	return chart.Whole(int64(d.Hours()/24)) + " days"
}

func ago(d time.Duration) string { return age(d) + " ago" }

func gigabytes(n int64) string {
	return strconv.FormatFloat(float64(n)/(1<<30), 'f', 1, 64) + " GiB"
}
