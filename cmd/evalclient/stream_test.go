package evalclient

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func messages(t *testing.T, r io.Reader) (out []string, retry int64) {
	t.Helper()
	s := newStream(r)
	for {
		m, err := s.next()
		if errors.Is(err, io.EOF) {
			return out, s.retry.Milliseconds()
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m.id+"="+string(m.data))
	}
}

// TestStreamsAreReadAsTheStandardSays has the examples of the HTML standard, 9.2.6,
// and the ends of lines.
func TestStreamsAreReadAsTheStandardSays(t *testing.T) {
	for text, want := range map[string][]string{
		"data: YHOO\ndata: +2\ndata: 10\n\n": {"=YHOO\n+2\n10"},
		": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n": {"1=first event", "=second event", "= third event"},
		"data\n\ndata\ndata\n\ndata:":                                 {"=", "=\n"},
		"data:test\n\ndata: test\n\n":                                 {"=test", "=test"},
		"\ufeffid: 1\r\ndata: a\r\n\r\nid: 2\rdata: b\r\rdata: c\n\n": {"1=a", "2=b", "2=c"},
		"id: 1\n\ndata: a\nevent: x\nunknown: y\n:\n\n":               {"1=a"},
		"id: 1\nid: a\x00b\ndata: a\n\n":                              {"1=a"},
		"data: a\n":                                                   nil,
		"data: a\n\ndata: b\nid: 9":                                   {"=a"},
	} {
		if got, _ := messages(t, strings.NewReader(text)); !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]int64{"retry: 2500\n": 2500, "retry: -1\n": 0, "retry: 1s\n": 0, "retry: 99999999999999\n": 0, "retry: 1\nretry: 2\n": 2} {
		if _, got := messages(t, strings.NewReader(text)); got != want {
			t.Errorf("%q: %d ms, want %d", text, got, want)
		}
	}
}

func TestAStreamWithoutEndIsRefused(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"a line":   io.LimitReader(repeat("x"), 2*maxLine),
		"an event": io.LimitReader(repeat("data: x\n"), 10*maxData),
	} {
		if m, err := newStream(r).next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %d bytes, %v", name, len(m.data), err)
		}
	}
}

type repeat string

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r[i%len(r)]
	}
	return len(p) / len(r) * len(r), nil
}

// FuzzStream reads a stream in one piece and byte by byte: where the network cuts it
// must not matter. What is written in events of one line comes back.
func FuzzStream(f *testing.F) {
	for _, s := range []string{event(1, began) + beat + event(2, over), "\ufeffdata: a\r\n\r\nid: 2\rdata: b\r\r", "retry: 5\n\ndata\n\n", "data: a\r\ndata: b\n\r\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 { // byte by byte takes its time
			return
		}
		whole, retry := messages(t, strings.NewReader(text))
		bytewise, again := messages(t, iotest.OneByteReader(strings.NewReader(text)))
		if !slices.Equal(whole, bytewise) || retry != again {
			t.Errorf("%q in one piece, %q byte by byte", whole, bytewise)
		}
		if strings.ContainsAny(text, "\r\n") {
			return
		}
		if got, _ := messages(t, strings.NewReader("id: 7\ndata: "+text+"\n\n")); !slices.Equal(got, []string{"7=" + text}) {
			t.Errorf("%q came back as %q", text, got)
		}
	})
}
