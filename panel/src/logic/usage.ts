// Usage of tenants as rows of a table: one for each bucket. Pure.

import type { BucketUsage, Policies, SeenTenant, TenantUsage, UsageHistory } from "./types";

export interface UsageRow {
  tenant: TenantUsage;
  bucket: BucketUsage | null; // null: it has none of its own
}

/** A client without a name, counted by its address. It has no plan that could be changed. */
export function isAnonymous(tenant: string): boolean {
  return tenant.startsWith("anonymous@");
}

/** What a plan lets a tenant do: of each of its buckets the rate of the plan, or else its own. */
export function limitsOf(plan: string, policies: Policies, usage: TenantUsage): [string, string][] {
  const rates = policies.plans.find((each) => each.plan === plan)?.rates ?? [];
  return usage.buckets.map(({ bucket, shadow }) => {
    const own = policies.limits.find((each) => each.name === bucket)?.rule ?? "";
    const rate = rates.find((each) => each.bucket === bucket)?.rate ?? own;
    return [bucket, shadow ? `${rate}, in shadow: never refuses` : rate];
  });
}

/** Since the start. Settings may name one that never came. */
export function wasSeen(tenants: readonly SeenTenant[], tenant: string): boolean {
  return tenants.some((each) => each.tenant === tenant && each.last_seen !== null);
}

/** What all share is no tenant's own: it would stand beside each of them. */
export function isShared(bucket: BucketUsage): boolean {
  return bucket.scope === "everyone";
}

export function rowsOf(tenants: readonly TenantUsage[]): UsageRow[] {
  return tenants.flatMap((tenant): UsageRow[] => {
    const own = tenant.buckets.filter((bucket) => !isShared(bucket));
    return own.length === 0
      ? [{ tenant, bucket: null }]
      : own.map((bucket) => ({ tenant, bucket }));
  });
}

/** The history up to what is used now. What was sampled behind that is told by a later one. */
export function upTo(
  history: UsageHistory,
  at: number,
  buckets: readonly BucketUsage[],
): UsageHistory {
  const later = history.times.findIndex((time) => time >= at);
  const kept = later < 0 ? history.times.length : later;
  return {
    ...history,
    times: [...history.times.slice(0, kept), at],
    buckets: history.buckets.map((each) => {
      const now = buckets.find(({ bucket }) => bucket === each.bucket);
      return {
        ...each,
        used: [...each.used.slice(0, kept), now?.used ?? null],
        limit: [...each.limit.slice(0, kept), now?.limit ?? null],
      };
    }),
  };
}

/** How much of the limit is used; above 1 where more was used than is allowed now. */
export function shareOf({ bucket }: UsageRow): number | null {
  if (bucket === null) return null;
  if (bucket.limit > 0) return bucket.used / bucket.limit;
  return bucket.used > 0 ? 1 : 0;
}

/** What comes behind the plans of these buckets; a key may have another plan than its tenant. */
export function nextPlans(buckets: readonly BucketUsage[]): string {
  const plans = buckets.map((bucket) => bucket.next_plan);
  const [first] = plans;
  if (plans.every((plan) => plan === first)) return first ? `The next plan is ${first}.` : "";
  const each = buckets
    .filter((bucket) => bucket.next_plan !== null)
    .map((bucket) => `${bucket.next_plan} for ${bucket.bucket}`);
  return `The next plan is ${each.join(", ")}.`;
}

const belowAll = 1_000_000;

/** By it who is nearest to a refusal comes first; what is in shadow stands below all else. */
export function rankOf(row: UsageRow): number | null {
  const share = shareOf(row);
  return share !== null && row.bucket?.shadow ? share - belowAll : share;
}

const heldMs = 30_000;

/** Which buckets are at their limits. A window that slides lets one request in as one leaves it: a
 * tenant that is refused all the time is seen at the limit now and just below it then. So what was
 * at its limit stays there while it is near it, for a while. */
export class FullOfLate {
  readonly #seenAt = new Map<string, number>();

  note(usage: TenantUsage, now: number): void {
    for (const bucket of usage.buckets) {
      const key = `${usage.tenant}\n${bucket.bucket}`;
      const seenAt = this.#seenAt.get(key);
      if (bucket.used >= bucket.limit) this.#seenAt.set(key, now);
      else if (seenAt !== undefined && (!bucket.near || now - seenAt > heldMs))
        this.#seenAt.delete(key);
    }
  }

  has(tenant: string, bucket: string): boolean {
    return this.#seenAt.has(`${tenant}\n${bucket}`);
  }
}

/** Of all pages: who comes from the list sees the same. */
export const fullOfLate = new FullOfLate();

/** A bucket in shadow never refuses, so nobody is near its limit. */
export function isNear({ bucket }: UsageRow): boolean {
  return bucket !== null && bucket.near && !bucket.shadow;
}
