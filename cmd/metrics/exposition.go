package metrics

import (
	"bytes"
	"strconv"
	"strings"
)

// The types of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
	summary   = "summary"
)

// contentType is that of Prometheus' text format 0.0.4.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// An exposition is metrics in the text format. All samples of a metric follow each other.
type exposition struct {
	bytes.Buffer
	metric string // the last one
}

// add writes a sample of a metric. Labels are names and values in turn.
func (x *exposition) add(kind, name, help string, value float64, labels ...string) {
	x.head(kind, name, help)
	x.sample(name, value, labels...)
}

// head writes the lines before the samples of a metric, once.
func (x *exposition) head(kind, name, help string) {
	if x.metric == name {
		return
	}
	x.metric = name
	x.WriteString("# HELP " + name + " " + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(help) + "\n# TYPE " + name + " " + kind + "\n")
}

func (x *exposition) sample(name string, value float64, labels ...string) {
	x.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		x.WriteByte(sep)
		x.WriteString(labels[i] + `="` + strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		x.WriteByte('}')
	}
	x.WriteString(" " + number(value) + "\n")
}

// number formats a value; infinity is +Inf.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
