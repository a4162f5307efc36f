package stream

import (
	"bytes"
	"strings"
	"time"
)

// Text is the Decoder of a program whose standard output is its answer.
func Text(emit func(Event)) Parser { return &text{recorder: newRecorder(emit)} }

type text struct {
	*recorder
}

func (p *text) Line(at time.Duration, off int64, line []byte) {
	p.at, p.off, p.size = at, off, int64(len(line))
	output := strings.ToValidUTF8(string(bytes.TrimRight(line, "\r")), "�")
	if strings.TrimSpace(output) != "" {
		p.out.Answered = true
		p.event(Event{Kind: KindText, Text: output})
	}
	p.keep(output + "\n")
}

func (p *text) End(exit int) Outcome {
	p.outsideLine(p.at)
	p.final = bytes.TrimSpace(p.final)
	if exit != 0 || !p.out.Answered {
		return p.fail(p.noResult(exit))
	}
	return p.answer()
}
