package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// billed is `billed URL SECRET`: it signs the event on its standard input as a
// billing system does, sends it, and prints the status and the body.
func billed() {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	r, err := http.NewRequest(http.MethodPost, os.Args[1], bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	stamp := fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, []byte(os.Args[2]))
	mac.Write([]byte(stamp + "." + string(body)))
	r.Header.Set("Stripe-Signature", "t="+stamp+",v1="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d\n%s\n", resp.StatusCode, answer)
}
