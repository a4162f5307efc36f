// Package ship reads web servers' access logs and sends the visits of agents to
// a firstpick service: it follows logs as they grow and are rotated, or reads old
// ones.
//
// # Each line once
//
// An event's id is derived from the log: a hash of the log's first line, the
// line's place in the unpacked log, and the line. A log keeps its first line and
// its places when it is renamed, copied or packed, so access.log gives the ids
// that access.log.1 and access.log.2.gz give later, and the service counts an id
// once. The place parts two requests that look the same; the first line and the
// line part logs of which lines have the same place. Inode numbers would do none
// of this: a copy or a packed log has another, and a new log may have an old one.
//
// How far a log was read is kept in the buffer folder, and stored only when the
// service has acknowledged the events, or when they are in the buffer. A process
// that is killed therefore reads some lines again, never too few; that they were
// sent before is found out by their ids. At least once and the same id make once.
//
// # When the service is away
//
// Logs are deleted some day, so unsent events go into files in the buffer folder,
// up to a limit; then reading waits. They are sent in order before anything else.
// Reading once ([Config.Once]) needs no buffer, for the logs stay: it waits.
//
// # Sent events
//
// Lines of an agent, or of a person referred by an assistant
// (agentcollect.Visit), read by package event, so that the service gets what it
// would keep: no query strings but link tags.
package ship
