package members

// An event is a kind of line that the log shows. In its text, {x} is the detail x.
type event struct{ name, text string }

// events returns the changes that the log shows. Tokens that agents get all the time are
// left out.
func events() []event {
	return []event{
		{"workspace.created", "Created the workspace, with the collector key {key}"},
		{"workspace.settings", "Changed settings: {changed}"},
		{"workspace.transferred", "Transferred the workspace to {member}"},
		{"operator.workspace", "Created the workspace, with the collector key {key}"},
		{"operator.plan", "Set the plan to {plan}"},
		{"billing.subscription", "Received {kind} of the subscription {subscription}"},
		{"key.created", "Created the {kind} collector key {key}"},
		{"key.revoked", "Revoked the collector key {key}"},
		{"evalkey.created", "Created the eval key {key} with the scopes {scopes}"},
		{"evalkey.revoked", "Revoked the eval key {key}"},
		{"providerkey.set", "Set the provider key {name} for {hosts}"},
		{"providerkey.removed", "Removed the provider key {name}"},
		{"eval.stored", "Stored version {version} of the eval {name}"},
		{"catalog.stored", "Stored version {version} of the catalogue"},
		{"run.queued", "Started the run {run} of the eval {name}, budget {budget_usd} USD"},
		{"run.cancelled", "Cancelled the run {run}"},
		{"schedule.created", "Scheduled an eval at {cron}, {time_zone}, {monthly_budget_usd} USD a month"},
		{"schedule.changed", "Changed a schedule to {cron}, {time_zone}, {monthly_budget_usd} USD a month"},
		{"schedule.paused", "Paused a schedule"},
		{"schedule.resumed", "Resumed a schedule"},
		{"schedule.deleted", "Deleted a schedule"},
		{"eval.erasing", "Deleted an eval"},
		{"run.erasing", "Deleted a run"},
		{"picks.followed", "Chose the tool {tool} to follow"},
		{"alert.webhook_added", "Added the webhook {channel}"},
		{"alert.webhook_removed", "Removed the webhook {channel}"},
		{"alert.webhook_rotated", "Gave the webhook {channel} a new secret"},
		{"alert.webhook_paused", "Paused the webhook {channel}"},
		{"alert.email_on", "Turned mail alerts on"},
		{"alert.email_off", "Turned mail alerts off"},
		{"person.erased", "Erased {events} events of a person"},
		{"member.invited", "Invited {who} as {role}"},
		{"member.withdrawn", "Withdrew the invitation of {who}"},
		{"member.joined", "Accepted an invitation as {role}"},
		{"member.declined", "Declined an invitation as {role}"},
		{"member.role", "Changed the role of {member} from {before} to {role}"},
		{"member.removed", "Removed {member}"},
		{"member.left", "Left the workspace"},
		{"claim.confirmed", "Linked an agent"},
		{"registration.revoked", "Lost access"},
	}
}

func eventNames() []string {
	list := events()
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].name
	}
	return names
}
