package translog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/firstpick/firstpick/publish/storage"
)

// The names of the log's files.
const (
	checkpointName = "log/checkpoint"
	pendingName    = "log/pending"
)

// height is the height of a tile: 256 hashes.
const height = 8

const fullTile = 1 << height

// entriesTile is the bundle of entries with the n-th tile of the lowest level.
func entriesTile(n int64, width int) tlog.Tile { return tlog.Tile{H: height, L: -1, N: n, W: width} }

// pathOf returns the name of a tile: C2SP tlog-tiles has the fixed height in no name.
func pathOf(t tlog.Tile) string {
	rest := strings.TrimPrefix(t.Path(), fmt.Sprintf("tile/%d/", t.H))
	if entries, ok := strings.CutPrefix(rest, "data/"); ok {
		rest = "entries/" + entries
	}
	return "log/tile/" + rest
}

// readTile reads a tile or a bundle of entries. A partial one that is missing is read from
// the full one, which replaces it.
func readTile(ctx context.Context, from storage.Opener, t tlog.Tile) ([]byte, error) {
	data, _, err := storage.ReadAll(ctx, from, pathOf(t))
	if errors.Is(err, fs.ErrNotExist) && t.W < fullTile {
		t.W = fullTile
		data, _, err = storage.ReadAll(ctx, from, pathOf(t))
	}
	return data, err
}

// A tileReader implements tlog.TileReader during one call.
type tileReader struct {
	ctx  context.Context //nolint:containedctx // the interface has no contexts
	from storage.Opener
}

// Height implements tlog.TileReader.
func (r tileReader) Height() int { return height }

// ReadTiles implements tlog.TileReader. tlog checks what it returns.
func (r tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	out := make([][]byte, len(tiles))
	for i, t := range tiles {
		data, err := readTile(r.ctx, r.from, t)
		if err != nil {
			return nil, err
		}
		if len(data) < t.W*tlog.HashSize {
			return nil, fmt.Errorf("%s has %d bytes, want %d", pathOf(t), len(data), t.W*tlog.HashSize)
		}
		out[i] = data[:t.W*tlog.HashSize]
	}
	return out, nil
}

// SaveTiles implements tlog.TileReader.
func (r tileReader) SaveTiles([]tlog.Tile, [][]byte) {}

// hashes returns a reader of hashes that checks them against a tree.
func hashes(ctx context.Context, from storage.Opener, tree tlog.Tree) tlog.HashReader {
	return tlog.TileHashReader(tree, tileReader{ctx, from})
}
