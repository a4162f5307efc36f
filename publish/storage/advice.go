package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
)

// transient reports whether a request can be sent again with hope.
func transient(err error) bool {
	if err == nil || errors.Is(err, ErrUnchanged) {
		return false
	}
	r, ok := response(err)
	if !ok {
		var name *net.DNSError
		var certificate *tls.CertificateVerificationError
		var local *fs.PathError // of the file that is sent
		lasting := errors.As(err, &name) && name.IsNotFound || errors.As(err, &certificate) || errors.As(err, &local)
		return !lasting
	}
	switch r.Code {
	case "SlowDown", "RequestTimeout", "InternalError", "Throttling":
		return true
	}
	return isBusy(err) || r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusRequestTimeout ||
		r.StatusCode >= 500 && r.StatusCode != http.StatusNotImplemented
}

// explain gives an error of a request its place, and advice.
func (b *Bucket) explain(op, name string, err error) error {
	switch r, answered := response(err); {
	case err == nil || errors.Is(err, ErrUnchanged):
		return err
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s %s: %w", op, b.path(name), err)
	case r.Code == minio.NoSuchKey && op != "swap":
		return &fs.PathError{Op: op, Path: b.path(name), Err: fs.ErrNotExist}
	case conflicts(err):
		return &fs.PathError{Op: op, Path: b.path(name), Err: ErrChanged}
	case answered:
		return fmt.Errorf("%s %s: %w", op, b.path(name), &adviceError{b.refusal(op, r), err})
	default:
		return fmt.Errorf("%s %s: %w", op, b.path(name), &adviceError{b.silence(err), err})
	}
}

// An adviceError is an error of a bucket, in our words.
type adviceError struct {
	text string
	err  error
}

// Error implements error.
func (e *adviceError) Error() string { return e.text }

// Unwrap returns the error of the client.
func (e *adviceError) Unwrap() error { return e.err }

// refusal explains an answer of the server.
func (b *Bucket) refusal(op string, r minio.ErrorResponse) string {
	endpoint := b.client.EndpointURL()
	switch r.Code {
	case minio.NoSuchBucket, "InvalidBucketName":
		return fmt.Sprintf("the bucket %s does not exist at %s: create it, or correct the URL, the endpoint (AWS_ENDPOINT_URL) or the region (AWS_REGION)", b.name, endpoint)
	case "RequestTimeTooSkewed", "RequestExpired":
		return fmt.Sprintf("%s refuses the time of this machine: set its clock (for example by NTP) and try again", endpoint)
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidTokenId", "ExpiredToken", "InvalidToken":
		return fmt.Sprintf("%s refuses the access key %s (%s): check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, or the profile in the credentials file", endpoint, b.asKey(), r.Code)
	case "AuthorizationHeaderMalformed", "InvalidRegion", "PermanentRedirect", "MovedPermanently", "TemporaryRedirect":
		return fmt.Sprintf("the bucket is in another region (%s): set AWS_REGION to it", strings.TrimSuffix("the server says: "+r.Region+" "+r.Message, " "))
	case minio.AccessDenied:
		if b.asKey() == "" {
			return fmt.Sprintf("access denied at %s, and there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add a profile to ~/.aws/credentials", endpoint)
		}
		return fmt.Sprintf("access denied at %s: allow the access key %s to %s on %s (reading also takes s3:ListBucket: without it, a missing file looks like this)", endpoint, b.asKey(), actionOf(op), b)
	case minio.NotImplemented, minio.APINotSupported:
		return fmt.Sprintf("%s does not support a request that this needs (%s): use an S3 server with If-Match and If-None-Match on PUT", endpoint, r.Message)
	}
	if r.StatusCode == http.StatusServiceUnavailable || r.StatusCode == http.StatusTooManyRequests || r.Code == "SlowDown" {
		return fmt.Sprintf("%s is busy (%s): try again later", endpoint, r.Code)
	}
	return fmt.Sprintf("%s answers %d %s: %s; check that the endpoint (AWS_ENDPOINT_URL) is an S3 server", endpoint, r.StatusCode, r.Code, firstLine(r.Message))
}

// silence explains a missing or broken answer.
func (b *Bucket) silence(err error) string {
	endpoint := b.client.EndpointURL()
	reason := firstLine(err.Error())
	var name *net.DNSError
	var network *net.OpError
	var request *url.Error
	switch {
	case errors.As(err, &name):
		reason = "the host " + name.Name + " is unknown"
	case errors.Is(err, context.DeadlineExceeded):
		reason = "time-out"
	case errors.As(err, &network): // the text of others names a port that changes
		reason = network.Op + ": " + network.Err.Error()
	case errors.As(err, &request):
		reason = firstLine(request.Err.Error())
	}
	return fmt.Sprintf("no complete answer of %s (%s): check the endpoint (AWS_ENDPOINT_URL), the network and the proxy", endpoint, reason)
}

func actionOf(op string) string {
	switch op {
	case "put", "swap":
		return "s3:PutObject"
	case "list":
		return "s3:ListBucket"
	case "remove":
		return "s3:DeleteObject"
	}
	return "s3:GetObject"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line[:min(len(line), 200)]
}
