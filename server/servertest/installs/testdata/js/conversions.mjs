import { convert, identify } from "./agent-conversions.mjs";

const payment = { userRef: "user_42", kind: "paid", value: "49.00", currency: "USD", orderId: "in_1" };
await identify("session-1", "user_42");
await convert(payment);
await convert(payment); // a webhook that came twice
await convert({ userRef: "user_42", kind: "refund", value: "-9.00", currency: "USD", orderId: "re_1", refundOf: "in_1" });
const refused = await convert({ userRef: "user_42", kind: "paid", value: "49.00", currency: "XXL" }).catch((err) => err.message);
console.log(refused);
