package providertest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v))
}

// encode writes JSON. All values of this package can be encoded.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// send executes a step.
func (s *Server) send(w http.ResponseWriter, r *http.Request, f format, q Request, step Step) {
	if !pause(r, step) {
		return
	}
	for name, value := range step.Header {
		w.Header().Set(name, value)
	}
	if step.NoRetry {
		w.Header().Set("X-Should-Retry", "false")
	}
	if step.Do == CutConnection {
		panic(http.ErrAbortHandler)
	}
	if fault, ok := faultOf(f, q, step); ok {
		for name, value := range fault.header {
			w.Header().Set(name, value)
		}
		if fault.status == http.StatusOK && q.Stream {
			w.Header().Set("Content-Type", f.streamType())
			write(w, [][]byte{f.streamError(fault.body)}, false)
			return
		}
		sendJSON(w, fault.status, fault.body)
		return
	}
	kind, chunks := f.render(q, answerOf(q, step))
	w.Header().Set("Content-Type", kind)
	switch step.Do {
	case CutBody:
		if !q.Stream {
			w.Header().Set("Content-Length", strconv.Itoa(len(chunks[0])))
		}
		write(w, half(chunks), true)
	case Malformed:
		write(w, half(chunks), false)
	default:
		write(w, chunks, false)
	}
}

// pause waits as long as the step says, and reports whether the client is still
// there.
func pause(r *http.Request, step Step) bool {
	if step.Do == Hang {
		<-r.Context().Done()
		return false
	}
	if step.Delay <= 0 {
		return true
	}
	timer := time.NewTimer(step.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// half returns the first half of an answer, cut within a value.
func half(chunks [][]byte) [][]byte {
	if len(chunks) == 1 {
		return [][]byte{chunks[0][:len(chunks[0])/2]}
	}
	n := len(chunks) / 2
	last := chunks[n]
	return append(chunks[:n:n], last[:len(last)/2])
}

// write sends chunks one by one, and may end the connection behind them.
func write(w http.ResponseWriter, chunks [][]byte, cut bool) {
	rc := http.NewResponseController(w)
	for _, c := range chunks {
		if _, err := w.Write(c); err != nil {
			return
		}
		if len(chunks) > 1 || cut {
			_ = rc.Flush()
		}
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// event is a server-sent event; an empty name leaves its line out.
func event(name string, v any) []byte {
	out := []byte{}
	if name != "" {
		out = append(out, "event: "+name+"\n"...)
	}
	out = append(out, "data: "...)
	out = append(out, encode(v)...)
	return append(out, "\n\n"...)
}

// pieces cuts a text in parts, as a stream brings it.
func pieces(s string) []string {
	var out []string
	for len(s) > 0 {
		n := min(len(s), 24)
		for n < len(s) && s[n]&0xC0 == 0x80 { // within a character
			n++
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
