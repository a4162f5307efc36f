// Package trialset defines, writes and reads the trial files of published results: three
// files in a folder, in a run bundle and in a snapshot for each of its evals.
//
//	names.json      the texts that the index refers to by number
//	traces.idx      a line of fixed length per trial
//	traces.zst      the trials, in frames
//
// Each answered or excluded trial is an entry; entries are in the order of the plan, those
// of imported answers in the order of their ids. traces.zst is JSON lines (see Trace), one
// for each entry in the same order, in consecutive zstd frames that are unpacked
// independently. A frame holds at most 256 lines and at most 256 KiB unpacked, except for
// a single line that is longer; no line is longer than 64 MiB.
//
// traces.idx is, all numbers big-endian: a header of 24 bytes ("fpTrace1", the
// number of frames and that of entries, 8 bytes each), then 52 bytes for each frame:
//
//	 0  8  offset in traces.zst; the first is 0, each follows the last
//	 8  4  compressed size   12  4  uncompressed size
//	16  4  line count        20 32  the SHA-256 of its bytes
//
// then 56 bytes for each entry:
//
//	 0 10  trial id          10  1  outcome         11  1  flags: 1 named one tool, used
//	                                                       another; 2 unresolved
//	12  4  agent             16  4  prompt          20  4  template
//	24  4  repeat            28  4  picked          32  4  frame, from 0
//	36  4  line in the frame, from 0
//	40  8  cost in US dollars, IEEE 754; NaN if unknown
//	48  8  duration of the answer in milliseconds
//
// Outcome, agent, prompt, template and picked are indexes into the lists of names.json.
//
// A Set is open for reading: trials are read where they are asked for, and each frame is
// checked against the index before it is unpacked, so that the cost of a response depends
// on the page, not on the run. The package imports neither the runner nor DuckDB, so that
// the server may import it.
package trialset
