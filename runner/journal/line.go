package journal

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
)

const (
	maxLine   = 64 << 20 // bytes of one record
	sumDigits = 8
)

// encode appends a record as a line: sum, space, JSON, newline.
func encode(dst []byte, table *crc32.Table, r *Record) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return dst, fmt.Errorf("journal: encode: %w", err)
	}
	if len(body) > maxLine {
		return dst, fmt.Errorf("journal: a record of %d bytes exceeds the limit of %d", len(body), maxLine)
	}
	dst = fmt.Appendf(dst, "%08x ", crc32.Checksum(body, table))
	dst = append(dst, body...)
	return append(dst, '\n'), nil
}

// unframe returns the JSON of a line without its newline. The reason is empty when
// the line is whole.
func unframe(table *crc32.Table, line []byte) (body []byte, reason string) {
	if len(line) < sumDigits+2 || line[sumDigits] != ' ' {
		return nil, "not a record"
	}
	want, err := strconv.ParseUint(string(line[:sumDigits]), 16, 32)
	if err != nil {
		return nil, "not a record"
	}
	body = line[sumDigits+1:]
	if crc32.Checksum(body, table) != uint32(want) {
		return nil, "checksum differs"
	}
	return body, ""
}

// decode reads a line without its newline. The reason is empty when it is whole.
func decode(table *crc32.Table, line []byte, r *Record) (reason string) {
	body, reason := unframe(table, line)
	if reason != "" {
		return reason
	}
	*r = Record{}
	if err := json.Unmarshal(body, r); err != nil {
		return "not a record: " + err.Error()
	}
	return ""
}

func newTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
