package resource

import "time"

// Pushed is the origin of a run that was made elsewhere.
const Pushed = "pushed"

// An UploadRequest announces the files of a run that is pushed.
type UploadRequest struct {
	// Run is the id of the run where it was made.
	Run string `json:"run"`
	// EvalDigest is that of the version of the eval that the run is of.
	EvalDigest string          `json:"evalDigest"`
	Files      []AnnouncedFile `json:"files"`
}

// An AnnouncedFile is a file of a run: run.json, or a segment of its journal.
type AnnouncedFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // 64 hexadecimal digits
}

// An UploadFile is an announced file, and how much of it is here.
type UploadFile struct {
	AnnouncedFile
	// Received counts the bytes that the server has; send the rest from there.
	Received int64 `json:"received"`
}

// An Upload is a run that is pushed.
type Upload struct {
	ID          string       `json:"id"` // also of the run, once it is complete
	EvalID      string       `json:"evalId"`
	EvalVersion int          `json:"evalVersion"`
	Run         string       `json:"run"` // its id where it was made
	Files       []UploadFile `json:"files"`
	CreatedAt   time.Time    `json:"createdAt"`
	// ExpiresAt is when an incomplete upload is deleted.
	ExpiresAt time.Time `json:"expiresAt"`
	Complete  bool      `json:"complete"`
	URL       string    `json:"url"`
	RunURL    string    `json:"runUrl,omitempty"` // of the run, once it is complete
}
