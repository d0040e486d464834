// Why a task does not run, in a sentence. Pure.

import { count, relative } from "./format";
import type { Why } from "./types";

export function whyText(why: Why, now: number): string {
  const until = why.until ? relative(Date.parse(why.until), now) : "";
  const what = [why.scope, why.name].filter((part) => part).join(" ");
  switch (why.hold) {
    case "is_over":
      return "It is over.";
    case "running":
      return `It runs${why.worker ? ` at ${why.worker}` : ""}; its lease ends ${until}.`;
    case "not_due":
      return `It is due ${until}.`;
    case "closed":
      return `The ${what || "queue"} is closed, and opens ${until}.`;
    case "rate":
      return `As many of the ${what || "queue"} began as its rate allows; the next may ${until}.`;
    case "concurrency":
      return `As many of the ${what || "queue"} run as may at once.`;
    case "waits":
      return why.ahead === 0
        ? "It is due and nothing holds it: no worker has asked for its type."
        : `It waits for a worker; ${count(why.ahead)} of its type come first.`;
  }
}
