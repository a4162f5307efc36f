package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

// shapes are how events come: n in a request, from some connections.
func shapes() []struct{ n, callers int } {
	return []struct{ n, callers int }{{1, 64}, {100, 8}}
}

// measureCollect compares POST /api/collect with the shared commit of the same rows.
func measureCollect(b *bench) error {
	w, err := b.claimedWorkspace("bench@example.com") // an unclaimed workspace may send little
	if err != nil {
		return err
	}
	for _, shape := range shapes() {
		var store, http []rate
		for range b.rounds {
			r, err := b.commitEvents(shape.n, shape.callers)
			if err != nil {
				return err
			}
			store = append(store, r)
			if r, err = b.sendEvents(w.key, shape.n, shape.callers); err != nil {
				return err
			}
			http = append(http, r)
		}
		s, h := medians(store), medians(http)
		memory, err := b.memory()
		if err != nil {
			return err
		}
		n := float64(shape.n)
		fmt.Printf("  %-6s store %7.0f events/s   http %7.0f events/s  %.2f of the store, p99 %.1f ms, server %d MiB\n",
			fmt.Sprintf("%dx%d", shape.n, shape.callers), s.perSecond*n, h.perSecond*n, h.perSecond/s.perSecond, ms(h.p99), memory)
	}
	return nil
}

// commitEvents stores rows of the size of the requests' in a store of its own.
func (b *bench) commitEvents(n, callers int) (r rate, err error) {
	db, err := b.bareStore()
	if err != nil {
		return rate{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	w := collect.NewWriter(db)
	defer w.Close()
	body := bytes.Repeat([]byte("x"), 380)
	at := time.Now()
	return load(callers, b.span, func(i int64) error {
		events := make([]state.CollectedEvent, n)
		for k := range events {
			events[k] = state.CollectedEvent{WorkspaceID: "ws", ID: strconv.FormatInt(i, 36) + "-" + strconv.Itoa(k), ReceivedAt: at, Body: body}
		}
		_, err := w.Store(context.Background(), events)
		return err
	})
}

// bareStore opens a new store in this process.
func (b *bench) bareStore() (*state.DB, error) {
	vault, err := benchVault()
	if err != nil {
		return nil, err
	}
	b.stores++
	address, err := b.store("bare" + strconv.Itoa(b.stores))
	if err != nil {
		return nil, err
	}
	return state.Open(context.Background(), address, vault)
}

func benchVault() (*secret.Vault, error) { return secret.NewVault(masterKey(), rand.Reader) }

func masterKey() []byte { return bytes.Repeat([]byte{7}, secret.MasterSize) }

func (b *bench) sendEvents(key string, n, callers int) (rate, error) {
	return load(callers, b.span, func(int64) error {
		i := b.sent.Add(1)
		var body bytes.Buffer
		body.WriteByte('[')
		for k := range n {
			if k > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(&body, `{"type":"touch","id":"%s-%d","url":"https://acme.example/docs/page-%d.md?via=mcp","method":"GET","status":200,"signals":{"userAgent":"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)","ip":"203.0.113.%d","referrer":"https://chatgpt.com/"}}`,
				strconv.FormatInt(i, 36), k, k%50, k%250)
		}
		body.WriteByte(']')
		got, err := b.send(http.MethodPost, "/api/collect", key, "application/json", body.Bytes())
		if err == nil && got.status != http.StatusAccepted {
			err = fmt.Errorf("collect: %d %s", got.status, got.body)
		}
		return err
	})
}
