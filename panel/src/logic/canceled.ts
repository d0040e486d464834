// What came of a cancel, in a sentence. Pure.

import type { Tone } from "./tones";
import type { Changed } from "./types";

/** The venue takes a cancel also of an order that is over: what the order is, says its life. */
export function canceled({ life, message }: Changed): { text: string; tone: Tone } {
  if (life === "canceled") return { text: "The order is canceled.", tone: "good" };
  const said = message ? ` ${message}` : "";
  if (life === "filled") return { text: `Not canceled: it was filled before.${said}`, tone: "bad" };
  if (life === "rejected") return { text: "Nothing to cancel: it was rejected.", tone: "warn" };
  return {
    text: `The venue took the cancel, and the order is not seen to be over yet.${said}`,
    tone: "warn",
  };
}
