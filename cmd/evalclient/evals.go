package evalclient

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	yamlType = "application/yaml"
	jsonType = "application/json"
	pageSize = "100"
	// maxEmpty is how many pages in a row may hold nothing: a list that goes on so has no
	// end.
	maxEmpty = 10
)

// Evals lists the evals of the workspace, page by page. An error ends the list.
func (c *Client) Evals(ctx context.Context) iter.Seq2[*Eval, error] {
	return list[Eval](ctx, c, "/api/v1/evals", "evals", url.Values{"limit": {pageSize}})
}

// Eval returns an eval with its source.
func (c *Client) Eval(ctx context.Context, id string) (*Eval, error) {
	return get[Eval](ctx, c, "/api/v1/evals/"+url.PathEscape(id), nil)
}

// Version returns an eval as it was in its n-th version, from 1.
func (c *Client) Version(ctx context.Context, id string, n int) (*Eval, error) {
	return get[Eval](ctx, c, "/api/v1/evals/"+url.PathEscape(id)+"/versions/"+strconv.Itoa(n), nil)
}

// FindEval returns the eval with that id or, if unknown, that name.
func (c *Client) FindEval(ctx context.Context, name string) (*Eval, error) {
	if strings.HasPrefix(name, "evl_") {
		ev, err := c.Eval(ctx, name)
		if err == nil || !IsCode(err, CodeEvalNotFound) {
			return ev, err
		}
	}
	for ev, err := range c.Evals(ctx) {
		if err != nil {
			return nil, err
		}
		if ev.Name == name {
			return c.Eval(ctx, ev.ID)
		}
	}
	return nil, &Error{Status: http.StatusNotFound, Code: CodeEvalNotFound, Description: "The workspace has no eval of that id or name."}
}

// Put stores an eval, YAML or JSON: a new one, or a new version of the one with its
// name. An eval that is not valid is an *Error with Issues.
func (c *Client) Put(ctx context.Context, source []byte) (*Eval, error) {
	return ask[Eval](ctx, c, upload("/api/v1/evals", source))
}

// PutPushed stores the eval of a run that is pushed. It may have programs and private
// addresses, which the server does not run.
func (c *Client) PutPushed(ctx context.Context, source []byte) (*Eval, error) {
	in := upload("/api/v1/evals", source)
	in.query = url.Values{"for": {"push"}}
	return ask[Eval](ctx, c, in)
}

// Check validates like Put, and stores nothing.
func (c *Client) Check(ctx context.Context, source []byte) (*Eval, error) {
	return ask[Eval](ctx, c, upload("/api/v1/evals/check", source))
}

// upload is a call with an eval as it is written.
func upload(path string, source []byte) call {
	in := call{method: http.MethodPost, path: path, contentType: yamlType, body: source}
	if json.Valid(source) {
		in.contentType = jsonType
	}
	return in
}

// list reads a list of pages: objects with the items under a key and, where the list
// has more than one page, nextCursor.
func list[T any](ctx context.Context, c *Client, path, key string, query url.Values) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		seen, empty := map[string]bool{}, 0
		for {
			page, err := get[map[string]json.RawMessage](ctx, c, path, query)
			if err != nil {
				yield(nil, err)
				return
			}
			var items []*T
			var next *string
			if decode((*page)[key], &items) != nil || decode((*page)["nextCursor"], &next) != nil {
				yield(nil, errors.New(path+": the answer is not a page of a list"))
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil || *next == "" {
				return
			}
			if empty++; len(items) > 0 {
				empty = 0
			}
			if seen[*next] || empty == maxEmpty {
				yield(nil, errors.New(path+": the list goes in circles"))
				return
			}
			seen[*next] = true
			query.Set("cursor", *next)
		}
	}
}

func decode(data json.RawMessage, v any) error {
	if data == nil {
		return nil
	}
	return json.Unmarshal(data, v)
}
