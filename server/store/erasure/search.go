package erasure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A FileFind is a place in a file that holds a searched text.
type FileFind struct {
	Path string
	Text string // that was found
	At   int64  // the byte, counted in the decompressed file; -1 in the name of the file
	How  string // "zstd" in a compressed file, empty in its bytes
}

// A FileSearch is what a search of folders read and found.
type FileSearch struct {
	Finds  []FileFind
	Files  int
	Bytes  int64
	Failed []error // files that could not be read whole
}

// searchChunk is how much of a file is searched at a time.
const searchChunk = 1 << 20

// SearchFiles looks for texts in the names and bytes of all files below the paths, in any
// case of ASCII letters, and in the content of zstd files. A path may be a file.
func SearchFiles(ctx context.Context, paths, texts []string) (*FileSearch, error) {
	out := &FileSearch{}
	seen := map[string]bool{}
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return ignoreMissing(err)
			}
			if abs, err := filepath.Abs(path); err == nil {
				if seen[abs] {
					return nil
				}
				seen[abs] = true
			}
			out.name(path, d.Name(), texts)
			if d.Type().IsRegular() {
				out.file(path, texts)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
	}
	return out, nil
}

func (s *FileSearch) name(path, name string, texts []string) {
	for _, text := range texts {
		if strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
			s.Finds = append(s.Finds, FileFind{Path: path, Text: text, At: -1})
		}
	}
}

func (s *FileSearch) file(path string, texts []string) {
	f, err := os.Open(path)
	if err != nil {
		if ignoreMissing(err) != nil {
			s.Failed = append(s.Failed, err)
		}
		return
	}
	defer func() { _ = f.Close() }()
	s.Files++
	n, err := s.stream(f, path, "", texts)
	s.Bytes += n
	if err != nil {
		s.Failed = append(s.Failed, err)
	}
	if filepath.Ext(path) != ".zst" {
		return
	}
	if err := s.frames(f, path, texts); err != nil {
		s.Failed = append(s.Failed, fmt.Errorf("%s: %w", path, err))
	}
}

// zstdMagic begins a frame.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// frames searches the frames of a zstd file, also when other bytes are between them, as in
// raw answers and traces.
func (s *FileSearch) frames(f *os.File, path string, texts []string) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	frame := func(at int64) error {
		z, err := zstd.NewReader(io.NewSectionReader(f, at, info.Size()-at), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer z.Close()
		_, err = s.stream(z, path, "zstd", texts)
		return err
	}
	starts, err := places(io.NewSectionReader(f, 0, info.Size()), zstdMagic)
	if err != nil || len(starts) == 0 {
		return errors.Join(err, errors.New("no zstd frame"))
	}
	if starts[0] == 0 && frame(0) == nil {
		return nil
	}
	for _, at := range starts {
		// A frame ends with other bytes, and four bytes may look like the start of one.
		if err := frame(at); err != nil && !errors.Is(err, zstd.ErrMagicMismatch) && len(starts) == 1 {
			return err
		}
	}
	return nil
}

// places returns where a short text occurs.
func places(r io.Reader, text []byte) (out []int64, err error) {
	buf := make([]byte, 0, searchChunk+len(text))
	var at int64
	for {
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+searchChunk])
		buf = buf[:len(buf)+n]
		for i := 0; ; {
			next := bytes.Index(buf[i:], text)
			if next < 0 {
				break
			}
			i += next
			out = append(out, at+int64(i))
			i += len(text)
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return out, err
		}
		keep := len(text) - 1
		at += int64(len(buf) - keep)
		copy(buf, buf[len(buf)-keep:])
		buf = buf[:keep]
	}
}

// stream reports the first place of each text.
func (s *FileSearch) stream(r io.Reader, path, how string, texts []string) (int64, error) {
	longest := 1
	for _, text := range texts {
		longest = max(longest, len(text))
	}
	found := map[string]bool{}
	buf := make([]byte, 0, searchChunk+longest)
	var at int64 // of the start of buf
	for {
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+searchChunk])
		buf = buf[:len(buf)+n]
		lower := lowerASCII(buf)
		for _, text := range texts {
			if i := bytes.Index(lower, lowerASCII([]byte(text))); i >= 0 && text != "" && !found[text] {
				found[text] = true
				s.Finds = append(s.Finds, FileFind{path, text, at + int64(i), how})
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return at + int64(len(buf)), err
		}
		keep := min(longest-1, len(buf)) // a text may lie across two chunks
		at += int64(len(buf) - keep)
		copy(buf, buf[len(buf)-keep:])
		buf = buf[:keep]
	}
}

// lowerASCII returns a copy with lower-case letters; other bytes stay.
func lowerASCII(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}
