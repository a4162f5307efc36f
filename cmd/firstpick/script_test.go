package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fetch is `fetch URL`: it asks until a server answers, for at most 30 seconds,
// prints the status and the body, and exits 1 if nobody answered.
func fetch() {
	client := &http.Client{Timeout: 5 * time.Second}
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		resp, err := client.Get(os.Args[1])
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			break
		}
		fmt.Printf("%d\n%s\n", resp.StatusCode, body)
		return
	}
	fmt.Fprintln(os.Stderr, "nobody answered", os.Args[1])
	os.Exit(1)
}

// damage is `damage MODE GLOB`: it spoils the last file that matches. MODE is
// tail (cut the last 7 bytes), flip (change a byte in the middle) or empty.
func damage() {
	files, err := filepath.Glob(os.Args[2])
	if err != nil || len(files) == 0 {
		fmt.Fprintln(os.Stderr, "no file", os.Args[2])
		os.Exit(1)
	}
	path := files[len(files)-1]
	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	switch os.Args[1] {
	case "tail":
		data = data[:len(data)-7]
	case "flip":
		data[len(data)/2] ^= 1
	case "empty":
		data = []byte(strings.Repeat("x", 4096))
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		panic(err)
	}
}
