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
// the full one, which replaces it. The error is a *FileError if both are missing.
func readTile(ctx context.Context, from storage.Opener, t tlog.Tile) ([]byte, error) {
	name := pathOf(t)
	data, _, err := storage.ReadAll(ctx, from, name)
	if errors.Is(err, fs.ErrNotExist) && t.W < fullTile {
		t.W = fullTile
		data, _, err = storage.ReadAll(ctx, from, pathOf(t))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = &FileError{name, errors.New("missing")}
	}
	return data, err
}

// A tileReader implements tlog.TileReader during one call. It keeps the tiles above the
// lowest level, which most reads share.
type tileReader struct {
	ctx  context.Context //nolint:containedctx // the interface has no contexts
	from storage.Opener
	kept map[tlog.Tile][]byte
	// read are the tiles of the last ReadTiles; nil if it failed.
	read []tlog.Tile
}

// Height implements tlog.TileReader.
func (r *tileReader) Height() int { return height }

// ReadTiles implements tlog.TileReader. tlog checks what it returns.
func (r *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	r.read = nil
	out := make([][]byte, len(tiles))
	for i, t := range tiles {
		if out[i] = r.kept[t]; out[i] != nil {
			continue
		}
		data, err := readTile(r.ctx, r.from, t)
		if err != nil {
			return nil, err
		}
		if len(data) < t.W*tlog.HashSize {
			return nil, &FileError{pathOf(t), fmt.Errorf("%d bytes, want %d", len(data), t.W*tlog.HashSize)}
		}
		out[i] = data[:t.W*tlog.HashSize]
	}
	r.read = tiles
	return out, nil
}

// SaveTiles implements tlog.TileReader.
func (r *tileReader) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	for i, t := range tiles {
		if t.L > 0 || t.W < fullTile {
			r.kept[t] = data[i]
		}
	}
}

// hashes returns a reader of hashes that checks them against the head. Its error is a
// *FileError unless a tile could not be read.
func (v *View) hashes(ctx context.Context) tlog.HashReader {
	tiles := &tileReader{ctx: ctx, from: v.from, kept: map[tlog.Tile][]byte{}}
	checked := tlog.TileHashReader(v.tree(), tiles)
	return tlog.HashReaderFunc(func(indices []int64) ([]tlog.Hash, error) {
		out, err := checked.ReadHashes(indices)
		if err == nil || len(tiles.read) == 0 {
			return out, err
		}
		var names []string
		for _, t := range tiles.read {
			names = append(names, pathOf(t))
		}
		if len(names) == 1 {
			return nil, &FileError{names[0], errors.New("its hashes do not give the root hash of the head")}
		}
		return nil, &FileError{"log/tile", fmt.Errorf("the hashes of these tiles do not give the root hash of the head: %s", strings.Join(names, ", "))}
	})
}
