package evalpages

import (
	"math"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// between writes a rate with its interval, unless that says nothing.
func between(rate, low, high float64) string {
	if render.Interval(low, high) == "" {
		return chart.Percent(rate)
	}
	return chart.Percent(rate) + " (" + strings.TrimSuffix(chart.Percent(low), "%") + "–" + chart.Percent(high) + ")"
}

// up rounds dollars up to cents.
func up(usd float64) string {
	return strconv.FormatFloat(max(0.01, math.Ceil(usd*100-1e-9)/100), 'f', 2, 64)
}
