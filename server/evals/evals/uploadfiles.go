package evals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// uploadFolder is the folder of an upload, with the run's own folder in it: workers read it
// as a folder of runs.
func (s *Service) uploadFolder(u *state.Upload) string {
	return filepath.Join(s.Uploads, u.WorkspaceID, "uploads", u.ID)
}

func (s *Service) uploadFile(u *state.Upload, name string) string {
	return filepath.Join(s.uploadFolder(u), u.LocalRun, name)
}

// prepareFolder makes the folder of an incomplete upload, and empties that of a fresh one.
func (s *Service) prepareFolder(u *state.Upload, fresh bool) error {
	if !u.CompletedAt.IsZero() {
		return nil
	}
	if fresh {
		if err := s.dropFolder(u); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Dir(s.uploadFile(u, planFile)), 0o755)
}

func (s *Service) dropFolder(u *state.Upload) error { return os.RemoveAll(s.uploadFolder(u)) }

// received is how many bytes of a file are here.
func (s *Service) received(u *state.Upload, name string) (int64, error) {
	info, err := os.Stat(s.uploadFile(u, name))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// maxPiece is how much of a part is read before it is written, in bytes.
const maxPiece = 1 << 20

// receive writes a part of a file, piece by piece, until the upload is complete. It returns
// the upload. Files only grow: what two clients send of the same file is written once.
func (s *Service) receive(ctx context.Context, a Actor, u *state.Upload, f resource.AnnouncedFile, offset int64, body io.Reader) (row *state.Upload, err error) {
	in := &bodyReader{r: io.LimitReader(body, f.Bytes-offset)}
	piece := make([]byte, max(1, min(maxPiece, f.Bytes-offset)))
	for {
		n, end := io.ReadFull(in, piece)
		if in.err != nil { // what came before it is kept, also of a client that is gone
			ctx = context.WithoutCancel(ctx)
		}
		// The lock excludes a completion: then the files stay as they were verified.
		err := s.DB.Write(ctx, func(tx *state.Tx) (err error) {
			row, err = s.lockUpload(ctx, tx, a, u.ID)
			switch {
			case err != nil || !row.CompletedAt.IsZero():
				return err
			case row.Digest != u.Digest:
				return otherFiles()
			}
			return s.writePiece(row, f, offset, piece[:n])
		})
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, noUpload() // erased or expired meanwhile
		case err != nil:
			return nil, err
		case !row.CompletedAt.IsZero():
			return row, nil
		case in.err != nil:
			return nil, bodyError(in.err)
		}
		if offset += int64(n); end != nil || offset == f.Bytes {
			break
		}
	}
	if n, _ := io.CopyN(io.Discard, body, 1); n > 0 {
		return nil, apierr.BadBody("invalid_upload", "The body has more bytes than the file, which has "+strconv.FormatInt(f.Bytes, 10)+".")
	}
	return row, nil
}

// writePiece writes bytes of a file and returns when they are on disk.
func (s *Service) writePiece(u *state.Upload, f resource.AnnouncedFile, offset int64, piece []byte) (err error) {
	file, err := os.OpenFile(s.uploadFile(u, f.Name), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	has := min(info.Size(), f.Bytes)
	if offset < 0 || offset > has {
		return conflict("upload_offset", "The server has "+strconv.FormatInt(has, 10)+" bytes of this file. Continue from there: offset is at most that.")
	}
	if offset+int64(len(piece)) <= has { // received before
		return nil
	}
	if _, err := file.WriteAt(piece[has-offset:], has); err != nil {
		return err
	}
	return file.Sync()
}

// A bodyReader remembers an error of the body, to tell it from one of the disk.
type bodyReader struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		e := apierr.TooLarge()
		e.Description = "The request body is larger than " + strconv.FormatInt(MaxPart>>20, 10) + " MiB. Send the file in parts."
		return e
	}
	return apierr.InvalidRequest("Unexpected end of the request body. The bytes before it are kept: continue from there.")
}

// MaxPart is the maximum size of a part of a file, in bytes.
const MaxPart = 16 << 20

// verifyFiles compares every file with its size and digest, and syncs the names. A file that
// differs is dropped. It returns the state of the files, by path.
func (s *Service) verifyFiles(ctx context.Context, a Actor, u *state.Upload) (map[string]os.FileInfo, error) {
	files, err := filesOf(u)
	if err != nil {
		return nil, err
	}
	verified := map[string]os.FileInfo{}
	for _, f := range files {
		path := s.uploadFile(u, f.Name)
		got, n, info, err := hashFile(ctx, path)
		switch {
		case errors.Is(err, os.ErrNotExist) || err == nil && n < f.Bytes:
			return nil, conflict("upload_incomplete", fmt.Sprintf("The server has %d of %d bytes of %s. Send the rest, then complete the upload.", n, f.Bytes, f.Name))
		case err != nil:
			return nil, err
		case n != f.Bytes || got != f.SHA256:
			if err := s.dropFile(ctx, a, u, f.Name, info); err != nil {
				return nil, err
			}
			return nil, conflict("upload_digest", "The bytes of "+f.Name+" do not have the announced SHA-256, and were dropped. Send this file again.")
		}
		verified[path] = info
	}
	for dir := filepath.Dir(s.uploadFile(u, planFile)); len(dir) >= len(s.Uploads); dir = filepath.Dir(dir) {
		if err := syncFolder(dir); err != nil {
			return nil, err
		}
	}
	return verified, nil
}

// dropFile removes a file of an incomplete upload, unless it was replaced since it was read.
func (s *Service) dropFile(ctx context.Context, a Actor, u *state.Upload, name string, read os.FileInfo) error {
	return s.DB.Write(ctx, func(tx *state.Tx) error {
		row, err := s.lockUpload(ctx, tx, a, u.ID)
		if err != nil || !row.CompletedAt.IsZero() || !isUnchanged(s.uploadFile(row, name), read) {
			return err
		}
		return os.Remove(s.uploadFile(row, name))
	})
}

// isUnchanged reports whether a file is the one that was read, and was not written to since.
func isUnchanged(path string, read os.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, read) && now.Size() == read.Size() && now.ModTime().Equal(read.ModTime())
}

// hashFile returns the digest of a file, its size, and its state before it was read.
func hashFile(ctx context.Context, path string) (string, int64, os.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", 0, nil, err
	}
	h := sha256.New()
	for n := int64(0); ; {
		part, err := io.CopyN(h, f, MaxPart)
		n += part
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), n, info, ctx.Err()
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return "", n, info, err
		}
	}
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
