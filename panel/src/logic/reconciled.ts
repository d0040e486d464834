// What came of looking for orders, in a sentence. Pure.

import { plural, words } from "./format";
import type { Tone } from "./tones";

export function reconciled(orders: readonly { status: string }[]): { text: string; tone: Tone } {
  const open = orders.filter((each) => each.status === "unresolved").length;
  const tone = open > 0 ? "warn" : "good";
  const [only] = orders;
  if (only === undefined) return { text: "No order was open.", tone };
  if (orders.length === 1) {
    const end = open > 0 ? "was looked for, and is still not known" : `is ${words(only.status)}`;
    return { text: `The order ${end}.`, tone };
  }
  const kinds = [...new Set(orders.map((each) => each.status))];
  const each = kinds.map((kind) => {
    const times = orders.filter((order) => order.status === kind).length;
    return `${times} ${kind === "unresolved" ? "still not known" : words(kind)}`;
  });
  return { text: `${plural(orders.length, "order")} looked for: ${each.join(", ")}.`, tone };
}
