// A person's word on an order, which settled what nothing else could. Pure.

import type { Evidence } from "./types";

interface Known {
  life: string;
  evidence: Evidence[];
}

export interface Word {
  who: string;
  at: string;
  stands: string; // how the order stands by it
}

/** Null: what is known of it came from the venue. Of an order that ended the venue was heard, of
 * one that works by that word alone it was not. */
export function wordOf({ life, evidence }: Known): Word | null {
  const last = evidence.at(-1);
  if (last?.source !== "person") return null;
  const said = /^(.*?): settled as (placed|absent)\b/s.exec(last.says);
  const isPlaced = said?.[2] !== "absent";
  if (isPlaced && life !== "working" && life !== "unknown") return null;
  return { who: said?.[1] ?? "", at: last.at, stands: isPlaced ? life : "not there" };
}
