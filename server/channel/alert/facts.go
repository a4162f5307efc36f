package alert

import "time"

// Facts are what is known of a workspace at a moment. Nothing of it counts
// events that were backfilled.
type Facts struct {
	FirstAt time.Time // when the first event came; zero for none
	LastAt  time.Time // when the last event came
	Days    int       // days in UTC with events, of the seven that end with LastAt's
	Since   time.Time // from when on servers looked, without a longer pause
	// Traffic is nil while the reports are behind: what it would tell is neither
	// found nor over.
	Traffic *Traffic
}

// The times that Traffic is about. The recent time ends with the last event and
// not now, so that logs which are sent once a day are whole days.
const (
	RecentFor   = 24 * time.Hour
	BaselineFor = 7 * 24 * time.Hour // before the recent time
)

// Traffic is what the reports tell: of the recent time, and of the baseline.
type Traffic struct {
	Agents []Agent // of the classes of the headline, that came in the recent time
	// Spoofed are the hours of the recent time in which somebody under an agent's
	// name came from a wrong address; SpoofedBefore counts those of the baseline.
	Spoofed       []Hour
	SpoofedBefore int64
	Missing       []Folder
	Fetches       Fetches
}

// An Agent is one that came.
type Agent struct {
	Name, Class string
	FirstAt     time.Time // the first time ever, backfilled events counted
	Touches     int64     // of the recent time
	Spoofed     int64     // of these, from a wrong address
}

// An Hour is an hour by the clock.
type Hour struct {
	Start   time.Time
	Touches int64
}

// A Folder is a place where agents missed pages in the recent time.
type Folder struct {
	Host, Path string // the path's first two segments
	Misses     int64
	Pages      int64 // different ones
	Before     int64 // misses of the baseline
	Agents     []string
	Examples   []string // paths
	FirstAt    time.Time
}

// Many says whether the misses are enough to speak of, if they are new.
func (f *Folder) Many() bool { return f.Pages >= clusterPages || f.Misses >= clusterMisses }

// Fetches count what agents read because a person asked them just then.
type Fetches struct {
	Day     int64 // of the recent time
	WeekAgo int64 // of the same 24 hours a week earlier
	Week    int64 // of the baseline
}
