package translog_test

import (
	"bytes"
	"context"
	"io/fs"

	"github.com/firstpick/firstpick/publish/storage"
)

// files is an Opener in memory.
type files map[string][]byte

type memoryFile struct {
	*bytes.Reader
	name string
}

func (f memoryFile) Close() error       { return nil }
func (f memoryFile) Info() storage.Info { return storage.Info{Name: f.name, Size: f.Size()} }

func (f files) Open(_ context.Context, name string) (storage.File, error) {
	data, ok := f[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return memoryFile{bytes.NewReader(data), name}, nil
}
