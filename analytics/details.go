package analytics

// Details counts the valid trials of a category by the detail of their outcome. A trial may have both.
type Details struct {
	AskedUser         int `json:"asked_user"`
	FollowedIncumbent int `json:"followed_incumbent"`
}
