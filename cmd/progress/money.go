package progress

import (
	"fmt"
	"time"
)

// A purse is the spent and remaining money of a run, and its limit.
type purse struct {
	spent, reserved float64
	capped          float64 // 0 for no bound
	known           bool    // false: something unknown comes on top
}

func (t *tally) purse() purse {
	if st := t.status; st != nil {
		return purse{st.SpentUSD, st.ReservedUSD, st.CapUSD, st.SpentKnown}
	}
	return purse{spent: t.spent, known: true}
}

// String is like "spent $1.25 of $5.00, $0.4000 reserved".
func (p purse) String() string {
	s := "spent " + USD(p.spent)
	if p.capped > 0 {
		s += " of " + USD(p.capped)
	}
	if !p.known {
		s += " and an unknown amount"
	}
	if p.reserved > 0 {
		s += ", " + USD(p.reserved) + " reserved"
	}
	return s
}

// USD prints an amount: in hundredths of a cent where it is below a dollar,
// for answers of small models cost no more.
func USD(v float64) string {
	if v < 1 && v != 0 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// split prints d in two units, the second only where it is not 0.
func split(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	s := fmt.Sprintf("%d%s", d/big, bigName)
	if rest := d % big / small; rest > 0 {
		s += fmt.Sprintf("%d%s", rest, smallName)
	}
	return s
}
