package evalpages

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/traceview"
)

// customTimes is the choice of a cron expression.
const customTimes = "custom"

// clockTime is how forms write a time of day.
const clockTime = "15:04"

// scheduleTimes returns the choices of the form. Look is the end of the cron expression, after
// the minute and the hour.
func scheduleTimes() []traceview.Term {
	return []traceview.Term{
		{Key: "daily", Name: "Daily", Look: "* * *"},
		{Key: "weekly", Name: "Weekly, on Monday", Look: "* * MON"},
		{Key: "monthly", Name: "Monthly, on the 1st", Look: "1 * *"},
		{Key: customTimes, Name: "Custom, as a cron expression"},
	}
}

// cronOf returns the cron expression of a choice and a time of day. The time of the custom
// choice, or of none, is not read: cron is its expression. problem is empty for a valid time.
func cronOf(every, at, cron string) (expression, problem string) {
	end := traceview.Of(scheduleTimes(), every).Look
	if end == "" {
		return cron, ""
	}
	t, err := time.Parse(clockTime, at)
	if err != nil {
		return "", fmt.Sprintf("The time must be hours and minutes, such as 06:00 (got %q).", at)
	}
	return fmt.Sprintf("%d %d %s", t.Minute(), t.Hour(), end), ""
}

// timesOf is the inverse of cronOf.
func timesOf(cron string) (every, at string) {
	m := regexp.MustCompile(`^(\d{1,2}) (\d{1,2}) (.+)$`).FindStringSubmatch(strings.Join(strings.Fields(cron), " "))
	if m == nil {
		return customTimes, "06:00"
	}
	for _, t := range scheduleTimes() {
		minute, _ := strconv.Atoi(m[1])
		hour, _ := strconv.Atoi(m[2])
		if t.Look == strings.ReplaceAll(strings.ToUpper(m[3]), "* * 1", "* * MON") && minute < 60 && hour < 24 {
			return t.Key, fmt.Sprintf("%02d:%02d", hour, minute)
		}
	}
	return customTimes, "06:00"
}

// timesText writes the times of a cron expression in words; empty for a custom one.
func timesText(cron string) string {
	every, at := timesOf(cron)
	if every == customTimes {
		return ""
	}
	return traceview.Of(scheduleTimes(), every).Name + ", at " + at
}

// cronProblem adds an example to what is wrong with a cron expression.
func cronProblem(description string) string {
	text, ok := strings.CutPrefix(description, "cron: ")
	if !ok {
		return description
	}
	text = "The cron expression is wrong: " + text
	if x := scheduleExamples()[0]; !strings.Contains(text, x.Key+" (") {
		text += " Example: " + x.Key + " is " + x.Name + "."
	}
	return text
}
