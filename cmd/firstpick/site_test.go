package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/firstpick/firstpick/cmd/agentcollect"
)

// sellersSite is `site ADDR URL`: the site of a customer, with the collector as
// the recipe for Go installs it. It runs until it is interrupted.
func sellersSite() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "welcome") })
	mux.HandleFunc("/private", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	mux.HandleFunc("/cached", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Age", "7") })

	c := agentcollect.New(agentcollect.Config{URL: os.Args[2], Key: os.Getenv("FIRSTPICK_KEY")})
	srv := &http.Server{Addr: os.Args[1], Handler: c.Wrap(mux)}
	context.AfterFunc(ctx, func() { _ = srv.Shutdown(context.Background()) })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = c.Close(context.Background()) // a script does not look
}

// keyed is `keyed FILE PROGRAM ARGS`: it becomes the program, with the key that
// the file has, as agent key prints it, in FIRSTPICK_KEY.
func keyed() {
	data, err := os.ReadFile(os.Args[1])
	var made struct{ Key string }
	if err == nil {
		err = json.Unmarshal(data, &made)
	}
	var path string
	if err == nil {
		path, err = exec.LookPath(os.Args[2])
	}
	if err == nil {
		err = syscall.Exec(path, os.Args[2:], append(os.Environ(), "FIRSTPICK_KEY="+made.Key))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
