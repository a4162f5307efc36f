package storage

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// FromURL returns the place at an address: a path, file:///DIR or s3://BUCKET/PREFIX.
// Endpoint and region of a bucket are those of its query (?endpoint=https://…&region=…),
// or else of AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, and AWS_REGION. The credentials come
// from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, the shared
// credentials file, or the IAM role of the machine. Without any, requests are anonymous.
func FromURL(text string, getenv func(string) string) (Store, error) {
	if !strings.Contains(text, "://") {
		return Folder(text), nil
	}
	u, err := url.Parse(text)
	switch {
	case err == nil && u.Scheme == "file" && u.Host == "" && u.Path != "":
		return Folder(filepath.FromSlash(u.Path)), nil
	case err == nil && u.Scheme == "s3" && u.Host != "" && u.User == nil:
		return NewBucket(BucketConfig{
			Name: u.Host, Prefix: strings.Trim(u.Path, "/"), Getenv: getenv,
			Endpoint: u.Query().Get("endpoint"), Region: u.Query().Get("region"),
		})
	default:
		return nil, fmt.Errorf("not a place for files: %q; write file:///DIR or s3://BUCKET/PREFIX", text)
	}
}

// A BucketConfig locates a bucket.
type BucketConfig struct {
	Name, Prefix string
	// Endpoint is the URL of the server, Region that of the bucket; if empty, they come from
	// the environment.
	Endpoint, Region string
	// Getenv reads the environment.
	Getenv func(string) string
	// Timeout bounds the wait for an answer, and for more of it; 0 means 20 s.
	Timeout time.Duration
	// Sleep waits between attempts; nil means a timer.
	Sleep func(context.Context, time.Duration) error
}

// NewBucket returns a bucket. It sends no request.
func NewBucket(cfg BucketConfig) (*Bucket, error) {
	if err := s3utils.CheckValidBucketName(cfg.Name); err != nil {
		return nil, fmt.Errorf("the name of the bucket %q is not valid (%w); write s3://BUCKET/PREFIX", cfg.Name, err)
	}
	if cfg.Prefix != "" && !fs.ValidPath(cfg.Prefix) {
		return nil, fmt.Errorf("the prefix %q of bucket %s has empty or dotted parts; write s3://BUCKET/PREFIX", cfg.Prefix, cfg.Name)
	}
	region := cmp.Or(cfg.Region, cfg.Getenv("AWS_REGION"), cfg.Getenv("AWS_DEFAULT_REGION"))
	endpoint := cmp.Or(cfg.Endpoint, cfg.Getenv("AWS_ENDPOINT_URL_S3"), cfg.Getenv("AWS_ENDPOINT_URL"))
	if endpoint == "" {
		endpoint = "https://s3.amazonaws.com" // the client knows those of regions
	} else if region == "" {
		region = "us-east-1" // what other servers have by default
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("the endpoint of bucket %s must be a URL as https://HOST[:PORT] (got %q); correct AWS_ENDPOINT_URL", cfg.Name, endpoint)
	}
	transport, err := minio.DefaultTransport(u.Scheme == "https")
	if err != nil {
		return nil, err
	}
	b := &Bucket{name: cfg.Name, timeout: cmp.Or(cfg.Timeout, 20*time.Second), sleep: cfg.Sleep}
	transport.DialContext = (&net.Dialer{Timeout: min(b.timeout, 5*time.Second)}).DialContext
	if cfg.Prefix != "" {
		b.prefix = cfg.Prefix + "/"
	}
	if b.sleep == nil {
		b.sleep = sleep
	}
	creds := credentials.New(&chain{Chain: credentials.Chain{Providers: providers(cfg.Getenv)}})
	core, err := minio.NewCore(u.Host, &minio.Options{Creds: creds, Secure: u.Scheme == "https", Region: region, Transport: transport, MaxRetries: 1})
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", cfg.Name, err)
	}
	b.client = core
	b.asKey = func() string {
		value, _ := creds.GetWithContext(core.CredContext())
		return value.AccessKeyID
	}
	return b, nil
}

// providers returns where credentials are looked for, in order.
func providers(getenv func(string) string) []credentials.Provider {
	list := []credentials.Provider{
		&credentials.Static{Value: credentials.Value{
			AccessKeyID: getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"),
			SessionToken: getenv("AWS_SESSION_TOKEN"), SignerType: credentials.SignatureV4,
		}},
		&credentials.FileAWSCredentials{Filename: getenv("AWS_SHARED_CREDENTIALS_FILE"), Profile: getenv("AWS_PROFILE")},
	}
	if getenv("AWS_EC2_METADATA_DISABLED") == "true" {
		return list
	}
	// Outside of a cloud nobody answers.
	return append(list, &credentials.IAM{Client: &http.Client{Timeout: 2 * time.Second}})
}

// A chain is a chain of providers. If it has no credentials, it looks again after a minute,
// not for every request.
type chain struct {
	credentials.Chain
	anonymous atomic.Bool
}

// RetrieveWithCredContext implements credentials.Provider.
func (c *chain) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	value, err := c.Chain.RetrieveWithCredContext(cc)
	if value.AccessKeyID == "" {
		c.anonymous.Store(true)
		time.AfterFunc(time.Minute, func() { c.anonymous.Store(false) })
	}
	return value, err
}

// IsExpired implements credentials.Provider.
func (c *chain) IsExpired() bool { return !c.anonymous.Load() && c.Chain.IsExpired() }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
