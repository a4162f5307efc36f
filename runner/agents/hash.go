package agents

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// hash derives 64 bits from its parts. Each part is prefixed with its length, so that
// different lists cannot collide by concatenation.
func hash(seed uint64, parts ...string) uint64 {
	buf := make([]byte, 0, 128)
	buf = binary.BigEndian.AppendUint64(buf, seed)
	for _, p := range parts {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(p)))
		buf = append(buf, p...)
	}
	sum := sha256.Sum256(buf)
	return binary.BigEndian.Uint64(sum[:8])
}

// unit maps 64 bits to [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// normal draws from the standard normal distribution (Box and Muller 1958).
func normal(seed uint64, parts ...string) float64 {
	u := 1 - unit(hash(seed, append(parts, "radius")...))
	v := unit(hash(seed, append(parts, "angle")...))
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}
