package evalclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

const (
	// A request sends at first maxPart of a file, and less where that fails: a proxy may take
	// less, or the connection be slow.
	maxPart, minPart = 4 << 20, 64 << 10
	// maxIdle is how often in a row sending may fail without progress.
	maxIdle = 5
	// maxWrong is how often a push may arrive with other bytes than were announced.
	maxWrong = 3
)

// A PushSource reads the files of a run that is pushed.
type PushSource func(name string) (io.ReaderAt, error)

// Push sends a run of an eval and returns the run that it became on the server. It continues
// where an earlier Push of the same run ended, and returns the same run if that one was
// complete. sent is called with the bytes that the server has, of all bytes.
func (c *Client) Push(ctx context.Context, evalID string, r UploadRequest, files PushSource, sent func(have, all int64)) (*Run, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	part := int64(maxPart)
	for idle, wrong := 0, 0; ; {
		u, err := ask[Upload](ctx, c, call{method: http.MethodPost, path: "/api/v1/evals/" + url.PathEscape(evalID) + "/uploads", contentType: jsonType, body: body, again: true})
		if err != nil {
			return nil, err
		}
		before := received(u)
		err = c.send(ctx, u, part, files, sent)
		if err == nil {
			var run *Run
			run, err = ask[Run](ctx, c, call{method: http.MethodPost, path: uploadPath(u.ID) + "/complete", again: true})
			if err == nil {
				return run, nil
			}
		}
		smaller := part > minPart && tooLarge(err)
		if idle++; received(u) > before {
			idle = 1
		} else {
			part = max(minPart, part/4)
		}
		if IsCode(err, CodeUploadDigest) {
			wrong++
		}
		if ctx.Err() != nil || idle == maxIdle || wrong == maxWrong || !temporary(err) && !resend(err) && !smaller {
			return nil, err
		}
		if err := c.Sleep(ctx, pause(idle, err)); err != nil {
			return nil, err
		}
	}
}

// Upload returns an upload with what the server has of its files.
func (c *Client) Upload(ctx context.Context, id string) (*Upload, error) {
	return get[Upload](ctx, c, uploadPath(id), nil)
}

// tooLarge reports whether a proxy or the server took no request of that size.
func tooLarge(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == http.StatusRequestEntityTooLarge
}

// resend reports whether another look at the upload shows what is to be sent.
func resend(err error) bool {
	for _, code := range []string{CodeUploadDigest, CodeUploadIncomplete, CodeUploadOffset, CodeUploadNotFound} {
		if IsCode(err, code) {
			return true
		}
	}
	return false
}

// send sends what the server does not have, at most part bytes in a request, and updates u.
func (c *Client) send(ctx context.Context, u *Upload, part int64, files PushSource, sent func(have, all int64)) error {
	all := int64(0)
	for _, f := range u.Files {
		all += f.Bytes
	}
	sent(received(u), all)
	for i := range u.Files {
		f := &u.Files[i]
		if f.Received >= f.Bytes {
			continue
		}
		src, err := files(f.Name)
		if err != nil {
			return &finalError{err}
		}
		for f.Received < f.Bytes {
			body := make([]byte, min(part, f.Bytes-f.Received))
			if _, err := src.ReadAt(body, f.Received); err != nil {
				return &finalError{fmt.Errorf("%s: byte %d: %w", f.Name, f.Received, err)}
			}
			now, err := ask[Upload](ctx, c, call{
				method: http.MethodPut, path: uploadPath(u.ID) + "/files/" + url.PathEscape(f.Name), query: url.Values{"offset": {strconv.FormatInt(f.Received, 10)}},
				contentType: "application/octet-stream", body: body, again: true,
			})
			if err != nil {
				return err
			}
			before := f.Received
			for _, have := range now.Files {
				if have.Name == f.Name {
					f.Received = have.Received
				}
			}
			if f.Received <= before {
				return fmt.Errorf("%s: the server has %d bytes after %d were sent", f.Name, f.Received, before+int64(len(body)))
			}
			sent(received(u), all)
		}
	}
	return nil
}

func received(u *Upload) (n int64) {
	for _, f := range u.Files {
		n += f.Received
	}
	return n
}

func uploadPath(id string) string { return "/api/v1/uploads/" + url.PathEscape(id) }
