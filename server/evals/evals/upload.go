package evals

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// uploadLife is how long an upload that nobody continues is kept.
	uploadLife     = 48 * time.Hour
	maxUploadFiles = 100
	sweptUploads   = 100 // in one sweep
)

// Names of a pushed run and of its files. They become names of folders and files, so nothing
// else is accepted.
var (
	localRunName = lazyregexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)
	sha256Hex    = lazyregexp.MustCompile(`^[0-9a-f]{64}$`)
)

// planFile is the plan of a run; segmentFile names a segment of its journal.
const planFile = "run.json"

func segmentFile(n int) string { return fmt.Sprintf("journal-%06d.ndjson", n) }

// checkUpload validates a request and sorts its files: the plan, then the journal.
func checkUpload(req *UploadRequest, most int64) (size int64, err error) {
	bad := func(format string, args ...any) error {
		return apierr.BadBody("invalid_upload", fmt.Sprintf(format, args...))
	}
	switch {
	case !localRunName.MatchString(req.Run):
		return 0, bad("run is the id of the run: at most 200 letters, digits, dots, dashes and underscores.")
	case req.EvalDigest == "" || len(req.EvalDigest) > 200 || !isPrintable(req.EvalDigest):
		return 0, bad("evalDigest is the digest of the eval, as GET /api/v1/evals shows it.")
	case len(req.Files) < 2 || len(req.Files) > maxUploadFiles:
		return 0, bad("files has from 2 to %d entries: run.json and the segments of the journal.", maxUploadFiles)
	}
	sorting.Func(req.Files, func(a, b resource.AnnouncedFile) int {
		plan := func(f resource.AnnouncedFile) int {
			if f.Name == planFile {
				return 0
			}
			return 1
		}
		return cmp.Or(plan(a)-plan(b), cmp.Compare(a.Name, b.Name))
	})
	for i := range req.Files {
		f := &req.Files[i]
		want := planFile
		if i > 0 {
			want = segmentFile(i)
		}
		switch {
		case f.Name != want:
			return 0, bad("files must be run.json, journal-000001.ndjson, journal-000002.ndjson and so on, each once; %s is missing.", want)
		case !sha256Hex.MatchString(f.SHA256):
			return 0, bad("sha256 of %s must be 64 lower-case hexadecimal digits.", want)
		case f.Bytes < 1 || f.Bytes > most || size+f.Bytes > most:
			return 0, &apierr.Error{
				Status: http.StatusRequestEntityTooLarge, Code: "request_too_large",
				Description: "The files of a pushed run have from 1 to " + strconv.FormatInt(most, 10) + " bytes here. Ask the operator for more.",
			}
		}
		size += f.Bytes
	}
	return size, nil
}

func isPrintable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// mayPush fails for actors that may start no run, and on a server without a folder.
func (s *Service) mayPush(a Actor) error {
	if err := errors.Join(a.may(ScopeRun), s.needPlan(a)); err != nil {
		return s.fail(err)
	}
	if s.Uploads == "" {
		return conflict("uploads_disabled", "This server has no data folder, so no run can be pushed to it.")
	}
	return nil
}

