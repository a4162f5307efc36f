package evalapi

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqbody"
)

// stallTimeout is how long a client may send nothing of a part of a file.
const stallTimeout = 30 * time.Second

// beginUpload announces the files of a run that is pushed: 201 when all of them are to be
// sent, 200 when the upload was there before.
func (h *Handler) beginUpload(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	var req evals.UploadRequest
	if err := reqbody.StrictObject(c.r, &req); err != nil {
		return err
	}
	u, fresh, err := h.Evals.BeginUpload(c.r.Context(), c.Actor, c.param("id"), req)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	c.w.Header().Set("Location", u.URL)
	return c.done(status, u)
}

func (h *Handler) upload(c *call) error {
	return get(c, func(ctx context.Context) (*evals.Upload, error) {
		return h.Evals.Upload(ctx, c.Actor, c.param("uploadId"))
	})
}

// putUploadFile appends the body to a file of an upload.
func (h *Handler) putUploadFile(c *call) error {
	values, err := c.query("offset")
	if err != nil {
		return err
	}
	offset := int64(0)
	if text := values.Get("offset"); text != "" {
		if offset, err = strconv.ParseInt(text, 10, 64); err != nil || offset < 0 {
			return apierr.InvalidRequest("offset is the number of bytes of the file before the body.")
		}
	}
	if media, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); c.r.Header.Get("Content-Type") != "" && (err != nil || media != "application/octet-stream") {
		return &apierr.Error{
			Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Description: "Send the bytes of the file as application/octet-stream.",
		}
	}
	if err := reqbody.Uncompressed(c.r); err != nil {
		return err
	}
	u, err := h.Evals.Receive(c.r.Context(), c.Actor, c.param("uploadId"), c.param("file"), offset, &patient{c.r.Body, http.NewResponseController(c.w)})
	if err != nil {
		return err
	}
	return c.done(http.StatusOK, u)
}

// completeUpload queues the run of an upload.
func (h *Handler) completeUpload(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	run, replayed, err := h.Evals.CompleteUpload(c.r.Context(), c.Actor, c.param("uploadId"))
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", h.Errors.Base+"/api/v1/runs/"+run.ID)
	if replayed {
		c.w.Header().Set("Idempotent-Replayed", "true")
	}
	return c.done(http.StatusAccepted, run)
}

// A patient body may take long in all, and may not stall.
type patient struct {
	io.Reader
	control *http.ResponseController
}

// Read implements io.Reader.
func (p *patient) Read(b []byte) (int, error) {
	until := time.Now().Add(stallTimeout) //nolint:forbidigo // connections use the system clock
	_ = p.control.SetReadDeadline(until)  // unsupported means no deadline
	_ = p.control.SetWriteDeadline(until.Add(stallTimeout))
	return p.Reader.Read(b)
}
