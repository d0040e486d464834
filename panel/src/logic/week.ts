// The week that orders are counted in. Pure.

import type { Quota } from "./types";

/** Whether an order that takes a slot of this week is refused. */
export function isUsedUp(quota: Quota | null): boolean {
  return quota !== null && quota.enabled && quota.used >= quota.limit;
}