// BeginUpload announces the files of a run of an eval. Repeated for the same run it returns
// the same upload, complete or not; fresh reports that none of its files are here. An
// incomplete upload of the run with other files is replaced.
func (s *Service) BeginUpload(ctx context.Context, a Actor, eval string, req UploadRequest) (_ *Upload, fresh bool, err error) {
	if err := s.mayPush(a); err != nil {
		return nil, false, err
	}
	caps, now := s.Caps.or(), s.Now()
	size, err := checkUpload(&req, caps.UploadBytes)
	if err != nil {
		return nil, false, err
	}
	files, err := json.Marshal(req.Files)
	if err != nil {
		return nil, false, s.fail(err)
	}
	sum := sha256.Sum256(files)
	next := &state.Upload{
		ID: s.Secrets.ID("run_"), WorkspaceID: a.Workspace.ID, EvalID: eval, LocalRun: req.Run, Digest: hex.EncodeToString(sum[:]),
		Files: files, Size: size, CreatedAt: now, CreatedBy: a.By, ExpiresAt: now.Add(uploadLife),
	}
	var row *state.Upload
	err = s.write(ctx, func(tx *state.Tx) (err error) {
		if _, err := tx.Eval(ctx, a.Workspace.ID, eval); err != nil {
			return noEval(err)
		}
		v, err := tx.EvalVersionOf(ctx, a.Workspace.ID, eval, req.EvalDigest)
		if err != nil {
			return orMissing(err, "eval_version_not_found", "No version of this eval has this digest. Store the eval of the run with POST /api/v1/evals, then try again.")
		}
		next.Version = v.Number
		row, fresh, err = tx.PutUpload(ctx, next, state.UploadCap{Bytes: caps.UploadsBytes, Open: caps.OpenUploads})
		switch {
		case errors.Is(err, state.ErrOtherUpload):
			return conflict("upload_conflict", "This run was pushed before, with other files, as run "+row.ID+". Its journal has grown since. Erase that run here, then push again.")
		case errors.Is(err, state.ErrUploadsFull):
			return conflict("too_many_uploads", "The pushed runs of this workspace may take "+strconv.FormatInt(caps.UploadsBytes, 10)+" bytes, and "+strconv.Itoa(caps.OpenUploads)+" may be incomplete. Complete or erase some.")
		case err != nil:
			return err
		}
		// In the transaction, so that no erasure passes between the row and its folder.
		return s.prepareFolder(row, fresh)
	})
	if err != nil {
		return nil, false, err
	}
	out, err := s.upload(row)
	return out, fresh, s.fail(err)
}

// Upload returns an upload with what has been received of its files.
func (s *Service) Upload(ctx context.Context, a Actor, id string) (*Upload, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	row, err := s.findUpload(ctx, s.DB.Read(), a, id)
	if err != nil {
		return nil, s.fail(err)
	}
	out, err := s.upload(row)
	return out, s.fail(err)
}

// Receive appends to a file of an upload, from an offset that is at most what was received;
// what was received before stays. It returns the upload once the bytes are on disk.
// Bytes before an error of the body are kept. A complete upload stays as it is.
func (s *Service) Receive(ctx context.Context, a Actor, id, name string, offset int64, body io.Reader) (*Upload, error) {
	if err := s.mayPush(a); err != nil {
		return nil, err
	}
	row, err := s.findUpload(ctx, s.DB.Read(), a, id)
	if err != nil {
		return nil, s.fail(err)
	}
	files, err := filesOf(row)
	if err != nil {
		return nil, s.fail(err)
	}
	i := slices.IndexFunc(files, func(f resource.AnnouncedFile) bool { return f.Name == name })
	if i < 0 {
		return nil, missing("upload_not_found", "This upload has no such file; its list of files names them.")
	}
	if row, err = s.receive(ctx, a, row, files[i], offset, body); err != nil {
		return nil, s.fail(err)
	}
	out, err := s.upload(row)
	return out, s.fail(err)
}

// CompleteUpload verifies the size and digest of every file and queues the run for a worker,
// which verifies the journal. Repeated it returns the same run, and replayed is true. A file
// that differs is dropped: send it again.
func (s *Service) CompleteUpload(ctx context.Context, a Actor, id string) (r *Run, replayed bool, err error) {
	if err := s.mayPush(a); err != nil {
		return nil, false, err
	}
	row, err := s.findUpload(ctx, s.DB.Read(), a, id)
	if err != nil {
		return nil, false, s.fail(err)
	}
	announced := row.Digest
	var verified map[string]os.FileInfo
	if row.CompletedAt.IsZero() {
		if verified, err = s.verifyFiles(ctx, a, row); err != nil {
			return nil, false, s.fail(err)
		}
	}
	caps, now := s.Caps.or(), s.Now()
	err = s.write(ctx, func(tx *state.Tx) error {
		row, err := s.lockUpload(ctx, tx, a, id)
		if err != nil {
			return err
		}
		if !row.CompletedAt.IsZero() {
			first, err := tx.Run(ctx, a.Workspace.ID, id)
			if err != nil {
				return noRun(err)
			}
			r, replayed = s.run(first), true
			return nil
		}
		if row.Digest != announced {
			return otherFiles()
		}
		for path, info := range verified {
			if !isUnchanged(path, info) { // announced again, or sent again by another client
				return conflict("upload_incomplete", "The files changed while they were verified. Send what is missing, then complete the upload.")
			}
		}
		e, err := tx.Eval(ctx, a.Workspace.ID, row.EvalID)
		if err != nil {
			return noEval(err)
		}
		v, err := tx.EvalVersion(ctx, a.Workspace.ID, row.EvalID, row.Version)
		if err != nil {
			return noEval(err)
		}
		var sum Summary
		if err := json.Unmarshal(v.Summary, &sum); err != nil {
			return err
		}
		added, _, err := tx.AddRun(ctx, &state.EvalRun{
			ID: row.ID, WorkspaceID: a.Workspace.ID, EvalID: e.ID, Version: row.Version, EvalName: e.Name, Category: sum.Category,
			CreatedAt: now, CreatedBy: a.By, RunProgress: state.RunProgress{Planned: sum.Trials}, Origin: state.OriginPushed,
		}, caps.Queued)
		if errors.Is(err, state.ErrQueueFull) {
			return queueFull(caps.Queued)
		} else if err != nil {
			return err
		}
		r = s.run(added)
		return errors.Join(tx.CompleteUpload(ctx, a.Workspace.ID, id, now),
			s.audit(ctx, tx, a, now, "run.pushed", map[string]string{"run": r.ID, "eval": e.ID, "name": e.Name}))
	})
	if err != nil {
		return nil, false, err
	}
	return r, replayed, nil
}

