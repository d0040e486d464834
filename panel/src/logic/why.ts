// Why a task does not run, in a sentence. Pure.

import { count, relative } from "./format";
import type { Why } from "./types";

/** The parts of a sentence. A name is kept apart, so that it turns nothing around it. */
export type Said = (string | { name: string })[];

export function whyText(why: Why, now: number): Said {
  const until = why.until ? relative(Date.parse(why.until), now) : "";
  const what: Said = why.name
    ? [`${why.scope ?? ""} `.trimStart(), { name: why.name }]
    : [why.scope ?? "queue"];
  switch (why.hold) {
    case "is_over":
      return ["It is over."];
    case "running":
      if (why.until && Date.parse(why.until) < now) {
        const ended = ` ended ${until}: whoever claims next ends the attempt.`;
        return why.worker ? ["The lease of ", { name: why.worker }, ended] : [`Its lease${ended}`];
      }
      return why.worker
        ? ["It runs at ", { name: why.worker }, `; its lease ends ${until}.`]
        : [`It runs; its lease ends ${until}.`];
    case "not_due":
      return [`It is due ${until}.`];
    case "closed":
      return ["The ", ...what, ` is closed, and opens ${until}.`];
    case "rate":
      return [
        "As many of the ",
        ...what,
        ` began as its rate allows; the next may ${until}.`,
      ];
    case "concurrency":
      return ["As many of the ", ...what, " run as may at once."];
    case "waits":
      return [
        why.ahead === 0
          ? "It is due and nothing holds it: no worker has asked for its type."
          : `It waits for a worker; ${count(why.ahead)} of its type come first.`,
      ];
  }
}
