package evalapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// catalog returns the workspace's own catalogue.
func (h *Handler) catalog(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	own, err := h.Evals.Catalog(c.r.Context(), c.Actor)
	if err != nil {
		return err
	}
	return c.sendCatalog(own)
}

func (h *Handler) catalogVersion(c *call) error {
	n, err := strconv.Atoi(c.param("n"))
	if err != nil {
		n = 0 // versions begin at 1
	}
	return get(c, func(ctx context.Context) (*evals.Catalog, error) { return h.Evals.CatalogVersion(ctx, c.Actor, n) })
}

// putCatalog stores the body as the next version of the workspace's own catalogue.
func (h *Handler) putCatalog(c *call) error {
	source, _, err := c.source(evals.MaxCatalog, "catalogue")
	if err != nil {
		return err
	}
	ctx := c.r.Context()
	now, err := h.Evals.Catalog(ctx, c.Actor)
	if err != nil {
		return err
	}
	base, err := baseOf(c.r, now)
	if err != nil {
		return err
	}
	stored, _, err := h.Evals.PutCatalog(ctx, c.Actor, source, base)
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", `"`+catalogTag(stored)+`"`)
	return c.done(http.StatusOK, stored)
}

// baseOf returns the version that a change is of, by If-Match (RFC 9110, 13.1.1): a
// version that somebody else stored meanwhile must not be lost.
func baseOf(r *http.Request, now *evals.Catalog) (int, error) {
	lists := r.Header.Values("If-Match")
	if len(lists) == 0 && now.Version > 0 {
		return 0, &apierr.Error{
			Status: http.StatusPreconditionRequired, Code: "precondition_required",
			Description: "Send If-Match with the ETag of the version that you changed, from GET /api/v1/catalog; or * to replace any version.",
		}
	}
	if len(lists) == 0 {
		return 0, nil
	}
	for tag := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		switch tag = strings.TrimSpace(tag); strings.TrimSuffix(strings.Trim(tag, `"`), "-gz") {
		case "*":
			return evals.AnyCatalog, nil
		case catalogTag(now):
			return now.Version, nil
		}
	}
	return evals.NoCatalog, nil
}

// catalogTag identifies a version. In a restored store the number alone may repeat.
func catalogTag(c *evals.Catalog) string {
	digest := strings.TrimPrefix(c.Digest, "sha256:")
	return strconv.Itoa(c.Version) + "-" + digest[:min(16, len(digest))]
}

func (c *call) sendCatalog(own *evals.Catalog) error {
	data, err := encode(own)
	if err != nil {
		return err
	}
	return c.send(data, catalogTag(own))
}
