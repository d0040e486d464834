// Usage of tenants as rows of a table: one for each bucket. Pure.

import type { BucketUsage, TenantUsage } from "./types";

export interface UsageRow {
  tenant: TenantUsage;
  bucket: BucketUsage | null; // null: it has none of its own
}

export function rowsOf(tenants: readonly TenantUsage[]): UsageRow[] {
  return tenants.flatMap((tenant): UsageRow[] =>
    tenant.buckets.length === 0
      ? [{ tenant, bucket: null }]
      : tenant.buckets.map((bucket) => ({ tenant, bucket })),
  );
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

/** A bucket in shadow never refuses, so nobody is near its limit. */
export function isNear({ bucket }: UsageRow): boolean {
  return bucket !== null && bucket.near && !bucket.shadow;
}
