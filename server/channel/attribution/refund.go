package attribution

import "slices"

// A ledger finds the orders of refunds and tracks their remaining amounts.
type ledger struct {
	conversions []Conversion
	refunds     []int32           // places, in order of time
	order       map[string]int32  // by order id
	accounts    map[int32]account // by place of the order
}

// An account is an order with its remaining amounts after refunds.
type account struct {
	order *Credited
	left  []uint64 // of each share, in minor units
}

// takeBacks finds the refunds of the window, all others of the same orders, and
// these orders. Of several conversions with one order id the order is the one of
// kind Paid, else the one worth most, else the earliest.
func takeBacks(conversions []Conversion, byTime []int32, o Options) *ledger {
	l := &ledger{conversions: conversions, order: map[string]int32{}, accounts: map[int32]account{}}
	named := map[string]bool{}
	for _, i := range byTime {
		if v := &conversions[i]; v.Kind == Refund && o.holds(v.At) {
			named[v.takesBack()] = true
		}
	}
	if len(named) == 0 {
		return l
	}
	for _, i := range byTime {
		v := &conversions[i]
		switch {
		case v.Kind == Refund:
			if o.holds(v.At) || (v.takesBack() != "" && named[v.takesBack()]) {
				l.refunds = append(l.refunds, i)
			}
		case v.OrderID != "" && named[v.OrderID]:
			if best, ok := l.order[v.OrderID]; !ok || better(v, &conversions[best]) {
				l.order[v.OrderID] = i
			}
		}
	}
	for _, i := range l.order {
		l.accounts[i] = account{}
	}
	return l
}

// takesBack returns the order id that a refund names.
func (v *Conversion) takesBack() string {
	if v.RefundOf != "" {
		return v.RefundOf
	}
	return v.OrderID
}

// better reports whether a is rather the order than b, which is earlier.
func better(a, b *Conversion) bool {
	if (a.Kind == Paid) != (b.Kind == Paid) {
		return a.Kind == Paid
	}
	return a.Value > b.Value
}

// wants reports whether the conversion at a place is the order of a refund.
func (l *ledger) wants(place int32) bool {
	_, ok := l.accounts[place]
	return ok
}

// open opens the account of an order that has been credited.
func (l *ledger) open(place int32, v Credited) {
	order := v // a copy, so that only orders with refunds go to the heap
	a := account{order: &order, left: make([]uint64, len(v.Shares))}
	for i, s := range v.Shares {
		a.left[i] = uint64(max(s.Value, 0))
	}
	l.accounts[place] = a
}

// apply deducts a refund from the families that its order was credited to, in
// proportion to their remaining shares. No family loses more than its credit, and a
// full refund leaves all shares at zero.
func (l *ledger) apply(v *Conversion, c *creditor) Credited {
	out := Credited{Conversion: *v}
	if v.Value >= 0 {
		out.Problem = NotNegative
		out.Shares = c.share(0, nil)
		return out
	}
	id, found := l.order[v.takesBack()]
	if !found || l.conversions[id].Currency != v.Currency {
		out.Problem = NoOrder
		if found {
			out.Problem = OtherCurrency
			out.Order = l.conversions[id].ID
		}
		out.Applied = v.Value
		out.Shares = c.share(v.Value, nil)
		return out
	}
	a := l.accounts[id]
	out.Order, out.Touches, out.Truncated = a.order.ID, a.order.Touches, a.order.Truncated
	out.Evidence, out.Assisted = a.order.Evidence, a.order.Assisted
	out.Shares = slices.Clone(a.order.Shares)
	left := uint64(0)
	for _, n := range a.left {
		left += n
	}
	amount, _ := magnitude(v.Value)
	if amount > left {
		amount = left
		out.Problem = ExceedsOrder
		if a.order.Value <= 0 {
			out.Problem = NothingToRefund
		}
	}
	parts := make([]int64, len(a.left))
	if amount > 0 {
		split(int64(amount), a.left, parts)
	}
	out.Applied = -int64(amount)
	for i, n := range parts {
		a.left[i] -= uint64(n)
		out.Shares[i].Value = -n
	}
	return out
}
