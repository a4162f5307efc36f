package evalclient

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

const catalogPath = "/api/v1/catalog"

// Catalog returns the current version of the workspace's own catalogue, and the tag that
// PutCatalog wants. Version is 0 without one.
func (c *Client) Catalog(ctx context.Context) (*Catalog, string, error) {
	res, err := c.open(ctx, call{method: http.MethodGet, path: catalogPath, again: true})
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", catalogPath, err)
	}
	var out Catalog
	if json.Unmarshal(data, &out) != nil { // its text may hold what was sent
		return nil, "", fmt.Errorf("%s: the answer is not the JSON that the eval API has; is %s the address of a firstpick server?", catalogPath, c.Base)
	}
	return &out, res.Header.Get("ETag"), nil
}

// CatalogVersion returns the n-th version of the workspace's own catalogue, from 1.
func (c *Client) CatalogVersion(ctx context.Context, n int) (*Catalog, error) {
	return get[Catalog](ctx, c, catalogPath+"/versions/"+strconv.Itoa(n), nil)
}

// PutCatalog stores the next version of the workspace's own catalogue, if the current one
// has the tag. A catalogue that is not valid is an *Error with Issues.
func (c *Client) PutCatalog(ctx context.Context, source []byte, tag string) (*Catalog, error) {
	return ask[Catalog](ctx, c, call{
		method: http.MethodPut, path: catalogPath, contentType: yamlType, body: source, again: true, header: map[string]string{"If-Match": tag},
	})
}
