// Command bare serves one recorded answer, headers and body, by a bare net/http
// handler: the baseline that the read path is measured against.
// Usage: bare ADDR HEADERS BODY, where HEADERS is what curl -D wrote.
package main

import (
	"bufio"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	f, err := os.Open(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	headers := map[string][]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ": ")
		if ok && key != "Date" {
			headers[http.CanonicalHeaderKey(key)] = []string{strings.TrimSpace(value)}
		}
	}
	body, err := os.ReadFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for key, value := range headers {
			h[key] = value
		}
		_, _ = w.Write(body)
	})))
}
