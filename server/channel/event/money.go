package event

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	maxWhole    = 14 // digits before the point; with 4 after it, an int64 holds them
	maxDecimals = 4
)

// ErrMoney means that a text is not an amount of its currency.
var ErrMoney = errors.New("not a decimal number")

// Exponent returns how many decimals a currency of ISO 4217 has, and whether
// code, in upper case, is one. Codes that were withdrawn in 2025 or later are
// known too, for conversions of that time arrive late.
func Exponent(code string) (int, bool) {
	switch code {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV",
		"XAF", "XOF", "XPF":
		return 0, true
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3, true
	case "CLF", "UYW":
		return 4, true
	case "AED", "AFN", "ALL", "AMD", "ANG", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BGN", "BMD",
		"BND", "BOB", "BOV", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHE", "CHF", "CHW", "CNY",
		"COP", "COU", "CRC", "CUP", "CVE", "CZK", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB", "EUR", "FJD", "FKP",
		"GBP", "GEL", "GHS", "GIP", "GMD", "GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "IRR",
		"JMD", "KES", "KGS", "KHR", "KPW", "KYD", "KZT", "LAK", "LBP", "LKR", "LRD", "LSL", "MAD", "MDL", "MGA",
		"MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR", "MWK", "MXN", "MXV", "MYR", "MZN", "NAD", "NGN", "NIO",
		"NOK", "NPR", "NZD", "PAB", "PEN", "PGK", "PHP", "PKR", "PLN", "QAR", "RON", "RSD", "RUB", "SAR", "SBD",
		"SCR", "SDG", "SEK", "SGD", "SHP", "SLE", "SOS", "SRD", "SSP", "STN", "SVC", "SYP", "SZL", "THB", "TJS",
		"TMT", "TOP", "TRY", "TTD", "TWD", "TZS", "UAH", "USD", "USN", "UYU", "UZS", "VED", "VES", "WST", "XCD",
		"XCG", "YER", "ZAR", "ZMW", "ZWG":
		return 2, true
	}
	return 0, false
}

// ParseMoney reads a decimal number such as "49.00" or "-0.5" as an amount of
// minor units of a currency with that many decimals. More decimals are allowed
// up to four if they are zero, for then nothing is lost. A sign +, a separator
// of thousands, an exponent, NaN and infinities are not.
func ParseMoney(s string, exponent int) (int64, error) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, part, point := strings.Cut(digits, ".")
	if !decimal(whole) || point && !decimal(part) {
		return 0, ErrMoney
	}
	if len(whole) > maxWhole {
		return 0, fmt.Errorf("%w of at most %d digits", ErrMoney, maxWhole)
	}
	if len(part) > maxDecimals || strings.Trim(part[min(len(part), exponent):], "0") != "" {
		return 0, fmt.Errorf("%w with at most %d decimals", ErrMoney, exponent)
	}
	part = (part + "0000")[:exponent]
	minor, err := strconv.ParseInt(whole+part, 10, 64)
	if err != nil {
		return 0, ErrMoney
	}
	if negative {
		minor = -minor
	}
	return minor, nil
}

// FormatMoney writes an amount of minor units of a currency with that many
// decimals: 4900 and 2 is "49.00".
func FormatMoney(minor int64, exponent int) string {
	sign, n := "", uint64(minor)
	if minor < 0 {
		sign, n = "-", -n
	}
	s := strconv.FormatUint(n, 10)
	if len(s) <= exponent {
		s = strings.Repeat("0", exponent+1-len(s)) + s
	}
	if exponent == 0 {
		return sign + s
	}
	at := len(s) - exponent
	return sign + s[:at] + "." + s[at:]
}

func decimal(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
