package trialstore

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/firstpick/firstpick/analytics"
)

// cellsFormat is the version of what encodeCells writes. It changes with the fields of a
// cell and with their meaning.
const cellsFormat = 1

// counters returns the counts of a cell in the order in which they are written.
func counters(c *analytics.Cell) [21]*int {
	o, d := &c.Outcomes, &c.DecidedBy
	return [...]*int{
		&c.Trials, &o.Tool, &o.DIY, &o.Other, &o.None, &o.Ambiguous, &o.Refused, &o.Truncated,
		&c.Mismatched, &c.Unresolved, &c.UnresolvedUnknown, &c.FirstUnknown, &c.Judged, &c.Agreed, &c.Resolved,
		&d.Structured, &d.Actions, &d.Statement, &d.Judge, &d.Given, &d.Undecided,
	}
}

func toolCounters(t *analytics.ToolCount) [4]*int {
	return [...]*int{&t.Picks, &t.Shortlists, &t.Defaults, &t.FirstNamed}
}

// encodeCells writes cells as unsigned varints: the number of cells and of their tools;
// then each cell with its three names, its counts, its time in microseconds and its tools,
// each with slug and counts. A name is written at its first use, as 0, its length and its
// bytes, and later as its number from 1 on. Counts are not negative.
func encodeCells(cells []analytics.Cell) []byte {
	tools := 0
	for _, c := range cells {
		tools += len(c.Tools)
	}
	e := encoder{numbers: map[string]int{}}
	e.number(len(cells))
	e.number(tools)
	for _, c := range cells {
		e.name(c.Prompt)
		e.name(c.Agent)
		e.name(c.Template)
		for _, n := range counters(&c) {
			e.number(*n)
		}
		e.data = binary.AppendVarint(e.data, c.LastAt.UnixMicro())
		e.number(len(c.Tools))
		for _, t := range c.Tools {
			e.name(t.Slug)
			for _, n := range toolCounters(&t) {
				e.number(*n)
			}
		}
	}
	return e.data
}

type encoder struct {
	data    []byte
	numbers map[string]int
}

func (e *encoder) number(n int) { e.data = binary.AppendUvarint(e.data, uint64(n)) }

func (e *encoder) name(s string) {
	n := e.numbers[s]
	e.number(n)
	if n == 0 {
		e.numbers[s] = len(e.numbers) + 1
		e.number(len(s))
		e.data = append(e.data, s...)
	}
}

var errCells = errors.New("malformed cells")

// decodeCells reads what encodeCells wrote.
func decodeCells(data []byte) ([]analytics.Cell, error) {
	d := decoder{data: data}
	cells := make([]analytics.Cell, d.length())
	all := make([]analytics.ToolCount, d.length())
	for i := range cells {
		c := &cells[i]
		c.Prompt, c.Agent, c.Template = d.name(), d.name(), d.name()
		for _, n := range counters(c) {
			*n = d.number()
		}
		c.LastAt = d.time()
		n := d.length()
		if n > len(all) {
			return nil, errCells
		}
		if n > 0 {
			c.Tools, all = all[:n:n], all[n:]
		}
		for k := range c.Tools {
			c.Tools[k].Slug = d.name()
			for _, n := range toolCounters(&c.Tools[k]) {
				*n = d.number()
			}
		}
	}
	if d.failed || len(d.data) > 0 || len(all) > 0 {
		return nil, errCells
	}
	return cells, nil
}

// A decoder reads zeros after the first error.
type decoder struct {
	data   []byte
	names  []string
	failed bool
}

func (d *decoder) number() int {
	v, n := binary.Uvarint(d.data)
	if n <= 0 || v > math.MaxInt {
		d.fail()
		return 0
	}
	d.data = d.data[n:]
	return int(v)
}

func (d *decoder) time() time.Time {
	v, n := binary.Varint(d.data)
	if n <= 0 {
		d.fail()
		return time.Time{}
	}
	d.data = d.data[n:]
	return time.UnixMicro(v).UTC()
}

// length is a number of things that each take at least a byte of the rest.
func (d *decoder) length() int {
	n := d.number()
	if n > len(d.data) {
		d.fail()
		return 0
	}
	return n
}

func (d *decoder) name() string {
	n := d.number()
	if n > len(d.names) {
		d.fail()
		return ""
	}
	if n > 0 {
		return d.names[n-1]
	}
	n = d.length()
	s := string(d.data[:n])
	d.data, d.names = d.data[n:], append(d.names, s)
	return s
}

func (d *decoder) fail() { d.data, d.failed = nil, true }