// SweepUploads deletes incomplete uploads that nobody continued.
func (s *Service) SweepUploads(ctx context.Context) error {
	if s.Uploads == "" {
		return nil
	}
	now := s.Now()
	expired, err := s.DB.Read().ExpiredUploads(ctx, now, sweptUploads)
	if err != nil {
		return err
	}
	for _, u := range expired {
		// In the transaction, so that an upload that is announced again finds no half of it.
		if err := s.DB.Write(ctx, func(tx *state.Tx) error {
			dropped, err := tx.DropExpiredUpload(ctx, u.ID, now)
			if err != nil || !dropped {
				return err
			}
			return s.dropFolder(u)
		}); err != nil {
			return fmt.Errorf("upload %s: %w", u.ID, err)
		}
	}
	return nil
}

func noUpload() error {
	return missing("upload_not_found", "This workspace has no such upload, or it was incomplete for too long. POST /api/v1/evals/{id}/uploads announces it again.")
}

func (s *Service) findUpload(ctx context.Context, tx *state.Tx, a Actor, id string) (*state.Upload, error) {
	row, err := tx.Upload(ctx, a.Workspace.ID, id)
	if errors.Is(err, state.ErrNotFound) || err == nil && row.CompletedAt.IsZero() && !s.Now().Before(row.ExpiresAt) {
		return nil, noUpload()
	}
	return row, err
}

// lockUpload is findUpload in a transaction that no change of the upload or its files passes.
func (s *Service) lockUpload(ctx context.Context, tx *state.Tx, a Actor, id string) (*state.Upload, error) {
	if err := tx.LockWorkspace(ctx, a.Workspace.ID); err != nil {
		return nil, err
	}
	return s.findUpload(ctx, tx, a, id)
}

func otherFiles() error {
	return conflict("upload_conflict", "The run was announced with other files meanwhile. Push it again.")
}

func filesOf(row *state.Upload) (files []resource.AnnouncedFile, err error) {
	if err = json.Unmarshal(row.Files, &files); err != nil {
		err = fmt.Errorf("upload %s: files: %w", row.ID, err)
	}
	return files, err
}

// upload converts a stored upload to its API form.
func (s *Service) upload(row *state.Upload) (*Upload, error) {
	files, err := filesOf(row)
	if err != nil {
		return nil, err
	}
	out := &Upload{
		ID: row.ID, EvalID: row.EvalID, EvalVersion: row.Version, Run: row.LocalRun, Files: []resource.UploadFile{}, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt,
		Complete: !row.CompletedAt.IsZero(), URL: s.BaseURL + "/api/v1/uploads/" + url.PathEscape(row.ID),
	}
	for _, f := range files {
		has := f.Bytes
		if !out.Complete {
			if has, err = s.received(row, f.Name); err != nil {
				return nil, err
			}
		}
		out.Files = append(out.Files, resource.UploadFile{AnnouncedFile: f, Received: min(has, f.Bytes)})
	}
	if out.Complete {
		out.RunURL = s.BaseURL + "/api/v1/runs/" + url.PathEscape(row.ID)
	}
	return out, nil
}
