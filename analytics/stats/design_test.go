package stats

// estimatesOf estimates the rates of tools from their picks by cell.
func estimatesOf(d *Design, picks ...[]int) (estimates []Estimate, rates []Rate) {
	for _, p := range picks {
		e := d.Estimate(p)
		estimates, rates = append(estimates, e), append(rates, d.Rate(e))
	}
	return estimates, rates
}
