package evalwork

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// sizeEvery is how often the size of a run's journal is measured.
const sizeEvery = 5 * time.Second

// limit ends the run when it reaches a limit, unless ctx ends first.
func (j *job) limit(ctx context.Context, stop *stopper) {
	after := func(d time.Duration, why string) {
		if j.w.Sleep(ctx, max(0, d)) == nil {
			stop.expire(why)
		}
	}
	var limits sync.WaitGroup
	defer limits.Wait()
	limits.Go(func() {
		after(j.w.MaxTime-j.row.Worked, fmt.Sprintf("The run reached its time limit of %s.", j.w.MaxTime))
	})
	limits.Go(func() {
		after(j.row.StartedAt.Add(j.w.MaxAge).Sub(j.began), fmt.Sprintf("The run reached its limit of %s from start to end.", j.w.MaxAge))
	})
	for !j.full(stop) && j.w.Sleep(ctx, sizeEvery) == nil {
		continue
	}
}

// full ends the run if its journal is over the limit, and reports whether it is.
func (j *job) full(stop *stopper) bool {
	size, err := folderSize(filepath.Join(j.w.runsRoot(j.row.WorkspaceID), j.row.ID))
	if err != nil {
		j.log.Warn("the size of a run's journal could not be measured; trying again", "err", err)
		return false
	}
	if size < j.w.MaxBytes {
		return false
	}
	stop.expire(fmt.Sprintf("The run reached its storage limit: its answers take %s, and a run may store %s.", sizeText(size), sizeText(j.w.MaxBytes)))
	return true
}

// folderSize returns the size of all files in a folder; 0 without one.
func folderSize(path string) (size int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // not created yet, or renamed since
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

func sizeText(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	default:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
}
