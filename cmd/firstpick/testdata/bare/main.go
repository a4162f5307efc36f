// Command bare serves one file's bytes by a bare net/http handler: the baseline
// that the read path is measured against. Usage: bare ADDR FILE
package main

import (
	"log"
	"net/http"
	"os"
	"strconv"
)

func main() {
	body, err := os.ReadFile(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	length := strconv.Itoa(len(body))
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", length)
		h.Set("Cache-Control", "public, max-age=60")
		_, _ = w.Write(body)
	})))
}
