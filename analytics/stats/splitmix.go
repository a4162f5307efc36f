package stats

// A SplitMix64 is a generator of random bits whose sequence any language reproduces in
// five lines (Steele, Lea and Flood 2014). The value is the seed. It is for resampling,
// not for secrets.
type SplitMix64 uint64

// Uint64 returns the next 64 bits.
func (s *SplitMix64) Uint64() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Float64 returns the next number in [0, 1), a multiple of 2^-53.
func (s *SplitMix64) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }
