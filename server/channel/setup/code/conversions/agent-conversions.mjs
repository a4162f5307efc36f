// Tells firstpick who a visitor is and what they did. For servers only: the key must be a secret one (sk_live_...).
const { FIRSTPICK_KEY: key, FIRSTPICK_URL: url } = process.env;

// identify binds the visitor of the landing to your own id of the person, at sign-up and at login.
export const identify = (visitorToken, userRef) => report({ type: "identify", visitorToken, userRef });

// convert reports what a person did. With orderId it counts once, however often it is reported.
export const convert = (event) => report({ type: "convert", ...event });

// report resolves when the event is stored, and rejects when it is not: let a webhook then answer 500, so that it is sent again.
async function report(event) {
  if (!key) return;
  const body = JSON.stringify({ events: [{ id: crypto.randomUUID(), ts: new Date().toISOString(), ...event }] });
  for (let tries = 2; ; tries--) {
    const answer = await fetch(`${(url || "https://firstpick.example").replace(/\/+$/, "")}/api/collect`, {
      method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${key}` }, body, signal: AbortSignal.timeout(3000),
    }).catch((err) => ({ status: 599, text: async () => String(err) }));
    if (answer.status === 202) return;
    if (answer.status < 500 || tries === 1) throw new Error(`firstpick did not take the ${event.type}: ${answer.status} ${await answer.text()}`);
  }
}
