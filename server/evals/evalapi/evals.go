package evalapi

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqbody"
)

// evals lists the workspace's evals, by name.
func (h *Handler) evals(c *call) error {
	values, err := c.query("limit", "cursor")
	if err != nil {
		return err
	}
	limit, err := rows(values, pageRows, maxRows)
	if err != nil {
		return err
	}
	list, next, err := h.Evals.Evals(c.r.Context(), c.Actor, values.Get("cursor"), limit)
	if err != nil {
		return err
	}
	return c.ok(struct {
		Evals []*evals.Eval `json:"evals"`
		Next  *string       `json:"nextCursor"`
	}{list, h.next(c, values, next)})
}

// put creates an eval from the body, or a new version of the eval of that name.
func (h *Handler) put(c *call) error {
	source, values, err := c.source(evals.MaxSource, "eval", "for")
	if err != nil {
		return err
	}
	put := h.Evals.Put
	switch values.Get("for") {
	case "":
	case "push":
		put = h.Evals.PutPushed
	default:
		return apierr.InvalidRequest("for is push, or left out.")
	}
	e, created, _, err := put(c.r.Context(), c.Actor, source)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		c.w.Header().Set("Location", h.Errors.Base+"/api/v1/evals/"+e.ID)
	}
	return c.done(status, e)
}

// check validates an eval and returns its parsed form. It stores nothing.
func (h *Handler) check(c *call) error {
	source, _, err := c.source(evals.MaxSource, "eval")
	if err != nil {
		return err
	}
	e, err := h.Evals.Check(c.r.Context(), c.Actor, source)
	if err != nil {
		return err
	}
	return c.done(http.StatusOK, struct {
		Name   string `json:"name"`
		Digest string `json:"digest"`
		evals.Summary
		MissingKeys []string `json:"missingKeys"`
		Warnings    []string `json:"warnings"`
	}{e.Name, e.Digest, e.Summary, e.MissingKeys, append([]string{}, e.Warnings...)})
}

// source reads an eval or a catalogue as it was written: YAML, or the JSON that is YAML too. known
// are the parameters that the query may have.
func (c *call) source(most int64, what string, known ...string) ([]byte, url.Values, error) {
	values, err := c.query(known...)
	if err != nil {
		return nil, nil, err
	}
	media, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type")) // a malformed type is not in the list
	types := []string{"", "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain", "application/json", "application/octet-stream"}
	if !slices.Contains(types, media) || media == "" && c.r.Header.Get("Content-Type") != "" {
		return nil, nil, &apierr.Error{
			Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Description: "Send the " + what + " itself as application/yaml or application/json.",
		}
	}
	source, err := reqbody.Read(c.r, most)
	return source, values, err
}

func (h *Handler) eval(c *call) error {
	return get(c, func(ctx context.Context) (*evals.Eval, error) { return h.Evals.Eval(ctx, c.Actor, c.param("id")) })
}

func (h *Handler) version(c *call) error {
	n, err := strconv.Atoi(c.param("n"))
	if err != nil {
		n = 0 // versions begin at 1
	}
	return get(c, func(ctx context.Context) (*evals.Eval, error) { return h.Evals.Version(ctx, c.Actor, c.param("id"), n) })
}
