package incumbent

import (
	"bytes"
	"io/fs"
)

// An overlay is a tree with one file replaced.
type overlay struct {
	fs.FS
	path string
	data []byte
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	if err != nil || name != o.path {
		return f, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &file{f, bytes.NewReader(o.data), sized{info, int64(len(o.data))}}, nil
}

// A file has the content of the overlay.
type file struct {
	fs.File
	content *bytes.Reader
	info    fs.FileInfo
}

func (f *file) Read(p []byte) (int, error) { return f.content.Read(p) }
func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }
