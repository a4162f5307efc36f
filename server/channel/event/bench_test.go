package event_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
)

// arrival is when the bodies of these tests come in.
func arrival() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }

// touches returns a body of n touches as a server's collector sends them.
func touches(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"sentAt":"2026-11-20T23:59:59.120Z","events":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"touch","id":"01JD%06d","ts":"2026-11-20T23:59:58.900Z","visitorToken":"v_9f3c%d",
"url":"https://acme.dev/docs/quickstart.md?via=mcp&session=s3cr3t","method":"GET","status":404,"contentType":"text/markdown","durationMs":12,"bytes":5120,
"signals":{"agent":"Claude","source":"nextjs","userAgent":"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot","ip":"203.0.113.7","referrer":"https://chatgpt.com/","accept":"text/markdown, */*"}}`, i, i)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// converts returns a body of n conversions by e-mail address.
func converts(n int) []byte {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"convert","id":"c%d","ts":"2026-11-20T23:59:58Z","email":"Someone%d@example.com","kind":"paid","value":"49.00","currency":"usd","orderId":"in_%d"}`, i, i, i)
	}
	b.WriteByte(']')
	return []byte(b.String())
}

func BenchmarkRead(b *testing.B) {
	line := []byte(`203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET /docs/quickstart?via=md HTTP/1.1" 200 5120 "https://chatgpt.com/" "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"` + "\n")
	for _, c := range []struct {
		name   string
		body   []byte
		format event.Format
	}{
		{"1 touch", touches(1), ""},
		{"100 touches", touches(100), ""},
		{"1 convert", converts(1), ""},
		{"100 converts", converts(100), ""},
		{"100 log lines", bytes.Repeat(line, 100), event.FormatCombined},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.body)))
			for b.Loop() {
				batch, err := event.Read(bytes.NewReader(c.body), event.Options{Key: event.KindSecret, Format: c.format, Length: int64(len(c.body)), ReceivedAt: arrival()})
				if err != nil || len(batch.Refusals) > 0 || len(batch.Inputs) == 0 {
					b.Fatal(err, batch.Refusals)
				}
			}
		})
	}
}

func BenchmarkRecord(b *testing.B) {
	batch, err := event.Read(bytes.NewReader(touches(1)), event.Options{Key: event.KindSecret, ReceivedAt: arrival()})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		batch.Inputs[0].Record(func(string) string { return "hashed" })
	}
}
