// A deed: one thing a person wants done, however often the button is pressed. Pure.
//
//   ready ── press ──▶ under way ── answered ──▶ done
//                          │
//                          ├── no answer ──▶ doubtful: the next press carries the same key
//                          ├── signed out ──▶ put off: not done, and nobody is there to see it
//                          └── the key is forgotten ──▶ forgotten: a press more might do it twice
//
// Why: an answer that gets lost says nothing about the deed. Each deed has an Idempotency-Key that
// stays with it until its end is known, so pressing again asks for the same deed, not for another.

export type Deed =
  | { state: "ready"; key: string }
  | { state: "under_way"; key: string; again: boolean } // again: an earlier press may have done it
  | { state: "doubtful"; key: string; reason: string } // nobody knows whether it was done
  | { state: "put_off"; key: string } // it was not done: who pressed was signed out
  | { state: "forgotten"; key: string } // as doubtful, and pawl does not know the key any more
  | { state: "refused"; key: string; reason: string } // it was not done
  | { state: "done"; key: string; replayed: boolean };

export type DeedEvent =
  | { type: "pressed" }
  | { type: "answered"; replayed: boolean }
  // `isVerdict`: it is about the deed, and not about this press alone.
  | { type: "refused"; reason: string; isVerdict: boolean; nextKey: string }
  | { type: "signed_out"; reason: string }
  | { type: "forgotten" }
  | { type: "lost"; reason: string };

export function step(deed: Deed, event: DeedEvent): Deed {
  const { key } = deed;
  switch (event.type) {
    case "pressed":
      return mayPress(deed) ? { state: "under_way", key, again: deed.state === "doubtful" } : deed;
    case "answered":
      return { state: "done", key, replayed: event.replayed };
    case "refused":
      // That this press was turned away does not say what became of an earlier one.
      if (deed.state === "under_way" && deed.again && !event.isVerdict)
        return { state: "doubtful", key, reason: event.reason };
      // Its end is known: what is pressed next is a new deed.
      return { state: "refused", key: event.nextKey, reason: event.reason };
    case "signed_out":
      if (deed.state === "under_way" && deed.again)
        return { state: "doubtful", key, reason: event.reason };
      return { state: "put_off", key };
    case "forgotten":
      return { state: "forgotten", key };
    case "lost":
      return { state: "doubtful", key, reason: event.reason };
  }
}

/** Whether it was begun and has no end. */
export function isOpen(deed: Deed): boolean {
  return ["under_way", "doubtful", "put_off", "forgotten"].includes(deed.state);
}

/** As it is once the page was left: an answer that was under way does not come any more. */
export function left(deed: Deed): Deed {
  const reason = "The page was left before an answer came.";
  if (deed.state === "put_off" || deed.state === "forgotten") return deed;
  return { state: "doubtful", key: deed.key, reason };
}

export function mayPress(deed: Deed): boolean {
  return !["under_way", "done", "forgotten"].includes(deed.state);
}

const keptMs = 3_600_000; // by pawl, a key
const marginMs = 300_000;

/** Whether pawl may have forgotten a key by now that it heard first then. */
export function isOutOfTime(pressedAt: number, now: number): boolean {
  return now - pressedAt > keptMs - marginMs || now < pressedAt - marginMs;
}

/** A key of 128 bits; crypto.randomUUID is there in secure contexts alone. */
export function newKey(fill: (bytes: Uint8Array<ArrayBuffer>) => void): string {
  const bytes = new Uint8Array(16);
  fill(bytes);
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
