package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// fetch is `fetch URL`: it asks until a server answers, for at most two minutes,
// prints the status and the body, and exits 1 if nobody answered.
func fetch() {
	client := &http.Client{Timeout: 5 * time.Second}
	deadline := time.Now().Add(2 * time.Minute)
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

// exits is `exits CODE PROGRAM...`: it runs a program, passes on what it prints, and
// exits 0 if its exit code was that one.
func exits() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if want := os.Args[1]; fmt.Sprint(cmd.ProcessState.ExitCode()) != want {
		fmt.Fprintf(os.Stderr, "exit code %d, want %s: %v\n", cmd.ProcessState.ExitCode(), want, err)
		os.Exit(1)
	}
}

// damage is `damage MODE GLOB`: it spoils the last file that matches. MODE is
// tail (cut the last 7 bytes), flip (change a byte in the middle), last (change one in
// the last line), cut (keep the first 5,000) or empty.
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
	case "last":
		data[len(data)-20] ^= 1
	case "cut":
		data = data[:5000]
	case "empty":
		data = []byte(strings.Repeat("x", 4096))
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		panic(err)
	}
}

// age is `age DURATION BACKUP OUT`: it writes a backup of the state store in which
// everything happened so much earlier.
func age() {
	by, err := time.ParseDuration(os.Args[1])
	if err == nil {
		err = ageBackup(by, os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ageBackup(by time.Duration, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	unpacked, err := zstd.NewReader(in)
	if err != nil {
		return err
	}
	defer unpacked.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	packed, err := zstd.NewWriter(out)
	if err != nil {
		return errors.Join(err, out.Close())
	}
	dec, enc := json.NewDecoder(unpacked), json.NewEncoder(packed)
	dec.UseNumber()
	for err == nil {
		var line map[string]any
		if err = dec.Decode(&line); err != nil {
			break
		}
		values, _ := line["v"].([]any)
		for i, v := range values {
			n, ok := v.(json.Number)
			if us, bad := n.Int64(); ok && bad == nil && us > 1e15 { // a time, in microseconds since 1970
				values[i] = us - by.Microseconds()
			}
		}
		err = enc.Encode(line)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, packed.Close(), out.Close())
}

// shape is `shape FILE`: it prints the paths of what JSON documents hold, and what
// kind of value is at each: what a script that reads them relies on.
func shape() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	seen := map[string]bool{}
	for dec := json.NewDecoder(f); ; {
		var doc any
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		shapeOf(seen, "", doc)
	}
	for _, line := range slices.Sorted(maps.Keys(seen)) {
		fmt.Println(line)
	}
}

func shapeOf(seen map[string]bool, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			shapeOf(seen, path+"."+name, child)
		}
	case []any:
		for _, child := range v {
			shapeOf(seen, path+"[]", child)
		}
		if len(v) == 0 {
			seen[path+"[] empty"] = true
		}
	case nil:
		seen[path+" null"] = true
	default:
		seen[fmt.Sprintf("%s %T", path, v)] = true
	}
}

// stranger is `stranger ADDR MODE`: it serves something that is no service of
// agents. MODE is html or redirect.
func stranger() {
	page := func(w http.ResponseWriter, r *http.Request) {
		if os.Args[2] == "redirect" && r.URL.Path != "/" {
			http.Redirect(w, r, "https://www.example.com"+r.URL.Path, http.StatusMovedPermanently)
			return
		}
		_, _ = io.WriteString(w, "<!doctype html><title>Welcome</title>")
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1], http.HandlerFunc(page)))
	os.Exit(1)
}
