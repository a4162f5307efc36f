// Package format defines the files of a run bundle. publish/bundle writes them,
// server/evals/bundle reads them.
//
// A bundle is a folder named by the first 20 hexadecimal digits of the SHA-256 of
// its manifest. It appears whole, by rename. The same journal and catalogue give the
// same bytes: no clock, path or run id is in it. Answers as they came stay with the
// run.
//
//	manifest.json   the eval, counts, costs, and the other files with sizes and hashes
//	scores.json     the board of all agents, and of each alone, as on a public leaderboard
//	names.json      the texts that the index refers to by number
//	traces.idx      a line of fixed length per trial
//	traces.zst      the trials, in frames
//	trials.parquet  one row per valid trial, as in a public snapshot
//
// # Traces
//
// A trial that has an answer, or was given up, is an entry; entries are in the order
// of the plan. traces.zst is JSON lines (see Trace), one for each entry in the same
// order, in zstd frames that follow one another and are unpacked alone. A frame
// holds at most 256 lines and at most 256 KiB unpacked, but for a line that is longer
// alone; no line is longer than 64 MiB.
//
// traces.idx is, all numbers big-endian: a header of 24 bytes ("fpTrace1", the
// number of frames and that of entries, 8 bytes each), then 52 bytes for each frame:
//
//	 0  8  where it begins in traces.zst; the first at 0, each behind the last
//	 8  4  its length        12  4  its length unpacked
//	16  4  its lines         20 32  the SHA-256 of its bytes
//
// then 56 bytes for each entry:
//
//	 0 10  trial id          10  1  outcome         11  1  1: said one tool and used another
//	12  4  agent             16  4  prompt          20  4  template
//	24  4  repeat            28  4  picked          32  4  frame, from 0
//	36  4  line in it, from 0
//	40  8  cost in US dollars, IEEE 754; not a number where it is unknown
//	48  8  how long the answer took, in milliseconds
//
// Outcome, agent, prompt, template and picked are places in the lists of names.json.
package format
