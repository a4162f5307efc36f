package journal

import (
	"io"
	"os"
	"path/filepath"
)

// A File is a file of a run, up to the end of its last record.
type File struct {
	Name, Path string
	Bytes      int64
}

// Files returns the plan and the segments of the records of a run up to an offset, which
// Scan returned. Raw answers are not among them.
func Files(root, id string, end Offset) ([]File, error) {
	dir, err := runDir(root, id)
	if err != nil {
		return nil, err
	}
	last := end.Segment
	if end.Byte == 0 {
		last-- // a segment without a record
	}
	out := []File{{Name: runFile, Path: filepath.Join(dir, runFile)}}
	for n := 1; n <= last; n++ {
		path := segmentPath(dir, n)
		out = append(out, File{Name: filepath.Base(path), Path: path})
	}
	for i := range out {
		info, err := os.Stat(out[i].Path)
		if err != nil {
			return nil, err
		}
		if out[i].Bytes = info.Size(); i == end.Segment && i > 0 {
			out[i].Bytes = end.Byte
		}
	}
	return out, nil
}

// Hold keeps others from writing to a run until the caller closes it. It fails with ErrBusy
// while another process writes.
func Hold(root, id string) (io.Closer, error) {
	dir, err := runDir(root, id)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, runFile)); err != nil {
		return nil, err
	}
	return lockDir(dir, id)
}
